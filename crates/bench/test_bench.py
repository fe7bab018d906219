"""Tests of the bench's own Python: python3 -m unittest discover crates/bench"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "peers")]

import common
import corpus
import table


class Corpus(unittest.TestCase):
    def test_pages_become_text(self):
        page = b"<html><script>var a = '<b>';</script><p>Caf&eacute; &lt; 3\n\n <!-- no --> <b>Bars</b></p>"
        self.assertEqual(corpus.text_of("a/b.html", page), "Café < 3\nBars")
        self.assertEqual(corpus.text_of("man1/ls.1", b'.\\" note\n.SH NAME\n\\fBls\\fR lists'), "NAME\nls lists")
        self.assertEqual(corpus.text_of("a.txt", "schön".encode("latin-1")), "schön")
        self.assertIsNone(corpus.text_of("a.png", b"text"))

    def test_text_becomes_words_that_all_split_alike(self):
        self.assertEqual(corpus.words_of("Café: 3_bars,\n SCHÖN  a-b"), "cafe 3 bars schon a b")
        self.assertIsNone(corpus.words_of("only four words here"))
        self.assertIsNone(corpus.words_of("много слова на другом языке one two three four five"))

    def test_the_subset_keeps_pages_of_one_name_together(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = [(f"{package}/{page}.html", f"{package} {page} " * 5) for package in ("a", "b") for page in range(200)]
            files = [Path(folder, package) for package in ("a", "b")]
            for file in files:
                file.write_text("".join(corpus.line(*row) for row in rows if row[0].startswith(file.name)))
            chosen = corpus.chosen_names(files, 5000)
            self.assertTrue(0 < len(chosen) < 200)
            corpus.subset(files, chosen, Path(folder, "small"))
            kept = [json.loads(row) for row in Path(folder, "small").read_text().splitlines()]
            self.assertGreaterEqual(sum(len(row["text"]) for row in kept), 5000)
            self.assertEqual(len(kept), 2 * len(chosen))


class Common(unittest.TestCase):
    def test_shingles(self):
        self.assertEqual(common.shingles("a b c d"), {"a b c d"})
        self.assertEqual(common.shingles("a b c d e f"), {"a b c d e", "b c d e f"})

    def test_pairs_become_clusters_with_the_first_in_front(self):
        found = common.Union()
        for pair in [(5, 3), (9, 8), (3, 1), (7, 9), (4, 4)]:
            found.join(*pair)
        self.assertEqual(found.clusters(), [[1, 3, 5], [7, 8, 9]])


class Table(unittest.TestCase):
    def test_two_builds_are_compared_round_by_round(self):
        made = table.before_and_after([("lookalike", [2.0, 4.0, 1.0], [2.0, 5.0, 1.5])])
        self.assertEqual(made.splitlines()[2], "| lookalike | 2.00 | 2.00 | 1.250 | 1.00 | 1.50 | 1.500 |")

    def results(self):
        def system(name, cpu, right, **more):
            score = {"pairs": 10, "right_pairs": right, "true_pairs": 10, "removed": 4, "justified": 4, "settled": 10}
            rounds = [{"cpu": cpu, "wall": 3, "peak_mb": 5} | more]
            return {"name": name, "version": "1", "about": "x", "documents": 100, "text_bytes": 10**6, "rounds": rounds, "score": score}

        return {
            "date": "2000-01-01",
            "corpus": {"name": "small", "documents": 100, "text_bytes": 10**6},
            "machine": {"cpu": "a CPU"},
            "exact": {"cpu": 4.0},
            "limits": [{"read": 0.5, "lines": 0.5, "sonic_rs": 0.5, "serde_json": 1.0, "words": 1.0}],
            "systems": [system("lookalike", 2.0, 9), system("rival", 1.5, 10, imports=0.5)],
        }

    def test_a_rival_that_wins_is_bold_and_its_imports_are_free(self):
        own, rival = table.markdown(self.results()).splitlines()[4:6]
        self.assertIn("| 2.00 | 2.00 | 3.00 | 50 | 0.5 | 1.00 |", own)
        self.assertIn("| 1.00 | 1.00 | 3.00 | **100** | **1.0** | **0.50** |", rival)
        self.assertIn("0.900", own)
        self.assertIn("**1.000**", rival)

    def test_the_short_table_has_fewer_columns_and_all_systems(self):
        heading, _, own, rival = table.short(self.results()).splitlines()[2:]
        self.assertEqual(heading, "| | CPU s | MB/s | CPU per MB, lookalike = 1 | peak MB | justified removals | settled pairs |")
        self.assertEqual(own, "| lookalike 1: x | 2.00 | 0.5 | 1.00 | **5** | **1.000** | **1.000** |")
        self.assertEqual(rival, "| rival 1: x | 1.00 | **1.0** | **0.50** | **5** | **1.000** | **1.000** |")

    def test_tables_go_between_the_marks_of_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nbehind\n")
            table.put(page, "new")
            self.assertEqual(page.read_text(), f"before\n{table.BEGIN}\nnew\n{table.END}\nbehind\n")

    def test_what_lookalike_would_have_if_counted_like_peers_is_said(self):
        results = self.results()
        results["systems"][0]["score"]["by_clusters"] = {"pairs": 8, "right_pairs": 6, "true_pairs": 10}
        self.assertIn("precision 0.750 and pair recall 0.600", table.markdown(results))

    def test_almost_all_is_not_shown_as_all(self):
        self.assertEqual(table.shown(0.9999, "{:.3f}", 0.9999), "**0.999+**")
        self.assertEqual(table.shown(1.0, "{:.3f}", 1.0), "**1.000**")


if __name__ == "__main__":
    unittest.main()
