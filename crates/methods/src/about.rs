//! Descriptions of the methods, and the list of all of them.
//!
//! The list is the registry and the help at once: a method is found by its name here, and `lookalike methods` prints what
//! stands here. A program adds methods of its own by [`register`].

use std::sync::{PoisonError, RwLock};

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
    /// The function that makes the method of its parameters.
    pub make: Constructor,
}

/// Makes a method of its parameters.
pub type Constructor = fn(Spec, &Setting) -> Result<Box<dyn Method>, MethodError>;

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

/// Methods that the program has added, in the order in which they came.
static REGISTERED: RwLock<Vec<&'static About>> = RwLock::new(Vec::new());

/// Adds a method to those that are found by name, for the rest of the process: jobs and indexes then run it as any other.
///
/// Recipes name methods, and whoever goes on with a job or opens an index needs all methods of its recipe. A program
/// that has methods of its own therefore registers them before anything else. [`contract::check`](crate::contract::check) holds a method to
/// what the engine relies on. Registering the same method again changes nothing.
///
/// # Errors
/// When a name of it belongs to another method, or has other characters than lower-case letters, digits and hyphens.
pub fn register(about: &'static About) -> Result<(), MethodError> {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if registered.iter().any(|other| std::ptr::eq(*other, about)) {
        return Ok(());
    }
    for name in own_names(about) {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(MethodError::Unable(format!(
                "{name:?} cannot be the name of a method: it has lower-case letters, digits and hyphens"
            )));
        }
        if find_in(METHODS, name).or_else(|| find_in(&registered, name)).is_some() {
            return Err(MethodError::Unable(format!("there is a method {name} already; take another name")));
        }
    }
    registered.push(about);
    Ok(())
}

/// Methods that the program has added, in the order in which they came.
pub fn registered() -> Vec<&'static About> {
    REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The method that `name` is a name of, and the parameters that the name stands for.
pub(crate) fn find(name: &str) -> Option<(&'static About, &'static str)> {
    find_in(METHODS, name).or_else(|| find_in(&registered(), name))
}

fn find_in(methods: &[&'static About], name: &str) -> Option<(&'static About, &'static str)> {
    let alias = |about: &&'static About| {
        let (_, text) = about.aliases.iter().find(|(alias, _)| *alias == name)?;
        Some((*about, *text))
    };
    let named = methods.iter().find(|about| about.name == name).map(|about| (*about, about.name));
    named.or_else(|| methods.iter().find_map(alias))
}

/// The description of the method that `name` is a name of.
pub fn about(name: &str) -> Option<&'static About> {
    find(name).map(|(about, _)| about)
}

/// The name of a method and its other names.
fn own_names(about: &'static About) -> impl Iterator<Item = &'static str> {
    std::iter::once(about.name).chain(about.aliases.iter().map(|(alias, _)| *alias))
}

/// All names, the papers' ones and those of methods that the program has added included.
pub fn names() -> impl Iterator<Item = &'static str> {
    let aliases = |about: &&'static About| about.aliases.iter().map(|(alias, _)| *alias);
    let own = METHODS.iter().map(|about| about.name).chain(METHODS.iter().flat_map(aliases));
    own.chain(registered().into_iter().flat_map(own_names))
}
