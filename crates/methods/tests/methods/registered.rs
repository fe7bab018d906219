//! Methods that a program adds. They are there for the rest of the process, so that this test has one of its own.

use lookalike_methods::about::{about, registered};
use lookalike_methods::{
    About, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, contract, method, names, register,
};
use lookalike_model::Recipe;

/// A method by which documents with the same first word meet.
#[derive(Debug)]
struct FirstWord;

impl FirstWord {
    fn make(spec: Spec, _: &Setting) -> Result<Box<dyn Method>, MethodError> {
        spec.finish()?;
        Ok(Box::new(FirstWord))
    }
}

impl Method for FirstWord {
    fn recipe(&self) -> Recipe {
        Recipe::new(ABOUT.name, 1)
    }

    fn payload_bytes(&self) -> usize {
        8
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let first = page.hashes().first().copied();
        sketch.keys.extend(first.map(|value| Key { value, tag: 0 }));
        sketch.payload.extend_from_slice(&first.unwrap_or_default().to_le_bytes());
    }

    fn accept(&self, a: &[u8], b: &[u8], _: u32) -> Option<Score> {
        (a == b).then_some(Score::even(1.0))
    }
}

const ABOUT: About = About {
    name: "first-word",
    aliases: &[("fw", "first-word")],
    summary: "documents with the same first word",
    source: "nobody",
    formula: "key = h(w_1)",
    example: "lookalike pairs docs.jsonl -o pairs.jsonl --method first-word",
    parameters: &[],
    make: FirstWord::make,
};

static FIRST_WORD: About = ABOUT;
static SAME_NAME: About = About { aliases: &[], ..ABOUT };
static SAME_ALIAS: About = About { name: "second-word", ..ABOUT };
static TAKEN_ALIAS: About = About { name: "third-word", aliases: &[("a0", "third-word")], ..ABOUT };
static ODD_NAME: About = About { name: "my:method", aliases: &[], ..ABOUT };
static NO_NAME: About = About { name: "", aliases: &[], ..ABOUT };

#[test]
fn a_method_of_a_program_is_found_by_its_names() {
    let setting = Setting::default();
    assert!(method("first-word", &setting).is_err());
    register(&FIRST_WORD).unwrap();
    // Once more changes nothing.
    register(&FIRST_WORD).unwrap();
    assert_eq!(registered().len(), 1);
    for name in ["first-word", "fw", "first-word/1"] {
        let method = method(name, &setting).unwrap();
        assert_eq!(method.recipe().to_string(), "first-word/1");
        assert_eq!(contract::check(&*method, &["", "rose", "a rose", "A tulip. And a rose"]), Ok(()));
    }
    assert!(names().any(|name| name == "fw") && names().any(|name| name == "minhash"));
    assert_eq!(about("fw").map(|about| about.summary), Some(ABOUT.summary));
    let told = method("first-wrod", &setting).unwrap_err().to_string();
    assert!(told.contains("first-word may be meant"), "{told}");

    for (other, sentence) in [
        (&SAME_NAME, "there is a method first-word already"),
        (&SAME_ALIAS, "there is a method fw already"),
        (&TAKEN_ALIAS, "there is a method a0 already"),
        (&ODD_NAME, "\"my:method\" cannot be the name of a method"),
        (&NO_NAME, "\"\" cannot be the name of a method"),
    ] {
        let told = register(other).unwrap_err().to_string();
        assert!(told.starts_with(sentence), "{told}");
    }
    assert!(registered().len() == 1 && about("second-word").is_none() && about("third-word").is_none());
}
