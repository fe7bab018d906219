"""Runs lookalike and its peers on one corpus, one thread each, turn by turn, and scores them against the exact truth.
README.md says what is compared and how."""

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import corpus as corpora
import table

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "lookalike/bench"
# Scratch files of this run; main() makes the folder.
WORK = CACHE / "work"
ONE_THREAD = {
    name: "1"
    for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
} | {"TOKENIZERS_PARALLELISM": "false", "DO_NOT_TRACK": "1", "PYTHONHASHSEED": "0"}
CALIBRATION_BYTES = 3_000_000
# Levels of instructions that lookalike is built for, the best first; a machine has the last ones of them.
LEVELS = ["avx512-vbmi2", "avx512", "avx2", "portable"]
# Methods that --before compares beside the default and the exact one: one that hashes all words, one that takes few.
METHODS_BEFORE_AND_AFTER = ["simhash", "a12"]


@dataclass
class Peer:
    """A program in peers/, in a virtual environment of its own."""

    name: str
    package: str
    about: str
    extras: str = ""
    arguments: tuple = ()
    python: tuple = (3, 9)

    def environment(self):
        return CACHE / "peers" / self.package


PEERS = [
    Peer("daft", "daft", "16 × 8 bands, no check"),
    Peer("daft-as-it-is", "daft", "the same, spared normalising the text", arguments=("as-it-is",)),
    Peer("rensa", "rensa", "16 × 8 bands, estimate ≥ 0.8"),
    Peer("gaoya", "gaoya", "16 × 8 bands, estimate ≥ 0.8"),
    Peer("datasketch", "datasketch", "its bands for 0.8, no check"),
    Peer("datatrove", "datatrove", "14 × 8 bands, no check", extras="[io,processing]"),
    Peer("text-dedup", "text-dedup", "its bands for 0.8, no check", python=(3, 12)),
]


def say(*words):
    print(*words, file=sys.stderr, flush=True)


# ── what is needed ──


def build(manifest, profile, package, program):
    """Builds a program for any machine of its kind, and says where it is."""
    environment = {name: value for name, value in os.environ.items() if name != "RUSTFLAGS"}
    command = ["cargo", "build", "--quiet", "--manifest-path", manifest, "-p", package, "--profile", profile]
    subprocess.run(command, check=True, env=environment)
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--manifest-path", manifest]
    target = json.loads(subprocess.run(metadata, check=True, capture_output=True).stdout)["target_directory"]
    return Path(target) / ("debug" if profile == "dev" else profile) / program


def interpreter(least):
    """A Python that is new enough, or None."""
    if sys.version_info >= least:
        return sys.executable
    names = [shutil.which(f"python3.{minor}") for minor in range(least[1], least[1] + 4)]
    names += sorted(map(str, Path.home().glob(".pyenv/versions/3.*/bin/python3")))
    for name in filter(None, names):
        test = [name, "-c", f"import sys; sys.exit(sys.version_info < {least})"]
        if subprocess.run(test, capture_output=True).returncode == 0:
            return name
    return None


def install(peer, upgrade):
    """Makes the peer's environment; returns its version, or None with a word on why."""
    folder = peer.environment()
    python = folder / "bin/python"
    version = [python, "-c", f"import importlib.metadata as m; print(m.version('{peer.package}'))"]

    def installed():
        found = subprocess.run(version, capture_output=True, text=True) if python.exists() else None
        return found.stdout.strip() if found and found.returncode == 0 else None

    if upgrade or not installed():
        if not (base := interpreter(peer.python)):
            return say(f"skipped: {peer.name} needs Python {peer.python[0]}.{peer.python[1]}")
        say(f"installing {peer.package}")
        subprocess.run([base, "-m", "venv", folder], check=True)
        done = subprocess.run([python, "-m", "pip", "install", "-q", "--upgrade", peer.package + peer.extras])
        if done.returncode != 0:
            return say(f"skipped: {peer.name} cannot be installed")
    return installed()


# ── the corpus ──


def generated(lookalike, documents):
    """A synthetic corpus, cleaned like the real one."""
    raw, truth, file = (WORK / name for name in ("raw.jsonl", "planted.jsonl", "generated.jsonl"))
    command = [lookalike, "corpus", "generate", "--documents", str(documents), "--seed", "7", "-o", raw]
    subprocess.run([*command, "--truth", truth, "--progress", "none"], check=True, stdout=sys.stderr)
    corpora.clean(raw, file)
    raw.unlink()
    return file


def find_corpus(name, lookalike, documents):
    if name != "generated":
        if corpora.make(CACHE, say):
            return name, CACHE / f"{name}.jsonl"
        say("no package can be downloaded: taking generated documents instead")
    return "generated", generated(lookalike, documents)


