//! From text to features: words, their hashes, sentences.

use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed, options::WordBreakInvariantOptions};
use lookalike_hash::{self as hash, Secret, TextWords, WordHashes};
use lookalike_model::Span;

use crate::class::Class;
use crate::profile::{Profile, Segmentation};
use crate::runs::{Alphabet, Unspaced};
use crate::scan::{NormalisedText, Scanner, clear_and_reserve};
use crate::sentences;
use crate::stop;

/// Turns texts into [`Features`] by one profile. Holds the buffers that one text after the other goes through.
///
/// ```
/// use lookalike_text::{Analyser, Features, Profile};
///
/// let mut analyser = Analyser::new(&Profile::web());
/// let mut features = Features::default();
/// analyser.read("A rose is\na Rose.", &mut features);
/// assert_eq!(features.words().collect::<Vec<_>>(), ["a", "rose", "is", "a", "rose"]);
/// assert_eq!(features.hashes()[0], features.hashes()[3]);
/// assert_eq!(features.grams(2).count(), 4);
/// ```
pub struct Analyser {
    profile: Profile,
    secret: Option<Secret>,
    /// The fixed hashes are made.
    fixed: bool,
    scanner: Scanner,
    segmenter: Option<WordSegmenterBorrowed<'static>>,
    filter: Filter,
}

impl Analyser {
    /// An analyser for `profile`.
    pub fn new(profile: &Profile) -> Self {
        let segmenter = match profile.segmentation {
            Segmentation::Bigrams | Segmentation::Runs => None,
            Segmentation::Uax29 => {
                Some(WordSegmenter::new_for_non_complex_scripts(WordBreakInvariantOptions::default()))
            }
            Segmentation::Dictionary => {
                Some(WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()))
            }
        };
        let unspaced = match profile.segmentation {
            Segmentation::Bigrams => Unspaced::Bigrams,
            _ => Unspaced::Runs,
        };
        Analyser {
            profile: profile.clone(),
            secret: None,
            fixed: true,
            scanner: Scanner::new(profile.form, profile.alphabet, unspaced),
            segmenter,
            filter: Filter::new(profile),
        }
    }

    /// An analyser for `profile` whose features can be measured: words are also hashed by a secret.
    pub fn with_secret(profile: &Profile, secret: &Secret) -> Self {
        Analyser { secret: Some(secret.clone()), ..Analyser::new(profile) }
    }

    /// An analyser for `profile` whose features are measured and nothing else: words have hashes by the secret, and no
    /// [fixed ones](Features::hashes) unless the profile drops words by them.
    pub fn for_measuring(profile: &Profile, secret: &Secret) -> Self {
        let fixed = !profile.keeps_all() || profile.min_distinct > 0;
        Analyser { fixed, ..Analyser::with_secret(profile, secret) }
    }

    /// The profile that words are made by.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Replaces `features` with those of `text`.
    pub fn read(&mut self, text: &str, features: &mut Features) {
        let Features { scanned, hashes, secret_hashes, sentences } = features;
        sentences.clear();
        self.scanner.run(text, scanned);
        if let Some(segmenter) = self.segmenter {
            segments(segmenter, scanned, self.profile.alphabet);
        }
        let words = scanned.starts.len();
        clear_and_reserve(hashes, if self.fixed { words } else { 0 });
        clear_and_reserve(secret_hashes, if self.secret.is_some() { words } else { 0 });
        let NormalisedText { normal, starts, ends, long, .. } = scanned;
        let fixed = self.fixed.then_some(hashes);
        let secret = self.secret.as_ref().map(|secret| (secret, secret_hashes));
        hash::words(TextWords { text: normal, starts, ends, long }, WordHashes { fixed, secret });
        if !self.profile.keeps_all() {
            features.retain(|word, hash| self.filter.keeps(word, hash));
        }
        if !has_distinct(&features.hashes, self.profile.min_distinct) {
            features.retain(|_, _| false);
        }
    }

    /// Finds the sentences of the text that `features` were read from last.
    pub fn read_sentences(&self, features: &mut Features) {
        let Features { scanned: NormalisedText { normal, starts, .. }, sentences, .. } = features;
        sentences.clear();
        let mut first = 0;
        sentences::ends(normal, self.profile.ideographic_stops, |end| {
            let count = starts[first..].partition_point(|&start| (start as usize) < end);
            if count > 0 {
                sentences.push(Span::new(first, first + count));
            }
            first += count;
        });
    }
}

