//! Generated corpora from outside: what they hold, and that they stay what they are.

mod crawls;
mod reader;
mod stream;
mod truth;
