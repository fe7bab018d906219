//! Engines of known size: estimates must be near, and faults must be reported.

use std::path::Path;

use lookalike_census::Random;
use lookalike_live_census::compare::{compare, draw};
use lookalike_live_census::size::{Plan, Sample, Size, sample};
use lookalike_live_census::{EngineClient, FieldError, OwnCorpus, classes};
use lookalike_search_engines::sqlite::{SqliteBuilder, SqliteEngine};
use lookalike_search_engines::tantivy::{TantivyBuilder, TantivyEngine};
use lookalike_search_engines::{
    BuildOptions, CallPolicy, Caller, EngineError, FaultPlan, FaultyEngine, FetchedPage, IndexBuilder, Query,
    Results, SearchEngine,
};

/// Words as frequent as in texts: the tenth a tenth as often as the first.
fn page(random: &mut Random) -> String {
    let words = 15 + random.below(200);
    let mut text = String::new();
    for _ in 0..words {
        let rank = (20_000f64.powf(random.unit()) - 1.0) as u64;
        text.push_str(&format!("w{rank} "));
    }
    text
}

struct World {
    own: OwnCorpus,
    pages: Vec<(String, String)>,
}

fn world(pages: usize) -> World {
    let mut random = Random::new(8);
    let mut own = OwnCorpus::new();
    (0..pages / 4).for_each(|_| own.add(&page(&mut random)));
    let pages = (0..pages).map(|number| (format!("http://host/{number}"), page(&mut random))).collect();
    World { own, pages }
}

fn build<'p>(mut builder: Box<dyn IndexBuilder>, pages: impl Iterator<Item = &'p (String, String)>) {
    for (url, text) in pages {
        builder.add(url, text, text).unwrap();
    }
    builder.finish().unwrap();
}

fn tantivy<'p>(
    path: &Path,
    first_bytes: Option<usize>,
    pages: impl Iterator<Item = &'p (String, String)>,
) -> TantivyEngine {
    build(
        TantivyBuilder::create(path, &BuildOptions { first_bytes, ..BuildOptions::default() }).unwrap(),
        pages,
    );
    TantivyEngine::open("one", path, 100).unwrap()
}

fn with_budget(engine: Box<dyn SearchEngine>, calls: u64) -> Caller {
    Caller::new(engine, None, CallPolicy { calls, fetches: 10 * calls, ..CallPolicy::default() }).unwrap()
}

fn measured(caller: &mut Caller, own: &OwnCorpus, seed: u64) -> (Sample, Size) {
    let mut client = EngineClient::new(caller, own, 100);
    let drawn = sample(&mut client, &Plan { seed, ..Plan::default() }).unwrap();
    let size = drawn.size(&client).unwrap();
    (drawn, size)
}

/// Returns the mean and the root mean square of the relative errors of some runs, and the number of runs that cover the truth.
fn runs(own: &OwnCorpus, truth: f64, engine: impl Fn() -> Box<dyn SearchEngine>) -> (f64, f64, u64) {
    let (mut bias, mut squares, mut covered) = (0.0, 0.0, 0);
    for seed in 0..12 {
        let (_, size) = measured(&mut with_budget(engine(), 800), own, seed);
        let off = size.pages.value / truth - 1.0;
        (bias, squares) = (bias + off / 12.0, squares + off * off / 12.0);
        covered += u64::from(size.pages.covers(truth));
    }
    (bias, squares.sqrt(), covered)
}

