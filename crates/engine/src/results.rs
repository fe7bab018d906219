//! The results of a job, for a report.

use std::collections::BTreeMap;

use crate::job::Summary;
use crate::stages::sketch::MethodCounts;

/// The results of a job, for a report.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The counts.
    pub summary: Summary,
    /// Measured pairs by similarity in hundredths, the last for 1.
    pub histogram: Vec<u64>,
    /// Clusters by size: the lowest size of a bin, the highest, and how many.
    pub cluster_sizes: Vec<(u64, u64, u64)>,
    /// The largest clusters.
    pub biggest: Vec<BigCluster>,
    /// Documents and removals per shard, most removals first.
    pub sources: Vec<Share>,
    /// Documents and removals per host, most removals first.
    pub hosts: Vec<Share>,
    /// Rejections by reason.
    pub rejections: BTreeMap<String, u64>,
    /// Pairs for a person to look at.
    pub samples: Vec<PairSample>,
    /// Remarks for the reader of the results.
    pub notes: Vec<String>,
    /// Measured pairs that reached the threshold.
    pub reached: u64,
    /// The counts of each method that proposes pairs.
    pub method_counts: Vec<MethodCounts>,
}

/// Documents and removals of a part of the corpus.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Share {
    /// The part.
    pub name: String,
    /// Documents found.
    pub documents: u64,
    /// Those removed.
    pub removed: u64,
}

/// A large cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BigCluster {
    /// Ordinal of its kept document.
    pub cluster: u64,
    /// Id of its kept document.
    pub keep: String,
    /// Number of its documents.
    pub size: u64,
    /// A few of their ids.
    pub members: Vec<String>,
    /// The beginning of the kept document's text.
    pub excerpt: String,
    pub(crate) kept_document: u32,
    /// The documents whose ids are shown.
    pub(crate) shown: Vec<u32>,
}

/// The reason why a pair is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Drawn by lot from those at or above the threshold.
    Random,
    /// Just above the threshold.
    Above,
    /// Just below it.
    Below,
}

/// A pair for a person to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct PairSample {
    /// The reason why it is shown.
    pub section: Section,
    /// Its similarity.
    pub similarity: f64,
    /// The earlier document.
    pub a: SampleDocument,
    /// The later one.
    pub b: SampleDocument,
}