def prefix(corpus, text_bytes):
    """The first documents of a corpus with about so many bytes of text, and what they are."""
    size = documents = end = 0
    with open(corpus, "rb") as lines:
        for line in lines:
            if size >= text_bytes:
                break
            size += len(json.loads(line)["text"].encode())
            documents += 1
            end += len(line)
        if end == os.path.getsize(corpus):
            return Part(corpus, documents, size)
    file = WORK / f"{corpus.stem}-{documents}.jsonl"
    with open(corpus, "rb") as source, open(file, "wb") as target:
        target.write(source.read(end))
    return Part(file, documents, size)


@dataclass
class Part:
    file: Path
    documents: int
    text_bytes: int


# ── measuring ──


def run(command, **environment):
    """Runs a command on one core; what it and its children took, and what it printed."""
    core = max(os.sched_getaffinity(0))
    with open(WORK / "printed", "w+") as printed, open(WORK / "errors", "w+") as errors:
        begin = time.monotonic()
        child = subprocess.Popen(
            list(map(str, command)),
            stdout=printed,
            stderr=errors,
            cwd=WORK,
            env=os.environ | ONE_THREAD | environment,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        errors.seek(0)
        if child.returncode != 0:
            raise RuntimeError(f"{command[0]} failed with status {child.returncode}: {errors.read()[-1000:]}")
        figures = {
            "cpu": round(usage.ru_utime + usage.ru_stime, 3),
            "wall": round(wall, 3),
            "peak_mb": round(usage.ru_maxrss * 1024 / 1e6, 1),
        }
        return figures, printed.read()


class Lookalike:
    """The program as people install it, with default settings or with another method; by the best instructions that the machine has, or
    by those of a lower level."""

    def __init__(self, program, part, method=None, level=None):
        self.name = " ".join(filter(None, ["lookalike", method, level and f"by {level}"]))
        self.environment = {"LOOKALIKE_CPU": level} if level else {}
        self.about = "every removal measured"
        self.program, self.part = program, part
        self.settings = ["--threads", "1", "--progress", "none", *(["--method", method] if method else [])]
        self.version = run([program, "--version"])[1].split()[-1]
        self.output = WORK / self.name.replace(" ", "-")
        self.command = " ".join(["lookalike dedup", part.file.name, "-o DIR", *self.settings])

    def turn(self):
        shutil.rmtree(self.output, ignore_errors=True)
        return run([self.program, "dedup", self.part.file, "-o", self.output, *self.settings], **self.environment)[0]

    def score(self, judge, truth):
        """By the pairs that it lists and the removals with their witnesses; and as peers are scored, by its clusters."""
        pairs = Path(f"{self.output}-pairs.jsonl")
        shutil.rmtree(f"{pairs}.job", ignore_errors=True)
        pairs.unlink(missing_ok=True)
        run([self.program, "pairs", self.part.file, "-o", pairs, *self.settings], **self.environment)
        about = [self.part.file, truth, self.part.documents]
        score = json.loads(run([judge, "score", *about, "pairs", pairs, self.output / "removed.jsonl"])[1])
        clusters = Path(f"{self.output}-clusters")
        rows = map(json.loads, open(self.output / "clusters.jsonl"))
        clusters.write_text("".join(" ".join(map(str, row["members_n"])) + "\n" for row in rows))
        score["by_clusters"] = json.loads(run([judge, "score", *about, "clusters", clusters])[1])
        return score


class LookalikePairs(Lookalike):
    """The same for people who want all pairs: nothing is removed, every candidate is measured, every pair is listed."""

    def __init__(self, program, part):
        super().__init__(program, part)
        self.name, self.about = "lookalike pairs", "every pair measured and listed"
        self.output = WORK / "lookalike-for-pairs"
        self.list = WORK / "lookalike-all-pairs.jsonl"
        self.command = self.command.replace("lookalike dedup", "lookalike pairs").replace("-o DIR", "-o PAIRS")

    def turn(self):
        shutil.rmtree(f"{self.list}.job", ignore_errors=True)
        self.list.unlink(missing_ok=True)
        return run([self.program, "pairs", self.part.file, "-o", self.list, *self.settings])[0]

    def score(self, judge, truth):
        super().turn()
        return super().score(judge, truth)


class Rival:
    """A peer on as much of the corpus as its budget allows."""

    def __init__(self, peer, version, corpus, budget):
        self.name, self.about, self.version, self.peer = peer.name, peer.about, version, peer
        self.output = WORK / f"{peer.name}-clusters"
        self.part = prefix(corpus, CALIBRATION_BYTES)
        trial = self.turn()
        seconds_per_byte = max(trial["cpu"] - trial["imports"], 0.01) / self.part.text_bytes
        self.part = prefix(corpus, budget / seconds_per_byte)
        self.command = " ".join([f"peers/{peer.package}.py", self.part.file.name, "CLUSTERS", *peer.arguments])

    def turn(self):
        script = HERE / "peers" / f"{self.peer.package}.py"
        python = self.peer.environment() / "bin/python"
        figures, printed = run([python, script, self.part.file, self.output, *self.peer.arguments])
        phases = json.loads(printed.splitlines()[-1])
        return figures | {"imports": phases.pop("imports"), "phases": phases}

    def score(self, judge, truth):
        return json.loads(run([judge, "score", self.part.file, truth, self.part.documents, "clusters", self.output])[1])


def levels(program, wanted):
    """Those of the wanted levels that this machine has beside its best."""
    found = []
    for level in LEVELS:
        if subprocess.run([program, "methods"], env=os.environ | {"LOOKALIKE_CPU": level}, capture_output=True).returncode == 0:
            found.append(level)
    for level in wanted:
        if level not in found:
            say(f"skipped: this machine has no {level}")
    return [level for level in found if level in wanted and level != found[0]]


def check_levels(systems):
    """Results must not depend on the instructions by which they were computed."""
    best = {system.name: system for system in systems}
    for system in systems:
        name, _, level = system.name.partition(" by ")
        for file in ("removed.jsonl", "clusters.jsonl") if level else ():
            if (system.output / file).read_bytes() != (best[name].output / file).read_bytes():
                sys.exit(f"{system.name}: {file} is not that of the best instructions")


def measure(systems, judge, whole, rounds):
    """Turn by turn, so that whatever slows the machine down for a while slows all of them down."""
    figures = {system.name: [] for system in systems}
    limits = []
    for number in range(rounds):
        limits.append(json.loads(run([judge, "limits", whole.file, 3])[1]))
        for system in systems:
            figures[system.name].append(system.turn())
            say(f"round {number + 1} of {rounds}: {system.name} {figures[system.name][-1]['cpu']} CPU s")
    return figures, limits


def rivals(peers, corpus, options):
    """Those that can be installed and survive the first documents."""
    for peer in peers:
        version = install(peer, options.upgrade)
        try:
            if version:
                yield Rival(peer, version, corpus, options.budget)
        except RuntimeError as error:
            say(f"skipped: {peer.name}: {error}")


def machine():
    about = Path("/proc/cpuinfo").read_text()
    models = [line.partition(": ")[2] for line in about.splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    cores = len(os.sched_getaffinity(0))
    load = round(os.getloadavg()[0], 1)
    cpu = models[0] if models else platform.machine()
    return {
        "cpu": cpu,
        "cores": cores,
        "memory_gb": round(memory / 1e9, 1),
        "kernel": platform.release(),
        "load_before": load,
    }


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def compare(options):
    results = {
        "date": datetime.date.today().isoformat(),
        "command": " ".join(["./bench", *sys.argv[1:]]),
        "machine": machine(),
    }
    lookalike = options.program or build(ROOT / "Cargo.toml", options.profile, "lookalike-cli", "lookalike")
    judge = build(HERE / "Cargo.toml", "dev" if options.smoke else "release", "lookalike-bench", "judge")
    name, file = find_corpus(options.corpus, lookalike, options.documents)
    whole = prefix(file, float("inf"))
    results["corpus"] = {"name": name, "documents": whole.documents, "text_bytes": whole.text_bytes}
    results["versions"] = {
        "commit": output_of("git", "rev-parse", "--short", "HEAD"),
        "rustc": output_of("rustc", "--version"),
        "python": platform.python_version(),
    }
    say(f"{name}: {whole.documents:,} documents, {whole.text_bytes / 1e6:,.1f} MB of text")
    truth = WORK / "truth.json"
    results["exact"], _ = run([judge, "exact", file, truth])
    own = [Lookalike(lookalike, whole), LookalikePairs(lookalike, whole), Lookalike(lookalike, whole, "exact")]
    own += [Lookalike(lookalike, whole, method, level) for level in levels(lookalike, options.cpu) for method in (None, "exact")]
    systems = [*own, *rivals(options.peers, file, options)]
    figures, results["limits"] = measure(systems, judge, whole, options.rounds)
    check_levels(own)
    results["systems"] = [
        {
            "name": system.name,
            "version": system.version,
            "about": system.about,
            "command": system.command,
            "documents": system.part.documents,
            "text_bytes": system.part.text_bytes,
            "rounds": figures[system.name],
            "score": system.score(judge, truth),
        }
        for system in systems
    ]
    return results


def before_and_after(options):
    """Runs two builds of lookalike turn by turn and returns the lines of a table of what each costs."""
    lookalike = options.program or build(ROOT / "Cargo.toml", options.profile, "lookalike-cli", "lookalike")
    name, file = find_corpus(options.corpus, lookalike, options.documents)
    whole = prefix(file, float("inf"))
    say(f"{name}: {whole.documents:,} documents, {whole.text_bytes / 1e6:,.1f} MB of text")
    rows = []
    for method in [None, "exact", *METHODS_BEFORE_AND_AFTER, "pairs"]:
        both = [LookalikePairs(p, whole) if method == "pairs" else Lookalike(p, whole, method) for p in (options.before, lookalike)]
        costs = [[], []]
        for number in range(options.rounds):
            # Who goes first changes, so that neither always has the warmer machine.
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                costs[which].append(both[which].turn()["cpu"])
        say(f"{both[0].name}: {costs[0]} before, {costs[1]} now")
        rows.append((both[0].name, *costs))
    return table.before_and_after(rows)


def check(results):
    """What must hold on any corpus: a pair that is listed is true, few are missed, and each removal has its witness."""
    for system in results["systems"]:
        if not system["name"].startswith("lookalike"):
            continue
        score = system["score"]
        least = 1.0 if system["name"].startswith("lookalike exact") else 0.95
        problems = [
            score["right_pairs"] != score["pairs"] and "it lists pairs that are none",
            score["right_pairs"] < least * score["true_pairs"] and "it misses too many pairs",
            score["witnessed"] != score["removed"] and "it removes without a similar witness that is kept",
            score["true_pairs"] < 100 and "the corpus has too few pairs to tell",
        ]
        if problem := next(filter(None, problems), None):
            sys.exit(f"{system['name']}: {problem}: {score}")


def options():
    parser = argparse.ArgumentParser(prog="./bench", description=__doc__)
    parser.add_argument("--corpus", choices=["small", "large", "generated"], default="small")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default="all", help="names with commas between, all, or none")
    parser.add_argument("--cpu", default="", help=f"rows by the instructions of older processors: {', '.join(LEVELS)}, or all")
    parser.add_argument("--budget", type=float, default=60, help="CPU seconds of a peer in a round; slow ones get fewer documents")
    parser.add_argument("--documents", type=int, default=100_000, help="of the generated corpus")
    parser.add_argument("--upgrade", action="store_true", help="install the newest peers")
    parser.add_argument("--quick", action="store_true", help="one round, small budgets; no file of results")
    parser.add_argument("--smoke", action="store_true", help="few generated documents, no peers; fails on a wrong answer")
    parser.add_argument("--profile", help="how lookalike is built; dist by default, dev with --smoke")
    parser.add_argument(
        "--program",
        type=lambda name: Path(name).resolve(),
        help="a lookalike that is built already",
    )
    parser.add_argument(
        "--before",
        type=lambda name: Path(name).resolve(),
        help="an older lookalike: only the two are run, turn by turn, and the ratio of their costs is printed",
    )
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.rounds, chosen.budget = 1, 10
    if chosen.smoke:
        chosen.corpus, chosen.documents, chosen.rounds, chosen.peers, chosen.cpu = "generated", 2000, 1, "none", "all"
    chosen.profile = chosen.profile or ("dev" if chosen.smoke else "dist")
    chosen.cpu = LEVELS if chosen.cpu == "all" else [name for name in chosen.cpu.split(",") if name]
    if unknown := set(chosen.cpu) - set(LEVELS):
        parser.error(f"no level is called {', '.join(sorted(unknown))}")
    named = {"all": [peer.name for peer in PEERS], "none": []}.get(chosen.peers, chosen.peers.split(","))
    if unknown := set(named) - {peer.name for peer in PEERS}:
        parser.error(f"no peer is called {', '.join(sorted(unknown))}")
    chosen.peers = [peer for peer in PEERS if peer.name in named]
    return chosen


def main():
    global WORK
    chosen = options()
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="run-", dir=CACHE) as folder:
        WORK = Path(folder)
        if chosen.before:
            print(before_and_after(chosen))
            return
        results = compare(chosen)
    print(table.markdown(results))
    check(results)
    if not chosen.quick and not chosen.smoke:
        file = HERE / "results" / f"{results['date']}-{results['corpus']['name']}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(results, indent=1) + "\n")
        say(f"results: {file.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
