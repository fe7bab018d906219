//! Groups of minima, each hashed to one value: what super-shingles and mega-shingles are made of.

use lookalike_hash as hash;
use lookalike_model::Recipe;
use lookalike_text::Profile;

use crate::minhash::rabin::Functions;
use crate::minhash::{MinimaBuffers, classic};
use crate::seed;
use crate::spec::profile_value;
use crate::{MethodError, Page, Setting, Spec, lanes, parameters};

/// More minima than this say nothing new about a document.
const MAX_VALUES: usize = 4096;

/// Parameters that minima and groups of them have.
pub(crate) const PARAMETERS: [(&str, &str); 6] = [
    ("values", "minima of a document"),
    ("groups", "groups that they are in: super-shingles of a document"),
    ("shingle", "words per shingle"),
    (
        "family",
        "functions: mix (one mixed hash each) or rabin (remainders by random irreducible polynomials)",
    ),
    ("profile", "how words are read; run is the run's own"),
    ("seed", "of the functions"),
];

/// The minima of a document, and later the hashes of their groups.
#[derive(Debug, Default)]
pub(crate) struct GroupBuffers {
    minima: MinimaBuffers,
    /// The minima of one group.
    bytes: Vec<u8>,
}

impl GroupBuffers {
    /// Returns the hashes of the groups of the last document.
    pub(crate) fn hashes(&mut self) -> &mut [u64] {
        &mut self.minima.minima
    }
}

/// Minima of a document's shingles, in groups.
#[derive(Debug)]
pub(crate) struct Groups {
    values: usize,
    count: usize,
    shingle: usize,
    /// Those of the family `rabin`; none in the family `mix`.
    functions: Option<Functions>,
    profile: Option<Profile>,
    seed: u64,
}

impl Groups {
    /// Takes the parameters out of `spec`.
    pub(crate) fn take(spec: &mut Spec, setting: &Setting) -> Result<Self, MethodError> {
        let values: usize = spec.value("values", 84, "a number from 1 to 4096 is wanted", |values| {
            (1..=MAX_VALUES).contains(values)
        })?;
        let wanted = format!("a number that divides {values}, the number of values, is wanted");
        let count =
            spec.value("groups", 6, &wanted, |&groups| groups > 0 && values.is_multiple_of(groups))?;
        if !values.is_multiple_of(count) {
            return Err(spec.value_error(
                "values",
                &values.to_string(),
                &format!("a multiple of {count}, the groups, is wanted"),
            ));
        }
        let shingle = parameters::shingle(spec, 8)?;
        let rabin = spec.choice("family", &[("mix", false), ("rabin", true)])?;
        let profile = spec.profile(None)?;
        let seed = parameters::seed(spec, setting)?;
        let functions = rabin.then(|| Functions::draw(values, seed));
        Ok(Groups { values, count, shingle, functions, profile, seed })
    }

    /// Adds the parameters to a recipe.
    pub(crate) fn describe(&self, recipe: Recipe) -> Recipe {
        recipe
            .with("values", self.values)
            .with("groups", self.count)
            .with("shingle", self.shingle)
            .with("family", if self.functions.is_none() { "mix" } else { "rabin" })
            .with("profile", profile_value(self.profile.as_ref()))
            .with("seed", self.seed)
    }

    pub(crate) fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// Bytes of memory that the functions take.
    pub(crate) fn bytes(&self) -> u64 {
        self.functions.as_ref().map_or(0, Functions::bytes)
    }

    /// Number of groups.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Words per shingle.
    pub(crate) fn shingle(&self) -> usize {
        self.shingle
    }

    /// Probability that a group of two documents of this `resemblance` is equal.
    pub(crate) fn chance(&self, resemblance: f64) -> f64 {
        resemblance.powi((self.values / self.count) as i32)
    }

    /// Leaves one hash for each group of a document that has words.
    pub(crate) fn hash(&self, page: &Page<'_>, sorted: bool, buffers: &mut GroupBuffers) {
        let (shingles, salt) = (page.grams(self.shingle), seed::salt(self.seed));
        match &self.functions {
            None => classic::minima(shingles, self.values, salt, &mut buffers.minima),
            Some(functions) => functions.minima(shingles, &mut buffers.minima),
        }
        let GroupBuffers { minima: MinimaBuffers { minima, .. }, bytes } = buffers;
        if sorted {
            minima.sort_unstable();
        }
        let size = self.values / self.count;
        for group in 0..self.count {
            bytes.clear();
            bytes.extend(minima[group * size..][..size].iter().flat_map(|minimum| minimum.to_le_bytes()));
            // This slot is one that has been read already.
            minima[group] = hash::word(bytes);
        }
        minima.truncate(self.count);
    }

    /// Appends the payload of a document: its groups' hashes, or nothing but zeros without words.
    pub(crate) fn append_payload(&self, hashes: &[u64], payload: &mut Vec<u8>) {
        lanes::append(hashes.iter().copied(), payload);
        payload.resize(8 * self.count, 0);
    }
}

/// Appends a key for each pair of super-shingles, as a number far from all others: `h(i, j, s_i, s_j)`, `i < j`.
pub(crate) fn pairs(supershingles: &[u64], mut key: impl FnMut(u64)) {
    for (j, &second) in (0u64..).zip(supershingles) {
        for (i, &first) in (0..j).zip(supershingles) {
            let mut bytes = [0; 32];
            for (place, value) in bytes.as_chunks_mut().0.iter_mut().zip([i, j, first, second]) {
                *place = value.to_le_bytes();
            }
            key(hash::word(&bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_pairs_of_six() {
        let mut keys = Vec::new();
        pairs(&[7; 6], |key| keys.push(key));
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 15);
    }

    #[test]
    fn a_group_is_the_hash_of_its_minima() {
        let mut spec: Spec = "x:values=4,groups=2,shingle=4".parse().unwrap();
        let groups = Groups::take(&mut spec, &Setting::default()).unwrap();
        let mut features = lookalike_text::Features::default();
        let text = "a rose is a rose is a rose";
        lookalike_text::Analyser::new(&Profile::web()).read(text, &mut features);
        let page = Page { text, features: &features };
        let mut buffers = GroupBuffers::default();
        // The published minima.
        let minima =
            [0x3ae5_4cc9_251a_e729u64, 0x6c7a_cebf_b657_adf9, 0x0c81_4b34_8629_6f31, 0x28ec_852d_3bc1_208c];
        let hash = |order: [usize; 2]| hash::word(&order.map(|i| minima[i].to_le_bytes()).concat());
        groups.hash(&page, false, &mut buffers);
        assert_eq!(buffers.hashes(), [hash([0, 1]), hash([2, 3])]);
        groups.hash(&page, true, &mut buffers);
        assert_eq!(buffers.hashes(), [hash([2, 3]), hash([0, 1])]);
    }
}
