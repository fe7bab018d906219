//! `minhash`: the share of equal values in two sketches estimates how much two documents share.
//!
//! Some `values` are drawn from a document's shingles so that two documents agree in each of them with a
//! probability of their Jaccard similarity. Bands of values are the keys; the low bits of all values are the payload.
//!
//! Bands and rows follow from threshold and recall unless they are given. Pairs are dropped before they are measured only
//! when their estimate is four standard errors below the threshold, so that the estimate costs no recall.
//!
//! - `fast`, `classic`, `rabin`: families of values; equal estimates, unequal costs
//! - `bands`: keys from values

pub(crate) mod bands;
pub(crate) mod classic;
mod fast;
pub(crate) mod rabin;

use lookalike_model::{Recipe, Similarity};

use self::bands::{Bands, MAX_VALUES};
use self::rabin::Functions;
use crate::{
    Abilities, About, Advising, Method, MethodError, Page, Score, Setting, Sketch, Spec, parameters, seed,
};

const VERSION: u32 = 1;

/// Probability with which a pair at the threshold may be dropped before it is measured: what four standard
/// deviations are worth where errors are normal.
const DROP_PROBABILITY: f64 = 1.0 / 32_000.0;

/// The family of functions by which values are drawn.
#[derive(Debug)]
enum Family {
    Fast,
    Classic,
    Rabin(Functions),
}

impl Family {
    fn take(spec: &mut Spec, values: usize, seed: u64) -> Result<Self, MethodError> {
        type MakeFamily = fn(usize, u64) -> Family;
        let families: [(&str, MakeFamily); 3] = [
            ("fast", |_, _| Family::Fast),
            ("classic", |_, _| Family::Classic),
            ("rabin", |values, seed| Family::Rabin(Functions::draw(values, seed))),
        ];
        Ok(spec.choice("family", &families)?(values, seed))
    }

    fn name(&self) -> &'static str {
        match self {
            Family::Fast => "fast",
            Family::Classic => "classic",
            Family::Rabin(_) => "rabin",
        }
    }
}

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "minhash",
    aliases: &[],
    summary: "the share of equal minima estimates Jaccard; bands of minima find candidates",
    source: "Broder 1997; bands: Indyk, Motwani 1998; one permutation with densification: Li et al. 2012, Shrivastava 2017",
    formula: "\
m_i = min over shingles s of h_i(s), i = 1..k; estimate = #{i: equal} / k, standard deviation sqrt(J(1-J)/k)
keys: b bands of r minima, hit with probability 1 - (1 - J^r)^b; accept: estimate >= threshold",
    example: "lookalike dedup --method minhash:values=200,family=classic docs.jsonl -o out",
    parameters: &[
        ("values", "minima of a document"),
        (
            "family",
            "fast (one permutation), classic (one function for each value) or rabin (one random polynomial for each)",
        ),
        ("bands", "keys of a document; from threshold and recall unless given"),
        ("rows", "minima of a band; from threshold and recall unless given"),
        ("shingle", "words per shingle; the run's"),
        ("bits", "bits of a minimum that are kept for the estimate: 8, 16, 32 or 64"),
        ("seed", "of the hash functions"),
    ],
    make: MinHash::make,
};

/// The minima of a document, and what they are computed with.
#[derive(Debug, Default)]
pub(crate) struct MinimaBuffers {
    /// The result: one minimum for each function.
    pub(crate) minima: Vec<u64>,
    /// The shingles.
    elements: Vec<u64>,
    /// Their hashes in one round.
    hashes: Vec<u64>,
    /// Bins that no round has reached, 1 for each.
    open: Vec<u8>,
}

/// The method `minhash`.
#[derive(Debug)]
pub(crate) struct MinHash {
    family: Family,
    values: usize,
    bands: Bands,
    shingle: usize,
    /// Bytes of a value in the payload.
    width: usize,
    seed: u64,
    setting: Setting,
    /// Equal values from which a pair is worth measuring.
    least: usize,
}

