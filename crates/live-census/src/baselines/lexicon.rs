//! Queries of two words, as the first measurers made them from a lexicon.

use lookalike_census::Random;

use crate::own_corpus::{OwnCorpus, WordId};

/// Words, each as likely as it is frequent. Two words drawn uniformly would hardly ever be on one page.
pub(super) struct Lexicon {
    words: Vec<WordId>,
    /// For each of them its frequency and those of all before it.
    cumulated: Vec<u64>,
}

impl Lexicon {
    /// All words in two own documents or more.
    pub(super) fn new(own: &OwnCorpus) -> Self {
        let words = own.queries(2);
        let mut sum = 0;
        let cumulate = |&word: &WordId| {
            sum += u64::from(own.frequency(word));
            sum
        };
        let cumulated = words.iter().map(cumulate).collect();
        Lexicon { words, cumulated }
    }

    /// Two different words; none where there are no two.
    pub(super) fn pair(&self, random: &mut Random) -> Option<[WordId; 2]> {
        if self.words.len() < 2 {
            return None;
        }
        let one = self.draw(random);
        // One in a few draws is another, unless nearly all of the weight is on one word; then its neighbour will do.
        let other = (0..100).map(|_| self.draw(random)).find(|&other| other != one);
        let other = other.unwrap_or((one + 1) % self.words.len());
        Some([self.words[one], self.words[other]])
    }

    fn draw(&self, random: &mut Random) -> usize {
        let all = self.cumulated.last().map_or(0, |&sum| sum as usize);
        let at = random.below(all) as u64;
        self.cumulated.partition_point(|&below| below <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_drawn_as_often_as_they_are_frequent() {
        let mut own = OwnCorpus::new();
        for number in 0..8 {
            own.add(if number < 2 { "often seldom" } else { "often" });
        }
        let lexicon = Lexicon::new(&own);
        let mut random = Random::new(1);
        let often = own.number("often").unwrap();
        let first = (0..10_000).filter(|_| lexicon.pair(&mut random).unwrap()[0] == often).count();
        assert!((first as f64 / 8_000.0 - 1.0).abs() < 0.03, "{first}");
        assert!((0..100).all(|_| lexicon.pair(&mut random).is_some_and(|[one, other]| one != other)));
        assert!(Lexicon::new(&OwnCorpus::new()).pair(&mut random).is_none());
    }
}
