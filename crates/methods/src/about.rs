//! Descriptions of the methods, and the list of all of them.
//!
//! The list is the registry and the help at once: a method is found by its name here, and `lookalike methods` prints what
//! stands here.

use crate::{Method, MethodError, Setting, Spec};

/// A method as people meet it: its names, where it comes from, what it computes.
#[derive(Debug)]
pub struct About {
    /// The name that it is called by.
    pub name: &'static str,
    /// Other names: each stands for a method with parameters as it would be typed, and takes further ones.
    pub aliases: &'static [(&'static str, &'static str)],
    /// A summary in one line without a full stop.
    pub summary: &'static str,
    /// The paper.
    pub source: &'static str,
    /// The formula that it computes, in lines of at most 120 characters.
    pub formula: &'static str,
    /// A command that uses it.
    pub example: &'static str,
    /// Every parameter and what it means.
    pub parameters: &'static [(&'static str, &'static str)],
    pub(crate) make: Constructor,
}

/// Makes a method of its parameters.
pub(crate) type Constructor = fn(Spec, &Setting) -> Result<Box<dyn Method>, MethodError>;

/// All methods, in the order that people should look at them.
pub const METHODS: &[&About] = &[
    &crate::minhash::ABOUT,
    &crate::simhash::ABOUT,
    &crate::exact::ABOUT,
    &crate::md5::ABOUT,
    &crate::rabin::ABOUT,
    &crate::bottom::ABOUT,
    &crate::modulus::ABOUT,
    &crate::dsc_ss::ABOUT,
    &crate::supershingles::ABOUT,
    &crate::megashingles::ABOUT,
    &crate::word_tuples::ABOUT,
    &crate::rabin_minhash::ABOUT,
    &crate::imatch::ABOUT,
    &crate::randomised::ABOUT,
    &crate::pugh::ABOUT,
    &crate::lexical::ABOUT,
    &crate::lexical::tf::ABOUT,
    &crate::lexical::tfidf::ABOUT,
    &crate::lexical::tfridf::ABOUT,
    &crate::lexical::opt_freq::ABOUT,
    &crate::descriptive_words::ABOUT,
    &crate::sentences::long::ABOUT,
    &crate::sentences::heavy::ABOUT,
    &crate::three_plus_five::ABOUT,
    &crate::log_shingles::ABOUT,
    &crate::decomposition::ABOUT,
    &crate::sif::ABOUT,
    &crate::koala::ABOUT,
    &crate::cops::ABOUT,
    &crate::spex::ABOUT,
    &crate::fuzzy::ABOUT,
];

/// The method that `name` is a name of, and the parameters that the name stands for.
pub(crate) fn find(name: &str) -> Option<(&'static About, &'static str)> {
    let alias = |about: &&'static About| {
        let (_, text) = about.aliases.iter().find(|(alias, _)| *alias == name)?;
        Some((*about, *text))
    };
    let named = METHODS.iter().find(|about| about.name == name).map(|about| (*about, about.name));
    named.or_else(|| METHODS.iter().find_map(alias))
}

/// All names, the papers' ones included.
pub fn names() -> impl Iterator<Item = &'static str> {
    let aliases = |about: &&'static About| about.aliases.iter().map(|(alias, _)| *alias);
    METHODS.iter().map(|about| about.name).chain(METHODS.iter().flat_map(aliases))
}
