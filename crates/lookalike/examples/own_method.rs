//! A method of one's own: keys from sentences, run by the engine as any other.
//!
//! `crates/methods/src/template.rs` is a method to copy from; a method that others may want belongs beside it.
//!
//! `cargo run -p lookalike --example own_method`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use lookalike::Options;
use lookalike::hash;
use lookalike::methods::{
    Abilities, About, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, contract, method,
    register,
};
use lookalike::model::Recipe;

/// Everything that people and recipes are told of the method.
static ABOUT: About = About {
    name: "common-sentence",
    aliases: &[],
    summary: "documents with a sentence in common",
    source: "this example",
    formula: "keys = { h(s) : s a sentence of `least` words or more }",
    example: "lookalike pairs docs.jsonl -o pairs.jsonl --method common-sentence:least=4",
    parameters: &[("least", "words of the shortest sentence that counts")],
    make: CommonSentence::make,
};

#[derive(Debug)]
struct CommonSentence {
    least: usize,
}

impl CommonSentence {
    fn make(mut spec: Spec, _: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let least = spec.value("least", 3, "a whole number of 1 or more is wanted", |least| *least > 0)?;
        spec.finish()?;
        Ok(Box::new(CommonSentence { least }))
    }
}

impl Method for CommonSentence {
    fn recipe(&self) -> Recipe {
        Recipe::new(ABOUT.name, 1).with("least", self.least)
    }

    fn payload_bytes(&self) -> usize {
        8
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let sentences = (0..page.sentence_count()).map(|sentence| page.sentence(sentence));
        let long = sentences.filter(|words| words.len() >= self.least);
        sketch.keys.extend(long.map(|words| Key { value: hash::gram(&page.hashes()[words]), tag: 0 }));
        sketch.keys.sort_unstable();
        sketch.keys.dedup();
        sketch.payload.extend_from_slice(&(sketch.keys.len() as u64).to_le_bytes());
    }

    /// A sentence in common is enough, where both have one that counts; how similar both are is measured by the engine.
    fn accept(&self, a: &[u8], b: &[u8], _: u32) -> Option<Score> {
        let has_keys = |payload: &[u8]| payload.iter().any(|byte| *byte > 0);
        (has_keys(a) && has_keys(b)).then_some(Score::even(1.0))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { sentences: true, ..Abilities::default() }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    register(&ABOUT)?;
    let texts = [
        "It was the best of times. It was the worst of times. Nobody knew which.",
        "Nothing of the kind is said here, in no sentence at all.",
        "It was the best of times! It was the worst of times. Nobody ever knew which.",
        "Nobody knew which. But all the rest of this page is about another thing.",
    ];

    // The engine relies on what every method keeps; a test of one's own method looks for it so.
    contract::check(&*method("common-sentence", &Setting::default())?, &texts)?;

    let options = Options::new().method("common-sentence:least=3").shingle(1).threshold(0.8).memory(1 << 30);
    let found = options.dedup(texts)?;
    println!("proposed {} pairs, measured {}", found.summary.candidates, found.summary.verified);
    for removed in &found.removed {
        println!("text {} is like text {}, {:.3}", removed.position, removed.witness, removed.similarity);
    }
    // The last text shares a sentence with the first, and was measured to be another one.
    assert_eq!((found.kept.as_slice(), found.summary.candidates), (&[0, 1, 3][..], 2));
    assert_eq!((found.removed[0].position, found.removed[0].witness), (2, 0));

    // An index runs it, too.
    let folder = tempfile::tempdir()?;
    let index = options.create_index(folder.path().join("seen"))?;
    let new = texts.iter().enumerate().map(|(n, text)| Ok(index.add(&n.to_string(), text)?.is_new()));
    assert_eq!(new.collect::<Result<Vec<_>, lookalike::Error>>()?, [true, true, false, true]);
    Ok(())
}