/// The filter by which a profile keeps or drops words.
#[derive(Debug, Clone)]
pub struct Filter {
    min_letters: usize,
    max_digits: usize,
    /// Hashes of function words, sorted.
    stop_hashes: Vec<u64>,
    /// The words, in the order of their hashes. Another word may have been made to have a hash of theirs.
    stop_words: Vec<&'static str>,
}

impl Filter {
    /// The filter of a profile.
    pub fn new(profile: &Profile) -> Self {
        let words = profile.stop.iter().filter_map(|language| stop::function_words(language)).flatten();
        let mut stop: Vec<_> = words.map(|word| (hash::word(word.as_bytes()), word)).collect();
        stop.sort_unstable();
        stop.dedup();
        let (stop_hashes, stop_words) = stop.into_iter().unzip();
        Filter { min_letters: profile.min_letters, max_digits: profile.max_digits, stop_hashes, stop_words }
    }

    /// True for a word that is kept; `hash` is its own.
    pub fn keeps(&self, word: &str, hash: u64) -> bool {
        let Filter { min_letters, max_digits, .. } = *self;
        let long_enough = word.len() >= min_letters && word.chars().take(min_letters).count() == min_letters;
        long_enough
            && (max_digits == usize::MAX || word.chars().filter(|c| c.is_numeric()).count() <= max_digits)
            && !self.stop_hashes.binary_search(&hash).is_ok_and(|index| self.stop_words[index] == word)
    }
}

/// Replaces the words by the stretches between word boundaries that hold a word character.
fn segments(segmenter: WordSegmenterBorrowed<'static>, scanned: &mut NormalisedText, alphabet: Alphabet) {
    let NormalisedText { normal, starts, ends, .. } = scanned;
    starts.clear();
    ends.clear();
    let mut start = 0;
    for end in segmenter.segment_str(normal) {
        if normal[start..end].chars().any(|c| Class::of(c).is_any(alphabet.flag())) {
            starts.push(start as u32);
            ends.push(end as u32);
        }
        start = end;
    }
}

/// True when at least `wanted` distinct values are there; looks no further than it must.
fn has_distinct(hashes: &[u64], wanted: usize) -> bool {
    let mut seen = Vec::with_capacity(wanted);
    for &hash in hashes {
        if seen.len() >= wanted {
            break;
        }
        if !seen.contains(&hash) {
            seen.push(hash);
        }
    }
    seen.len() >= wanted
}

/// The words of a text in order with their hashes, and on request its sentences.
///
/// Used again for one text after the other, it allocates only for the longest.
#[derive(Debug, Default)]
pub struct Features {
    scanned: NormalisedText,
    hashes: Vec<u64>,
    /// The hashes by the analyser's secret; none where it has none.
    secret_hashes: Vec<u64>,
    /// Sentences as ranges of word numbers.
    sentences: Vec<Span>,
}

impl Features {
    /// Number of words.
    pub fn len(&self) -> usize {
        self.scanned.starts.len()
    }

    /// True for a text without words. Such a document is kept, never collapsed and never paired.
    pub fn is_empty(&self) -> bool {
        self.scanned.starts.is_empty()
    }

    /// The text in normal form and lower case.
    pub fn normal(&self) -> &str {
        &self.scanned.normal
    }

    /// The word at this place.
    pub fn word(&self, index: usize) -> &str {
        self.normal_span(index).of(&self.scanned.normal)
    }

