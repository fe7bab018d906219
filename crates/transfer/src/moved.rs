//! Judgments on their way from old documents to new ones.
//!
//! A judgment moves to the near-duplicates of its document, or to the most similar of them. Several old documents may meet in one new
//! document: then the judgment of the most similar old one stands for each topic; of several as similar, the grade that most of
//! them have, then the lower one. Grades are no plain scale, so every such case is reported.

use std::collections::BTreeMap;

use lookalike::judgments::{Grade, Judgment, Judgments, ListError};
use serde::Serialize;

use crate::ranking::by_similarity;

/// A near-duplicate of a judged document.
#[derive(Debug, Clone, PartialEq)]
pub struct NearDuplicate {
    /// Its id in the new corpus.
    pub document: String,
    /// Its similarity to the judged document.
    pub similarity: f64,
}

/// The near-duplicates of each judged document, the best one first.
pub type NearDuplicates = BTreeMap<String, Vec<NearDuplicate>>;

/// The near-duplicates that a judgment moves to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matches {
    /// The best one.
    Best,
    /// All of them.
    All,
}

/// A grade that an old document gives to a new one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// The old document.
    pub old: String,
    /// Its similarity to the new one.
    pub similarity: f64,
    /// Its grade, as it stands.
    pub grade: String,
    /// The position of the judgment in its file, from 0.
    #[serde(skip)]
    position: usize,
    #[serde(skip)]
    parsed: Option<Grade>,
}

/// Old documents with different grades that met in one new document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conflict {
    /// The file of judgments.
    pub track: String,
    /// The topic.
    pub topic: String,
    /// The subtopic, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtopic: Option<String>,
    /// The new document.
    pub new: String,
    /// The claim that is kept.
    pub kept: Claim,
    /// The others.
    pub dropped: Vec<Claim>,
}

/// The result of moving one file of judgments.
#[derive(Debug, Default)]
pub struct MovedJudgments {
    /// The judgments of the new corpus, in the order of the old ones.
    pub judgments: Vec<Judgment>,
    /// Judgments whose document has a near-duplicate.
    pub carried: u64,
    /// Judgments that were dropped since another one stands for the same topic and new document.
    pub merged: u64,
    /// Judgments that are of no document.
    pub of_no_document: u64,
    /// The cases in which grades differed.
    pub conflicts: Vec<Conflict>,
}

/// Moves the judgments of one file.
pub fn move_judgments(
    file: &Judgments,
    near_duplicates: &NearDuplicates,
    matches: Matches,
) -> Result<MovedJudgments, ListError> {
    let mut out = MovedJudgments::default();
    let mut claims: BTreeMap<(&str, &str, &str), Vec<Claim>> = BTreeMap::new();
    for (position, judgment) in file.lines.iter().enumerate() {
        if !judgment.is_of_document() {
            out.of_no_document += 1;
            continue;
        }
        let Some(near_duplicates) =
            near_duplicates.get(judgment.document()).filter(|near_duplicates| !near_duplicates.is_empty())
        else {
            continue;
        };
        out.carried += 1;
        let near_duplicates = if matches == Matches::Best { &near_duplicates[..1] } else { near_duplicates };
        for near_duplicate in near_duplicates {
            let key =
                (judgment.topic(), judgment.subtopic().unwrap_or_default(), near_duplicate.document.as_str());
            let claims = claims.entry(key).or_default();
            // A judgment that comes twice says no more than once.
            if claims.iter().any(|claim| claim.old == judgment.document() && claim.grade == judgment.label())
            {
                out.merged += 1;
                continue;
            }
            claims.push(Claim {
                old: judgment.document().to_owned(),
                similarity: near_duplicate.similarity,
                grade: judgment.label().to_owned(),
                position,
                parsed: Some(judgment.grade()),
            });
        }
    }
    let mut kept: Vec<(usize, &str)> = Vec::with_capacity(claims.len());
    for ((topic, subtopic, new), mut claims) in claims {
        let kept_claim = claims.swap_remove(winner(&claims));
        kept.push((kept_claim.position, new));
        out.merged += claims.len() as u64;
        if claims.iter().any(|claim| claim.grade != kept_claim.grade) {
            claims.sort_by_key(|claim| claim.position);
            out.conflicts.push(Conflict {
                track: file.track.clone(),
                topic: topic.to_owned(),
                subtopic: Some(subtopic.to_owned()).filter(|subtopic| !subtopic.is_empty()),
                new: new.to_owned(),
                kept: kept_claim,
                dropped: claims,
            });
        }
    }
    // A judgment with several near-duplicates has them in the order of their ids.
    kept.sort_unstable();
    out.judgments = kept
        .into_iter()
        .map(|(position, new)| file.lines[position].for_document(new))
        .collect::<Result<_, _>>()?;
    Ok(out)
}

