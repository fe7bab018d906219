//! Tests of `imatch`: the lexicon of eight words, the plain version, and how stable signatures are.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::trial::assert_share;
use lookalike_text::{Analyser, Features};
use proptest::prelude::*;

/// Words and the number of documents that they are in, out of 100.
const TOY: [(&str, usize); 8] = [
    ("the", 100),
    ("page", 60),
    ("rose", 30),
    ("garden", 12),
    ("spam", 8),
    ("lovely", 6),
    ("python", 3),
    ("zyzzy", 1),
];

fn read(text: &str) -> Features {
    let mut features = Features::default();
    Analyser::new(&Profile::web()).read(text, &mut features);
    features
}

fn lexicon(texts: &[String]) -> Arc<Lexicon> {
    let documents: Vec<Features> = texts.iter().map(|text| read(text)).collect();
    Arc::new(Lexicon::gather(&Profile::web().recipe(), &documents))
}

fn toy() -> Arc<Lexicon> {
    let document = |number| TOY.iter().filter(move |(_, documents)| number < *documents);
    let texts: Vec<String> =
        (0..100).map(|number| document(number).map(|(word, _)| format!("{word} ")).collect()).collect();
    lexicon(&texts)
}

fn make(text: &str) -> Box<dyn Method> {
    crate::method(text, &Setting::default()).unwrap()
}

fn trained(text: &str, lexicon: &Arc<Lexicon>) -> Box<dyn Method> {
    let method = make(text);
    method.abilities().learning.unwrap().learn(lexicon).unwrap();
    method
}

fn sketch(method: &dyn Method, text: &str) -> Sketch {
    let mut sketch = Sketch::default();
    method.sketch(&Page { text, features: &read(text) }, &mut sketch);
    sketch
}

fn sha1(text: &str) -> [u8; 20] {
    Sha1::digest(text.as_bytes()).into()
}

#[test]
fn the_lexicon_of_eight_words() {
    let lexicon = toy();
    let published = [0.0, 0.110_924, 0.261_439, 0.460_409, 0.548_455, 0.610_924, 0.761_439, 1.0];
    let range = Range::new(Scale::MinMax, 0.2, 0.8, lexicon.totals()).unwrap();
    for ((word, documents), published) in TOY.into_iter().zip(published) {
        let counts = lexicon.find(hash::word(word.as_bytes()));
        assert_eq!(counts.documents as usize, documents, "{word}");
        let nidf = Scale::MinMax.nidf(lexicon.totals(), counts.documents).unwrap();
        assert!((nidf - published).abs() < 5e-7, "{word}: {nidf}");
        let inside = ["garden", "lovely", "python", "rose", "spam"].contains(&word);
        assert_eq!(range.contains(counts.documents), inside, "{word}");
        assert_eq!(range.rarer(counts.documents), word == "zyzzy", "{word}");
    }
}

#[test]
fn signatures_of_the_toy_lexicon() {
    let lexicon = toy();
    let basic = "imatch:profile=web,lexicons=0,secondary=off,bytes=20";
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let two = sketch(&*trained(&format!("{basic},floor=2"), &lexicon), "the rose, garden; zyzzy! the");
    assert_eq!(hex(&two.payload), "ddac195b4a9c8a16aa2940402e070c656e9bc9bf");
    assert_eq!(two.keys.len(), 1);

    let basic = trained(&format!("{basic},floor=3"), &lexicon);
    let modified = trained("imatch:profile=web,lexicons=0,bytes=20,floor=3", &lexicon);
    let text = "the rose garden zyzzy";
    assert_eq!(sketch(&*modified, text).payload, sha1("garden rose zyzzy"));
    for none in [sketch(&*basic, text), sketch(&*basic, "the page"), sketch(&*modified, "the page")] {
        assert!(none.keys.is_empty());
        assert_eq!(none.payload, [0; 20]);
        assert_eq!(basic.accept(&none.payload, &none.payload, 0), None);
    }
    // A longer list than is wanted takes nothing from the secondary lexicon, nor anything that is too common.
    let long = sketch(&*modified, "the python page zyzzy spam rose");
    assert_eq!(long.payload, sha1("python rose spam"));
}

