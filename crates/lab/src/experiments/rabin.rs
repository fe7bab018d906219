//! E14: how often Rabin's fingerprints collide, against the bound.
//!
//! Two different numbers of n bits have the same remainder by a prime that is drawn from the first m with probability at
//! most n/m, because their difference has at most n prime factors; of a set of s numbers any two do with probability at
//! most C(s,2)·n/m. Over the field of two elements, s strings of b bits collide by a random polynomial of degree k with
//! probability at most s²b/2^k. Here m and k are small, so that there are collisions to count: by every one of the primes,
//! and by the method itself with seed after seed.

use lookalike::methods::{Page, Setting, Sketch, method};
use lookalike::report::Study;
use lookalike::report::study::{Grid, Value};
use lookalike::text::{Analyser, Features, Profile};

use crate::draws::Draws;
use crate::experiments::{Experiment, ExperimentContext};
use crate::shares::Share;
use crate::trial::LabError;

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E14",
    title: "How often Rabin's fingerprints collide, against the bound",
    source: "Rabin 1981; Karp, Rabin 1987; lecture, Dortmund 2007",
    data: None,
    run,
};

/// Bits of numbers, and how many of the first primes one is drawn from.
const CASES: [(usize, usize); 7] =
    [(64, 100), (64, 1_000), (256, 1_000), (256, 4_000), (1_024, 4_000), (8_192, 10_000), (64, 50_000)];

/// Numbers of a set, and sets of each case; all pairs of a set are looked at.
const SET: usize = 20;
const SETS: usize = 10;

/// Errors that the method is asked for, and the largest number of bytes of a text.
const ERRORS: [f64; 3] = [0.5, 0.1, 0.02];
const BYTES: usize = 32;

/// Degrees of polynomials.
const DEGREES: [u32; 3] = [8, 12, 16];

/// Seeds of the method for each of them.
const SEEDS: u64 = 2_000;

/// Texts that the method sees under each seed.
const TEXTS: usize = 2;

/// A number, most significant byte first.
type Number = Vec<u8>;

/// The first `count` primes.
fn primes(count: usize) -> Vec<u64> {
    let mut primes: Vec<u64> = Vec::with_capacity(count);
    let mut next = 2;
    while primes.len() < count {
        if primes.iter().take_while(|&&prime| prime * prime <= next).all(|prime| next % prime != 0) {
            primes.push(next);
        }
        next += 1;
    }
    primes
}

/// The remainder by a prime of at most 32 bits, four bytes at a time.
fn remainder(number: &[u8], prime: u64) -> u64 {
    number
        .chunks(4)
        .fold(0, |rest, bytes| bytes.iter().fold(rest, |rest, &byte| rest << 8 | u64::from(byte)) % prime)
}

/// Returns a random number of `bits` bits.
fn random(bits: usize, draws: &mut Draws) -> Number {
    (0..bits / 8).map(|_| draws.next() as u8).collect()
}

/// The product of as many of the first primes as fit in `bits` bits, and how many they are: two numbers that far apart
/// collide by more primes than any others.
fn worst(bits: usize) -> (Number, usize) {
    let mut product: Number = vec![0; bits / 8];
    if let Some(last) = product.last_mut() {
        *last = 1;
    }
    let mut count = 0;
    for prime in primes(bits) {
        let mut next = product.clone();
        let mut carry = 0;
        for byte in next.iter_mut().rev() {
            carry += u64::from(*byte) * prime;
            *byte = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            break;
        }
        (product, count) = (next, count + 1);
    }
    (product, count)
}

/// The collisions of numbers of one length, by all of the first primes.
struct Case {
    bits: usize,
    primes: usize,
    /// Pairs of random numbers and primes by which they collide.
    pairs: Share,
    /// The expected share for random numbers: the mean of 1/p over the primes.
    expected: f64,
    /// The pair that collides most often.
    worst: Share,
    /// Sets and primes by which any two of a set collide.
    sets: Share,
}

impl Case {
    fn new(bits: usize, count: usize, context: &ExperimentContext<'_>) -> Result<Self, LabError> {
        let primes = primes(count);
        let mut draws = Draws::new(context.seed, (bits * 100_000 + count) as u64);
        let (mut pairs, mut sets) = (Share::default(), Share::default());
        for _ in 0..SETS.min(context.documents / SET).max(1) {
            let set: Vec<Number> = (0..SET).map(|_| random(bits, &mut draws)).collect();
            for &prime in &primes {
                context.watch.check()?;
                let rests: Vec<u64> = set.iter().map(|number| remainder(number, prime)).collect();
                let before = pairs.part;
                for (place, one) in rests.iter().enumerate() {
                    rests[..place].iter().for_each(|other| pairs.count(one == other));
                }
                sets.count(pairs.part > before);
            }
        }
        // Nothing and the product: their difference is the product.
        let (product, _) = worst(bits);
        let hits = primes.iter().filter(|&&prime| remainder(&product, prime) == 0).count();
        let expected = primes.iter().map(|&prime| 1.0 / prime as f64).sum::<f64>() / count as f64;
        let worst = Share { part: hits as u64, whole: count as u64 };
        Ok(Case { bits, primes: count, pairs, expected, worst, sets })
    }