#[test]
fn sizes_are_near_the_truth_and_say_how_near() {
    let (world, folder) = (world(2_000), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    drop(tantivy(&path, None, world.pages.iter()));
    let open = || -> Box<dyn SearchEngine> { Box::new(TantivyEngine::open("one", &path, 100).unwrap()) };
    let (bias, off, covered) = runs(&world.own, 2_000.0, open);
    assert!(bias.abs() < 0.05 && off < 0.12, "bias {bias}, off by {off}");
    assert!(covered >= 9, "{covered} of 12");
}

#[test]
fn an_engine_of_which_all_answers_are_known_is_asked_no_more() {
    let (world, folder) = (world(40), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let engine = tantivy(&path, None, world.pages.iter());
    let mut caller = with_budget(Box::new(engine), 1_000_000);
    let (drawn, size) = measured(&mut caller, &world.own, 1);
    assert!(drawn.draws.len() > 10_000, "{}", drawn.draws.len());
    assert!((20.0..80.0).contains(&size.pages.value), "{size:?}");
}

#[test]
fn an_engine_that_reads_the_first_bytes_only_is_measured_all_the_same() {
    let (world, folder) = (world(2_000), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    drop(tantivy(&path, Some(300), world.pages.iter()));
    let open = || -> Box<dyn SearchEngine> { Box::new(TantivyEngine::open("one", &path, 100).unwrap()) };
    let (drawn, _) = measured(&mut with_budget(open(), 800), &world.own, 1);
    let (missed, looked_up) = (drawn.faults.not_found_by_own_word, drawn.faults.looked_up);
    assert!(missed * 4 > looked_up, "{missed} of {looked_up} words do not find their page");
    let (bias, _, _) = runs(&world.own, 2_000.0, open);
    assert!(bias.abs() < 0.15, "{bias}");
}

#[test]
fn words_of_links_do_not_count_for_the_page_they_lead_to() {
    let (world, folder) = (world(2_000), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let mut builder = TantivyBuilder::create(&path, &BuildOptions::default()).unwrap();
    for (number, (url, text)) in world.pages.iter().enumerate() {
        // Three words of each of two other pages.
        let links = [number + 1, number + 77].map(|other| {
            let words: Vec<&str> = world.pages[other % 2_000].1.split(' ').skip(4).take(3).collect();
            words.join(" ")
        });
        builder.add(url, &format!("{text} {}", links.join(" ")), text).unwrap();
    }
    builder.finish().unwrap();
    let open = || -> Box<dyn SearchEngine> { Box::new(TantivyEngine::open("one", &path, 100).unwrap()) };
    let (drawn, _) = measured(&mut with_budget(open(), 800), &world.own, 1);
    assert!(drawn.faults.without_word > 20, "{:?}", drawn.faults);
    let (bias, _, covered) = runs(&world.own, 2_000.0, open);
    assert!(bias.abs() < 0.06 && covered >= 9, "bias {bias}, {covered} of 12 cover");
}

#[test]
fn what_no_query_reaches_is_stood_for_and_makes_unsure() {
    let (world, folder) = (world(2_000), tempfile::tempdir().unwrap());
    // An engine of long pages that shows three results: most words find more.
    let long = world.pages.iter().filter(|(_, text)| text.len() > 400 || text.len() % 3 == 0);
    let long: Vec<&(String, String)> = long.collect();
    let path = folder.path().join("index");
    drop(tantivy(&path, None, long.iter().copied()));
    let truth = long.len() as f64;
    let mut shares = 0.0;
    let covered = (0..10).filter(|&seed| {
        let mut caller = with_budget(Box::new(TantivyEngine::open("one", &path, 3).unwrap()), 800);
        let (_, size) = measured(&mut caller, &world.own, seed);
        shares += size.reached.value / truth / 10.0;
        size.pages.covers(truth)
    });
    let covered = covered.count();
    assert!(covered >= 8 && shares < 0.97, "{covered} of 10 cover, {shares} reached");
}

#[test]
fn near_duplicates_count_once() {
    let (world, folder) = (world(1_200), tempfile::tempdir().unwrap());
    // Every fourth page comes three times.
    let mut pages = world.pages.clone();
    for (url, text) in world.pages.iter().step_by(4) {
        pages.extend((0..2).map(|copy| (format!("{url}?copy={copy}"), format!("{text} copy{copy}"))));
    }
    let mut caller = with_budget(Box::new(tantivy(&folder.path().join("index"), None, pages.iter())), 1_500);
    let mut client = EngineClient::new(&mut caller, &world.own, 100);
    let drawn = sample(&mut client, &Plan { calls: 1_100, ..Plan::default() }).unwrap();
    let (share, looked_at) = classes::distinct(&mut client, &drawn.draws, 300, 1).unwrap().unwrap();
    assert!(looked_at > 100);
    let truth = 1_200.0 / 1_800.0;
    assert!((share.value - truth).abs() < 0.08 && share.covers(truth), "{share:?} {looked_at}");
}

#[test]
fn what_engines_share_is_found() {
    let (world, folder) = (world(2_400), tempfile::tempdir().unwrap());
    let one = tantivy(&folder.path().join("one"), None, world.pages[..1_600].iter());
    let path = folder.path().join("two");
    build(SqliteBuilder::create(&path, &BuildOptions::default()).unwrap(), world.pages[1_000..2_400].iter());
    let two = SqliteEngine::open("two", &path, 100).unwrap();
    let mut callers = [with_budget(Box::new(one), 1_500), with_budget(Box::new(two), 1_500)];
    let mut clients: Vec<EngineClient<'_>> =
        callers.iter_mut().map(|caller| EngineClient::new(caller, &world.own, 100)).collect();
    let samples = draw(&mut clients, &Plan { looked_at: 2, ..Plan::default() }).unwrap();
    let found = compare(&samples, 4);
    for ((x, y), truth) in [((0, 1), 600.0 / 1_600.0), ((1, 0), 600.0 / 1_400.0)] {
        let share = found.shares[x][y].unwrap();
        assert!((share.value - truth).abs() < 0.08, "{x} in {y}: {share:?} {truth}");
    }
    let ratio = found.relative[1].unwrap();
    assert!((ratio.value / 0.875 - 1.0).abs() < 0.2 && ratio.covers(0.875), "{ratio:?}");
    let union = found.union.unwrap();
    assert!((union.value / 1.5 - 1.0).abs() < 0.15, "{union:?}");
    let kinds: Vec<u64> = found.parts.iter().map(|part| part.0).collect();
    assert_eq!(kinds, [0b01, 0b10, 0b11]);
    let all: f64 = found.parts.iter().map(|part| part.1.value).sum();
    assert!((all / union.value - 1.0).abs() < 1e-9, "{all} {union:?}");
    for ((_, part), truth) in found.parts.iter().zip([1_000.0, 800.0, 600.0]) {
        assert!((part.value - truth / 1_600.0).abs() < 0.12, "{part:?} {truth}");
    }
}

#[test]
fn a_lying_engine_is_flagged() {
    let (world, folder) = (world(1_200), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    drop(tantivy(&path, None, world.pages.iter()));
    let open = || -> Box<dyn SearchEngine> { Box::new(TantivyEngine::open("one", &path, 100).unwrap()) };
    let (_, honest) = measured(&mut with_budget(open(), 600), &world.own, 1);
    assert!(honest.pages.value > 800.0);
    let mut caller = with_budget(open(), 600);
    measured(&mut caller, &world.own, 1);
    assert_eq!(caller.consistency().sentences(), Vec::<String>::new(), "an honest engine is believed");
    let lies = [
        (FaultPlan { claims: 3.0, ..FaultPlan::default() }, "claimed more matches than they showed"),
        (FaultPlan { shown: 0.5, ..FaultPlan::default() }, "claimed more matches than they showed"),
        (FaultPlan { failing: 0.2, ..FaultPlan::default() }, "questions were not answered"),
    ];
    for (faults, sentence) in lies {
        let told = format!("{faults:?}");
        let policy = CallPolicy { calls: 600, fetches: 6_000, tries: 1, ..CallPolicy::default() };
        let mut caller = Caller::new(Box::new(FaultyEngine::new(open(), faults)), None, policy).unwrap();
        measured(&mut caller, &world.own, 1);
        let found = caller.consistency().sentences();
        assert!(found.iter().any(|found| found.contains(sentence)), "{told}: {found:?}");
    }
}

#[test]
fn questions_without_an_answer_do_not_make_an_engine_larger() {
    let (world, folder) = (world(1_200), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    drop(tantivy(&path, None, world.pages.iter()));
    let mean = (0..10).map(|seed| {
        let engine = TantivyEngine::open("one", &path, 100).unwrap();
        let faults = FaultPlan { failing: 0.25, seed, ..FaultPlan::default() };
        let policy = CallPolicy { calls: 800, fetches: 8_000, tries: 1, ..CallPolicy::default() };
        let mut caller = Caller::new(Box::new(FaultyEngine::new(engine, faults)), None, policy).unwrap();
        measured(&mut caller, &world.own, seed).1.pages.value / 1_200.0 / 10.0
    });
    let mean: f64 = mean.sum();
    assert!((mean - 1.0).abs() < 0.08, "{mean}");
}

/// An engine whose pages cannot be read.
struct UnreadableEngine(TantivyEngine);

impl SearchEngine for UnreadableEngine {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn kind(&self) -> &str {
        self.0.kind()
    }

    fn cap(&self) -> usize {
        self.0.cap()
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        self.0.search(query, limit)
    }

    fn fetch(&mut self, _: &str) -> Result<Option<FetchedPage>, EngineError> {
        Ok(None)
    }
}

#[test]
fn pages_that_nobody_can_read_are_not_taken_for_none() {
    let (world, folder) = (world(400), tempfile::tempdir().unwrap());
    let mut blind = UnreadableEngine(tantivy(&folder.path().join("index"), None, world.pages.iter()));
    let plan = Plan { draws: 60, ..Plan::default() };
    let found = sample(&mut EngineClient::new(&mut blind, &world.own, 100), &plan).err().unwrap();
    assert!(matches!(found, FieldError::Unreadable { looked_at: 40.., .. }), "{found}");
    assert!(found.to_string().contains("see to how its pages are fetched"), "{found}");
}

#[test]
fn nothing_to_ask_for_is_said() {
    let (world, folder) = (world(400), tempfile::tempdir().unwrap());
    let engine = tantivy(&folder.path().join("index"), None, world.pages.iter());
    let mut caller = with_budget(Box::new(engine), 500);
    let few = OwnCorpus::new();
    let found = sample(&mut EngineClient::new(&mut caller, &few, 100), &Plan::default());
    assert!(matches!(found, Err(FieldError::FewWords(0))));
    let mut foreign = OwnCorpus::new();
    (0..200).for_each(|number| foreign.add(&format!("x{} y{}", number % 60, number % 40)));
    let found = sample(&mut EngineClient::new(&mut caller, &foreign, 100), &Plan::default());
    assert!(matches!(found, Err(FieldError::NoPages { .. })));
    let mut caller =
        with_budget(Box::new(TantivyEngine::open("one", &folder.path().join("index"), 100).unwrap()), 20);
    let found = sample(&mut EngineClient::new(&mut caller, &world.own, 100), &Plan::default());
    assert!(matches!(found, Err(FieldError::FewDraws { .. })));
    let engine = TantivyEngine::open("one", &folder.path().join("index"), 100).unwrap();
    let mute = FaultyEngine::new(engine, FaultPlan { failing: 1.0, ..FaultPlan::default() });
    let policy = CallPolicy { calls: 10, tries: 1, ..CallPolicy::default() };
    let mut caller = Caller::new(Box::new(mute), None, policy).unwrap();
    let found = sample(&mut EngineClient::new(&mut caller, &world.own, 100), &Plan::default()).err().unwrap();
    assert!(found.to_string().starts_with("one answered no question (silent on purpose)"), "{found}");
}
