"""`lookalike-spark`: the command line on a cluster. The same options, files and exit codes as `lookalike`."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._core import spark as core
from .._errors import Error, InputTypeError, OutputError, TooManyRejectedError, UsageError
from ._read import rows
from ._stages import limit
from ._tables import batches, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FAILED, _USAGE, _REJECTED, _TOO_MANY_REJECTED, _INTERRUPTED = 1, 2, 3, 4, 130

#: Options by which records are read, and what they are called in Python.
_READING = ("input_format", "max_document_bytes", "revisions", "namespaces", "content", "profile")
_MATCHING = (
    "method", "combine", "filter", "lexicon", "similarity", "shingle", "threshold", "recall", "unverified", "within", "max_group",
    "seed",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what is typed and returns the exit code."""
    args = _parser().parse_args(arguments)
    try:
        _look(args)
        with _session(args) as spark:
            return int(args.run(spark, args))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        code, sentence = _told(error)
        print(f"lookalike-spark: {sentence}", file=sys.stderr)
        return code


def _look(args: argparse.Namespace) -> None:
    """Refuses what can be seen to fail before a session is started."""
    _free(os.path.abspath(args.output))
    core.too_many_rejected(0, 0, limit(getattr(args, "max_rejected", None)))
    for name in ("input", "right", "old", "new"):
        if hasattr(args, name):
            core.shards(getattr(args, name), {"input_format": args.input_format})


def _told(error: BaseException) -> tuple[int, str]:
    """The sentence of an error, also of one that a worker raised and Spark wrapped up."""
    if isinstance(error, TooManyRejectedError):
        return _TOO_MANY_REJECTED, str(error)
    if isinstance(error, Error):
        usage = isinstance(error, (UsageError, InputTypeError))
        return _USAGE if usage else _FAILED, str(error)
    raised = re.findall(r"lookalike\._errors\.(\w+): (.+)", str(error))
    if raised:
        kind, sentence = raised[-1]
        return _USAGE if kind in ("UsageError", "MemoryCapError", "InputTypeError") else _FAILED, sentence.strip()
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return _FAILED, f"Spark failed: {lines[0] if lines else type(error).__name__}"


# What is typed.


class _Help(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=100)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lookalike-spark",
        description="Near-duplicates in corpora that one machine cannot hold, by a Spark cluster: the rows of lookalike, file by file. "
        "Documents are taken in the order of their ids, or of --order-field.",
        formatter_class=_Help,
    )
    parser.add_argument("--version", action="version", version=f"lookalike-spark {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _dedup_options(_command(commands, "dedup", "Find near-duplicates inside a corpus and keep one of each", _dedup))
    _pairs_options(_command(commands, "pairs", "List all near-duplicate pairs of a corpus", _pairs))
    _compare_options(_command(commands, "compare", "Find documents of one corpus in another", _compare))
    _urls_options(_command(commands, "urls", "Tell which addresses two corpora share", _urls))
    _transfer_options(_command(commands, "transfer", "Carry relevance judgments over to another corpus", _transfer))
    return parser


def _command(commands: Any, name: str, about: str, run: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=f"{about}.", formatter_class=_Help)
    parser.set_defaults(run=run, parser=parser)
    return parser


_INPUT = "files, folders or patterns, which all machines see under the same paths; a file is read by one task"


def _dedup_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="INPUT", nargs="+", help=f"the corpus: {_INPUT}")
    _output(parser, "new folder for the results")
    parser.add_argument("--keep", metavar="WHICH", default="first", help="which document is kept: first, longest, shortest, field:NAME or field:NAME:desc (default: first)")  # fmt: skip
    parser.add_argument("--cluster", metavar="RULE", default="star", help="how pairs become clusters: star or components (default: star)")  # fmt: skip
    _format(parser)
    _order(parser)
    _limit(parser)
    _common(parser, "0.8", 5)


def _pairs_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="INPUT", nargs="+", help=f"the corpus: {_INPUT}")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="file for the pairs: .jsonl (also with .gz, .zst, .bz2, .xz or .lz4) or .parquet; a folder with .job behind its name holds the rest")  # fmt: skip
    parser.add_argument("--all", action="store_true", help="write all measured pairs, also those below the threshold")
    _order(parser)
    _limit(parser)
    _common(parser, "0.8", 5)


