//! The contract that every method must keep. A new entry in `METHODS` is tested here without further code.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use lookalike_methods::contract::{self, read, shared};
use lookalike_methods::{
    Abilities, About, Buffers, Lexicon, METHODS, Method, MethodError, Page, Setting, Sketch, method, names,
};
use lookalike_model::{Recipe, Similarity};
use lookalike_text::{Features, Profile};
use proptest::prelude::*;

/// Methods beside the defaults of all names: parameters that lead through other code.
const VARIANTS: &[&str] = &[
    "minhash:family=classic,values=40",
    "minhash:family=rabin,values=4,bands=2,rows=2,seed=3",
    "minhash:bits=8,seed=0",
    "minhash:bits=32,values=1,bands=1,rows=1",
    "minhash:bits=64,values=200,shingle=1",
    "simhash:f=128,k=6,n=1",
    "simhash:f=384,k=12,seed=9",
    "simhash:blocks=4x4,n=2+3+7,weight=1",
    "simhash:k=0",
    "simhash:f=8,k=2,blocks=4,n=1",
    "simhash:f=100,k=4",
    "simhash:from=hex",
    "simhash:from=hex,f=100,k=4",
    "simhash:weight=idf,n=1+2",
    "simhash:weight=tfidf,f=128,k=5,seed=2",
    "simhash:search=probabilistic,probes=20",
    "simhash:search=probabilistic,probes=9,f=384,k=12,n=1,weight=tfidf,target=0.5,c=1",
    "md5:input=raw,profile=kolcz",
    "lexical:weight=tfridf,words=20,profile=run",
    "tfidf:bits=32,words=1",
    "heavy-sentences:sentences=5,profile=web",
    "log-shingles:variant=mod,wrap=false,profile=run",
    "log-shingles:variant=even,shingle=2",
    "descriptive-words:least=1,most=1,one-in=1,words=20,rounds=1,bits=1,profile=web",
    "decomposition:sample=3,shingle=2,ratio=2,test=words,profile=web",
    "three-plus-five:profile=web,ratio=1.5,num-ratio=3,many=1,share-words=0,share-sentences=1,letters=1",
    "imatch:lexicons=0,secondary=off,floor=1,profile=web",
    "imatch:thinning=bootstrap,thin-secondary=on,bytes=20,floor=2,profile=web",
    "supershingles:grouping=sorted,values=12,groups=4,shingle=2,least=1",
    "supershingles:family=rabin,values=6,groups=3,least=3,seed=5",
    "megashingles:family=rabin,values=4,groups=2,shingle=1",
    "bottom:s=5,keys=5,shingle=2,seed=3,threshold=0.3",
    "mod:m=1,shingle=1,threshold=0.3",
    "mod:m=2,bits=16,most=2,seed=4",
    "dsc-ss:m=1,per=2,shingle=2",
    "dsc-ss:m=3,per=1,shingle=1,windows=apart,bits=64",
    "word-tuples:bag=true,k=1,l=3,seed=6",
    "imatch:nidf=logn,low=0.1,high=0.9,ratio=0,lexicons=63,profile=web,seed=4",
    "randomised:of=imatch,of.lexicons=0,of.profile=web,of.floor=2,K=3,p=0.5,seed=8",
    "pugh:lists=1,least=1,profile=run,seed=3",
    "sif:window=5,keep=1,least=1,share=0.5",
    "sif:window=6,keep=2,family=gf2,degree=61,seed=5",
    "sif:window=8,anchors=it+was+o,input=raw",
    "koala:letters=all,substring=4,prefix=2,stored=5,query=7",
    "cops:unit=blocks,size=3,common=0",
    "cops:unit=windows,size=2",
    "cops:unit=breakpoints,k=3,profile=thesis",
    "spex:n=2,shortest=2,counters=20,share=0.000001",
    "fuzzy:widths=0.5+1+0.25,cosine=0",
    "rabin-minhash:of=hash,values=9,bands=3,rows=3,seed=2",
    "rabin-minhash:values=1,bands=1,rows=1,shingle=1",
    "rabin:family=gf2,degree=9,prefix=0,profile=kolcz",
    "rabin:input=raw,error=0.5,documents=2,bytes=1,seed=8",
    "rabin:error=0.0000001,documents=1000000000,bytes=100000",
];

