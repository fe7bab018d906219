//! For each command, the options that its short help shows and the examples that its long help ends with.

/// The help of one command, beside the texts of its options.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// The words of the command behind `lookalike`.
    pub command: &'static str,
    /// Options that short help shows, beside arguments and what is required.
    pub options: &'static [&'static str],
    /// Command lines that long help ends with.
    pub examples: &'static [Example],
}

/// A command line, and its purpose.
pub type Example = (&'static str, &'static str);

/// The pages of all commands.
pub const PAGES: &[Page] = &[
    Page {
        command: "",
        options: &[],
        examples: &[
            (
                "lookalike dedup --sample",
                "Find the near-duplicates among 3,000 built-in pages, and keep one of each",
            ),
            (
                "lookalike dedup crawl/ -o clean --write kept",
                "Copy a crawl without its near-duplicates, to clean/kept/",
            ),
            (
                "lookalike pairs crawl/ -o pairs.parquet --threshold 0.9",
                "Write every pair with its measured similarity",
            ),
            (
                "lookalike index add seen today/",
                "Remember documents, and say which of them were there before",
            ),
        ],
    },
    Page {
        command: "dedup",
        options: &[
            "sample",
            "output",
            "against",
            "keep",
            "write",
            "plan",
            "threshold",
            "preset",
            "method",
            "memory",
            "text_field",
        ],
        examples: &[
            (
                "lookalike dedup --sample",
                "Find the near-duplicates among 3,000 built-in pages; results are in lookalike-sample/",
            ),
            (
                "lookalike dedup crawl/ -o clean --write kept",
                "Copy the files of a crawl without near-duplicates, to clean/kept/",
            ),
            ("lookalike dedup today/ -o new --against archive/", "Remove what another corpus has, too"),
            (
                "lookalike dedup crawl/ -o clean --text-field body --plan",
                "Say from a sample how long it takes and how much goes; texts are in the field body",
            ),
        ],
    },
    Page {
        command: "pairs",
        options: &[
            "sample",
            "all",
            "threshold",
            "shingle",
            "similarity",
            "method",
            "threads",
            "memory",
            "json",
        ],
        examples: &[
            (
                "lookalike pairs crawl/ -o pairs.jsonl",
                "Write all pairs that share 0.8 or more of their shingles",
            ),
            (
                "lookalike pairs crawl/ -o pairs.parquet --threshold 0.9 --shingle 1",
                "Compare sets of words, and write a Parquet file",
            ),
            (
                "lookalike pairs mail/ -o pairs.jsonl --content email --method simhash --all",
                "Also write what SimHash proposes and is less similar",
            ),
        ],
    },
    Page {
        command: "compare",
        options: &["segment", "threshold", "shingle", "similarity", "method", "threads", "memory", "json"],
        examples: &[
            ("lookalike compare old/ --with new/ -o shared", "Find each old document among the new ones"),
            (
                "lookalike compare wiki.xml.bz2 --with crawl/ -o copies --similarity containment",
                "Find articles that are parts of pages",
            ),
            (
                "lookalike compare 2019/ --with 2020/ --with 2021/ -o lives --method simhash --method minhash",
                "Count snapshots and methods one by one",
            ),
        ],
    },
    Page {
        command: "transfer",
        options: &["matches", "review", "threshold", "shingle", "threads", "memory", "json"],
        examples: &[
            (
                "lookalike transfer --judgments qrels.txt --from old/ --to new/ -o moved",
                "Carry judgments to documents with nearly the same words",
            ),
            (
                "lookalike transfer --judgments qrels.txt --from old/ --to new/ -o all --matches all",
                "Carry them to all near-duplicates, not to the best alone",
            ),
            ("lookalike lab review moved/review.jsonl", "Judge some of what was found yourself"),
        ],
    },
    Page {
        command: "urls",
        options: &["matching", "judgments", "threshold", "no_similarity", "threads", "memory", "json"],
        examples: &[
            (
                "lookalike urls old/ --with new/ -o shared",
                "Find the addresses of both crawls, and how similar their pages are",
            ),
            (
                "lookalike urls old.list.gz --with new.list.gz -o shared --match canonical",
                "Compare lists of addresses; http and https are the same",
            ),
            (
                "lookalike urls 2019/ --with 2020/ --with 2021/ -o lives",
                "Follow pages from snapshot to snapshot",
            ),
        ],
    },
    Page {
        command: "index",
        options: &[],
        examples: &[
            ("lookalike index create seen --threshold 0.8", "Make an index"),
            ("lookalike index add seen crawl/", "Add documents: each is new, or a kept one stands for it"),
            (
                "tail -f pages.jsonl | lookalike index query seen -",
                "Answer line by line what documents are near-duplicates of",
            ),
        ],
    },
    Page {
        command: "index create",
        options: &["no_text", "threshold", "shingle", "method", "id_field", "text_field"],
        examples: &[
            ("lookalike index create seen", "Near-duplicates share 0.8 of their shingles of 5 words"),
            (
                "lookalike index create seen --threshold 0.9 --shingle 1 --text-field body",
                "Compare sets of words; texts are in the field body",
            ),
            (
                "lookalike index create seen --method imatch --learn crawl/",
                "Count common words in a corpus first",
            ),
        ],
    },
    Page {
        command: "index add",
        options: &["replace", "verdicts", "sync", "threads", "memory", "json"],
        examples: &[
            ("lookalike index add seen crawl/", "Add documents, and count how many are new"),
            (
                "lookalike index add seen today.jsonl --verdicts -",
                "Print a line of JSON for each document: new, or for which one it goes",
            ),
            (
                "lookalike index add seen changed.jsonl --replace --sync",
                "Replace documents, and survive a power failure",
            ),
        ],
    },
    Page {
        command: "index query",
        options: &["limit", "threads", "memory"],
        examples: &[
            (
                "lookalike index query seen pages.jsonl",
                "Say for each document which ones it is a near-duplicate of",
            ),
            (
                "tail -f pages.jsonl | lookalike index query seen - --limit 1",
                "Answer each line at once with its best match",
            ),
        ],
    },
    Page {
        command: "index remove",
        options: &["ids_from", "sync", "json"],
        examples: &[
            ("lookalike index remove seen page-7 page-9", "Take two documents out"),
            (
                "lookalike index remove seen --ids-from gone.txt",
                "Take out whatever a file names, an id in each line",
            ),
        ],
    },
    Page {
        command: "index merge",
        options: &["sync", "memory", "json"],
        examples: &[
            ("lookalike index merge seen other", "Add the documents of another index"),
            ("lookalike index merge seen", "Make one segment of many, so that queries are fastest"),
        ],
    },
    Page {
        command: "index check",
        options: &["json"],
        examples: &[
            ("lookalike index check seen", "Read everything; exit code 1 when something is wrong"),
            ("lookalike index check seen --json", "Print what was found as JSON"),
        ],
    },
    Page {
        command: "index stats",
        options: &["json"],
        examples: &[
            ("lookalike index stats seen", "Count documents, segments and bytes"),
            ("lookalike index stats seen --json", "Print the counts as JSON"),
        ],
    },
    Page {
        command: "serve",
        options: &["address", "read_only", "sync", "token_file", "insecure", "log"],
        examples: &[
            ("lookalike serve seen", "Serve an index to this machine, at http://127.0.0.1:8080"),
            (
                "lookalike serve seen --address 0.0.0.0:8080 --token-file tokens --sync",
                "Serve it to others, who need a token",
            ),
            ("lookalike serve clean", "Look at the results of a finished dedup in a browser"),
        ],
    },
    Page {
        command: "completions",
        options: &[],
        examples: &[
            (
                "lookalike completions bash > ~/.local/share/bash-completion/completions/lookalike",
                "For bash, from the next shell on",
            ),
            ("lookalike completions zsh > ~/.zfunc/_lookalike", "For zsh, where fpath has ~/.zfunc"),
            ("lookalike completions fish > ~/.config/fish/completions/lookalike.fish", "For fish"),
            ("lookalike completions powershell >> $PROFILE", "For PowerShell"),
        ],
    },
    Page {
        command: "man",
        options: &["json"],
        examples: &[
            (
                "lookalike man ~/.local/share/man/man1",
                "Write the pages to where man looks for those of a user",
            ),
            ("lookalike man pages", "Write them to a folder; man -l pages/lookalike-dedup.1 shows one"),
        ],
    },
    Page {
        command: "bench",
        options: &[],
        examples: &[
            ("lookalike bench serve 127.0.0.1:8080", "Send generated documents for ten seconds"),
            (
                "lookalike bench serve 127.0.0.1:8080 --check ids.txt",
                "Ask for documents that were acknowledged before",
            ),
        ],
    },
    Page {
        command: "bench serve",
        options: &["clients", "seconds", "acknowledged", "check", "json"],
        examples: &[
            (
                "lookalike bench serve 127.0.0.1:8080 --clients 16 --seconds 60",
                "Send documents by 16 clients for a minute",
            ),
            (
                "lookalike bench serve 127.0.0.1:8080 --acknowledged ids.txt",
                "Note what the service acknowledged",
            ),
            (
                "lookalike bench serve 127.0.0.1:8080 --check ids.txt",
                "Ask whether all of it is there, after a restart",
            ),
        ],
    },
    Page {
        command: "diff",
        options: &["shingle", "all", "json", "color"],
        examples: &[
            ("lookalike diff old.html new.html", "Compare two files"),
            (
                "lookalike diff crawl/a.jsonl#page-7 crawl/b.jsonl#page-9 --all",
                "Compare two documents by their ids, and show all words",
            ),
        ],
    },
    Page {
        command: "check",
        options: &["measure", "json", "threads", "memory"],
        examples: &[
            ("lookalike check clean", "Check the results of a finished dedup"),
            (
                "lookalike check --measure clean",
                "Also measure every removed document against its witness again",
            ),
            ("lookalike check seen", "Check an index"),
        ],
    },
    Page {
        command: "methods",
        options: &["json"],
        examples: &[
            ("lookalike methods", "List all methods with parameters, costs and papers"),
            ("lookalike methods imatch", "Explain one"),
        ],
    },
    Page {
        command: "presets",
        options: &[],
        examples: &[
            ("lookalike presets", "List the pipelines whose settings are known"),
            (
                "lookalike presets fineweb > mine.toml",
                "Write one as a recipe, to be changed and given to --recipe",
            ),
            ("lookalike dedup crawl/ -o clean --preset fineweb", "Work by one"),
        ],
    },
    Page {
        command: "lexicon",
        options: &["sample", "output", "content", "profile", "threads", "memory", "json"],
        examples: &[
            ("lookalike lexicon news/ -o words.lexicon --profile kolcz", "Count words for the method imatch"),
            ("lookalike lexicon show words.lexicon", "Show totals and the most common words"),
            (
                "lookalike dedup mail/ -o out --method imatch --lexicon words.lexicon",
                "Use what was counted for another corpus",
            ),
        ],
    },
    Page {
        command: "lexicon show",
        options: &["number", "json"],
        examples: &[
            ("lookalike lexicon show words.lexicon -n 50", "Show the 50 most common words"),
            ("lookalike lexicon show words.lexicon free money", "Show how common two words are"),
        ],
    },
    Page {
        command: "lab",
        options: &[],
        examples: &[
            (
                "lookalike lab tune crawl/ --recall 0.97 -o tuned",
                "Find the cheapest recipe that reaches a goal",
            ),
            ("lookalike lab compare crawl/ --methods all -o compared", "Run all methods side by side"),
            ("lookalike lab check clean", "Estimate what a finished dedup reached"),
        ],
    },
    Page {
        command: "lab compare",
        options: &["sample", "methods", "truth", "pool", "review", "json", "threads", "memory"],
        examples: &[
            ("lookalike lab compare crawl/ -o compared", "Run all methods side by side"),
            (
                "lookalike lab compare crawl/ --methods minhash,simhash,a12 --pool exact -o compared",
                "Run three of them, against all near-duplicates that there are",
            ),
            ("lookalike lab review compared/review.jsonl", "Judge a sample of the pairs yourself"),
        ],
    },
    Page {
        command: "lab tune",
        options: &[
            "sample",
            "recall",
            "precision",
            "shingle",
            "threshold",
            "documents",
            "json",
            "threads",
            "memory",
        ],
        examples: &[
            (
                "lookalike lab tune crawl/ --recall 0.97 --precision 0.99 -o tuned",
                "Find the cheapest recipe that reaches both",
            ),
            ("lookalike dedup crawl/ --recipe tuned/recipe.toml -o clean", "Run it"),
        ],
    },
    Page {
        command: "lab check",
        options: &["documents", "removals", "json", "threads", "memory"],
        examples: &[
            ("lookalike lab check clean", "Estimate recall and precision of a finished dedup"),
            (
                "lookalike lab check clean moved/crawl/ --documents 100000",
                "The input lies elsewhere now; take a larger sample of it",
            ),
        ],
    },
    Page {
        command: "lab review",
        options: &["labels", "by", "summary", "json"],
        examples: &[
            ("lookalike lab review compared/review.jsonl", "Judge pairs in a browser, by keyboard"),
            ("lookalike lab review compared/review.jsonl --summary", "Count the labels that are there"),
        ],
    },
    Page {
        command: "lab experiment",
        options: &["all", "output", "corpus", "data", "json", "threads", "memory"],
        examples: &[
            ("lookalike lab experiment", "List all experiments with their papers"),
            ("lookalike lab experiment E7 -o e7", "Repeat one, beside its published figures"),
            ("lookalike lab experiment E1 E5 --corpus crawl/ -o mine", "Repeat two on your own corpus"),
        ],
    },
    Page {
        command: "corpus",
        options: &[],
        examples: &[
            (
                "lookalike corpus stats crawl/",
                "Count what is in a corpus, before anything else is done with it",
            ),
            ("lookalike corpus head crawl/ -n 3 --show words", "See what three documents become"),
            ("lookalike corpus convert crawl.warc.gz -o crawl.parquet", "Write a WARC file as Parquet"),
        ],
    },
    Page {
        command: "corpus stats",
        options: &["sample", "json", "text_field", "rejected", "threads", "memory"],
        examples: &[
            ("lookalike corpus stats crawl/", "Count documents, words, lengths and exact duplicates"),
            (
                "lookalike corpus stats crawl/ --rejected bad.jsonl",
                "Write down every record that cannot be read, and why",
            ),
        ],
    },
    Page {
        command: "corpus head",
        options: &["sample", "number", "show", "shingle", "text_field"],
        examples: &[
            ("lookalike corpus head crawl/ -n 3", "Show the text of three documents"),
            (
                "lookalike corpus head page.html --show shingles",
                "Show the shingles that a page is compared by",
            ),
        ],
    },
    Page {
        command: "corpus convert",
        options: &["sample", "text_field", "rejected", "memory", "json"],
        examples: &[
            ("lookalike corpus convert crawl.warc.gz -o crawl.parquet", "Write a WARC file as Parquet"),
            (
                "lookalike corpus convert wiki.xml.bz2 -o wiki.jsonl.zst",
                "Write a dump of a wiki as compressed JSON lines",
            ),
        ],
    },
    Page {
        command: "corpus generate",
        options: &["documents", "seed", "truth", "crawls", "json"],
        examples: &[
            (
                "lookalike corpus generate --documents 100000 -o pages.jsonl",
                "Make pages, and truth.jsonl with all pairs that were planted",
            ),
            (
                "lookalike corpus generate --crawls --documents 20000 -o crawls",
                "Make two crawls of one web, with judged pages",
            ),
        ],
    },
    Page {
        command: "corpus apply",
        options: &["sample", "by", "threads", "memory", "json"],
        examples: &[
            (
                "lookalike corpus apply crawl/ --removed clean/removed.jsonl -o patched",
                "Copy a crawl without what dedup removed",
            ),
            (
                "lookalike corpus apply crawl/ --removed ids.txt -o patched",
                "Copy it without the documents of a list of ids",
            ),
        ],
    },
    Page {
        command: "judgments",
        options: &[],
        examples: &[
            ("lookalike judgments stats qrels.txt", "Count lines, topics, documents and grades"),
            (
                "lookalike judgments dedup qrels.txt --groups clean/ -o unique.txt",
                "Keep one of each near-duplicate",
            ),
        ],
    },
    Page {
        command: "judgments stats",
        options: &["layout", "json"],
        examples: &[
            (
                "lookalike judgments stats qrels.2009.txt qrels.2010.txt.gz",
                "Count two files, and both together",
            ),
            ("lookalike judgments stats qrels.txt --json", "Print the counts as JSON"),
        ],
    },
    Page {
        command: "judgments dedup",
        options: &["removed", "conflicts", "keep", "groups", "from", "threshold", "shingle", "json"],
        examples: &[
            (
                "lookalike judgments dedup qrels.txt --groups clean/ -o unique.txt",
                "Take near-duplicates from a finished dedup",
            ),
            (
                "lookalike judgments dedup qrels.txt --conflicts c.jsonl -o unique.txt --from crawl/",
                "Find them among the judged documents of a corpus",
            ),
        ],
    },
    Page {
        command: "runs",
        options: &[],
        examples: &[
            (
                "lookalike runs dedup ours.run --groups clean/ -o unique.run",
                "Take near-duplicates from a finished dedup",
            ),
            (
                "lookalike runs dedup ours.run -o unique.run --from crawl/",
                "Find them among the retrieved documents of a corpus",
            ),
        ],
    },
    Page {
        command: "runs dedup",
        options: &["removed", "groups", "from", "threshold", "shingle", "json"],
        examples: &[
            (
                "lookalike runs dedup ours.run --groups clean/ -o unique.run",
                "Take near-duplicates from a finished dedup",
            ),
            (
                "lookalike runs dedup a.run b.run -o unique --from crawl/",
                "Find them in a corpus; unique/ gets both runs",
            ),
        ],
    },
    Page {
        command: "census",
        options: &[],
        examples: &[
            ("lookalike census index crawl/ -o crawl.idx", "Build a search engine to try things on"),
            ("lookalike census size crawl.idx --own mine/", "Estimate how many pages it has"),
            ("lookalike census walk links.tsv", "Estimate how many pages a web graph has"),
        ],
    },
    Page {
        command: "census size",
        options: &["baselines", "report", "calls", "transcript", "json"],
        examples: &[
            (
                "lookalike census size crawl.idx --own mine/ --calls 2000 --transcript asked.jsonl",
                "Ask 2,000 times, and keep all answers",
            ),
            (
                "lookalike census size theirs=http:engine.toml --own mine/",
                "Ask an engine over HTTP, which a small file describes",
            ),
            (
                "lookalike census size crawl.idx --own mine/ --baselines --report size.html",
                "Show what other estimators say, with pictures",
            ),
        ],
    },
    Page {
        command: "census compare",
        options: &["known", "report", "calls", "transcript", "json"],
        examples: &[
            (
                "lookalike census compare crawl.idx theirs=http:engine.toml --own mine/",
                "Estimate what share of each is in the other",
            ),
            (
                "lookalike census compare a.idx b.idx --own mine/ --known 40993",
                "The size of the first is known; that of the second follows",
            ),
        ],
    },
    Page {
        command: "census sample",
        options: &["calls", "transcript", "json"],
        examples: &[
            (
                "lookalike census sample crawl.idx --own mine/ -o pages.jsonl",
                "Draw pages, each with its weight",
            ),
            (
                "lookalike census sample http:engine.toml --own mine/ -o pages.jsonl --transcript asked.jsonl",
                "Go on after a stop, and ask nothing twice",
            ),
        ],
    },
    Page {
        command: "census walk",
        options: &["seeds", "fetches", "anyway", "json", "check", "pages"],
        examples: &[
            (
                "lookalike census walk links.tsv --seeds seeds.txt --fetches 10000",
                "Estimate the pages of a web graph",
            ),
            (
                "lookalike census walk links.tsv --check crawl.idx --pages texts/",
                "Estimate what share of them an engine has",
            ),
        ],
    },
    Page {
        command: "census ip",
        options: &["json"],
        examples: &[
            (
                "lookalike census ip servers.jsonl --draws 3600000",
                "Estimate servers and pages from random addresses",
            ),
            ("lookalike census ip servers.jsonl --draws 3600000 --json", "Print the estimates as JSON"),
        ],
    },
    Page {
        command: "census index",
        options: &["sample", "kind", "text_field", "json"],
        examples: &[
            ("lookalike census index crawl/ -o crawl.idx", "Build an index of tantivy"),
            ("lookalike census index crawl/ -o crawl.sqlite --kind sqlite", "Build one of SQLite"),
        ],
    },
];
