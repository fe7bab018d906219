//! Relevance judgments of old pages: several topics, grades from -2 to 4.

use serde::{Deserialize, Serialize};

use super::Crawls;
use crate::random::{Random, child};

/// One judgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Judgment {
    /// The topic that it is for.
    pub topic: u32,
    /// The grade given.
    pub grade: i8,
}

/// Judged pages of a topic, about.
const PAGES_PER_TOPIC: u64 = 200;

/// Grades, each with the number of judgments of a hundred that have it.
const GRADES: [(i8, u32); 6] = [(0, 58), (1, 20), (2, 9), (-2, 7), (3, 4), (4, 2)];

const TOPICS: u64 = u64::MAX - 18;
const GRADE: u64 = u64::MAX - 19;

/// Returns the number of topics.
pub(super) fn topics(crawls: &Crawls) -> u32 {
    (crawls.judged.min(crawls.old) / PAGES_PER_TOPIC).clamp(5, 500) as u32
}

/// The judgments of an old page, by ascending topic. Twins were judged for the same topics, and mostly alike.
pub(super) fn of(crawls: &Crawls, story: u64, member: usize) -> Vec<Judgment> {
    let key = crawls.key(story);
    let mut random = Random::new(child(key, TOPICS));
    let all = topics(crawls);
    let more = match random.below(100) {
        0..10 => 1,
        10..12 => 2,
        _ => 0,
    };
    let mut topics: Vec<u32> = (0..=more).map(|_| 1 + random.below(all)).collect();
    topics.sort_unstable();
    topics.dedup();
    topics
        .into_iter()
        .map(|topic| Judgment { topic, grade: grade(child(key, GRADE), topic, member) })
        .collect()
}

fn grade(key: u64, topic: u32, member: usize) -> i8 {
    let drawn = |member: u64| {
        let mut random = Random::new(child(child(key, topic.into()), member));
        let mut draw = random.below(100);
        let found = GRADES.iter().find(|(_, share)| {
            let here = draw < *share;
            draw = draw.saturating_sub(*share);
            here
        });
        (found.map_or(0, |(grade, _)| *grade), random.one_in(3))
    };
    let (first, _) = drawn(0);
    match member {
        0 => first,
        // Every third twin was judged by somebody else.
        _ => match drawn(member as u64) {
            (other, true) => other,
            (_, false) => first,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_and_grades_are_several() {
        let crawls = Crawls { old: 5000, new: 0, judged: 4000, segments: 1, seed: 8 };
        assert_eq!(topics(&crawls), 20);
        let all: Vec<Vec<Judgment>> = (0..3000).map(|story| of(&crawls, story, 0)).collect();
        let several = all.iter().filter(|judged| judged.len() > 1).count();
        assert!((200..500).contains(&several), "{several}");
        let count = |wanted: i8| all.iter().flatten().filter(|judged| judged.grade == wanted).count();
        assert!(GRADES.iter().all(|(grade, _)| count(*grade) > 10));
        assert!(count(0) > 1500 && all.iter().flatten().all(|judged| (1..=20).contains(&judged.topic)));
        let twins = (0..3000).filter(|&story| of(&crawls, story, 1) != of(&crawls, story, 0)).count();
        assert!((300..900).contains(&twins), "{twins}");
    }
}