impl MinHash {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let values = spec.value("values", 128, "a number from 1 to 4096 is wanted", |&values| {
            (1..=MAX_VALUES).contains(&values)
        })?;
        let given = bands::from_spec(&mut spec, values)?;
        let shingle = parameters::shingle(&mut spec, setting.shingle)?;
        let bits: usize =
            spec.value("bits", 16, "8, 16, 32 or 64 is wanted", |bits| [8, 16, 32, 64].contains(bits))?;
        let seed = parameters::seed(&mut spec, setting)?;
        let family = Family::take(&mut spec, values, seed)?;
        spec.finish()?;
        parameters::refuse_containment("minhash", setting)?;
        let Setting { threshold, recall, .. } = *setting;
        let bands = given.map_or_else(|| bands::choose("minhash", values, threshold, recall), Ok)?;
        let setting = setting.clone();
        let mut method = MinHash { family, values, bands, shingle, width: bits / 8, seed, setting, least: 0 };
        method.least = method.least_promising();
        Ok(Box::new(method))
    }

    /// True when verification measures what the values estimate.
    fn estimates_what_is_measured(&self) -> bool {
        self.setting.similarity == Similarity::Jaccard && self.setting.shingle == self.shingle
    }

    /// The least number of equal values with which a pair may still reach the threshold.
    fn least_promising(&self) -> usize {
        if !self.estimates_what_is_measured() {
            return 0;
        }
        let (threshold, values) = (self.setting.threshold.value(), self.values as f64);
        // The bound by normal errors, or the exact one where that is lower: near 1 errors are skewed, and the
        // normal bound would drop pairs that reach the threshold.
        let bound = threshold - 4.0 * (threshold * (1.0 - threshold) / values).sqrt();
        let normal = (0..self.values).find(|&equal| self.estimate(equal) >= bound).unwrap_or(self.values);
        normal.min(quantile(self.values, threshold, DROP_PROBABILITY))
    }

    /// The Jaccard similarity that this many equal values speak for, less those that are equal by accident because
    /// only some of their bits are kept.
    fn estimate(&self, equal: usize) -> f64 {
        let accident = (-8.0 * self.width as f64).exp2();
        let share = equal as f64 / self.values as f64;
        ((share - accident) / (1.0 - accident)).clamp(0.0, 1.0)
    }

    /// Number of values with equal bits.
    fn equal(&self, a: &[u8], b: &[u8]) -> usize {
        match self.width {
            1 => equal_lanes::<1>(a, b),
            2 => equal_lanes::<2>(a, b),
            4 => equal_lanes::<4>(a, b),
            _ => equal_lanes::<8>(a, b),
        }
    }

    /// Fills `buffers.minima`.
    fn compute_minima(&self, features: &Page<'_>, buffers: &mut MinimaBuffers) {
        let (shingles, salt) = (features.grams(self.shingle), seed::salt(self.seed));
        match &self.family {
            Family::Fast => fast::minima(shingles, self.values, salt, buffers),
            Family::Classic => classic::minima(shingles, self.values, salt, buffers),
            Family::Rabin(functions) => functions.minima(shingles, buffers),
        }
    }

    /// Bytes of memory that the functions take.
    fn resident_bytes(&self) -> u64 {
        match &self.family {
            Family::Fast | Family::Classic => 0,
            Family::Rabin(functions) => functions.bytes(),
        }
    }
}

impl Method for MinHash {
    fn recipe(&self) -> Recipe {
        Recipe::new("minhash", VERSION)
            .with("values", self.values)
            .with("family", self.family.name())
            .with("bands", self.bands.count)
            .with("rows", self.bands.rows)
            .with("shingle", self.shingle)
            .with("bits", 8 * self.width)
            .with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        self.values * self.width
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        if page.is_empty() {
            sketch.payload.resize(self.payload_bytes(), 0);
            return;
        }
        let buffers: &mut MinimaBuffers = sketch.buffers.own();
        self.compute_minima(page, buffers);
        let values = &buffers.minima;
        sketch.keys.extend(self.bands.keys(values));
        match self.width {
            1 => write_values::<1>(values, &mut sketch.payload),
            2 => write_values::<2>(values, &mut sketch.payload),
            4 => write_values::<4>(values, &mut sketch.payload),
            _ => write_values::<8>(values, &mut sketch.payload),
        }
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let estimate = self.estimate(self.equal(a, b));
        (estimate >= self.setting.threshold.value()).then_some(Score::even(estimate))
    }