def _compare_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="LEFT", nargs="+", help=f"the corpus whose documents are looked for: {_INPUT}")
    parser.add_argument("--with", dest="right", metavar="RIGHT", nargs="+", required=True, help="the other corpus")
    _output(parser, "new folder for the results")
    _format(parser)
    _order(parser)
    _limit(parser)
    _common(parser, "0.8", 5)


def _urls_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="LEFT", nargs="+", help=f"the corpus whose addresses are looked for: {_INPUT}")
    parser.add_argument("--with", dest="right", metavar="RIGHT", nargs="+", required=True, help="the other corpus")
    _output(parser, "new folder for the results")
    group = parser.add_argument_group("Matching")
    group.add_argument("--match", metavar="HOW", default="normal", help="when two addresses are one: exact, normal or canonical (default: normal)")  # fmt: skip
    group.add_argument("--similarity", metavar="SIMILARITY", default="jaccard", help="what is measured of the first two documents behind a shared address: jaccard, containment, cosine, cosine-tf or edit (default: jaccard)")  # fmt: skip
    group.add_argument("--shingle", metavar="N", default="1", help="words per shingle that it is measured on (default: 1)")
    group.add_argument("--threshold", metavar="T", default="0.9", help="from which similarity on two documents count as near (default: 0.9)")  # fmt: skip
    group.add_argument("--no-similarity", action="store_true", help="compare addresses alone and read no texts")
    _reading(parser)
    _work(parser)


def _transfer_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judgments", metavar="QRELS", nargs="+", required=True, help="files of judgments, which the driver reads")
    parser.add_argument("--layout", metavar="LAYOUT", help="layout of all of them; else it is seen from their lines")
    parser.add_argument("--from", dest="old", metavar="OLD", nargs="+", required=True, help=f"the old corpus, whose documents were judged: {_INPUT}")  # fmt: skip
    parser.add_argument("--to", dest="new", metavar="NEW", nargs="+", required=True, help="the new corpus")
    _output(parser, "new folder for the results")
    parser.add_argument("--matches", metavar="WHICH", default="best", help="which near-duplicates of a judged document get its judgments: best or all (default: best)")  # fmt: skip
    _common(parser, "0.9", 1)


def _output(parser: argparse.ArgumentParser, about: str) -> None:
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help=about)


def _format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", metavar="FORMAT", choices=("jsonl", "parquet"), default="jsonl", help="format of the tables: jsonl or parquet (default: jsonl)")  # fmt: skip


