//! The program as its users meet it: every test runs the real binary.

mod apply; // a corpus without the documents that a list names
mod census; // engines of known size: built, asked, asked again from the record
mod check; // results that are no longer what was written are found
mod convert; // documents in, a file out: round trips, whole or not at all, full disks
mod damage; // bad input: what is rejected, with which place and reason, and what stops the work
mod dedup; // the files of a job, and what its options decide
mod diff; // two documents word by word
mod endings; // what a command prints when it is done: tables, objects, sentences, colours
mod faults; // killed, damaged, out of disk: a job goes on or says why it cannot, and never lies
mod fields; // fields by name, on every side: refused where nobody has them, found inside others
mod forged; // words and names made to have one hash: what shares nothing is never taken for equal
mod formats; // the same documents in every format and compression are the same documents
mod generate; // a corpus from a seed, with its truth beside it
mod help; // what --help and the results look like, as snapshots
mod index; // documents on disk, for ever: added, asked, taken out, killed, day by day
mod inputs; // the contract with the input: names, changes, what is no data
mod interrupt; // Ctrl-C and kill: prompt, and nothing is left behind
mod job_support; // helpers for jobs: documents that resemble each other, similarities by brute force, what a job left behind
mod jobs; // the folder of a job: whose it is, what may change between two starts, what may not
mod judgments; // judgments and runs: counted, and without near-duplicates
mod kept; // copies of the input shards: kept and removed make all
mod lab; // methods measured on a corpus, goals reached, experiments repeated
mod limits; // huge lines in little memory, thousands of files, any number of threads
mod losses; // records that cannot be read: how many are too many, and what is told of them
mod memory; // a cap that holds against inputs made to break it
mod methods; // all methods alone, together, and with lexicons
mod names; // odd file names, links, devices, and outputs that would fall on inputs
mod order; // documents in the order of a field: held against a sorted copy, killed, refused
mod pairs; // every pair, held against all of them by brute force
mod power; // power is lost: what was not on the disk is gone
mod presets; // settings of published pipelines: shown, run, and changed by options
mod program; // completions and manual pages
mod progress; // words for people on standard error never mix with results
mod real; // real corpora, where they are at hand
mod review; // a person judges pairs on a page: real requests, and what is kept
mod same; // same input, same recipe, same bytes
mod serve; // the service: how it starts, whom it refuses, how it ends
mod stored; // files of earlier programs: a sample of every version of every format is opened
mod support; // helpers: run the program, make documents, read what it wrote
mod two; // two corpora: pairs between them, and judgments carried over
mod urls; // addresses that corpora share: files, lists, judgments, snapshots
mod usage; // wrong usage: one clear sentence and the right exit code