    /// n/m.
    fn bound(&self) -> f64 {
        self.bits as f64 / self.primes as f64
    }

    /// C(s,2)·n/m.
    fn set_bound(&self) -> f64 {
        (SET * (SET - 1) / 2) as f64 * self.bound()
    }
}

/// The method with one setting after the other, under many seeds.
struct Trial {
    name: String,
    bound: f64,
    collisions: Share,
}

/// Counts how often the method takes two different texts for one. `bound` is the upper bound that it promises for their share.
fn trial(
    name: String,
    parameters: &str,
    bound: f64,
    context: &ExperimentContext<'_>,
) -> Result<Trial, LabError> {
    let mut analyser = Analyser::new(&Profile::web());
    let (mut features, mut buffer) = (Features::default(), Sketch::default());
    let mut collisions = Share::default();
    let mut draws = Draws::new(context.seed, 14);
    for seed in 0..SEEDS.min(context.documents as u64) {
        context.watch.check()?;
        let method = method(&format!("rabin:input=raw,{parameters},seed={seed}"), &Setting::default())?;
        let mut payloads = Vec::new();
        for _ in 0..TEXTS {
            let text: String = (0..BYTES).map(|_| char::from(b'a' + draws.below(26) as u8)).collect();
            analyser.read(&text, &mut features);
            method.sketch(&Page { text: &text, features: &features }, &mut buffer);
            payloads.push((text, buffer.payload.clone()));
        }
        let [(one, a), (two, b)] = [&payloads[0], &payloads[1]];
        collisions.count(one != two && method.accept(a, b, 1).is_some());
    }
    Ok(Trial { name, bound, collisions })
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let cases = CASES.map(|(bits, primes)| Case::new(bits, primes, context));
    let cases: Vec<Case> = cases.into_iter().collect::<Result<_, _>>()?;
    let mut trials = Vec::new();
    for error in ERRORS {
        let parameters = format!("family=prime,documents={TEXTS},bytes={BYTES},error={error}");
        trials.push(trial(format!("a prime for an error of {error}"), &parameters, error, context)?);
    }
    for degree in DEGREES {
        let parameters = format!("family=gf2,polynomial=random,degree={degree}");
        // The bits of a text, and one before it.
        let bound = (TEXTS * TEXTS) as f64 * (8 * BYTES + 1) as f64 / f64::from(degree).exp2();
        trials.push(trial(format!("a polynomial of degree {degree}"), &parameters, bound.min(1.0), context)?);
    }
    let mut study = context.study(&EXPERIMENT, None);
    report(&mut study, &cases, &trials);
    Ok(study)
}

fn report(study: &mut Study, cases: &[Case], trials: &[Trial]) {
    let above = cases.iter().filter(|case| {
        let over = |share: Share, bound: f64| share.value().is_some_and(|share| share > bound);
        over(case.pairs, case.bound()) || over(case.worst, case.bound()) || over(case.sets, case.set_bound())
    });
    let beyond =
        trials.iter().filter(|trial| trial.collisions.interval().is_some_and(|(low, _)| low > trial.bound));
    let slack = |share: fn(&Case) -> Share| {
        let ratios = cases.iter().filter_map(|case| Some(case.bound() / share(case).value()?));
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
        let ends =
            (ratios.iter().copied().fold(f64::MAX, f64::min), ratios.iter().copied().fold(0.0, f64::max));
        if ratios.is_empty() { "-".to_owned() } else { format!("{:.0} to {:.0}", ends.0, ends.1) }
    };
    study.lead = format!(
        "{} of {} cases are above their bound, and {} of {} settings of the method. Random pairs collide {} times less often than \
         the bound n/m allows, and the worst pairs {} times.",
        above.count(),
        cases.len(),
        beyond.count(),
        trials.len(),
        slack(|case| case.pairs),
        slack(|case| case.worst)
    );
    study.table(prime_table(cases));
    study.table(example_table());
    study.table(method_table(trials));
    study.notes.push(
        "By all of the first m primes, shares are exact for the numbers drawn. The worst pair differs by the product of the first \
         primes, as many as fit; it collides by those and no others."
            .to_owned(),
    );
}