    /// The words, in normal form and lower case.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.word(index))
    }

    /// Returns the span of word `index` in the text that the features were read from.
    pub fn span(&self, index: usize) -> Span {
        self.scanned.spans.to_source(self.normal_span(index))
    }

    /// Returns the span of word `index` in the text in normal form.
    fn normal_span(&self, index: usize) -> Span {
        Span { start: self.scanned.starts[index], end: self.scanned.ends[index] }
    }

    /// Drops the words for which `keep` is false.
    fn retain(&mut self, mut keep: impl FnMut(&str, u64) -> bool) {
        let mut kept = 0;
        for index in 0..self.len() {
            if keep(self.word(index), self.hashes[index]) {
                let NormalisedText { starts, ends, .. } = &mut self.scanned;
                (starts[kept], ends[kept], self.hashes[kept]) =
                    (starts[index], ends[index], self.hashes[index]);
                if !self.secret_hashes.is_empty() {
                    self.secret_hashes[kept] = self.secret_hashes[index];
                }
                kept += 1;
            }
        }
        self.scanned.starts.truncate(kept);
        self.scanned.ends.truncate(kept);
        self.hashes.truncate(kept);
        self.secret_hashes.truncate(kept);
    }

    /// The hashes of the words by the secret of the analyser that read them, in their order: equal hashes, equal words.
    ///
    /// An analyser [with a secret](Analyser::with_secret) must have read them.
    pub fn secret_hashes(&self) -> &[u64] {
        debug_assert_eq!(self.secret_hashes.len(), self.len(), "read by an analyser without a secret");
        &self.secret_hashes
    }

    /// The fixed hashes of the words, in their order. They can be forged: what they propose must be measured.
    ///
    /// An analyser [for measuring](Analyser::for_measuring) makes none.
    pub fn hashes(&self) -> &[u64] {
        debug_assert_eq!(self.hashes.len(), self.len(), "read by an analyser for measuring");
        &self.hashes
    }

    /// The hashes of all windows of `n` words, in order; see [`hash::Grams`].
    pub fn grams(&self, n: usize) -> hash::Grams<'_> {
        hash::Grams::new(self.hashes(), n)
    }

    /// Replaces `out` with the set of window hashes, sorted.
    pub fn shingles(&self, n: usize, out: &mut Vec<u64>) {
        out.clear();
        self.grams(n).take_into(usize::MAX, out);
        out.sort_unstable();
        out.dedup();
    }

    /// Replaces `out` with every distinct word hash and how often it occurs, sorted by hash.
    pub fn counts(&self, out: &mut Vec<(u64, u32)>) {
        out.clear();
        out.extend(self.hashes().iter().map(|&hash| (hash, 1)));
        out.sort_unstable();
        out.dedup_by(|later, first| {
            let same = later.0 == first.0;
            first.1 += if same { later.1 } else { 0 };
            same
        });
    }

    /// 128 bits by which a word sequence is known for ever. They can be forged, see [`Features::digest`].
    pub fn fixed_digest(&self) -> u128 {
        hash::digest_of_words(self.hashes())
    }

    /// 128 bits that tell word sequences apart: equal digests, equal words in equal order. Takes the secret of the analyser.
    pub fn digest(&self, secret: &Secret) -> u128 {
        secret.digest_of(self.secret_hashes())
    }

    /// Makes `out` the same text without the words whose hash `keep` is false for.
    pub fn filter_into(&self, out: &mut Features, mut keep: impl FnMut(u64) -> bool) {
        out.scanned.clear();
        out.scanned.normal.push_str(&self.scanned.normal);
        out.scanned.spans.clone_from(&self.scanned.spans);
        out.hashes.clear();
        out.secret_hashes.clear();
        out.sentences.clear();
        let mut first = 0;
        let mut sentences = self.sentences.iter().peekable();
        for (index, &hash) in self.hashes().iter().enumerate() {
            while sentences.next_if(|sentence| sentence.end as usize <= index).is_some() {
                out.end_sentence(&mut first);
            }
            if keep(hash) {
                out.scanned.starts.push(self.scanned.starts[index]);
                out.scanned.ends.push(self.scanned.ends[index]);
                out.hashes.push(hash);
                out.secret_hashes.extend(self.secret_hashes.get(index));
            }
        }
        if !self.sentences.is_empty() {
            out.end_sentence(&mut first);
        }
    }

    /// Ends a sentence behind the last word, if it has any.
    fn end_sentence(&mut self, first: &mut usize) {
        if self.len() > *first {
            self.sentences.push(Span::new(*first, self.len()));
            *first = self.len();
        }
    }

    /// Number of sentences with at least one word; none before [`Analyser::read_sentences`].
    pub fn sentence_count(&self) -> usize {
        self.sentences.len()
    }

    /// The word numbers of sentence `index`.
    pub fn sentence(&self, index: usize) -> std::ops::Range<usize> {
        let span = self.sentences[index];
        span.start as usize..span.end as usize
    }

    /// Appends the canonical text of sentence `index` to `out`: its words with one blank between.
    pub fn sentence_text(&self, index: usize, out: &mut String) {
        for (place, index) in self.sentence(index).enumerate() {
            if place > 0 {
                out.push(' ');
            }
            out.push_str(self.word(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(profile: &str, text: &str) -> Features {
        let mut features = Features::default();
        let mut analyser = Analyser::with_secret(&profile.parse().unwrap(), Secret::of_process());
        analyser.read(text, &mut features);
        analyser.read_sentences(&mut features);
        features
    }

    fn words(profile: &str, text: &str) -> Vec<String> {
        read(profile, text).words().map(str::to_owned).collect()
    }

    fn sentences(profile: &str, text: &str) -> Vec<String> {
        let features = read(profile, text);
        let text = |index| {
            let mut text = String::new();
            features.sentence_text(index, &mut text);
            text
        };
        (0..features.sentence_count()).map(text).collect()
    }

    #[test]
    fn web_takes_compatibility_forms_apart() {
        assert_eq!(words("web", "Ｆｕｌｌ ﬁne x² It’s"), ["full", "fine", "x2", "it", "s"]);
    }

    #[test]
    fn thesis_keeps_compatibility_forms_and_long_runs() {
        assert_eq!(words("thesis", "Ｆｕｌｌ 日本語です a_b"), ["ｆｕｌｌ", "日本語です", "a", "b"]);
    }

    #[test]
    fn kolcz_drops_short_words_and_words_with_digits() {
        let text = "The quick browns foxes jumped over R2D2 A1bc 12345 lazy";
        assert_eq!(words("kolcz", text), ["quick", "browns", "foxes", "jumped", "over", "a1bc", "lazy"]);
    }

    #[test]
    fn kolcz_ignores_documents_with_under_five_distinct_words() {
        assert_eq!(words("kolcz", "four four words words here here"), [] as [&str; 0]);
        assert_eq!(words("kolcz", "five words here make enough").len(), 5);
    }

    #[test]
    fn yandex_drops_function_words_and_short_ones() {
        assert_eq!(
            words("yandex", "Кошка сидела перед окном и the cat would sit"),
            ["кошка", "сидела", "окном"]
        );
        assert_eq!(words("yandex:stop=none", "перед would cat"), ["перед", "would"]);
    }

    #[test]
    fn sentences_end_before_punctuation_is_dropped() {
        let text = "First sentence here. Second one! Third?\n\nFourth… Version 2.5 stays whole";
        assert_eq!(
            sentences("yandex:stop=none", text),
            ["first sentence here", "second", "third", "fourth", "version stays whole"],
        );
        assert_eq!(sentences("web", "一二。三四！五"), ["一二", "三四", "五"]);
    }

    #[test]
    fn dictionary_words_are_an_option() {
        assert_eq!(words("web:words=dictionary", "สวัสดีครับ, hello"), ["สวัสดี", "ครับ", "hello"]);
        assert_eq!(words("web:words=uax29", "can't stop"), ["can't", "stop"]);
    }

    #[test]
    fn spans_lead_back_to_the_text() {
        let text = "Ｆｕｌｌ — Größe İz";
        let features = read("web", text);
        let spans: Vec<&str> = (0..features.len()).map(|index| features.span(index).of(text)).collect();
        assert_eq!(spans, ["Ｆｕｌｌ", "Größe", "İz"]);
    }

    #[test]
    fn counts_are_of_every_distinct_word() {
        let features = read("web", "a rose is a rose is a rose");
        let mut counts = Vec::new();
        features.counts(&mut counts);
        let count =
            |word: &str| counts.iter().find(|(hash, _)| *hash == hash::word(word.as_bytes())).unwrap().1;
        assert_eq!((counts.len(), count("a"), count("rose"), count("is")), (3, 3, 3, 2));
    }

    #[test]
    fn thinned_texts_lose_words_and_empty_sentences() {
        let features = read("web", "A rose is. Is is. A rose? Rose");
        let (is, mut filtered) = (hash::word(b"is"), Features::default());
        features.filter_into(&mut filtered, |hash| hash != is);
        assert_eq!(filtered.words().collect::<Vec<_>>(), ["a", "rose", "a", "rose", "rose"]);
        let sentences: Vec<_> =
            (0..filtered.sentence_count()).map(|index| filtered.sentence(index)).collect();
        assert_eq!(sentences, [0..2, 2..4, 4..5]);
        features.filter_into(&mut filtered, |_| true);
        assert_eq!((filtered.hashes(), filtered.sentence_count()), (features.hashes(), 4));
    }

    #[test]
    fn an_analyser_for_measuring_finds_the_same_words() {
        let text =
            "The quick browns foxes jumped over R2D2 A1bc 12345 a considerably-lengthy-word-of-words lazy";
        for profile in ["web", "kolcz", "yandex", "web:words=dictionary"] {
            let mut features = Features::default();
            Analyser::for_measuring(&profile.parse().unwrap(), Secret::of_process())
                .read(text, &mut features);
            let whole = read(profile, text);
            assert_eq!(features.words().collect::<Vec<_>>(), whole.words().collect::<Vec<_>>(), "{profile}");
            assert_eq!(features.secret_hashes(), whole.secret_hashes(), "{profile}");
        }
    }

    #[test]
    fn the_digest_sees_order_and_length() {
        let digest = |text: &str| read("web", text).digest(Secret::of_process());
        assert_eq!(digest("a b c"), digest("A, b; C!"));
        assert_ne!(digest("a b c"), digest("a c b"));
        assert_ne!(digest("a b c"), digest("a b c c"));
        let long = |last: &str| digest(&format!("{} {last}", "x ".repeat(1000)));
        assert_ne!(long("y"), long("z"));
    }

    proptest! {
        #[test]
        fn no_text_makes_any_profile_panic(text: String, profile in "web|thesis|kolcz|yandex|web:words=dictionary") {
            let features = read(&profile, &text);
            for index in 0..features.len() {
                let span = features.span(index);
                prop_assert!(text.get(span.start as usize..span.end as usize).is_some());
            }
            let covered: usize = (0..features.sentence_count()).map(|index| features.sentence(index).len()).sum();
            prop_assert_eq!(covered, features.len());
        }

        #[test]
        fn features_do_not_depend_on_what_was_read_before(first: String, second: String) {
            let mut analyser = Analyser::new(&Profile::web());
            let mut features = Features::default();
            analyser.read(&first, &mut features);
            analyser.read(&second, &mut features);
            let fresh = read("web", &second);
            prop_assert_eq!(features.hashes(), fresh.hashes());
            prop_assert_eq!(features.normal(), fresh.normal());
        }
    }
}