    fn promising(&self, a: &[u8], b: &[u8], _shared: u32) -> bool {
        self.least == 0 || self.equal(a, b) >= self.least
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            sketches_words_alone: true,
            resident_bytes: self.resident_bytes(),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Advising for MinHash {
    fn advice(&self) -> Option<String> {
        let Bands { count, rows } = self.bands;
        let threshold = self.setting.threshold.value();
        let chances: Vec<String> = (0..4)
            .map(|step| threshold - f64::from(step) / 10.0)
            .filter(|&similarity| similarity > 0.05)
            .map(|similarity| format!("{:.3} at {similarity:.2}", self.bands.probability(similarity)))
            .collect();
        let cost = format!("{count} keys of {rows} values and a payload of {} bytes", self.payload_bytes());
        let caveat = if self.estimates_what_is_measured() {
            String::new()
        } else {
            format!(
                "; what is measured is {} of {} words, for which no recall is promised",
                self.setting.similarity, self.setting.shingle
            )
        };
        Some(format!(
            "minhash gives a document {cost}, and proposes pairs with a probability of {} for a Jaccard similarity \
             of shingles of {} words{caveat}.",
            chances.join(", "),
            self.shingle
        ))
    }
}

/// Fills `payload` with the low `WIDTH` bytes of each value.
fn write_values<const WIDTH: usize>(values: &[u64], payload: &mut Vec<u8>) {
    payload.resize(values.len() * WIDTH, 0);
    for (lane, value) in payload.as_chunks_mut::<WIDTH>().0.iter_mut().zip(values) {
        lane.copy_from_slice(&value.to_le_bytes()[..WIDTH]);
    }
}

/// Number of equal lanes of `WIDTH` bytes. Lengths are those of one method's payloads, so 16 bits can count them.
fn equal_lanes<const WIDTH: usize>(a: &[u8], b: &[u8]) -> usize {
    // A sum of 16 bits, since the lanes of a payload have 16 bits as a rule: comparisons and sums are then
    // vectors of one width. There are at most `MAX_VALUES` lanes, so it cannot overflow.
    let lanes = a.as_chunks::<WIDTH>().0.iter().zip(b.as_chunks::<WIDTH>().0);
    usize::from(lanes.map(|(a, b)| u16::from(a == b)).sum::<u16>())
}

/// The largest number of successes out of `trials` that is missed with a probability of at most `error`.
///
/// Normal errors would be too narrow near 1: a pair at 0.99 has five unequal values out of 128 every now and then.
fn quantile(trials: usize, success: f64, error: f64) -> usize {
    if success >= 1.0 {
        return trials;
    }
    // Binomial probabilities from 0 successes up, each from the one before, as logarithms: the first ones are
    // far below what a float can hold.
    let odds = (success / (1.0 - success)).ln();
    let mut log = trials as f64 * (-success).ln_1p();
    let mut below = 0.0;
    for count in 0..trials {
        below += log.exp();
        if below > error {
            return count;
        }
        log += ((trials - count) as f64 / (count + 1) as f64).ln() + odds;
    }
    trials
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash as hash;
    use lookalike_text::{Analyser, Profile};
    use proptest::prelude::*;

    fn make(text: &str, setting: &Setting) -> Box<dyn Method> {
        crate::method(text, setting).unwrap()
    }

    fn at(threshold: &str) -> Setting {
        Setting { threshold: threshold.parse().unwrap(), ..Setting::default() }
    }

    fn sketch(method: &dyn Method, text: &str) -> Sketch {
        let (mut features, mut sketch) = (lookalike_text::Features::default(), Sketch::default());
        Analyser::new(&Profile::web()).read(text, &mut features);
        method.sketch(&Page { text, features: &features }, &mut sketch);
        sketch
    }

    #[test]
    fn the_payload_of_the_rose_is_the_published_minima() {
        let classic =
            make("minhash:family=classic,values=4,bands=1,rows=1,shingle=4,bits=64", &Setting::default());
        let rose = sketch(&*classic, "a rose is a rose is a rose");
        let values: Vec<u64> =
            rose.payload.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let published =
            [0x3ae5_4cc9_251a_e729, 0x6c7a_cebf_b657_adf9, 0x0c81_4b34_8629_6f31, 0x28ec_852d_3bc1_208c];
        assert_eq!(values, published);
        let narrow = make("minhash:family=classic,values=4,bands=1,rows=1,shingle=4", &Setting::default());
        assert_eq!(sketch(&*narrow, "a rose is a rose is a rose").payload[..4], [0x29, 0xe7, 0xf9, 0xad]);
    }

    #[test]
    fn the_family_rabin_is_of_the_polynomials_that_super_shingles_have() {
        let method =
            make("minhash:family=rabin,values=6,bands=3,rows=2,bits=64,shingle=2", &Setting::default());
        let text = "a rose is a rose is a rose";
        let mut rng = seed::SeededRng::new(1);
        let grams = ["a rose", "rose is", "is a"].map(|gram| {
            let words: Vec<u64> = gram.split(' ').map(|word| hash::word(word.as_bytes())).collect();
            hash::gram(&words)
        });
        let minima: Vec<u64> = (0..6)
            .map(|_| {
                let function = crate::polynomial::Function::draw(&mut rng);
                grams.iter().map(|&gram| function.of(gram)).min().unwrap()
            })
            .collect();
        assert_eq!(crate::lanes::values(&sketch(&*method, text).payload).collect::<Vec<_>>(), minima);
        let groups = make("supershingles:family=rabin,values=6,groups=6,shingle=2", &Setting::default());
        let grouped: Vec<u64> = minima.iter().map(|minimum| hash::word(&minimum.to_le_bytes())).collect();
        assert_eq!(crate::lanes::values(&sketch(&*groups, text).payload).collect::<Vec<_>>(), grouped);
        assert_eq!(method.abilities().resident_bytes, groups.abilities().resident_bytes);
        assert!(
            method.abilities().resident_bytes > 6 * 2048
                && make("minhash", &Setting::default()).abilities().resident_bytes == 0
        );
    }

    #[test]
    fn bands_follow_from_threshold_and_recall() {
        let recipe = |setting| make("minhash", &setting).recipe().to_string();
        assert_eq!(
            recipe(Setting::default()),
            "minhash/1:bands=17,bits=16,family=fast,rows=7,seed=1,shingle=5,values=128"
        );
        assert!(recipe(at("1")).contains("bands=1,") && recipe(at("1")).contains("rows=128"));
    }

    #[test]
    fn what_it_cannot_do_is_a_sentence_with_a_way_out() {
        let error = |text: &str, setting: &Setting| crate::method(text, setting).unwrap_err().to_string();
        assert_eq!(
            error("minhash", &at("0.01")),
            "minhash with 128 values cannot propose pairs at a threshold of 0.01 with a recall of 0.98; values=390 can"
        );
        assert!(error("minhash", &at("0.0001")).ends_with("the method exact does"));
        let containment = Setting { similarity: Similarity::Containment, ..Setting::default() };
        assert!(error("minhash", &containment).contains("exact"));
        let plain = Setting::default();
        assert!(error("minhash:bands=4", &plain).contains("rows is wanted with it"));
        assert!(error("minhash:rows=4", &plain).contains("bands is wanted with it"));
        assert!(error("minhash:bands=20,rows=7", &plain).contains("at most 128"));
        assert!(error("minhash:bands=9999999999999999999,rows=9", &plain).contains("bands"));
        assert!(error("minhash:bits=12", &plain).contains("8, 16, 32 or 64"));
        assert!(error("minhash:family=slow", &plain).contains("fast, classic, rabin"));
        assert!(error("minhash:values=0", &plain).contains("1 to 4096"));
        assert!(error("minhash:shingle=0", &plain).contains("1 to 1000"));
    }

    #[test]
    fn advice_names_chances_and_costs() {
        let advice = make("minhash", &Setting::default()).abilities().advice().unwrap();
        assert!(advice.contains("17 keys of 7 values and a payload of 256 bytes"), "{advice}");
        assert!(advice.contains("0.982 at 0.80, 0.76"), "{advice}");
        assert!(!advice.contains("no recall"), "{advice}");
        let cosine = Setting { similarity: Similarity::Cosine, ..Setting::default() };
        assert!(make("minhash", &cosine).abilities().advice().unwrap().contains("no recall is promised"));
        assert!(
            make("minhash:shingle=3", &Setting::default())
                .abilities()
                .advice()
                .unwrap()
                .contains("no recall is promised")
        );
    }

    #[test]
    fn accidental_matches_are_taken_off_the_estimate() {
        let narrow = make("minhash:bits=8", &at("0.5"));
        let mut other = vec![1; 128];
        other[..64].fill(0);
        // Half of the values are equal, but one in 256 would be by accident.
        assert_eq!(narrow.accept(&[0; 128], &other, 1), None);
        other[64] = 0;
        assert!(narrow.accept(&[0; 128], &other, 1).is_some_and(|estimate| estimate.forward < 65.0 / 128.0));
        assert_eq!(narrow.accept(&[0; 128], &[0; 128], 1), Some(Score::even(1.0)));
    }

    #[test]
    fn another_measure_is_never_prejudged() {
        let (a, b) = (vec![0; 256], vec![1; 256]);
        assert!(!make("minhash", &Setting::default()).promising(&a, &b, 1));
        let edit = Setting { similarity: Similarity::Edit, ..Setting::default() };
        assert!(make("minhash", &edit).promising(&a, &b, 1));
        assert!(make("minhash:shingle=2", &Setting::default()).promising(&a, &b, 1));
    }

    #[test]
    fn a_seed_changes_values_and_keys() {
        for family in ["fast", "classic", "rabin"] {
            let text = "the quick brown fox jumps over the lazy dog";
            let one = sketch(&*make(&format!("minhash:family={family}"), &Setting::default()), text);
            let two = sketch(&*make(&format!("minhash:family={family},seed=2"), &Setting::default()), text);
            assert!(one.keys.iter().all(|key| !two.keys.contains(key)));
            assert_ne!(one.payload, two.payload);
        }
    }

    #[test]
    fn quantiles_are_those_of_the_binomial_distribution() {
        // Three of four coins: 1/256, 13/256, 67/256, … have at most that many.
        assert_eq!(quantile(4, 0.75, 0.5 / 256.0), 0);
        assert_eq!(quantile(4, 0.75, 1.5 / 256.0), 1);
        assert_eq!(quantile(4, 0.75, 13.5 / 256.0), 2);
        assert_eq!(quantile(128, 1.0, DROP_PROBABILITY), 128);
        let far = quantile(4096, 0.8, DROP_PROBABILITY) as f64;
        assert!((far - (4096.0 * 0.8 - 4.0 * 25.6)).abs() < 4.0, "{far}");
    }

    /// Words of which `shared` out of `union` are in both texts; no order, so for shingles of one word.
    fn texts(union: usize, shared: usize, number: usize) -> [String; 2] {
        let word = |place: usize| format!("w{number}x{place} ");
        let own = |first: usize| (shared + first..union).step_by(2).map(word).collect::<String>();
        let both: String = (0..shared).map(word).collect();
        [both.clone() + &own(0), both + &own(1)]
    }

    #[test]
    fn pairs_at_the_threshold_are_proposed_and_promising_as_promised() {
        let setting = Setting { shingle: 1, ..Setting::default() };
        for (family, union) in [("fast", 5), ("fast", 20), ("fast", 200), ("classic", 20), ("rabin", 20)] {
            let method = make(&format!("minhash:family={family}"), &setting);
            let (mut proposed, mut promising, trials) = (0, 0, 1500);
            for number in 0..trials {
                let [a, b] = texts(union, union * 4 / 5, number).map(|text| sketch(&*method, &text));
                proposed += usize::from(a.keys.iter().any(|key| b.keys.contains(key)));
                promising += usize::from(method.promising(&a.payload, &b.payload, 1));
            }
            let recall = proposed as f64 / trials as f64;
            // 0.982 is due; three standard errors of 1500 trials are 0.01.
            assert!(recall > 0.97, "{family}, {union} shingles: {recall}");
            assert!(promising >= trials - 1, "{family}, {union} shingles: {promising} of {trials} promising");
        }
    }

    proptest! {
        #[test]
        fn lanes_are_counted_as_a_loop_would(pairs in prop::collection::vec((0u8..2, 0u8..2), 0..64)) {
            let (a, b): (Vec<u8>, Vec<u8>) = pairs.iter().copied().unzip();
            for (width, counted) in [(1, equal_lanes::<1>(&a, &b)), (2, equal_lanes::<2>(&a, &b))] {
                let plain = a.chunks_exact(width).zip(b.chunks_exact(width)).filter(|(a, b)| a == b).count();
                prop_assert_eq!(counted, plain);
            }
        }
    }
}
