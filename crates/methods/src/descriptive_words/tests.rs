use super::*;
use lookalike_text::{Analyser, Features};

/// Documents on one of twenty topics: a few of its words are used much, others here and there.
fn corpus() -> Vec<String> {
    let document = |number: u64| {
        let random = |draw: u64, choices: u64| hash::nth(number + 1, draw) % choices;
        let topic = number % 20;
        let mut text = String::new();
        for draw in 0..6 {
            let word = format!("topic{}x{} ", topic, random(draw, 12));
            text.push_str(&word.repeat(8));
        }
        for draw in 100..130 {
            text.push_str(&format!("word{} ", random(draw, 3000)));
        }
        text.push_str(&"common ".repeat(10));
        text
    };
    (0..400).map(document).collect()
}

fn read(text: &str) -> Features {
    let mut features = Features::default();
    Analyser::new(&Profile::web()).read(text, &mut features);
    features
}

const METHOD: &str = "descriptive-words:profile=web,sample=300";

fn untrained(text: &str, lexicon: &Arc<Lexicon>) -> Box<dyn Method> {
    let method = crate::method(text, &Setting::default()).unwrap();
    method.abilities().learning.unwrap().learn(lexicon).unwrap();
    method
}

fn observe_all<'f>(method: &dyn Method, documents: impl IntoIterator<Item = &'f Features>) {
    for features in documents {
        method.abilities().survey.unwrap().observe(0, &Page { text: "", features }, &mut Buffers::default());
    }
}

fn sketch(method: &dyn Method, features: &Features) -> Sketch {
    let mut sketch = Sketch::default();
    method.sketch(&Page { text: "", features }, &mut sketch);
    sketch
}

struct TestCollection {
    documents: Vec<Features>,
    lexicon: Arc<Lexicon>,
}

impl TestCollection {
    fn new() -> Self {
        let documents: Vec<Features> = corpus().iter().map(|text| read(text)).collect();
        let lexicon = Arc::new(Lexicon::gather(&Profile::web().recipe(), &documents));
        TestCollection { documents, lexicon }
    }

    /// A method that has chosen its words.
    fn trained(&self, text: &str) -> Box<dyn Method> {
        let method = untrained(text, &self.lexicon);
        observe_all(&*method, &self.documents);
        method.abilities().survey.unwrap().end(0);
        method
    }
}

#[test]
fn small_edits_leave_the_signature_as_it_is() {
    let (collection, texts) = (TestCollection::new(), corpus());
    let method = collection.trained(METHOD);
    let mut signed = 0;
    for (text, features) in texts.iter().zip(&collection.documents) {
        let (one, two) = (sketch(&*method, features), sketch(&*method, &read(&format!("new {text} words"))));
        signed += one.keys.len();
        assert_eq!(one.payload, two.payload);
    }
    // Also most of those that were not in the sample.
    assert!(signed > 360, "{signed}");
    let mut signatures: Vec<Vec<u8>> =
        collection.documents.iter().map(|features| sketch(&*method, features).payload).collect();
    signatures.sort_unstable();
    signatures.dedup();
    assert!(signatures.len() > 200, "unrelated documents have different ones: {}", signatures.len());
    assert!(
        method.abilities().advice().unwrap().starts_with("descriptive-words chose "),
        "{:?}",
        method.abilities().advice()
    );
}

#[test]
fn the_signature_is_of_the_words_above_their_thresholds() {
    let collection = TestCollection::new();
    let method = collection.trained(METHOD);
    let Some(chosen) = ChosenWords::read(&mut ByteReader(&method.abilities().survey.unwrap().save()[1..]))
    else {
        panic!()
    };
    let words: Vec<String> = chosen
        .words
        .iter()
        .map(|(hash, _)| collection.lexicon.word(collection.lexicon.index_of(*hash).unwrap()).to_owned())
        .collect();
    assert!(chosen.words.len() >= 2 && !words.contains(&"common".to_owned()), "{words:?}");
    for features in &collection.documents {
        let count = |wanted: &str| features.words().filter(|word| *word == wanted).count();
        let most = features.words().map(count).max().unwrap();
        let set = (0u32..).zip(words.iter().zip(&chosen.words)).filter(|(_, (word, (_, edge)))| {
            // TF above the threshold: count/most > edge/100.
            count(word) * 100 > usize::from(*edge) * most
        });
        let numbers: Vec<u32> = set.map(|(number, _)| number).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let expected = if numbers.len() < 2 { 0 } else { hash::word(&bytes) };
        assert_eq!(sketch(&*method, features).payload, expected.to_le_bytes());
    }
}

#[test]
fn neither_order_nor_copies_nor_a_stop_in_the_midst_matter() {
    let collection = TestCollection::new();
    let expected = collection.trained(METHOD).abilities().survey.unwrap().save();

    let reversed = untrained(METHOD, &collection.lexicon);
    observe_all(&*reversed, collection.documents.iter().rev());
    observe_all(&*reversed, &collection.documents[..50]);
    reversed.abilities().survey.unwrap().end(0);
    assert!(reversed.abilities().survey.unwrap().save() == expected);

    let first = untrained(METHOD, &collection.lexicon);
    observe_all(&*first, &collection.documents[..170]);
    let second = untrained(METHOD, &collection.lexicon);
    assert!(second.abilities().survey.unwrap().load(&first.abilities().survey.unwrap().save()));
    observe_all(&*second, &collection.documents[170..]);
    second.abilities().survey.unwrap().end(0);
    assert!(second.abilities().survey.unwrap().save() == expected);
}

