//! Files to write must not fall on each other or on what is read.

use std::path::Path;

use lookalike::asked::place;
use lookalike::corpus::{Corpus, Origin};

use crate::exit::Failure;

/// Refuses two outputs at one place.
pub(crate) fn apart(outputs: &[&Path]) -> Result<(), Failure> {
    for (index, output) in outputs.iter().enumerate() {
        if outputs[..index].iter().any(|earlier| place(earlier) == place(output)) {
            return Err(Failure::Usage(format!(
                "{} is to hold two outputs; name two files",
                output.display()
            )));
        }
    }
    Ok(())
}

/// Refuses outputs that would replace a file of `corpus`, and two at one place.
pub(crate) fn apart_from(corpus: &Corpus, outputs: &[&Path]) -> Result<(), Failure> {
    apart(outputs)?;
    for output in outputs.iter().filter(|output| output.is_file()) {
        let place = place(output);
        let read = corpus.shards().iter().any(|shard| match &shard.origin {
            Origin::File(path) => lookalike::asked::place(path) == place,
            _ => false,
        });
        if read {
            let sentence = format!("{} is one of the inputs; write to another file", output.display());
            return Err(Failure::Usage(sentence));
        }
    }
    Ok(())
}
