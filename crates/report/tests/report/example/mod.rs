//! A report like that of a real run, from generated pages.

use lookalike_generate::{Plan, PlantedPair};
use lookalike_hash::Secret;
use lookalike_model::Similarity;
use lookalike_model::{BigCluster, Section, SourceCounts};
use lookalike_report::{Bin, Counts, Measure, PairSample, PairSide, Report, Side, SizeBin, View, compare};
use lookalike_text::extract::{ContentMode, Extractor};
use lookalike_text::{Analyser, Features, Profile};

const THRESHOLD: f64 = 0.8;

/// The planted pairs of a small corpus, shown as if they were a run's.
pub(crate) fn report() -> Report {
    let plan = Plan { documents: 2000, seed: 11 };
    let mut pairs: Vec<PlantedPair> = plan.truth().filter(|pair| pair.union > 0).collect();
    pairs.sort_by(|a, b| a.jaccard().total_cmp(&b.jaccard()));
    let cut = pairs.partition_point(|pair| pair.jaccard() < THRESHOLD);
    let mut reader = Reader::new(plan);
    let mut samples = Vec::new();
    samples.extend(pairs[cut..].iter().take(6).map(|pair| reader.sample(pair, Section::Above)));
    samples.extend(pairs[..cut].iter().rev().take(6).map(|pair| reader.sample(pair, Section::Below)));
    let step = (pairs.len() - cut) / 12;
    samples.extend(pairs[cut..].iter().step_by(step).map(|pair| reader.sample(pair, Section::Random)));
    Report {
        title: "Near-duplicates in crawl-2024 <sample>".to_owned(),
        recipe: RECIPE.to_owned(),
        counts: counts(pairs.len() as u64),
        measure: Measure { similarity: Similarity::Jaccard, shingle: 5, threshold: THRESHOLD },
        unverified: false,
        components: true,
        notes: vec!["2 shards end in the middle of a record; 17 records were lost there.".to_owned()],
        similarities: bins(&pairs),
        sizes: sizes(),
        sources: slices("crawl/part-0000", ".warc.gz", 6),
        hosts: slices("www.host", ".example", 8),
        biggest: biggest(&mut reader),
        samples,
        rejections: vec![("the record is cut off".to_owned(), 17), ("longer than 32 MiB".to_owned(), 3)],
    }
}

const RECIPE: &str = "version = 1\nmethod = \"minhash:permutations=128,bands=20\"\nsimilarity = \"jaccard\"\n\
    threshold = \"0.8\"\nshingle = 5\nprofile = \"web\"\nkeep = \"first\"\ncluster = \"components\"\nseed = 1\n";

fn counts(pairs: u64) -> Counts {
    Counts {
        documents: 1_234_567,
        kept: 1_002_345,
        removed: 232_202,
        rejected: 20,
        skipped: 12,
        clusters: 61_204,
        exact_duplicates: 110_034,
        candidates: 904_113 + pairs,
        verified: 904_113,
        giant_groups: 3,
        duplicate_ids: 0,
        text_bytes: 5_904_113_345,
    }
}

fn bins(pairs: &[PlantedPair]) -> Vec<Bin> {
    let bin = |number: u32| {
        let lower = 0.4 + f64::from(number) * 0.025;
        let inside =
            |pair: &&PlantedPair| pair.jaccard() >= lower && (pair.jaccard() < lower + 0.025 || number == 23);
        Bin { lower, pairs: pairs.iter().filter(inside).count() as u64 * 37 }
    };
    (0..24).map(bin).collect()
}

fn sizes() -> Vec<SizeBin> {
    let counts = [40_123, 12_410, 6_204, 1_902, 430, 98, 30, 5, 2];
    let bin = |(place, clusters): (usize, u64)| match place {
        0 => SizeBin { least: 2, most: 2, clusters },
        1 => SizeBin { least: 3, most: 3, clusters },
        _ => SizeBin { least: 1 << place, most: (2 << place) - 1, clusters },
    };
    counts.into_iter().enumerate().map(bin).collect()
}

fn slices(before: &str, behind: &str, count: u64) -> Vec<SourceCounts> {
    let slice = |number: u64| SourceCounts {
        name: format!("{before}{number}{behind}"),
        documents: 90_000 / (number + 1),
        removed: (17_000 * (number % 4)) / (number + 1),
    };
    let others = SourceCounts { name: "all others".to_owned(), documents: 900_112, removed: 3 };
    (0..count).map(slice).chain([others]).collect()
}

fn biggest(reader: &mut Reader) -> Vec<BigCluster> {
    let cluster = |number: u64| {
        let (id, _, text) = reader.read(number * 31);
        BigCluster {
            cluster: number * 31,
            keep: id,
            size: 500 - 77 * number,
            members: (1..4).map(|member| format!("page-{:08}", number * 31 + member * 7)).collect(),
            excerpt: text.chars().take(140).collect(),
        }
    };
    (0..4).map(cluster).collect()
}

/// Reads pages by their number.
struct Reader {
    documents: lookalike_generate::Documents,
    extractor: Extractor,
    analyser: Analyser,
}

impl Reader {
    fn new(plan: Plan) -> Self {
        Reader {
            documents: plan.documents(),
            extractor: Extractor::default(),
            analyser: Analyser::with_secret(&Profile::web(), Secret::of_process()),
        }
    }

    /// Id, address and text.
    fn read(&mut self, number: u64) -> (String, String, String) {
        let page = self.documents.get(number).expect("the plan has this page");
        let (id, url) = (page.id.to_owned(), page.url.to_owned());
        let text = self.extractor.extract(&page.to_document(), ContentMode::Page).text.to_owned();
        (id, url, text)
    }

    fn sample(&mut self, pair: &PlantedPair, section: Section) -> PairSample {
        let ((id_a, url_a, text_a), (id_b, url_b, text_b)) = (self.read(pair.a), self.read(pair.b));
        let (mut a, mut b) = (Features::default(), Features::default());
        self.analyser.read(&text_a, &mut a);
        self.analyser.read(&text_b, &mut b);
        let left = Side::new(&text_a, &a).at(Some(&url_a));
        let right = Side::new(&text_b, &b).at(Some(&url_b));
        let comparison = compare(&left, &right, &View::default());
        PairSample {
            section,
            id_a,
            id_b,
            url_a: Some(url_a),
            url_b: Some(url_b),
            similarity: Some(pair.jaccard()),
            removed: (section != Section::Below).then_some(PairSide::B),
            comparison,
        }
    }
}