#[test]
fn the_choice_is_saved_and_taken_back() {
    let collection = TestCollection::new();
    let method = collection.trained(METHOD);
    let saved = method.abilities().survey.unwrap().save();
    let again = untrained(METHOD, &collection.lexicon);
    assert!(again.abilities().survey.unwrap().load(&saved));
    for features in &collection.documents {
        assert_eq!(sketch(&*again, features), sketch(&*method, features));
    }
    assert!(
        again.abilities().survey.unwrap().save() == saved
            && again.abilities().advice() == method.abilities().advice()
    );
}

#[test]
fn bytes_of_another_kind_are_refused() {
    let collection = TestCollection::new();
    let gathering = untrained(METHOD, &collection.lexicon);
    observe_all(&*gathering, &collection.documents[..30]);
    let sample = gathering.abilities().survey.unwrap().save();
    let chosen = collection.trained(METHOD).abilities().survey.unwrap().save();
    let load = |text: &str, bytes: &[u8]| {
        untrained(text, &collection.lexicon).abilities().survey.unwrap().load(bytes)
    };
    assert!(load(METHOD, &sample) && load(METHOD, &chosen));
    for bytes in [&sample, &chosen] {
        assert!(!load(METHOD, &bytes[..bytes.len() - 1]));
        assert!(!load(METHOD, &[&bytes[..], &[0]].concat()));
    }
    assert!(!load(METHOD, &[]) && !load(METHOD, &[9]));
    assert!(!load("descriptive-words:profile=web,least=9", &sample), "other candidates");
    assert!(!load("descriptive-words:profile=web,sample=7", &sample), "too large");
    let unready = crate::method(METHOD, &Setting::default()).unwrap();
    assert!(!unready.abilities().survey.unwrap().load(&sample), "no lexicon to read it by");
    assert!(unready.abilities().survey.unwrap().load(&unready.abilities().survey.unwrap().save()));
}

#[test]
fn candidates_are_neither_rare_nor_common() {
    let collection = TestCollection::new();
    let most = "0.1".parse().unwrap();
    let candidates = Candidates::new(&collection.lexicon, 5, most, 5);
    assert!(!candidates.indices.is_empty());
    let words: Vec<&str> =
        candidates.indices.iter().map(|&index| collection.lexicon.word(index as usize)).collect();
    assert!(words.is_sorted());
    for index in 0..collection.lexicon.len() {
        let (documents, word) = (collection.lexicon.counts(index).documents, collection.lexicon.word(index));
        let has_threshold = FrequencyDistribution::new(collection.lexicon.bins(index)).first(5).is_some();
        let candidate = candidates.number(collection.lexicon.hash(index));
        assert_eq!(candidate.is_some(), (5..=40).contains(&documents) && has_threshold, "{word}");
        assert!(candidate.is_none_or(|number| words[number as usize] == word));
    }
    assert_eq!(candidates.number(hash::word(b"unheard")), None);
}

#[test]
fn a_document_of_many_words_is_held_by_the_most_frequent() {
    let twice =
        |word: u32| if word.is_multiple_of(2) { format!("w{word} w{word} ") } else { format!("w{word} ") };
    let text: String = (0..3000).map(twice).collect();
    let features = read(&text);
    let lexicon = Arc::new(Lexicon::gather(&Profile::web().recipe(), [&features, &features, &features]));
    let candidates = Candidates::new(&lexicon, 1, "1".parse().unwrap(), 5);
    assert_eq!(candidates.indices.len(), 3000);
    let list = candidates.list(&Page { text: "", features: &features }, &mut Vec::new());
    assert!(
        list.len() == sample::MAX_DOCUMENT_WORDS
            && list.iter().all(|(_, bin)| *bin == 99)
            && list.is_sorted()
    );
}

#[test]
fn nothing_is_signed_before_words_are_chosen() {
    let collection = TestCollection::new();
    for method in
        [crate::method(METHOD, &Setting::default()).unwrap(), untrained(METHOD, &collection.lexicon)]
    {
        let none = sketch(&*method, &collection.documents[0]);
        assert!(none.keys.is_empty() && none.payload == [0; 8]);
        assert_eq!(method.accept(&none.payload, &none.payload, 0), None);
    }
}

#[test]
fn it_tells_what_it_holds_beside_the_lexicon() {
    let collection = TestCollection::new();
    let method = crate::method(METHOD, &Setting::default()).unwrap();
    assert_eq!(method.abilities().resident_bytes, 0, "before anything is known");
    method.abilities().learning.unwrap().learn(&collection.lexicon).unwrap();
    // Four bytes for every word of the lexicon, and more for those that may be chosen.
    let (held, least) = (method.abilities().resident_bytes, 4 * collection.lexicon.len() as u64);
    assert!(held > least && held < 20 * least, "{held} bytes");
    assert!(collection.trained(METHOD).abilities().resident_bytes < least, "a few words alone");
}
