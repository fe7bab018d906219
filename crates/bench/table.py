#!/usr/bin/env python3
"""Makes the tables of PERFORMANCE.md from the newest results of each corpus, and the README's short one from those of the first. The best
of each column is bold, whoever has it."""

import json
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BEGIN, END = "<!-- made by crates/bench/table.py -->", "<!-- end of what crates/bench/table.py made -->"

COLUMNS = [
    # heading, value of a row, format, which is best
    ("CPU s", lambda row: row["cpu"], "{:.2f}", None),
    ("least", lambda row: row["least"], "{:.2f}", None),
    ("wall s", lambda row: row["wall"], "{:.2f}", None),
    ("docs/s", lambda row: row["documents"] / row["cpu"], "{:,.0f}", max),
    ("MB/s", lambda row: row["megabytes"] / row["cpu"], "{:,.1f}", max),
    ("CPU per MB, lookalike = 1", lambda row: row["ratio"], "{:.2f}", min),
    ("peak MB", lambda row: row["peak"], "{:,.0f}", min),
    ("pair precision", lambda row: row["pair_precision"], "{:.3f}", max),
    ("pair recall", lambda row: row["pair_recall"], "{:.3f}", max),
    ("justified removals", lambda row: row["justified"], "{:.3f}", max),
    ("settled pairs", lambda row: row["settled"], "{:.3f}", max),
]

# Columns of the short table.
SHORT = {"CPU s", "MB/s", "CPU per MB, lookalike = 1", "peak MB", "justified removals", "settled pairs"}

LIMITS = [
    ("read", "reading the file"),
    ("lines", "… and finding its lines"),
    ("sonic_rs", "… and parsing them (sonic-rs)"),
    ("serde_json", "… or with serde_json"),
    ("words", "… and lower case, split, xxh3 of each word, in plain code"),
]


def cost(turn):
    """CPU seconds; a peer's imports are not held against it."""
    return turn["cpu"] - turn.get("imports", 0)


def share(part, whole):
    return part / whole if whole else 1.0


def rows(results):
    found = []
    for system in results["systems"]:
        score = system["score"]
        row = {
            "name": system["name"],
            "version": system["version"],
            "about": system["about"],
            "documents": system["documents"],
            "megabytes": system["text_bytes"] / 1e6,
            "cpu": median(map(cost, system["rounds"])),
            "least": min(map(cost, system["rounds"])),
            "wall": median(turn["wall"] for turn in system["rounds"]),
            "peak": median(turn["peak_mb"] for turn in system["rounds"]),
            "pair_precision": share(score["right_pairs"], score["pairs"]),
            "pair_recall": share(score["right_pairs"], score["true_pairs"]),
            "justified": share(score["justified"], score["removed"]),
            "settled": share(score["settled"], score["true_pairs"]),
        }
        found.append(row)
    own = found[0]
    for row in found:
        row["ratio"] = (row["cpu"] / row["megabytes"]) / (own["cpu"] / own["megabytes"])
    return found


def before_and_after(systems):
    """The costs of two builds, for each system its rounds before and now. Rounds of one number ran side by side: the median of their
    ratios is the figure, and the ratio of the least of each says whether noise made it."""
    lines = ["| | CPU s before | now | now / before | least before | now | now / before |", "|---|---|---|---|---|---|---|"]
    for name, before, now in systems:
        ratio = median(two / one for one, two in zip(before, now, strict=True))
        least = min(now) / min(before)
        lines.append(
            f"| {name} | {median(before):.2f} | {median(now):.2f} | {ratio:.3f} | {min(before):.2f} | {min(now):.2f} | {least:.3f} |"
        )
    return "\n".join(lines)


def shown(value, form, best):
    text = form.format(value)
    # Only what is all is shown as all: 0.9998 is not 1.000.
    if form == "{:.3f}" and text == "1.000" and value < 1:
        text = "0.999+"
    return f"**{text}**" if value == best else text


def system_lines(results, columns=COLUMNS):
    found = rows(results)
    best = [choose(value(row) for row in found) if choose else None for _, value, _, choose in columns]
    yield "| | " + " | ".join(heading for heading, *_ in columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    for row in found:
        name = f"{row['name']} {row['version']}: {row['about']}"
        if row["documents"] < results["corpus"]["documents"]:
            name += f" (first {row['documents']:,} documents)"
        cells = [shown(value(row), form, top) for (_, value, form, _), top in zip(columns, best)]
        yield f"| {name} | " + " | ".join(cells) + " |"


def limit_lines(results):
    own = rows(results)[0]
    yield "| the machine's limits, same core | CPU s | MB/s | lookalike takes |"
    yield "|---|---:|---:|---:|"
    for key, name in LIMITS:
        seconds = min(limit[key] for limit in results["limits"])
        yield f"| {name} | {seconds:.3f} | {own['megabytes'] / seconds:,.0f} | {own['cpu'] / seconds:.1f} times that |"
    seconds = results["exact"]["cpu"]
    yield f"| the truth, by a plain exact join | {seconds:.2f} | {own['megabytes'] / seconds:,.0f} | {own['cpu'] / seconds:.2f} times that |"


def cluster_note(results):
    """Peers are scored by all pairs within their clusters, lookalike by the pairs it lists: say what the former would give."""
    score = results["systems"][0]["score"].get("by_clusters")
    if not score:
        return []
    precision = share(score["right_pairs"], score["pairs"])
    recall = share(score["right_pairs"], score["true_pairs"])
    return [
        "",
        "Pairs of lookalike are those that `lookalike pairs` lists; pairs of peers are all within a cluster. Counted like "
        f"peers, by its clusters, lookalike has pair precision {precision:.3f} and pair recall {recall:.3f}.",
    ]


def about(results):
    """The sentence above a table: the corpus, the day, the machine."""
    corpus, machine = results["corpus"], results["machine"]
    pairs = results["systems"][0]["score"]["true_pairs"]
    rounds = len(results["limits"])
    return (
        f"Corpus `{corpus['name']}`: {corpus['documents']:,} documents, {corpus['text_bytes'] / 1e6:,.0f} MB of text, "
        f"{pairs:,} pairs at 0.8 or above. {results['date']}, one core of {machine['cpu']}, "
        f"{'median of ' + str(rounds) + ' rounds' if rounds > 1 else 'one round'}."
    )


def markdown(results):
    return "\n".join([about(results), "", *system_lines(results), *cluster_note(results), "", *limit_lines(results)])


def short(results):
    """The README's table: fewer columns, and every system once."""
    columns = [column for column in COLUMNS if column[0] in SHORT]
    return "\n".join([about(results), "", *system_lines(results, columns)])


def newest():
    """The last results of each corpus; names begin with the date."""
    found = {}
    for file in sorted((HERE / "results").glob("*.json")):
        results = json.loads(file.read_text())
        found[results["corpus"]["name"]] = results
    return [found[name] for name in ("small", "large", "generated") if name in found]


def put(page, tables):
    """Replaces what stands between the marks of a page."""
    before, rest = page.read_text().split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}")


def main():
    results = newest()
    put(ROOT / "PERFORMANCE.md", "\n\n".join(map(markdown, results)))
    put(ROOT / "README.md", short(results[0]))


if __name__ == "__main__":
    main()