/// A document of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleDocument {
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: Option<String>,
    /// Its text.
    pub text: String,
    /// It was removed.
    pub removed: bool,
    pub(crate) number: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Shards;
    use crate::sketch::ShardMeta;
    use crate::tests::context::{StageTest, as_lines, decide_pairs, decide_removals};
    use crate::tests::{recipe, settings};
    use crate::{JobRecipe, Settings, Spool};
    use lookalike_corpus::{Origin, Shard};
    use lookalike_model::Similarity;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    fn share(name: &str, documents: u64, removed: u64) -> Share {
        Share { name: name.to_owned(), documents, removed }
    }

    fn stages() -> StageCounts {
        StageCounts {
            collapsed: ClassCounts::default(),
            proposed: CandidateCounts::default(),
            tally: Tally::default(),
        }
    }

    /// Writes the tables of `dedup` for removals that were decided.
    fn deduplicated(test: &StageTest, removals: &[(u32, u32, f64)], stages: StageCounts) -> Findings {
        let ctx = test.sketched();
        decide_removals(&ctx, removals);
        dedup(&ctx, &Catalogue::load(&ctx).unwrap(), test.folder(), Outputs::default(), stages).unwrap()
    }

    #[test]
    fn parts_with_most_removals_come_first() {
        let shares =
            vec![share("c", 5, 1), share("b", 9, 1), share("a", 9, 1), share("d", 2, 2), share("e", 99, 0)];
        let names: Vec<String> = top(shares, Share::default()).into_iter().map(|share| share.name).collect();
        assert_eq!(names, ["d", "a", "b", "c", "e"]);
    }

    #[test]
    fn many_parts_end_in_one_row_for_the_rest() {
        let shares = |count: u64| (0..count).map(|n| share(&format!("{n:02}"), 10, n)).collect::<Vec<_>>();
        assert_eq!(top(shares(30), Share::default()).len(), 30);
        let rows = top(shares(33), Share::default());
        assert_eq!((rows.len(), rows[0].removed, rows[29].removed), (31, 32, 3));
        assert_eq!(rows[30], share("3 others", 30, 3));
        let rows = top(shares(33), share("", 7, 4));
        assert_eq!(rows[30], share("3 and more others", 37, 7));
    }

    #[test]
    fn the_largest_clusters_are_kept_and_of_equals_the_first() {
        let cluster = |(cluster, size)| BigCluster { cluster, size, ..BigCluster::default() };
        let mut biggest: Vec<BigCluster> =
            (0..20).map(|n| cluster((n, if n == 19 { 9 } else { 2 }))).collect();
        trim_biggest(&mut biggest);
        let found: Vec<u64> = biggest.iter().map(|cluster| cluster.cluster).collect();
        assert_eq!(found, [19, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn pairs_among_documents_are_counted() {
        for (documents, pairs) in [(0, 0), (1, 0), (2, 1), (3, 3), (5, 10)] {
            assert_eq!(pair_count(documents), pairs, "{documents}");
        }
    }

    #[test]
    fn a_document_is_in_no_empty_shard() {
        let shard = Shard::new(Origin::Stdin);
        let meta = ShardMeta {
            records: 0,
            rejected: 0,
            text_bytes: 0,
            format: String::new(),
            skipped: BTreeMap::new(),
            digest: None,
        };
        let view = |(first, records)| ShardView {
            shard: &shard,
            reference: false,
            first,
            records,
            meta: meta.clone(),
        };
        let views = [(0, 0), (0, 3), (3, 0), (3, 2)].map(view);
        let found: Vec<Option<usize>> = (0..6).map(|place| shard_of(&views, place)).collect();
        assert_eq!(found, [Some(1), Some(1), Some(1), Some(3), Some(3), None]);
    }

    #[test]
    fn a_document_without_equals_is_a_class_of_one() {
        let classes = Classes { members: vec![0, 4, 7, 2, 3], starts: vec![0, 3, 5] };
        assert_eq!(classes.of(&0), [0, 4, 7]);
        assert_eq!(classes.of(&2), [2, 3]);
        assert_eq!((classes.of(&1), classes.of(&9)), (&[1][..], &[9][..]));
        assert_eq!(classes.all().map(<[u32]>::len).collect::<Vec<_>>(), [3, 2]);
        let none = Classes { members: vec![], starts: vec![0] };
        assert_eq!((none.all().count(), none.of(&5)), (0, &[5][..]));
    }

    #[test]
    fn classes_are_read_from_their_file() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "a", "c", "b", "a"]));
        let ctx = test.sketched();
        classes::collapse(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        let classes = Classes::load(&ctx).unwrap();
        assert_eq!(classes.all().map(<[u32]>::to_vec).collect::<Vec<_>>(), [vec![0, 2, 5], vec![1, 4]]);
    }

    #[test]
    fn removed_documents_are_written_in_order_with_their_witnesses() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d", "e"]));
        deduplicated(&test, &[(4, 2, 0.85), (3, 0, 0.9), (1, 0, 1.0)], stages());
        let row = |id: &str, witness: &str, similarity: f64, n: u64, witness_n: u64| json!({"id": id, "witness": witness, "similarity": similarity, "cluster": witness_n, "n": n, "witness_n": witness_n});
        assert_eq!(
            test.rows("removed.jsonl"),
            [row("d1", "d0", 1.0, 1, 0), row("d3", "d0", 0.9, 3, 0), row("d4", "d2", 0.85, 4, 2)]
        );
    }

    #[test]
    fn a_witness_of_the_other_corpus_has_its_number_there() {
        let test = StageTest::against(recipe("md5"), &as_lines(&["a", "b"]), &as_lines(&["c", "d"]));
        let findings = deduplicated(&test, &[(3, 1, 0.9)], stages());
        let removed = test.rows("removed.jsonl");
        assert_eq!((&removed[0]["n"], &removed[0]["witness_n"]), (&json!(1), &json!(1)));
        assert_eq!(removed[0]["against"], "other");
        let clusters = test.rows("clusters.jsonl");
        assert_eq!((&clusters[0]["cluster"], &clusters[0]["against"]), (&json!(1), &json!("other")));
        assert_eq!(clusters[0]["members_n"], json!([1, 1]));
        let summary = findings.summary;
        assert_eq!((summary.documents, summary.against, summary.kept, summary.removed), (2, 2, 1, 1));
    }

    #[test]
    fn clusters_have_their_kept_document_first_and_are_counted_by_size() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d", "e", "f"]));
        let findings = deduplicated(&test, &[(0, 3, 0.9), (1, 3, 1.0), (4, 2, 0.85), (5, 3, 0.8)], stages());
        let rows = test.rows("clusters.jsonl");
        assert_eq!(
            rows[0],
            json!({"cluster": 2, "keep": "d2", "members": ["d2", "d4"], "members_n": [2, 4]})
        );
        assert_eq!(rows[1]["keep"], "d3");
        assert_eq!(rows[1]["members_n"], json!([0, 1, 3, 5]));
        assert_eq!((findings.summary.clusters, findings.summary.removed, findings.summary.kept), (2, 4, 2));
        assert_eq!(findings.cluster_sizes, [(2, 3, 1), (4, 7, 1)]);
        let biggest: Vec<_> =
            findings.biggest.iter().map(|one| (one.keep.as_str(), one.size, one.members.len())).collect();
        assert_eq!(biggest, [("d3", 4, 4), ("d2", 2, 2)]);
    }

    #[test]
    fn rejected_records_are_written_with_where_they_stand() {
        let lines = "{\"id\":\"a\",\"text\":\"one\"}\n{}\n{\"id\":\"b\",\"text\":\"two\"}\nnothing\n";
        let test = StageTest::new(recipe("md5"), lines);
        let findings = deduplicated(&test, &[], stages());
        let rows = test.rows("rejected.jsonl");
        let positions: Vec<&Value> = rows.iter().map(|row| &row["position"]).collect();
        assert_eq!(positions, [lines.find("{}").unwrap(), lines.find("nothing").unwrap()]);
        assert!(rows.iter().all(|row| row["source"] == "docs.jsonl" && row.get("side").is_none()));
        assert_eq!((findings.summary.documents, findings.summary.rejected, findings.summary.kept), (4, 2, 2));
        assert_eq!(findings.rejections.values().sum::<u64>(), 2);
        let ctx = test.context();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let views = catalogue.shards(&ctx);
        assert_eq!(rejected_records(&ctx, &catalogue, &views[0]).unwrap(), [1, 3]);
    }

    #[test]
    fn rejections_of_both_corpora_are_told_apart() {
        let (left, right) =
            (format!("{}{{}}\n", as_lines(&["a"])), format!("{}{{}}\n{{}}\n", as_lines(&["b", "c"])));
        let test = StageTest::against(recipe("md5"), &left, &right);
        let summary = deduplicated(&test, &[], stages()).summary;
        assert_eq!((summary.rejected, summary.against_rejected), (2, 1));
        let sides: Vec<Value> = test.rows("rejected.jsonl").iter().map(|row| row["side"].clone()).collect();
        assert_eq!(sides, [json!("other"), Value::Null, Value::Null]);
        let counts: Vec<(Option<&str>, u64)> =
            summary.reasons.iter().map(|loss| (loss.side.as_deref(), loss.count)).collect();
        assert_eq!(counts, [(None, 2), (Some("other"), 1)]);
        let ctx = test.context();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let views = catalogue.shards(&ctx);
        assert_eq!(
            views.iter().map(|view| rejected_records(&ctx, &catalogue, view).unwrap()).collect::<Vec<_>>(),
            [vec![1], vec![2, 3]]
        );
    }

    #[test]
    fn removals_are_counted_by_shard_and_by_host() {
        let line =
            |n: u32, url: &str| format!("{{\"id\":\"{n}\",\"url\":\"{url}\",\"text\":\"word {n}\"}}\n");
        let lines =
            [line(0, "http://A.org/1"), line(1, "http://a.org/2"), line(2, "http://b.org"), line(3, "")]
                .concat();
        let test = StageTest::new(recipe("md5"), &lines);
        let findings = deduplicated(&test, &[(1, 0, 1.0), (3, 2, 1.0)], stages());
        assert_eq!(findings.sources, [share("docs.jsonl", 4, 2)]);
        assert_eq!(findings.hosts, [share("a.org", 2, 1), share("b.org", 1, 0)]);
    }

    #[test]
    fn a_pair_is_shown_once_for_the_first_reason() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d"]));
        let sample = |a, b, similarity| Sample { a, b, similarity };
        let tally = Tally {
            random: vec![sample(0, 1, 0.9)],
            above: vec![sample(0, 1, 0.9), sample(2, 3, 0.8)],
            below: vec![sample(0, 2, 0.7)],
            ..Tally::default()
        };
        let mut findings = deduplicated(&test, &[(1, 0, 0.9)], StageCounts { tally, ..stages() });
        let ctx = test.context();
        read_samples(&ctx, &Catalogue::load(&ctx).unwrap(), &mut findings).unwrap();
        let shown: Vec<_> = findings
            .samples
            .iter()
            .map(|one| (one.section, one.a.id.as_str(), one.b.id.as_str(), one.a.removed, one.b.removed))
            .collect();
        assert_eq!(
            shown,
            [
                (Section::Random, "d0", "d1", false, true),
                (Section::Above, "d2", "d3", false, false),
                (Section::Below, "d0", "d2", false, false)
            ]
        );
        assert_eq!((findings.samples[0].a.text.as_str(), findings.samples[0].b.text.as_str()), ("a", "b"));
        assert_eq!(findings.biggest[0].excerpt, "a");
    }

    #[test]
    fn texts_are_read_again_and_long_ones_cut_between_characters() {
        let long = format!("a{}", "ä".repeat(40_000));
        let lines = as_lines(&["one", "two", &long, "four"]);
        for spool in [Spool::Disk, Spool::Auto] {
            let test = StageTest::of(
                recipe("md5"),
                Some(&as_lines(&["zero"])),
                &lines,
                Settings { spool, ..settings() },
            );
            let ctx = test.sketched();
            let found = texts(&ctx, &Catalogue::load(&ctx).unwrap(), &[0, 2, 3]).unwrap();
            assert_eq!(found.keys().copied().collect::<BTreeSet<u32>>(), BTreeSet::from([0, 2, 3]));
            assert_eq!((found[&0].as_str(), found[&2].as_str()), ("zero", "two"), "{spool:?}");
            assert!(found[&3].len() == SAMPLE_BYTES - 1 && long.starts_with(found[&3].as_str()));
        }
    }

    #[test]
    fn very_long_ids_are_shown_without_their_ends() {
        let id = "é".repeat(600);
        let test = StageTest::new(
            recipe("md5"),
            &format!("{{\"id\":\"{id}\",\"text\":\"a\"}}\n{}", as_lines(&["b"])),
        );
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let mut lookup = Lookup::new(&ctx, &catalogue);
        assert_eq!(shown_id(&mut lookup, 0).unwrap(), format!("{}…", "é".repeat(512)));
        assert_eq!(shown_id(&mut lookup, 1).unwrap(), "d0");
    }

    #[test]
    fn a_row_of_parquet_must_fit_into_memory() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a"]));
        let mut ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let admit = |ctx: &Context<'_>, members: usize| {
            admit_row(ctx, &catalogue, &mut Lookup::new(ctx, &catalogue), &vec![0; members])
        };
        assert!(admit(&ctx, LONG_ROW + 1).is_ok());
        ctx.budget.reserve(ctx.budget.reservable() - 1024, "nearly all").unwrap();
        assert!(admit(&ctx, LONG_ROW).is_ok(), "short rows are not looked at");
        let error = admit(&ctx, LONG_ROW + 1).unwrap_err().to_string();
        assert!(error.contains("a row of 65537 documents in a Parquet table"), "{error}");
    }

    #[test]
    fn notes_say_what_a_reader_should_know() {
        let notes = |recipe: JobRecipe, stages: &StageCounts| {
            let test = StageTest::new(recipe, &as_lines(&["a"]));
            let ctx = test.sketched();
            begin(&ctx, &Catalogue::load(&ctx).unwrap(), stages).notes
        };
        assert_eq!(notes(recipe("md5"), &stages()), [] as [String; 0]);
        let unverified = notes(JobRecipe { verified: false, ..recipe("md5") }, &stages());
        assert!(unverified[0].starts_with("Pairs were not measured"), "{unverified:?}");
        let own = notes(JobRecipe { verified: false, ..recipe("decomposition") }, &stages());
        assert!(own[0].starts_with("Pairs count by the word of their methods alone"), "{own:?}");
        let merged = notes(JobRecipe { cluster: ClusterRule::Components, ..recipe("md5") }, &stages());
        assert!(merged[0].starts_with("Whole components were merged"), "{merged:?}");
        let counted = StageCounts {
            collapsed: ClassCounts { duplicate_ids: 3, ..ClassCounts::default() },
            proposed: CandidateCounts { giant_groups: 2, ..CandidateCounts::default() },
            ..stages()
        };
        let found = notes(recipe("md5"), &counted);
        assert!(found[0].starts_with("2 groups of more than 1000 documents"), "{found:?}");
        assert!(found[1].starts_with("3 documents bear an id"), "{found:?}");
        assert_eq!(notes(JobRecipe { task: Task::Compare, ..recipe("md5") }, &counted), [] as [String; 0]);
    }

    #[test]
    fn measured_pairs_count_only_where_they_were_verified() {
        let summary = |verified| {
            let test = StageTest::new(JobRecipe { verified, ..recipe("md5") }, &as_lines(&["a"]));
            let ctx = test.sketched();
            let tally = Tally { verified: 5, hops: 2, reached: 4, ..Tally::default() };
            let findings = begin(&ctx, &Catalogue::load(&ctx).unwrap(), &StageCounts { tally, ..stages() });
            (findings.summary.verified, findings.reached)
        };
        assert_eq!((summary(true), summary(false)), ((7, 4), (0, 4)));
    }

    #[test]
    fn removals_and_copies_are_found_by_places() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d", "e"]));
        deduplicated(&test, &[(1, 0, 1.0), (2, 0, 0.9), (4, 3, 0.9)], stages());
        let ctx = test.context();
        RemovalLookup::prepare(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        let mut lookup = RemovalLookup::open(&ctx).unwrap();
        assert_eq!(lookup.removed(0, 5).unwrap(), [1, 2, 4]);
        assert_eq!(lookup.removed(2, 4).unwrap(), [2]);
        assert_eq!(lookup.removed(3, 4).unwrap(), [] as [u32; 0]);
        assert_eq!([0, 1, 3, 4].map(|kept| lookup.copies(kept).unwrap()), [3, 1, 2, 1]);
        assert_eq!(lookup.number(3).unwrap(), 3);
    }

    #[test]
    fn tables_of_pairs_are_named_by_format_and_compression() {
        assert_eq!(pairs_name(Outputs::default()), "pairs.jsonl");
        assert_eq!(pairs_name(Outputs { suffix: ".zst", ..Outputs::default() }), "pairs.jsonl.zst");
        let parquet = Outputs { format: RowFormat::Parquet, write: Shards::None, ..Outputs::default() };
        assert_eq!(pairs_name(parquet), "pairs.parquet");
    }

    /// Writes the tables of `pairs` for what was decided.
    fn paired(test: &StageTest, decided: &[(u32, u32, f64, f64, u16)]) -> Findings {
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        classes::collapse(&ctx, &catalogue).unwrap();
        candidates::import(&ctx, std::iter::empty(), 0).unwrap();
        decide_pairs(&ctx, decided);
        pairs(&ctx, &catalogue, test.folder(), Outputs::default(), stages()).unwrap()
    }

    /// `(a, b, similarity)` of all rows.
    fn rows_of(test: &StageTest) -> Vec<(String, String, f64)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let row = |row: &Value| (text(&row["a"]), text(&row["b"]), row["similarity"].as_f64().unwrap());
        test.rows("pairs.jsonl").iter().map(row).collect()
    }

    fn named(rows: &[(u32, u32, f64)]) -> Vec<(String, String, f64)> {
        rows.iter().map(|(a, b, similarity)| (format!("d{a}"), format!("d{b}"), *similarity)).collect()
    }

    #[test]
    fn a_pair_of_classes_is_one_of_all_their_documents() {
        let test = StageTest::new(
            JobRecipe { task: Task::Pairs, ..recipe("md5") },
            &as_lines(&["a", "b", "a", "c"]),
        );
        let findings = paired(&test, &[(0, 1, 0.9, 0.9, NEAR | NEAR_BACK)]);
        assert_eq!(rows_of(&test), named(&[(0, 1, 0.9), (0, 2, 1.0), (1, 2, 0.9)]));
        assert_eq!((findings.summary.pairs, findings.summary.giant_groups), (Some(3), 0));
        assert_eq!(test.rows("groups.jsonl"), [] as [Value; 0]);
    }

    #[test]
    fn similarities_both_ways_turn_round_with_their_documents() {
        let recipe = JobRecipe { task: Task::Pairs, similarity: Similarity::Containment, ..recipe("md5") };
        let test = StageTest::new(recipe, &as_lines(&["a", "b", "a"]));
        paired(&test, &[(0, 1, 0.9, 0.5, NEAR)]);
        let rows: Vec<[Value; 4]> = test
            .rows("pairs.jsonl")
            .iter()
            .map(|row| ["a", "b", "similarity", "reverse"].map(|name| row[name].clone()))
            .collect();
        assert_eq!(rows[0], [json!("d0"), json!("d1"), json!(0.9), json!(0.5)]);
        assert_eq!(rows[2], [json!("d1"), json!("d2"), json!(0.5), json!(0.9)]);
    }

    #[test]
    fn classes_that_make_too_many_pairs_are_written_as_groups() {
        let recipe = JobRecipe { task: Task::Pairs, max_group: 2, ..recipe("md5") };
        let test = StageTest::new(recipe, &as_lines(&["a", "b", "a", "c", "c", "c"]));
        let findings = paired(&test, &[(0, 1, 0.9, 0.9, NEAR | NEAR_BACK)]);
        assert_eq!(rows_of(&test), named(&[(0, 2, 1.0)]));
        assert_eq!((findings.summary.pairs, findings.summary.giant_groups), (Some(1), 2));
        let groups = test.rows("groups.jsonl");
        assert_eq!(
            groups,
            [
                json!({"documents": 3, "pairs": 2, "equal": false, "members": ["d0", "d1", "d2"], "members_n": [0, 1, 2]}),
                json!({"documents": 3, "pairs": 3, "equal": true, "members": ["d3", "d4", "d5"], "members_n": [3, 4, 5]})
            ]
        );
    }

    #[test]
    fn equal_documents_are_no_pairs_by_the_word_of_a_method_without_a_signature() {
        // Words as short as these are none to this method.
        for (text, verified, pairs) in [("of the", true, 1), ("of the", false, 0), ("many roses", false, 1)] {
            let recipe = JobRecipe { task: Task::Pairs, verified, ..recipe("a0") };
            let test = StageTest::new(recipe, &as_lines(&[text, text]));
            assert_eq!(paired(&test, &[]).summary.pairs, Some(pairs), "{text} {verified}");
        }
    }

    #[test]
    fn lines_of_pairs_are_as_long_as_their_ids() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b"]));
        let ctx = test.sketched();
        let expected = "{\"a\":\"d0\",\"b\":\"d1\",\"similarity\":0.8}\n".len() as u64;
        assert_eq!(line_bytes(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap(), expected);
    }
}