#[test]
fn a_part_of_the_words_may_be_wanted() {
    let lexicon = toy();
    let text = "the page rose garden zyzzy";
    let sketch = |parameters: &str| {
        sketch(&*trained(&format!("imatch:profile=web,lexicons=0,bytes=20,{parameters}"), &lexicon), text)
    };
    assert_eq!(sketch("floor=1,ratio=0.4").payload, sha1("garden rose"));
    assert_eq!(sketch("floor=1,ratio=0.41").payload, sha1("garden rose zyzzy"));
    // All words together are too few for the ratio, and enough for the floor.
    assert_eq!(sketch("floor=1,ratio=1").payload, sha1("garden rose zyzzy"));
    assert_eq!(sketch("floor=1,ratio=0.4,secondary=off").payload, sha1("garden rose"));
    assert_eq!(sketch("floor=1,ratio=0.41,secondary=off").payload, [0; 20]);
}

#[test]
fn defaults_are_written_down() {
    assert_eq!(
        make("imatch").recipe().to_string(),
        "imatch/2:bytes=8,drop=0.33,floor=5,high=0.8,lexicons=10,low=0.2,nidf=minmax,profile=kolcz,ratio=0.05,\
         secondary=on,seed=1,thin-secondary=off,thinning=drop"
    );
    let a7 = make("a7").recipe();
    assert_eq!((&*a7.parameters["profile"], &*a7.parameters["ratio"]), ("yandex", "0"));
    assert_eq!((&*a7.parameters["secondary"], &*a7.parameters["lexicons"]), ("off", "10"));
    assert_eq!(make("imatch").abilities().learning.unwrap().detail(), LexiconDetail::Words);
}

#[test]
fn words_that_the_collection_has_not_got_are_in_neither_lexicon() {
    let lexicon = toy();
    for text in ["the rose garden zyzzy", "the rose garden", "rose spam lovely"] {
        for parameters in ["floor=3", "floor=3,high=1", "ratio=1,lexicons=5", "thinning=bootstrap"] {
            let method = trained(&format!("imatch:profile=web,{parameters}"), &lexicon);
            let more = sketch(&*method, &format!("{text} unheard of words"));
            assert_eq!(more.payload, sketch(&*method, text).payload, "{text}: {parameters}");
        }
    }
}

#[test]
fn drawn_lexicons_take_room() {
    let pool = pool();
    let resident_bytes =
        |parameters: &str| trained(&format!("imatch:{parameters}"), &pool).abilities().resident_bytes;
    assert_eq!(resident_bytes("lexicons=10"), 0);
    assert_eq!(resident_bytes("lexicons=0,thinning=bootstrap"), 0);
    assert_eq!(resident_bytes("lexicons=10,thinning=bootstrap"), 2 * pool.len() as u64);
    assert_eq!(make("imatch:thinning=bootstrap").abilities().resident_bytes, 0, "before anything is known");
}

#[test]
fn what_it_cannot_do_is_a_sentence() {
    let lexicon = toy();
    let refused = |text: &str, lexicon: &Arc<Lexicon>| {
        make(text).abilities().learning.unwrap().learn(lexicon).unwrap_err().to_string()
    };
    let error = refused("imatch:low=0.3,high=0.4", &lexicon);
    assert!(error.contains("from 0.3 to 0.4") && error.contains("1 to 100 of 100 documents"), "{error}");
    let alike = self::lexicon(&["a rose".to_owned(), "a rose".to_owned()]);
    assert!(refused("imatch", &alike).contains("low= and high="));
    let error = |text: &str| crate::method(text, &Setting::default()).unwrap_err().to_string();
    assert!(error("imatch:low=0.9").contains("up to high, which is 0.8"));
    assert!(error("imatch:low=0.5,high=0.4").contains("from low to 1"));
    assert!(error("imatch:lexicons=64").contains("0 to 63"));
    assert!(error("imatch:drop=1").contains("below 1"));
    assert!(error("imatch:bytes=9").contains("8 or 20"));
}

#[test]
fn stability_is_the_published_one() {
    let published: [(f64, usize, &[f64]); 5] = [
        (0.33, 1, &[0.33, 0.1089, 0.035_937, 0.011_859]),
        (0.33, 2, &[0.551_100, 0.205_941, 0.070_583, 0.023_578, 0.007_812, 0.002_581, 0.000_852, 0.000_281]),
        (0.33, 5, &[0.864_987, 0.438_135, 0.167_226, 0.057_906, 0.019_415, 0.006_441, 0.002_129, 0.000_703]),
        (0.33, 10, &[0.981_772, 0.684_307, 0.306_488, 0.112_459, 0.038_453, 0.012_840, 0.004_254, 0.001_406]),
        ((-1f64).exp(), 10, &[0.989_814, 0.766_398, 0.399_920, 0.168_775]),
    ];
    for (part, lexicons, values) in published {
        for (changes, value) in (1..).zip(values) {
            let computed = stability(part, changes, lexicons);
            assert!((computed - value).abs() < 6e-7, "n={changes} K={lexicons}: {computed}");
        }
    }
    assert!(
        make("imatch")
            .abilities()
            .advice()
            .unwrap()
            .contains("one word of the lexicon more it finds 98 percent, two words 68")
    );
}