fn texts() -> impl Iterator<Item = &'static str> {
    names().chain(VARIANTS.iter().copied())
}

/// All of them, made once since some hold large tables, and those that are the same by another name left out.
fn all() -> &'static [(&'static str, Box<dyn Method>)] {
    static ALL: OnceLock<Vec<(&'static str, Box<dyn Method>)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut recipes = BTreeSet::new();
        let made = texts().map(|text| (text, make(text)));
        made.filter(|(_, method)| recipes.insert(method.recipe().to_string())).collect()
    })
}

fn make(text: &str) -> Box<dyn Method> {
    make_for(text, &Setting::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A method that knows nothing of any corpus.
fn make_unready(text: &str) -> Box<dyn Method> {
    method(text, &Setting::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A method that has learned and surveyed, where it needs to, a corpus of a few documents.
fn make_for(text: &str, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
    let method = method(text, setting)?;
    let corpus: Vec<Features> = CORPUS.iter().map(|text| read(&*method, text)).collect();
    if let Some(learning) = method.abilities().learning {
        learning.learn(&Arc::new(Lexicon::gather(&profile(&*method).recipe(), &corpus)))?;
    }
    if let Some(survey) = method.abilities().survey {
        for pass in 0..survey.passes() {
            for (text, features) in CORPUS.iter().zip(&corpus).filter(|(_, features)| !features.is_empty()) {
                survey.observe(pass, &Page { text, features }, &mut Buffers::default());
            }
            survey.end(pass);
        }
    }
    Ok(method)
}

/// The corpus that methods learn from before they sketch: some words are in all documents, some in one.
const CORPUS: &[&str] = &[
    LONG,
    "It was the best of times and the worst of roses, the season of light; the winter of hope was long ago.",
    "Wisdom and foolishness, belief and incredulity. The spring of hope was the season of darkness and of roses.",
    "A rose is a rose is a rose. Nothing else was ever the best of roses in the age of wisdom and of light.",
    "Despair not: the winter is the season before the spring, and belief comes before wisdom in every age.",
];

/// The profile that a method reads words by.
fn profile(method: &dyn Method) -> Profile {
    method.abilities().profile.cloned().unwrap_or(Profile::web())
}

fn sketch(method: &dyn Method, text: &str) -> Sketch {
    sketch_page(method, &Page { text, features: &read(method, text) })
}

fn sketch_page(method: &dyn Method, page: &Page<'_>) -> Sketch {
    let mut sketch = Sketch::default();
    method.sketch(page, &mut sketch);
    sketch
}

/// Checks what holds for two sketches of one method.
fn check_pair(name: &str, method: &dyn Method, a: &Sketch, b: &Sketch) {
    contract::check_pair(method, a, b).unwrap_or_else(|broken| panic!("{name}: {broken}"));
}

/// Checks what holds for one text.
fn check_text(name: &str, method: &dyn Method, text: &str) -> Sketch {
    check_page(name, method, &Page { text, features: &read(method, text) })
}

fn check_page(name: &str, method: &dyn Method, page: &Page<'_>) -> Sketch {
    contract::check_page(method, page).unwrap_or_else(|broken| panic!("{name}: {broken}"))
}

const LONG: &str = "It was the best of times, it was the worst of times. It was the age of wisdom, it was the age of \
                    foolishness! It was the epoch of belief, it was the epoch of incredulity; it was the season of \
                    light. It was the season of darkness, it was the spring of hope, it was the winter of despair.";

#[test]
fn all_names_make_methods() {
    for about in METHODS {
        for name in [about.name].into_iter().chain(about.aliases.iter().map(|(alias, _)| *alias)) {
            assert_eq!(make(name).recipe().name, about.name);
        }
    }
    let mut all: Vec<&str> = names().collect();
    all.sort_unstable();
    assert!(all.is_sorted_by(|a, b| a < b), "a name stands for two methods: {all:?}");
    let error = method("minhsah", &Setting::default()).unwrap_err().to_string();
    assert!(error.contains("minhash may be meant"), "{error}");
}

#[test]
fn what_people_are_told_fits() {
    for about in METHODS {
        let About { name, summary, source, formula, example, .. } = about;
        assert!(
            !summary.ends_with('.') && !summary.contains('\n') && summary.len() <= 90,
            "{name}: {summary}"
        );
        assert!(!source.is_empty() && example.contains(&format!(" {name}")), "{name}: {example}");
        assert!(formula.lines().all(|line| line.chars().count() <= 120), "{name}: {formula}");
        let mut described: Vec<&str> = about.parameters.iter().map(|(parameter, _)| *parameter).collect();
        described.sort_unstable();
        let recipe = make(name).recipe();
        let known: Vec<&str> = own_parameters(&recipe).collect();
        assert_eq!(described, known, "{name}: parameters that are told of and that there are");
    }
}

#[test]
fn no_words_one_word_and_many_words() {
    let many: String =
        (0..200_000u32).map(|number| format!("w{} ", number.wrapping_mul(2_654_435_761) >> 8)).collect();
    let mut read_by: BTreeMap<String, Features> = BTreeMap::new();
    for (name, method) in all() {
        for text in ["", " \n\t", "…!?", "rose", "rose rose", "一", LONG] {
            check_text(name, &**method, text);
        }
        let profile = profile(&**method);
        let features = read_by.entry(profile.to_string()).or_insert_with(|| read(&**method, &many));
        check_page(name, &**method, &Page { text: &many, features });
    }
}

#[test]
fn no_words_have_no_keys() {
    for (name, method) in all() {
        assert_eq!(sketch(&**method, "—").keys, [], "{name}");
    }
}

/// One buffer for all methods, used by each after every other: whatever a document left in it must not matter.
#[test]
fn sketches_do_not_depend_on_what_the_buffers_held() {
    let long = LONG.repeat(20);
    let mut used = Sketch::default();
    for (name, method) in all() {
        for text in ["rose", &long, "a rose is a rose", LONG, "一", LONG] {
            method.sketch(&Page { text, features: &read(&**method, text) }, &mut used);
            assert_eq!(used, sketch(&**method, text), "{name}");
        }
    }
}

#[test]
fn surveys_do_not_depend_on_what_the_buffers_held() {
    let mut used = Buffers::default();
    for text in texts().filter(|text| make_unready(text).abilities().survey.is_some()) {
        let (one, two) = (make_unready(text), make_unready(text));
        let documents: Vec<Features> = CORPUS.iter().map(|text| read(&*one, text)).collect();
        for method in [&one, &two] {
            if let Some(learning) = method.abilities().learning {
                learning.learn(&Arc::new(Lexicon::gather(&profile(&**method).recipe(), &documents))).unwrap();
            }
        }
        let surveys = [&one, &two].map(|method| method.abilities().survey.unwrap());
        for (text, features) in CORPUS.iter().zip(&documents) {
            surveys[0].observe(0, &Page { text, features }, &mut Buffers::default());
            surveys[1].observe(0, &Page { text, features }, &mut used);
        }
        assert!(surveys[0].save() == surveys[1].save(), "{text}");
    }
}

/// Asserts that calls of `abilities` agree: what a method offers depends on its parameters alone.
#[test]
fn abilities_depend_on_parameters_alone() {
    for (text, ready) in all() {
        let fresh = make_unready(text);
        let (before, after) = (fresh.abilities(), ready.abilities());
        assert_eq!(before.profile, after.profile, "{text}");
        assert_eq!(before.counted_keys, after.counted_keys, "{text}");
        assert_eq!(before.own_measure, after.own_measure, "{text}");
        let plain = |abilities: &Abilities<'_>| [abilities.sentences, abilities.tagged, abilities.directed];
        assert_eq!(plain(&before), plain(&after), "{text}");
        assert_eq!(offered(&before), offered(&after), "{text}");
        assert!(before.counted_keys != Some(0), "{text}: a pair shares at least one key");
        assert!(before.query_keys.is_none() || before.tagged, "{text}: keys that only ask are told by tags");
    }
}

/// The traits that a method offers.
fn offered(abilities: &Abilities<'_>) -> [bool; 7] {
    let Abilities { learning, survey, query_keys, grouping, splitting, rejecting, advising, .. } = abilities;
    [
        learning.is_some(),
        survey.is_some(),
        query_keys.is_some(),
        grouping.is_some(),
        splitting.is_some(),
        rejecting.is_some(),
        advising.is_some(),
    ]
}

/// The parameters of a recipe without those of a method inside the method.
fn own_parameters(recipe: &Recipe) -> impl Iterator<Item = &str> {
    recipe.parameters.keys().map(String::as_str).filter(|name| !name.contains('.'))
}

/// The parameters of a method, as the error about one that it has not got lists them.
fn parameters(name: &str) -> Vec<String> {
    match method(&format!("{name}:none-such=1"), &Setting::default()) {
        Err(MethodError::Key { known, .. }) => known,
        other => panic!("{name} takes a parameter none-such: {other:?}"),
    }
}

#[test]
fn recipes_name_every_parameter() {
    for name in METHODS.iter().map(|about| about.name) {
        let recipe = make(name).recipe();
        let mut known = parameters(name);
        known.sort_unstable();
        let named: Vec<&str> = own_parameters(&recipe).collect();
        assert_eq!(
            named,
            known.iter().collect::<Vec<_>>(),
            "{name}: parameters of the recipe and of the method"
        );
    }
}

#[test]
fn recipes_make_the_same_method_again() {
    let other = Setting {
        threshold: "0.55".parse().unwrap(),
        shingle: 2,
        recall: 0.7,
        seed: 77,
        similarity: Similarity::Jaccard,
    };
    for (name, first) in all() {
        for setting in [&Setting::default(), &other] {
            let again = make_for(&first.recipe().to_string(), setting).unwrap();
            assert_eq!(again.recipe(), first.recipe(), "{name}");
            assert_eq!(again.payload_bytes(), first.payload_bytes(), "{name}");
            assert_eq!(again.abilities().counted_keys, first.abilities().counted_keys, "{name}");
            for text in ["rose", LONG] {
                assert_eq!(sketch(&*again, text), sketch(&**first, text), "{name}");
            }
        }
    }
}

#[test]
fn every_similarity_is_served_or_refused_in_a_sentence() {
    for name in texts() {
        for similarity in Similarity::ALL {
            match make_for(name, &Setting { similarity, ..Setting::default() }) {
                Ok(method) => {
                    let [a, b] = [LONG, &LONG.replace("hope", "fear")].map(|text| sketch(&*method, text));
                    check_pair(name, &*method, &a, &b);
                }
                Err(MethodError::Unable(sentence)) => assert!(sentence.contains(' '), "{name}: {sentence}"),
                Err(error) => panic!("{name} for {similarity}: {error}"),
            }
        }
    }
}

#[test]
fn advice_is_one_sentence() {
    for (name, method) in all() {
        if let Some(advice) = method.abilities().advice() {
            assert!(
                advice.ends_with('.') && !advice.contains('\n') && !advice.contains(". "),
                "{name}: {advice}"
            );
        }
    }
}

/// Checks that members of a group which the method would accept still meet after it was split.
fn check_split(name: &str, method: &dyn Method, a: &Sketch, b: &Sketch) {
    let Some(splitting) = method.abilities().splitting else { return };
    if method.accept(&a.payload, &b.payload, shared(method, a, b)).is_none() {
        return;
    }
    for (one, two) in a.keys.iter().flat_map(|one| b.keys.iter().map(move |two| (one, two))) {
        for depth in (1..20).filter(|_| one.value == two.value) {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            splitting.split(&a.payload, one.tag, depth, &mut left);
            splitting.split(&b.payload, two.tag, depth, &mut right);
            let meet = left.iter().any(|key| right.contains(key));
            assert!(meet || (left.is_empty() && right.is_empty()), "{name}: lost at depth {depth}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_text_can_be_sketched(text: String) {
        for (name, method) in all() {
            check_text(name, &**method, &text);
        }
    }

    #[test]
    fn any_two_texts_can_be_compared(
        words in prop::collection::vec("[a-c]{1,2}", 1..80),
        place in any::<prop::sample::Index>(),
        other in "[a-e ]{0,60}",
    ) {
        let mut changed = words.clone();
        changed[place.index(words.len())] = "zz".to_owned();
        for (name, method) in all() {
            let sketches = [words.join(" "), changed.join(" "), other.clone()].map(|text| check_text(name, &**method, &text));
            for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                check_pair(name, &**method, &sketches[a], &sketches[b]);
                check_split(name, &**method, &sketches[a], &sketches[b]);
            }
        }
    }
}
