//! The program as its users meet it: every test runs the real binary.

mod convert; // documents in, a file out: round trips, whole or not at all, full disks
mod damage; // bad input: what is rejected, with which place and reason, and what stops the work
mod diff; // two documents word by word
mod formats; // the same documents in every format and compression are the same documents
mod generate; // a corpus from a seed, with its truth beside it
mod help; // what --help and the results look like, as snapshots
mod interrupt; // Ctrl-C and kill: prompt, and nothing is left behind
mod limits; // huge lines in little memory, thousands of files, any number of threads
mod names; // odd file names, links, devices, and outputs that would fall on inputs
mod progress; // words for people on standard error never mix with results
mod real; // real corpora, where they are at hand
mod support; // helpers: run the program, make documents, read what it wrote
mod usage; // wrong usage: one clear sentence and the right exit code