const POOL: usize = 400;

/// A lexicon with 400 words inside the range.
fn pool() -> Arc<Lexicon> {
    let words: String = (0..POOL).map(|number| format!("p{number} ")).collect();
    lexicon(&[format!("{words} common"), format!("{words} common"), "common rare".to_owned()])
}

/// Some words of the pool, and the same after as many changes, each of which adds or removes a word.
fn changed(trial: u64, changes: usize) -> [String; 2] {
    let mut order: Vec<usize> = (0..POOL).collect();
    order.sort_unstable_by_key(|&word| hash::mix((trial << 32) + word as u64));
    let added = (trial as usize) % (changes + 1);
    let text = |words: &[usize]| words.iter().map(|word| format!("p{word} ")).collect::<String>();
    [text(&order[..60]), text(&order[changes - added..60 + added])]
}

/// Counts the documents of `trials` that still share one of their first randomised signatures after `changes` changes,
/// for each of some numbers of lexicons.
fn survivors<const N: usize>(
    parameters: &str,
    trials: usize,
    changes: usize,
    lexicons: [usize; N],
) -> [usize; N] {
    let pool = pool();
    let mut survived = [0; N];
    for trial in 0..trials as u64 {
        let method =
            trained(&format!("imatch:profile=web,secondary=off,lexicons=10,seed={trial}{parameters}"), &pool);
        let [before, after] = changed(trial, changes).map(|text| sketch(&*method, &text).payload);
        let same: Vec<bool> =
            before.chunks_exact(8).zip(after.chunks_exact(8)).map(|(a, b)| a == b).collect();
        assert!(!same[0], "the whole lexicon sees every change");
        for (survived, lexicons) in survived.iter_mut().zip(lexicons) {
            *survived += usize::from(same[1..=lexicons].contains(&true));
        }
    }
    survived
}

#[test]
fn signatures_survive_changes_as_often_as_the_formula_says() {
    let (trials, lexicons) = (1500, [1, 2, 5, 10]);
    for changes in [1, 2, 3, 4] {
        let survived = survivors("", trials, changes, lexicons);
        for (survived, lexicons) in survived.into_iter().zip(lexicons) {
            let expected = stability(0.33, changes as i32, lexicons);
            assert_share(&format!("n={changes} K={lexicons}"), survived, trials, expected);
        }
    }
}

#[test]
fn bootstrapped_lexicons_keep_as_much_as_draws_with_replacement_do() {
    let pool = pool();
    let range = Range::new(Scale::MinMax, 0.2, 0.8, pool.totals()).unwrap();
    let kept: u32 = (0..25)
        .map(|seed| {
            let bootstrap = Bootstrap::draw(&pool, &range, 20, seed::salt(seed));
            (0..pool.len()).map(|index| (bootstrap.lexicons(index) >> 1).count_ones()).sum::<u32>()
        })
        .sum();
    // The number of words drawn at least once varies less than as many independent throws would.
    assert_share("kept", kept as usize, 25 * 20 * POOL, 1.0 - (1.0 - 1.0 / POOL as f64).powi(POOL as i32));
    let trials = 1500;
    for changes in [1, 2, 3] {
        let [survived] = survivors(",thinning=bootstrap", trials, changes, [10]);
        assert_share(&format!("n={changes}"), survived, trials, stability((-1f64).exp(), changes as i32, 10));
    }
}

#[test]
fn words_outside_the_range_were_never_drawn() {
    let pool = pool();
    let range = Range::new(Scale::MinMax, 0.2, 0.8, pool.totals()).unwrap();
    let bootstrap = Bootstrap::draw(&pool, &range, 9, 0);
    let common = pool.index_of(hash::word(b"common")).unwrap();
    assert_eq!(bootstrap.lexicons(common), 1);
    assert!((0..pool.len()).all(|index| bootstrap.lexicons(index) >> 10 == 0));
    assert!((0..pool.len()).any(|index| bootstrap.lexicons(index) >> 9 == 1));
}

