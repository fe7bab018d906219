"""The corpus: pages of Debian's documentation packages, as text, in one form that every system splits into the same words.

    packages/NAME_*.deb   as downloaded
    pages/NAME.jsonl      its pages as text           {"id": "NAME/path", "text": …}
    words/NAME.jsonl      the same pages, lower-case words with one blank between
    large.jsonl           all of words/
    small.jsonl           a subset with at least 150 MB of text
    raw-small.jsonl       the same pages of pages/

What is there is not made again. Order and content depend on nothing but the packages.
"""

import gzip
import hashlib
import html
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unicodedata
from pathlib import Path

HERE = Path(__file__).parent
SMALL_BYTES = 150_000_000
SEED = "lookalike"
LEAST_WORDS = 5

PAGE = re.compile(r"\.(html?|xhtml|txt|rst|md|\d[a-z]*)$")
MARKUP = re.compile(r"(?is)<(script|style|template)\b.*?</\1\s*>|<!--.*?-->|<[a-z/!?][^>]*>")
ROFF = re.compile(r'(?m)^[.\'](\\".*|[A-Za-z]+)?|\\f.|\\\(..|\\')
BLANKS = re.compile(r"[^\S\n]+")
LINES = re.compile(r"\s*\n\s*")
ACCENTS = re.compile("[\u0300-\u036f]+")
NOT_A_WORD = re.compile(r"[^a-z0-9]+")
LATIN = re.compile(r"[a-z]")
FOREIGN = re.compile(r"[^\W\d_a-z]")


def text_of(path, content):
    """What a page says, without its markup; None if it isn't a page."""
    if path.endswith(".gz"):
        path = path[:-3]
        content = gzip.decompress(content)
    kind = PAGE.search(path)
    if not kind:
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    if "htm" in kind[1]:
        text = html.unescape(MARKUP.sub(" ", text))
    elif kind[1][0].isdigit():
        text = ROFF.sub(" ", text)
    return LINES.sub("\n", BLANKS.sub(" ", text)).strip()


def words_of(text):
    """Lower-case words of a-z and 0-9: what all tokenisers agree on. None for pages in other scripts, of which
    only crumbs would be left, and for pages that are too short to have a shingle."""
    text = text.lower()
    if not text.isascii():
        text = ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        if len(FOREIGN.findall(text)) > len(LATIN.findall(text)):
            return None
    words = NOT_A_WORD.sub(" ", text).strip()
    return words if words.count(" ") + 1 >= LEAST_WORDS else None


def download(name, folder):
    """The package's file, or None if the release has no such package."""
    def found():
        return next(iter(sorted(folder.glob(f"{name}_*.deb"))), None)

    if not found() and shutil.which("apt-get"):
        # Into a folder of its own first: a download that breaks off leaves half a file.
        with tempfile.TemporaryDirectory(dir=folder) as part:
            os.chmod(part, 0o755)
            done = subprocess.run(["apt-get", "download", "-qq", name], cwd=part, capture_output=True, check=False)
            for file in Path(part).glob("*.deb") if done.returncode == 0 else ():
                file.rename(folder / file.name)
    return found()


def pages(package):
    """(path, bytes) of every page of a package, in its order, without unpacking it to disk."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as unpack:
        with tarfile.open(fileobj=unpack.stdout, mode="r|") as archive:
            for member in archive:
                path = member.name.removeprefix("./")
                if member.isreg() and PAGE.search(path.removesuffix(".gz")):
                    yield path, archive.extractfile(member).read()
        unpack.stdout.read()
    if unpack.returncode != 0:
        raise RuntimeError(f"{package} is damaged: delete it and run again")


def line(name, text):
    return json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n"


def extract(job):
    """Writes pages/NAME.jsonl and words/NAME.jsonl; the latter is renamed last and shows that both are whole."""
    name, package, cache = job
    text_file, words_file = cache / "pages" / f"{name}.jsonl", cache / "words" / f"{name}.jsonl"
    if words_file.exists():
        return name
    parts = [Path(f"{file}.part") for file in (text_file, words_file)]
    with open(parts[0], "w", encoding="utf-8") as texts, open(parts[1], "w", encoding="utf-8") as words:
        for path, content in pages(package):
            text = text_of(path, content)
            clean = text and words_of(text)
            if clean:
                texts.write(line(f"{name}/{path}", text))
                words.write(line(f"{name}/{path}", clean))
    parts[0].rename(text_file)
    parts[1].rename(words_file)
    return name


def clean(source, target):
    """Writes the documents of any JSON lines as words."""
    part = Path(f"{target}.part")
    with open(part, "w", encoding="utf-8") as out:
        for document in map(json.loads, rows([source])):
            text = document.get("text") or text_of("a.html", document.get("html", "").encode())
            words = words_of(text)
            if words:
                out.write(line(document["id"], words))
    part.rename(target)


def page_name(id):
    """Versions of a page have one name, so that a subset of names keeps them together."""
    return id.rpartition("/")[2]


def rows(files):
    for file in files:
        with open(file, encoding="utf-8") as lines:
            yield from lines


def chosen_names(files, least=SMALL_BYTES):
    """Names of pages in a seeded order until there is text enough."""
    sizes = {}
    for document in map(json.loads, rows(files)):
        name = page_name(document["id"])
        sizes[name] = sizes.get(name, 0) + len(document["text"])
    order = sorted(sizes, key=lambda name: hashlib.sha256(f"{SEED}:{name}".encode()).digest())
    chosen, size = set(), 0
    for name in order:
        if size >= least:
            break
        chosen.add(name)
        size += sizes[name]
    return chosen


def subset(files, chosen, output):
    part = Path(f"{output}.part")
    with open(part, "w", encoding="utf-8") as target:
        target.writelines(row for row in rows(files) if page_name(json.loads(row)["id"]) in chosen)
    part.rename(output)


def join(files, output):
    part = Path(f"{output}.part")
    with open(part, "wb") as target:
        for file in files:
            with open(file, "rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
    part.rename(output)


def make(cache, say=print):
    """Makes large.jsonl, small.jsonl and raw-small.jsonl; returns False if no package can be had."""
    if all((cache / file).exists() for file in ("large.jsonl", "small.jsonl", "raw-small.jsonl")):
        return True
    for folder in ("packages", "pages", "words"):
        (cache / folder).mkdir(parents=True, exist_ok=True)
    names = (HERE / "packages.txt").read_text().split()
    jobs = []
    with multiprocessing.Pool(os.cpu_count()) as pool:
        done = []
        for name in names:
            package = download(name, cache / "packages")
            if package is None:
                say(f"skipped: this release has no package {name}")
                continue
            jobs.append(name)
            done.append(pool.apply_async(extract, ((name, package, cache),)))
        for job in done:
            job.get()
    if not jobs:
        return False
    words = [cache / "words" / f"{name}.jsonl" for name in jobs]
    chosen = chosen_names(words)
    subset(words, chosen, cache / "small.jsonl")
    subset([cache / "pages" / f"{name}.jsonl" for name in jobs], chosen, cache / "raw-small.jsonl")
    join(words, cache / "large.jsonl")
    return True

