//! Files to write must not fall on each other or on what is read.

use std::path::Path;

use lookalike::corpus::{Corpus, Origin};
use lookalike::request::resolve_path;

use crate::exit::Failure;

/// Refuses two outputs at one path.
pub(crate) fn check_distinct(outputs: &[&Path]) -> Result<(), Failure> {
    for (index, output) in outputs.iter().enumerate() {
        if outputs[..index].iter().any(|earlier| resolve_path(earlier) == resolve_path(output)) {
            return Err(Failure::Usage(format!(
                "{} is to hold two outputs; name two files",
                output.display()
            )));
        }
    }
    Ok(())
}

/// Refuses outputs that would replace a file of `corpus`, and two at one path.
pub(crate) fn check_outputs(corpus: &Corpus, outputs: &[&Path]) -> Result<(), Failure> {
    check_distinct(outputs)?;
    for output in outputs.iter().filter(|output| output.is_file()) {
        let resolved = resolve_path(output);
        let read = corpus.shards().iter().any(|shard| match &shard.origin {
            Origin::File(path) => resolve_path(path) == resolved,
            _ => false,
        });
        if read {
            let sentence = format!("{} is one of the inputs; write to another file", output.display());
            return Err(Failure::Usage(sentence));
        }
    }
    Ok(())
}