fn prime_table(cases: &[Case]) -> Grid {
    let heads = [
        "bits n",
        "primes m",
        "random pairs that collide",
        "expected of random numbers",
        "worst pair",
        "bound n/m",
        "sets of 20 with a collision",
        "95 %",
        "bound C(20,2) n/m",
    ];
    let mut grid = Grid::new("Remainders by one of the first m primes", heads);
    for case in cases {
        grid.row([
            Value::Count(case.bits as u64),
            Value::Count(case.primes as u64),
            case.pairs.cell(),
            Value::from(case.expected),
            case.worst.cell(),
            Value::from(case.bound().min(1.0)),
            case.sets.cell(),
            case.sets.interval_cell(),
            Value::from(case.set_bound().min(1.0)),
        ]);
    }
    grid
}

/// Primes among the first 100 by which two numbers of ten bits collide.
fn collisions(a: u16, b: u16) -> u64 {
    let same = |prime: &&u64| remainder(&a.to_be_bytes(), **prime) == remainder(&b.to_be_bytes(), **prime);
    primes(100).iter().filter(same).count() as u64
}

/// The lecture's example.
fn example_table() -> Grid {
    let heads =
        ["numbers of 10 bits", "primes of the first 100 by which they collide", "reckoned", "bound n"];
    let mut grid = Grid::new("The example of the lecture", heads);
    for (a, b, reckoned) in [(347, 859, 1), (1023, 813, 4)] {
        let name = format!("{a} and {b}");
        grid.row([
            Value::from(name),
            Value::Count(collisions(a, b)),
            Value::Count(reckoned),
            Value::Count(10),
        ]);
    }
    grid
}

fn method_table(trials: &[Trial]) -> Grid {
    let heads =
        ["remainder by", "pairs of different texts", "collisions", "share", "95 %", "promised, at most"];
    let mut grid =
        Grid::new(format!("The method rabin on texts of {BYTES} bytes, a seed for each pair"), heads);
    for Trial { name, bound, collisions } in trials {
        grid.row([
            Value::from(name.as_str()),
            Value::Count(collisions.whole),
            Value::Count(collisions.part),
            collisions.cell(),
            collisions.interval_cell(),
            Value::Number(*bound),
        ]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::testing;
    use lookalike::walk::Watch;

    #[test]
    fn primes_and_remainders_are_those_of_the_lecture() {
        let number = 0x1234_5678_9abc_def0_1122u128;
        for prime in primes(50) {
            assert_eq!(u128::from(remainder(&number.to_be_bytes()[6..], prime)), number % u128::from(prime));
        }
        let first = primes(100);
        assert_eq!((first[0], first[1], first[39], first[99]), (2, 3, 173, 541));
        let by_173 = [347u16, 859, 91].map(|number| remainder(&number.to_be_bytes(), 173));
        assert_eq!(by_173, [1, 167, 91]);
        assert_eq!((collisions(347, 859), collisions(1023, 813)), (1, 4));
    }

    #[test]
    fn the_worst_product_has_as_many_primes_as_fit() {
        // 2 to 53 make 32,589,158,477,190,044,730, which is more than 64 bits; without 53 it is 59 bits and a little.
        let (product, count) = worst(64);
        let number = u64::from_be_bytes(product.clone().try_into().unwrap());
        assert_eq!((number, count), (614_889_782_588_491_410, 15));
        assert!(primes(15).iter().all(|&prime| remainder(&product, prime) == 0));
        assert!(primes(100)[15..].iter().all(|&prime| remainder(&product, prime) != 0));
        let (wide, many) = worst(8_192);
        assert_eq!(primes(10_000).iter().filter(|&&prime| remainder(&wide, prime) == 0).count(), many);
    }

    #[test]
    fn no_case_is_above_its_bound() {
        let watch = Watch::default();
        let context = ExperimentContext { documents: 40, ..testing::context(&[], &watch) };
        let study = run(&context).unwrap();
        assert!(study.lead.starts_with("0 of 7 cases are above their bound, and 0 of 6"), "{}", study.lead);
        assert_eq!(study, run(&context).unwrap());
        // Eight bits are few enough to see collisions.
        let collisions = trial(
            String::new(),
            "family=gf2,polynomial=random,degree=8",
            1.0,
            &ExperimentContext { documents: 1_000, ..context },
        );
        assert!(collisions.unwrap().collisions.part > 0);
    }
}