/// Returns the index of the claim that is kept: the most similar; of equal ones the most frequent grade, then the lowest grade,
/// then the first.
fn winner(claims: &[Claim]) -> usize {
    let similarities = || claims.iter().map(|claim| claim.similarity);
    let highest = similarities().max_by(|&a, &b| by_similarity(a, b)).unwrap_or(f64::NAN);
    let is_nearest = |&at: &usize| by_similarity(claims[at].similarity, highest).is_eq();
    let nearest: Vec<usize> = (0..claims.len()).filter(is_nearest).collect();
    let times = |at: usize| nearest.iter().filter(|&&other| claims[other].grade == claims[at].grade).count();
    let order = |&at: &usize| (std::cmp::Reverse(times(at)), claims[at].parsed, claims[at].position);
    nearest.iter().copied().min_by_key(order).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Judgments {
        Judgments::read("qrels.test.txt", text.as_bytes(), None).unwrap()
    }

    fn near_duplicates(all: &[(&str, &[(&str, f64)])]) -> NearDuplicates {
        let near_duplicate = |&(document, similarity): &(&str, f64)| NearDuplicate {
            document: document.to_owned(),
            similarity,
        };
        all.iter().map(|(old, new)| ((*old).to_owned(), new.iter().map(near_duplicate).collect())).collect()
    }

    fn lines(moved: &MovedJudgments) -> Vec<&str> {
        moved.judgments.iter().map(Judgment::text).collect()
    }

    #[test]
    fn judgments_go_where_their_documents_went() {
        let file = file("1 0 a 2\n1 0 b -2\n2 0 a 0\n2 0 gone 1\n");
        let near_duplicates = near_duplicates(&[("a", &[("x", 1.0), ("y", 0.9)]), ("b", &[("z", 0.95)])]);
        let best = move_judgments(&file, &near_duplicates, Matches::Best).unwrap();
        assert_eq!(lines(&best), ["1 0 x 2", "1 0 z -2", "2 0 x 0"]);
        assert_eq!((best.carried, best.merged, best.conflicts.len()), (3, 0, 0));
        let all = move_judgments(&file, &near_duplicates, Matches::All).unwrap();
        assert_eq!(lines(&all), ["1 0 x 2", "1 0 y 2", "1 0 z -2", "2 0 x 0", "2 0 y 0"]);
    }

    #[test]
    fn the_most_similar_document_decides_and_the_others_are_told() {
        let file = file("1 0 a 0\n1 0 b 2\n1 0 c 0\n2 0 a 1\n2 0 b 1\n");
        let near_duplicates =
            near_duplicates(&[("a", &[("x", 0.91)]), ("b", &[("x", 0.99)]), ("c", &[("x", 0.95)])]);
        let moved = move_judgments(&file, &near_duplicates, Matches::Best).unwrap();
        assert_eq!(lines(&moved), ["1 0 x 2", "2 0 x 1"]);
        assert_eq!((moved.merged, moved.conflicts.len()), (3, 1));
        let conflict = &moved.conflicts[0];
        assert_eq!((conflict.kept.old.as_str(), conflict.kept.grade.as_str()), ("b", "2"));
        let dropped: Vec<&str> = conflict.dropped.iter().map(|claim| claim.old.as_str()).collect();
        assert_eq!(dropped, ["a", "c"]);
    }

    #[test]
    fn a_document_without_a_similarity_decides_only_among_its_like() {
        let file = file("1 0 a 0\n1 0 b 1\n1 0 c 2\n1 0 d 2\n");
        let moved = |[a, b, c, d]: [f64; 4]| {
            let all = near_duplicates(&[
                ("a", &[("x", a)]),
                ("b", &[("x", b)]),
                ("c", &[("x", c)]),
                ("d", &[("x", d)]),
            ]);
            lines(&move_judgments(&file, &all, Matches::Best).unwrap()).concat()
        };
        let none = f64::NAN;
        assert_eq!(moved([none, 0.9, none, none]), "1 0 x 1");
        assert_eq!(moved([0.9, none, none, none]), "1 0 x 0");
        // Without any similarity the grade of most stands, as among equally similar ones.
        assert_eq!(moved([none; 4]), "1 0 x 2");
    }

    #[test]
    fn ties_go_to_the_grade_of_most_then_to_the_lower() {
        let same: &[(&str, f64)] = &[("x", 0.95)];
        let near_duplicates =
            near_duplicates(&[("a", same), ("b", same), ("c", same), ("far", &[("x", 0.9)])]);
        let most = file("1 0 a 3\n1 0 b 1\n1 0 c 3\n1 0 far 0\n");
        assert_eq!(lines(&move_judgments(&most, &near_duplicates, Matches::Best).unwrap()), ["1 0 x 3"]);
        let lower = file("1 0 a 3\n1 0 b -2\n1 0 far 3\n");
        assert_eq!(lines(&move_judgments(&lower, &near_duplicates, Matches::Best).unwrap()), ["1 0 x -2"]);
    }

    #[test]
    fn other_layouts_keep_their_columns() {
        let prels = file("20001 a 1 1 0.5\n20001 b 0 2 1.0\n");
        let near_duplicates = near_duplicates(&[("a", &[("x", 1.0)]), ("b", &[("y", 1.0)])]);
        assert_eq!(
            lines(&move_judgments(&prels, &near_duplicates, Matches::Best).unwrap()),
            ["20001 x 1 1 0.5", "20001 y 0 2 1.0"]
        );
    }

    #[test]
    fn judgments_without_a_near_duplicate_stay_behind() {
        let some = file("1 0 a 2\n2 0 b 1\n");
        let near_duplicates = near_duplicates(&[("b", &[]), ("c", &[("x", 1.0)])]);
        let moved = move_judgments(&some, &near_duplicates, Matches::All).unwrap();
        assert_eq!((lines(&moved), moved.carried, moved.merged), (vec![], 0, 0));
        let none = move_judgments(&file(""), &near_duplicates, Matches::All).unwrap();
        assert_eq!((lines(&none), none.carried, none.of_no_document), (vec![], 0, 0));
    }

    #[test]
    fn a_judgment_that_comes_twice_is_no_conflict() {
        let near_duplicates = near_duplicates(&[("a", &[("x", 1.0)])]);
        let moved =
            move_judgments(&file("1 0 a 2\n1 0 a 2\n1 0 a 2\n"), &near_duplicates, Matches::Best).unwrap();
        assert_eq!(lines(&moved), ["1 0 x 2"]);
        assert_eq!((moved.carried, moved.merged, moved.conflicts.len()), (3, 2, 0));
    }

    #[test]
    fn a_document_with_two_grades_is_a_conflict_and_the_lower_stands() {
        let near_duplicates = near_duplicates(&[("a", &[("x", 1.0)])]);
        let moved = move_judgments(&file("1 0 a 2\n1 0 a 0\n"), &near_duplicates, Matches::Best).unwrap();
        assert_eq!((lines(&moved), moved.merged, moved.conflicts.len()), (vec!["1 0 x 0"], 1, 1));
        assert_eq!(moved.conflicts[0].dropped[0].grade, "2");
    }

    #[test]
    fn equal_grades_that_meet_are_no_conflict_and_the_first_stands() {
        let same: &[(&str, f64)] = &[("x", 0.95)];
        let near_duplicates = near_duplicates(&[("a", same), ("b", same)]);
        let prels = file("20001 a 1 1 0.5\n20001 b 1 2 1.0\n");
        let moved = move_judgments(&prels, &near_duplicates, Matches::Best).unwrap();
        assert_eq!((lines(&moved), moved.merged), (vec!["20001 x 1 1 0.5"], 1));
        assert_eq!(moved.conflicts, []);
    }

    #[test]
    fn subtopics_do_not_meet() {
        let near_duplicates = near_duplicates(&[("a", &[("x", 1.0)]), ("b", &[("x", 0.9)])]);
        let apart = move_judgments(&file("1 1 a 2\n1 2 b 0\n"), &near_duplicates, Matches::Best).unwrap();
        assert_eq!((lines(&apart), apart.merged), (vec!["1 1 x 2", "1 2 x 0"], 0));
        let together = move_judgments(&file("1 2 a 2\n1 2 b 0\n"), &near_duplicates, Matches::Best).unwrap();
        assert_eq!(lines(&together), ["1 2 x 2"]);
        assert_eq!(together.conflicts[0].subtopic.as_deref(), Some("2"));
    }

    #[test]
    fn names_are_counted_and_stay_behind() {
        let near_duplicates = near_duplicates(&[("a", &[("x", 1.0)])]);
        let entity = file("1-HP a 2 1\n1-NAME a 2 1\n");
        let moved = move_judgments(&entity, &near_duplicates, Matches::Best).unwrap();
        assert_eq!((lines(&moved), moved.of_no_document, moved.carried), (vec!["1-HP x 2 1"], 1, 1));
    }

    #[test]
    fn a_name_of_two_columns_is_refused_with_its_line() {
        let near_duplicates = near_duplicates(&[("b", &[("x y", 1.0)])]);
        let error = move_judgments(&file("1 0 a 1\n1 0 b 1\n"), &near_duplicates, Matches::Best).unwrap_err();
        let wanted = "judgments, line 2: the document \"x y\" cannot stand in a column, since its name is \
                      empty or has blanks; give it another";
        assert_eq!(error.to_string(), wanted);
    }

    #[test]
    fn documents_may_have_names_in_any_script() {
        let near_duplicates = near_duplicates(&[("ä", &[("文書", 1.0)])]);
        let moved = move_judgments(&file("ü 0 ä 1\n"), &near_duplicates, Matches::Best).unwrap();
        assert_eq!(lines(&moved), ["ü 0 文書 1"]);
    }

    #[test]
    fn new_judgments_come_in_the_order_of_the_old_ones_then_by_id() {
        let near_duplicates =
            near_duplicates(&[("a", &[("z", 1.0), ("y", 0.9)]), ("b", &[("y", 0.95), ("w", 0.9)])]);
        let file = file("2 0 b 1\n1 0 a 1\n2 0 a 1\n");
        let moved = move_judgments(&file, &near_duplicates, Matches::All).unwrap();
        // The judgment of y on topic 2 is that of b, which is more similar to it.
        assert_eq!(lines(&moved), ["2 0 w 1", "2 0 y 1", "1 0 y 1", "1 0 z 1", "2 0 z 1"]);
        assert_eq!((moved.carried, moved.merged), (3, 1));
    }

    #[test]
    fn a_conflict_is_written_with_both_claims() {
        let near_duplicates = near_duplicates(&[("a", &[("x", 0.75)]), ("b", &[("x", 0.5)])]);
        let moved = move_judgments(&file("1 7 a 2\n1 7 b 0\n"), &near_duplicates, Matches::Best).unwrap();
        let written = serde_json::to_value(&moved.conflicts[0]).unwrap();
        let wanted = serde_json::json!({
            "track": "qrels.test",
            "topic": "1",
            "subtopic": "7",
            "new": "x",
            "kept": {"old": "a", "similarity": 0.75, "grade": "2"},
            "dropped": [{"old": "b", "similarity": 0.5, "grade": "0"}],
        });
        assert_eq!(written, wanted);
    }

    #[test]
    fn the_claim_that_is_kept_is_that_of_a_sorted_list() {
        // All lists of up to four claims with two similarities and three grades.
        let kinds: Vec<(f64, i32)> = [0.5, 0.75]
            .into_iter()
            .flat_map(|similarity| [0, 1, 2].map(|grade| (similarity, grade)))
            .collect();
        for code in 0..kinds.len().pow(4) * 4 {
            let (length, mut code) = (code % 4 + 1, code / 4);
            let claims: Vec<Claim> = (0..length)
                .map(|position| {
                    let (similarity, grade) = kinds[code % kinds.len()];
                    code /= kinds.len();
                    let (old, label) = (position.to_string(), grade.to_string());
                    Claim { old, similarity, grade: label, position, parsed: Some(Grade::Number(grade)) }
                })
                .collect();
            let most_similar = claims.iter().any(|claim| claim.similarity == 0.75);
            let nearest: Vec<&Claim> =
                claims.iter().filter(|claim| !most_similar || claim.similarity == 0.75).collect();
            let times = |grade: &str| nearest.iter().filter(|claim| claim.grade == grade).count();
            let mut ranked = nearest.clone();
            ranked.sort_by_key(|claim| claim.position);
            ranked.sort_by_key(|claim| claim.grade.clone());
            ranked.sort_by_key(|claim| std::cmp::Reverse(times(&claim.grade)));
            assert_eq!(winner(&claims), ranked[0].position, "{claims:?}");
        }
    }
}