/// The signatures in the simplest way: sets of strings.
fn plain(method: &IMatch, texts: &[String], text: &str) -> Vec<u8> {
    let sets: Vec<BTreeSet<&str>> = texts
        .iter()
        .map(|text| text.split_whitespace().collect())
        .filter(|set: &BTreeSet<_>| !set.is_empty())
        .collect();
    let mut documents: BTreeMap<&str, f64> = BTreeMap::new();
    sets.iter().flatten().for_each(|word| *documents.entry(word).or_default() += 1.0);
    let idf = |word: &str| (sets.len() as f64 / documents[word]).ln();
    let all = documents.keys().map(|word| idf(word));
    let (least, most) = all.fold((f64::MAX, f64::MIN), |(least, most), idf| (least.min(idf), most.max(idf)));
    let nidf = |word: &str| ((idf(word) - least) / (most - least) * 1e9).round() / 1e9;
    let keeps = |index: usize, word: &str| {
        index == 0
            || hash::nth(index as u64, hash::word(word.as_bytes()) ^ seed::salt(method.seed)) as f64
                >= method.drop * 2f64.powi(64)
    };
    let unique: BTreeSet<&str> = text.split_whitespace().collect();
    let known: Vec<&str> = unique.iter().filter(|word| documents.contains_key(*word)).copied().collect();
    let mut payload = Vec::new();
    for index in 0..=method.lexicons {
        let mut chosen: BTreeSet<&str> = known
            .iter()
            .filter(|word| (method.low..=method.high).contains(&nidf(word)) && keeps(index, word))
            .copied()
            .collect();
        let wanted = (method.floor as usize).max((method.ratio * unique.len() as f64 - 1e-9).ceil() as usize);
        let mut rare: Vec<&str> = known.iter().filter(|word| nidf(word) > method.high).copied().collect();
        rare.sort_by(|a, b| idf(a).total_cmp(&idf(b)).then(a.cmp(b)));
        for word in rare {
            if method.secondary && chosen.len() < wanted && (!method.thin_secondary || keeps(index, word)) {
                chosen.insert(word);
            }
        }
        let enough = chosen.len() >= if method.secondary { method.floor as usize } else { wanted };
        let words: Vec<&str> = chosen.into_iter().collect();
        payload.extend_from_slice(&if enough { sha1(&words.join(" ")) } else { [0; 20] }[..method.bytes]);
    }
    payload
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    // Words early in the alphabet are in more documents.
    let word = (0usize..20, 0usize..20).prop_map(|(a, b)| char::from(b'a' + a.min(b) as u8).to_string());
    let text = prop::collection::vec(word, 0..25).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 2..12)
}

proptest! {
    #[test]
    fn signatures_equal_the_plain_version(
        texts in texts(),
        range in prop::sample::select(vec!["low=0.2,high=0.8", "low=0,high=0.5", "low=0.4,high=1", "low=0.1,high=0.3"]),
        floor in 1u32..6,
        ratio in prop::sample::select(vec!["0", "0.05", "0.3", "0.7"]),
        secondary: bool,
        thin: bool,
        lexicons in 0usize..5,
        seed in 0u64..4,
    ) {
        let spec = format!(
            "imatch:profile=web,{range},floor={floor},ratio={ratio},secondary={},thin-secondary={},lexicons={lexicons},seed={seed}",
            on_off(secondary),
            on_off(thin)
        );
        let lexicon = lexicon(&texts);
        let method = make(&spec);
        if method.abilities().learning.unwrap().learn(&lexicon).is_ok() {
            let part = |name: &str| method.recipe().parameters[name].parse::<f64>().unwrap();
            let numbers = IMatch {
                low: part("low"),
                high: part("high"),
                scale: Scale::MinMax,
                floor,
                ratio: part("ratio"),
                secondary,
                lexicons,
                drop: 0.33,
                bootstrap: false,
                thin_secondary: thin,
                bytes: 8,
                profile: None,
                seed,
                dropout: WordDropout::new(0, 0.0, 0),
                collection: OnceLock::new(),
            };
            for text in texts.iter().map(String::as_str).chain(["a b x y z zz zzz", "t s r q"]) {
                prop_assert_eq!(sketch(&*method, text).payload, plain(&numbers, &texts, text), "{}", text);
            }
        }
    }
}