def _order(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--order-field", metavar="FIELD", default="id", help="take documents in the order of this field and then of their ids (default: id)")  # fmt: skip


def _common(parser: argparse.ArgumentParser, threshold: str, shingle: int) -> None:
    group = parser.add_argument_group("Matching")
    group.add_argument("--method", metavar="METHOD", action="append", help="method that proposes pairs; given several times, pairs that any of them proposes (default: minhash)")  # fmt: skip
    group.add_argument("--combine", metavar="WHICH", default="any", help="what several methods propose together: any or all")
    group.add_argument("--filter", metavar="METHOD", help="one more method, which must accept what the others propose")
    group.add_argument("--lexicon", metavar="FILE", help="words and how common they are, from lookalike lexicon")
    group.add_argument("--similarity", metavar="SIMILARITY", default="jaccard", help="what is measured: jaccard, containment, cosine, cosine-tf or edit (default: jaccard)")  # fmt: skip
    group.add_argument("--shingle", metavar="N", default=str(shingle), help=f"words per shingle that it is measured on (default: {shingle})")  # fmt: skip
    group.add_argument("--threshold", metavar="T", default=threshold, help=f"how much similarity makes a near-duplicate (default: {threshold})")  # fmt: skip
    group.add_argument("--recall", metavar="R", default="0.98", help="wanted probability that a pair right at the threshold is proposed (default: 0.98)")  # fmt: skip
    group.add_argument("--unverified", action="store_true", help="count pairs by the word of the method alone, without measuring them")  # fmt: skip
    group.add_argument("--within", metavar="FIELD", help="compare documents only with those that have the same value in this field; @host is the host of the address")  # fmt: skip
    group.add_argument("--max-group", metavar="N", help="larger groups of documents with a common key do not propose all of their pairs")  # fmt: skip
    group.add_argument("--seed", metavar="N", default="1", help="seed of every random choice (default: 1)")
    _reading(parser)
    _work(parser)


def _reading(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Reading")
    group.add_argument("--input-format", metavar="FORMAT", help="format of all inputs; else it is seen from their content")
    for name in ("id", "text", "html", "url"):
        group.add_argument(f"--{name}-field", metavar="NAME", default=name, help=f"field or column with the {name} (default: {name})")  # fmt: skip
    group.add_argument("--max-document-bytes", metavar="SIZE", default="32M", help="longer records are rejected (default: 32M)")
    group.add_argument("--revisions", action="store_true", help="MediaWiki: every revision of a page is a document")
    group.add_argument("--namespaces", metavar="LIST", default="0", help="MediaWiki: namespaces whose pages are documents, or all (default: 0)")  # fmt: skip
    group.add_argument("--content", metavar="CONTENT", help="what is taken of a document: page, main or email")
    group.add_argument("--profile", metavar="PROFILE", default="web", help="from text to words (default: web)")


def _work(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Work")
    group.add_argument("--master", metavar="URL", help="the cluster, as in spark://host:7077; else what spark-submit or the configuration says")  # fmt: skip
    group.add_argument("--work", metavar="DIR", help="folder that driver and workers see, for the stages: the same command goes on behind the last one; else one in the warehouse directory, removed at the end")  # fmt: skip
    group.add_argument("--partitions", metavar="N", type=_positive, help="parts that rows are brought together in (default: spark.sql.shuffle.partitions)")  # fmt: skip
    group.add_argument("--strict", action="store_true", help="end with exit code 3 when a record was rejected")


def _limit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-rejected", metavar="N|SHARE", help="most records that may be rejected: a number, or a share such as 5%%; more end the run with exit code 4, before anything is decided (default: a tenth of 100 records or more, and not all of fewer)")  # fmt: skip


def _positive(text: str) -> int:
    number = int(text) if text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError("a whole number of 1 or more is wanted")
    return number


# What is done.


@contextmanager
def _session(args: argparse.Namespace) -> Iterator[SparkSession]:
    """The session of spark-submit, or a new one."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError("pyspark is not installed; install it, as in pip install pyspark") from None
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    # Workers that are started here run the interpreter that we run in.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.appName("lookalike")
    if args.master:
        builder = builder.master(args.master)
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.session.timeZone", "UTC")
    if args.partitions:
        builder = builder.config("spark.sql.shuffle.partitions", str(args.partitions))
    made: SparkSession = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    try:
        yield made
    finally:
        made.stop()


class _Job:
    """What all commands share: options as Python has them, inputs, and files that appear together."""

    def __init__(self, spark: SparkSession, args: argparse.Namespace) -> None:
        self.spark, self.args = spark, args
        fields = {name: getattr(args, f"{name}_field") for name in ("id", "text", "html", "url")}
        self.reading = {**fields, **{name: getattr(args, name) for name in _READING}}
        self.target = os.path.abspath(args.output)
        _free(self.target)

    def matching(self) -> dict[str, Any]:
        """Options that say which documents are near-duplicates."""
        given = {name: getattr(self.args, name) for name in _MATCHING}
        given["method"] = self.args.method or "minhash"
        return {name: value for name, value in given.items() if value is not None}

    def how(self) -> dict[str, Any]:
        """The same for documents whose text is extracted already, and how the cluster works."""
        how = {**self.matching(), "profile": self.args.profile, "content": "page"}
        how["work"], how["partitions"] = self.work(), self.args.partitions
        return how

    def work(self) -> str | None:
        """The folder for the stages: one inside that which was named, for these inputs as they are now."""
        if self.args.work is None:
            return None
        sides = [getattr(self.args, name) for name in ("input", "right", "old", "new") if hasattr(self.args, name)]
        digest = hashlib.blake2b(digest_size=12)
        for side in sides:
            for shard in core.shards(side, {name: value for name, value in self.reading.items() if value is not None}):
                facts = os.stat(shard[1]) if os.path.exists(shard[1]) else None
                marks = (facts.st_size, facts.st_mtime_ns) if facts else ()
                digest.update(repr((shard, marks)).encode())
            digest.update(b"side")
        digest.update(repr(sorted(self.reading.items(), key=str)).encode())
        return f"{self.args.work.rstrip('/')}/{self.args.parser.prog.split()[-1]}-{digest.hexdigest()}"

    def recipe(self, task: str, **more: Any) -> str:
        """What is written down: options as they were typed, and the order."""
        made = core.job_recipe(task, {**self.matching(), **self.reading, **more})
        return str(core.ordered_recipe(made, getattr(self.args, "order_field", "id")))

    def fields(self, recipe: str) -> list[str]:
        """Further fields that a recipe asks for."""
        _, (keep, within, _), _ = core.facts(recipe)
        return [name for name in (keep, within, self.order()) if name is not None]

    def order(self) -> str | None:
        """The field that documents are ordered by before their ids."""
        return None if self.args.order_field == "id" else str(self.args.order_field)

    def documents(self, inputs: list[str], fields: Sequence[str] = (), addresses: bool = False, texts: bool = True) -> DataFrame:
        """The documents of some inputs, with rows for what is none."""
        found = rows(self.spark, inputs, self.reading, fields, addresses, texts)
        return found.where("skipped is null").drop("skipped", "rejected_id")

    def refused(self, sides: dict[str | None, list[str]], late: DataFrame | None = None, addresses: bool = False) -> _Refused:
        """What was no document: records that could not be read, and how many are not meant to be any."""
        return _Refused(self, sides, late, addresses)


def _free(target: str) -> None:
    """Refuses a place where something is."""
    if os.path.isdir(target) and not os.listdir(target):
        return
    if os.path.lexists(target):
        raise UsageError(f"{target} is there already; name another place, or remove it")


class _Refused:
    """Records that are no documents. Files are read once more for them, without extracting anything."""

    def __init__(self, job: _Job, sides: dict[str | None, list[str]], late: DataFrame | None, addresses: bool) -> None:
        from pyspark.sql import functions as F

        every = None
        for name, inputs in sides.items():
            found = rows(job.spark, inputs, job.reading, (), addresses, False)
            place = F.lit(name).cast("string").alias("side")
            found = found.select("id", "source", "shard", "record", "position", "rejected", "skipped", "rejected_id", place)
            every = found if every is None else every.unionByName(found)
        assert every is not None
        # "left" comes before "right".
        order = [F.col("side"), F.col("shard"), F.col("record")]
        told = every.where("rejected is not null").withColumn("reason", F.col("rejected"))
        if late is not None and late.where("id is not null").head(1):
            known = every.where("id is not null").join(late.where("id is not null").select("id", "reason"), "id")
            told = told.unionByName(known.withColumn("rejected_id", F.col("id")).select(*told.columns))
        self.table = told.orderBy(*order).select("source", "position", "reason", "side", F.col("rejected_id").alias("id"))
        self._every, self._sides = every, list(sides)

    def skipped(self) -> list[int]:
        """Records that are not meant to be documents, by side."""
        from pyspark.sql import functions as F

        counted = self._every.where("skipped is not null").groupBy("side").agg(F.sum("skipped").alias("count")).collect()
        found = {row["side"]: int(row["count"]) for row in counted}
        return [found.get(name, 0) for name in self._sides]


@contextmanager
def _pending(target: str) -> Iterator[str]:
    """A folder for files that appear together under the name wanted, or not at all."""
    parent, name = os.path.split(target)
    os.makedirs(parent, exist_ok=True)
    pending = os.path.join(parent, f".lookalike-{name}.part")
    shutil.rmtree(pending, ignore_errors=True)
    try:
        os.mkdir(pending)
        yield pending
        if os.path.isdir(target):
            os.rmdir(target)
        os.rename(pending, target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(pending, ignore_errors=True)


def _text(folder: str, name: str, text: str) -> None:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _json(folder: str, name: str, value: Any) -> None:
    _text(folder, name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _finish(job: _Job, work: str, rejected: int, counts: Sequence[tuple[str, Any]]) -> int:
    """Prints what was counted, removes stages that nobody asked to keep, and says how the command ends."""
    for name, number in counts:
        print(f"{name:<28}{number:>14,}")
    print(f"{'results':<28}{job.target}")
    if job.args.work is None:
        _remove(job.spark, work)
    return _REJECTED if job.args.strict and rejected else 0


def _remove(spark: SparkSession, folder: str) -> None:
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(folder)
    files = path.getFileSystem(spark._jsc.hadoopConfiguration())
    files.delete(path, True)
    if not files.listStatus(path.getParent()):
        files.delete(path.getParent(), False)


def _dedup(spark: SparkSession, args: argparse.Namespace) -> int:
    from . import dedup

    job = _Job(spark, args)
    recipe = job.recipe("dedup", keep=args.keep, cluster=args.cluster)
    table = job.documents(args.input, job.fields(recipe))
    found = dedup(
        table, order=job.order(), keep=args.keep, cluster=args.cluster, max_rejected=args.max_rejected, **job.how()
    )
    refused = job.refused({None: args.input}, found.rejected)
    parquet = args.format == "parquet"
    summary = {**found.summary, "skipped": refused.skipped()[0]}
    names = ["documents", "kept", "removed", "rejected", "skipped", "clusters", "exact_duplicates", "candidates", "verified"]
    summary = _ordered(summary, [*names, "giant_groups", "duplicate_ids", "text_bytes", "version"])
    with _pending(job.target) as folder:
        for name, rows_of in (("removed", found.removed.orderBy("n")), ("clusters", found.clusters.orderBy("cluster"))):
            write(rows_of, name, os.path.join(folder, f"{name}.{args.format}"), parquet, recipe)
        write(refused.table, "rejected", os.path.join(folder, f"rejected.{args.format}"), parquet, recipe)
        _text(folder, "recipe.toml", recipe)
        _json(folder, "summary.json", summary)
    counts = [(name.replace("_", " "), summary[name]) for name in names]
    return _finish(job, found.work, summary["rejected"], counts)


def _pairs(spark: SparkSession, args: argparse.Namespace) -> int:
    from . import pairs

    if not re.search(r"\.(parquet|jsonl(\.(gz|zst|bz2|xz|lz4))?)$", args.output):
        raise UsageError(f"{args.output} says no format to write; let it end in .jsonl (also with .gz, .zst, .bz2, .xz or .lz4) or .parquet")
    job = _Job(spark, args)
    recipe = job.recipe("pairs", all=args.all)
    table = job.documents(args.input, job.fields(recipe))
    found = pairs(table, order=job.order(), all=args.all, max_rejected=args.max_rejected, **job.how())
    refused = job.refused({None: args.input}, found.rejected)
    summary = {**found.summary, "skipped": refused.skipped()[0]}
    folder_of_job = f"{job.target}.job"
    _free(folder_of_job)
    with _pending(folder_of_job) as folder:
        written = os.path.join(folder, os.path.basename(job.target))
        write(found.pairs.orderBy("a_n", "b_n"), "pairs", written, args.output.endswith(".parquet"), recipe)
        write(found.groups, "groups", os.path.join(folder, "groups.jsonl"), False, recipe)
        write(refused.table, "rejected", os.path.join(folder, "rejected.jsonl"), False, recipe)
        _text(folder, "recipe.toml", recipe)
        _json(folder, "summary.json", summary)
    os.replace(os.path.join(folder_of_job, os.path.basename(job.target)), job.target)
    counts = [(name, summary[name]) for name in ("documents", "rejected", "skipped", "candidates", "verified", "pairs")]
    return _finish(job, found.work, summary["rejected"], counts)


def _compare(spark: SparkSession, args: argparse.Namespace) -> int:
    from pyspark.sql import functions as F

    from . import compare

    job = _Job(spark, args)
    recipe = job.recipe("compare")
    fields = job.fields(recipe)
    sides = [job.documents(side, fields) for side in (args.input, args.right)]
    found = compare(*sides, order=job.order(), max_rejected=args.max_rejected, **job.how())
    refused = job.refused({"left": args.input, "right": args.right})
    skipped = refused.skipped()
    summary = {**found.summary, "skipped": skipped[1], "left_skipped": skipped[0]}
    methods = args.method or ["minhash"]
    parquet, several = args.format == "parquet", len(methods) > 1
    # A bit for each method.
    named = [F.when(F.col("methods").bitwiseAND(1 << place) != 0, F.lit(name)) for place, name in enumerate(methods)]
    told = F.array_compact(F.array(*named))
    with _pending(job.target) as folder:
        for name, table, rows_of in (
            ("pairs", "compared", found.pairs.orderBy("a_n", "b_n")),
            ("best", "best", found.best.orderBy("a_n")),
        ):
            layout = f"{table}-by-several" if several else table
            rows_of = rows_of.withColumn("methods", told)
            write(rows_of, layout, os.path.join(folder, f"{name}.{args.format}"), parquet, recipe)
        write(found.groups, "groups", os.path.join(folder, f"groups.{args.format}"), parquet, recipe)
        write(refused.table, "rejected", os.path.join(folder, f"rejected.{args.format}"), parquet, recipe)
        _text(folder, "recipe.toml", recipe)
        _json(folder, "summary.json", summary)
    counts = [(name, summary[name]) for name in ("documents", "rejected", "candidates", "verified", "pairs")]
    return _finish(job, found.work, summary["rejected"], counts)


def _urls(spark: SparkSession, args: argparse.Namespace) -> int:
    from . import urls

    job = _Job(spark, args)
    similarity = None if args.no_similarity else args.similarity
    sides = [job.documents(side, (), True, similarity is not None) for side in (args.input, args.right)]
    measure = {"shingle": args.shingle, "threshold": args.threshold, "profile": args.profile, "content": "page"}
    names = (_name(args.input), _name(args.right))
    found = urls(*sides, match=args.match, similarity=similarity, names=names, work=job.work(), partitions=args.partitions, **measure)
    refused = job.refused({"left": args.input, "right": args.right}, None, True)
    summary = found.summary
    for side, skipped in zip(("left", "right"), refused.skipped()):
        summary[side]["skipped"] = skipped
    with _pending(job.target) as folder:
        with open(os.path.join(folder, "overlap.jsonl"), "w", encoding="utf-8", newline="") as file:
            for batch in batches(found.overlap):
                file.writelines(_line(row) for row in batch.to_pylist())
        for name, table in (("domains", found.domains), ("tlds", found.tlds)):
            with open(os.path.join(folder, f"{name}.tsv"), "w", encoding="utf-8", newline="") as file:
                file.write("\t".join(table.columns) + "\n")
                for batch in batches(table):
                    file.writelines("\t".join(map(_cell, row.values())) + "\n" for row in batch.to_pylist())
        write(refused.table, "rejected", os.path.join(folder, "rejected.jsonl"), False, "")
        measured = "" if similarity is None else f'\n[measure]\nsimilarity = "{similarity}"\nshingle = {args.shingle}\nthreshold = "{args.threshold}"\n'  # fmt: skip
        _text(folder, "recipe.toml", f'lookalike = "{__version__}"\ntask = "urls"\nmatching = "{args.match}"\norder = "id"\n{measured}')
        _json(folder, "summary.json", summary)
    counts = [
        ("left documents", summary["left"]["documents"]),
        ("right documents", summary["right"]["documents"]),
        ("shared addresses", summary["shared_urls"]),
        ("  registered domains", summary["shared_domains"]),
        ("left documents with one", summary["left_documents_with_shared_url"]),
    ]
    return _finish(job, found.work, summary["left"]["rejected"] + summary["right"]["rejected"], counts)


def _transfer(spark: SparkSession, args: argparse.Namespace) -> int:
    from . import transfer

    job = _Job(spark, args)
    args.order_field = "id"
    recipe = job.recipe("compare")
    how = job.how()
    name = " ".join(args.new)
    old, new = job.documents(args.old), job.documents(args.new)
    found = transfer(args.judgments, old, new, layout=args.layout, matches=args.matches, name=name, **how)
    refused = job.refused({"left": args.old, "right": args.new})
    summary = found.summary
    summary["right"]["skipped"] = refused.skipped()[1]
    with _pending(job.target) as folder:
        for file, text in found.files.items():
            _text(folder, file, text)
        write(refused.table, "rejected", os.path.join(folder, "rejected.jsonl"), False, recipe)
        _text(folder, "recipe.toml", recipe)
        _json(folder, "summary.json", summary)
    counts = [
        ("judged documents", summary["judged"]),
        ("not in old corpus", summary["missing"]),
        ("new documents", summary["right"]["documents"]),
        ("found", summary["found"]),
        ("near-duplicate", summary["near"]),
        ("judgments written", summary["written"]),
        ("conflicts", summary["conflicts"]),
    ]
    return _finish(job, found.work, summary["old_rejected"] + summary["right"]["rejected"], counts)


def _ordered(summary: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: summary[name] for name in [*names, *(name for name in summary if name not in names)]}


def _name(inputs: list[str]) -> str:
    """What a side is called: its first input, and how many there are beside it."""
    first = os.path.basename(os.path.normpath(inputs[0]))
    return first if len(inputs) == 1 else f"{first} and {len(inputs) - 1} more"


def _line(row: dict[str, Any]) -> str:
    kept = {name: value for name, value in row.items() if value != 0 or name not in ("left_more", "right_more")}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n"


def _cell(value: Any) -> str:
    """A cell of a table: shares with six decimals; what would end a cell is written as `\\u{9}`."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6f}"
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda found: f"\\u{{{ord(found[0]):x}}}", str(value))
