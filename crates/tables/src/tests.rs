//! Rows are written and read as files of earlier versions have them, and the reference of files is up to date.

use std::path::Path;

use lookalike_corpus::write::rows::{Cell, RowFormat};

use crate::best::{BestLine, BestRow};
use crate::clusters::{ClusterLine, ClusterRow, ClusterSize};
use crate::compared::{ComparedLine, ComparedRow};
use crate::compared_groups::ComparedGroupRow;
use crate::files::{self, OutputFile};
use crate::groups::{GroupLine, GroupPairs, GroupRow};
use crate::mapping::MappingRow;
use crate::measured_pairs::MeasuredPairRow;
use crate::missing::MissingRow;
use crate::overlap::OverlapRow;
use crate::pairs::{PairLine, PairRef, PairRow};
use crate::rejected::{RejectedLine, RejectedRow};
use crate::removed::{RemovedLine, RemovedNumbers, RemovedRow};
use crate::review::ReviewRow;
use crate::stats_rejected::StatsRejectedRow;
use crate::urls_rejected::UrlsRejectedRow;
use crate::{Table, compared, domains, groups, rejected};

/// The file that a table with one row becomes.
fn written(table: Table, cells: &[Cell<'_>]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = table.create(folder.path(), RowFormat::Jsonl, "").unwrap();
    rows.push(cells).unwrap();
    rows.finish().unwrap();
    std::fs::read_to_string(folder.path().join(format!("{}.jsonl", table.name))).unwrap()
}

/// Holds that a row is written as `$expected` by a table writer and as a single line.
macro_rules! assert_written {
    ($module:ident, $row:expr, $expected:expr) => {{
        let row = $row;
        assert_eq!(written(crate::$module::TABLE, &row.cells()), concat!($expected, "\n"));
        let mut line = Vec::new();
        row.push_line(&mut line);
        assert_eq!(String::from_utf8(line).unwrap(), concat!($expected, "\n"));
    }};
}

const REMOVED: RemovedRow<'static> = RemovedRow {
    id: "b",
    witness: "a",
    similarity: Some(0.875),
    cluster: 4,
    n: 7,
    witness_n: 5,
    via: None,
    against: None,
};

#[test]
fn removed_documents() {
    assert_written!(
        removed,
        REMOVED,
        r#"{"id":"b","witness":"a","similarity":0.875,"cluster":4,"n":7,"witness_n":5}"#
    );
    let full = r#"{"id":"b","witness":"a","similarity":null,"cluster":4,"n":7,"witness_n":5,"via":"c","against":"other"}"#;
    let row = RemovedRow { similarity: None, via: Some("c"), against: Some("other"), ..REMOVED };
    assert_eq!(written(crate::removed::TABLE, &row.cells()).trim_end(), full);
    let line: RemovedLine = serde_json::from_str(full).unwrap();
    assert_eq!((line.id.as_str(), line.witness.as_str(), line.similarity), ("b", "a", None));
    assert_eq!((line.cluster, line.n, line.witness_n), (4, 7, 5));
    assert_eq!((line.via.as_deref(), line.against.as_deref()), (Some("c"), Some("other")));
    let numbers: RemovedNumbers = serde_json::from_str(full).unwrap();
    assert_eq!((numbers.similarity, numbers.n, numbers.witness_n), (None, 7, 5));
    assert!(numbers.against.is_some());
}

#[test]
fn an_absent_column_is_read_as_none() {
    let text = r#"{"id":"b","witness":"a","similarity":0.5,"cluster":4,"n":7,"witness_n":5}"#;
    let line: RemovedLine = serde_json::from_str(text).unwrap();
    assert_eq!((line.via, line.against, line.similarity), (None, None, Some(0.5)));
    assert!(serde_json::from_str::<RemovedNumbers>(text).unwrap().against.is_none());
    assert!(serde_json::from_str::<RemovedLine>(r#"{"id":"b","witness":"a"}"#).is_err());
}

#[test]
fn clusters() {
    let row = ClusterRow { cluster: 1, keep: "a", members: &["a", "b"], members_n: &[1, 3], against: None };
    assert_written!(clusters, row, r#"{"cluster":1,"keep":"a","members":["a","b"],"members_n":[1,3]}"#);
    let full = r#"{"cluster":1,"keep":"a","members":["a","b","c"],"members_n":[1,3,9],"against":"index"}"#;
    let line: ClusterLine = serde_json::from_str(full).unwrap();
    assert_eq!((line.cluster, line.keep.as_str(), line.against.as_deref()), (1, "a", Some("index")));
    assert_eq!((line.members, line.members_n), (["a", "b", "c"].map(str::to_owned).to_vec(), vec![1, 3, 9]));
    let size: ClusterSize = serde_json::from_str(full).unwrap();
    assert_eq!((size.cluster, size.members_n.0, size.against.is_some()), (1, 3, true));
}

#[test]
fn pairs_of_one_corpus() {
    let row = PairRow { a: "x", b: "y", similarity: Some(1.0), reverse: Some(0.25) };
    let text = r#"{"a":"x","b":"y","similarity":1.0,"reverse":0.25}"#;
    assert_written!(pairs, row, r#"{"a":"x","b":"y","similarity":1.0,"reverse":0.25}"#);
    assert_written!(pairs, PairRow { reverse: None, ..row }, r#"{"a":"x","b":"y","similarity":1.0}"#);
    let line: PairLine = serde_json::from_str(text).unwrap();
    assert_eq!((line.a.as_str(), line.b.as_str(), line.reverse), ("x", "y", Some(0.25)));
    let ends: PairRef<'_> = serde_json::from_str(r#"{"a":"x\n","b":"y","similarity":null}"#).unwrap();
    assert_eq!((&*ends.a, &*ends.b, ends.similarity), ("x\n", "y", None));
}

#[test]
fn groups_of_one_corpus_and_of_two() {
    let row = GroupRow { documents: 2, pairs: 1, equal: true, members: &["x", "y"], members_n: &[0, 8] };
    let text = r#"{"documents":2,"pairs":1,"equal":true,"members":["x","y"],"members_n":[0,8]}"#;
    assert_written!(
        groups,
        row,
        r#"{"documents":2,"pairs":1,"equal":true,"members":["x","y"],"members_n":[0,8]}"#
    );
    assert_eq!(serde_json::from_str::<GroupLine>(text).unwrap().members_n, [0, 8]);
    assert_eq!(serde_json::from_str::<GroupPairs>(text).unwrap().pairs, 1);
    let of_two =
        ComparedGroupRow { pairs: 2, equal: false, measured: true, left: &["l"], right: &["r", "s"] };
    assert_written!(
        compared_groups,
        of_two,
        r#"{"pairs":2,"equal":false,"measured":true,"left":["l"],"right":["r","s"]}"#
    );
    let short = written(groups::SPARK_TABLE, &[Cell::U64(2), Cell::ListOfText(&["x", "y"])]);
    assert_eq!(short, "{\"documents\":2,\"members\":[\"x\",\"y\"]}\n");
}

#[test]
fn pairs_of_two_corpora() {
    let row = ComparedRow {
        a: "x",
        b: "y",
        similarity: Some(0.5),
        reverse: None,
        near: false,
        segment: Some("s"),
        methods: &["m"],
    };
    assert_written!(
        compared,
        row,
        r#"{"a":"x","b":"y","similarity":0.5,"near":false,"segment":"s","methods":["m"]}"#
    );
    let cells = row.cells();
    let of_one_method = written(compared::TABLE.without_last(), &cells[..cells.len() - 1]);
    assert_eq!(
        of_one_method,
        "{\"a\":\"x\",\"b\":\"y\",\"similarity\":0.5,\"near\":false,\"segment\":\"s\"}\n"
    );
    assert!(serde_json::from_str::<ComparedLine>(&of_one_method).is_err());
    let row = BestRow {
        a: "x",
        b: "y",
        similarity: None,
        near: true,
        pairs: 3,
        segment: None,
        methods: &["m", "o"],
    };
    let text = r#"{"a":"x","b":"y","similarity":null,"near":true,"pairs":3,"methods":["m","o"]}"#;
    assert_written!(
        best,
        row,
        r#"{"a":"x","b":"y","similarity":null,"near":true,"pairs":3,"methods":["m","o"]}"#
    );
    assert_eq!(serde_json::from_str::<BestLine>(text).unwrap().methods, ["m", "o"]);
}

#[test]
fn tables_of_a_transfer() {
    let row = MappingRow {
        old: "o",
        new: "n",
        similarity: Some(0.9),
        url: "same",
        best: true,
        old_url: Some("http://a/"),
        new_url: None,
        segment: None,
        methods: &[],
    };
    assert_written!(
        mapping,
        row,
        r#"{"old":"o","new":"n","similarity":0.9,"url":"same","best":true,"old_url":"http://a/","methods":[]}"#
    );
    let row = MissingRow { document: "d", judgments: 2, tracks: &["web"] };
    assert_written!(missing, row, r#"{"document":"d","judgments":2,"tracks":["web"]}"#);
}

#[test]
fn rejected_records() {
    let row = RejectedRow { source: "s", position: 9, reason: "no", side: Some("left"), id: Some("i") };
    let text = r#"{"source":"s","position":9,"reason":"no","side":"left","id":"i"}"#;
    assert_written!(rejected, row, r#"{"source":"s","position":9,"reason":"no","side":"left","id":"i"}"#);
    let short = RejectedRow { side: None, id: None, ..row };
    assert_written!(rejected, short, r#"{"source":"s","position":9,"reason":"no"}"#);
    assert_eq!(serde_json::from_str::<RejectedLine>(text).unwrap().side.as_deref(), Some("left"));
    assert_eq!(rejected::TABLE.without_last().columns.last().unwrap().name(), "side");
    let row = StatsRejectedRow { source: "s", position: 9, unit: "row", reason: "no", id: None };
    assert_written!(stats_rejected, row, r#"{"source":"s","position":9,"unit":"row","reason":"no"}"#);
    let row = UrlsRejectedRow { side: "right 2", source: "s", position: 9, reason: "no" };
    assert_written!(urls_rejected, row, r#"{"side":"right 2","source":"s","position":9,"reason":"no"}"#);
}

#[test]
fn tables_of_the_lab() {
    let row =
        MeasuredPairRow { a: "x", b: "y", a_n: 1, b_n: 2, mask: 5, similarity: None, verdict: "unmeasured" };
    assert_written!(
        measured_pairs,
        row,
        r#"{"a":"x","b":"y","a_n":1,"b_n":2,"mask":5,"similarity":null,"verdict":"unmeasured"}"#
    );
    let similarity = Some(0.333_333_333_333_3);
    let row = ReviewRow { n: 1, a: "x", b: "y", similarity, methods: &["m"], text_a: "one", text_b: "two" };
    let text = serde_json::to_string(&row).unwrap();
    let expected = r#"{"n":1,"a":"x","b":"y","similarity":0.3333333333333,"methods":["m"],"text_a":"one","text_b":"two"}"#;
    assert_eq!(text, expected);
}

#[test]
fn shared_addresses() {
    let ids = ["x".to_owned()];
    let row = OverlapRow {
        url: "http://a/",
        left: &ids,
        right: &ids,
        similarity: None,
        left_more: 3,
        right_more: 4,
    };
    let text = serde_json::to_string(&row).unwrap();
    assert_eq!(
        text,
        r#"{"url":"http://a/","left":["x"],"right":["x"],"similarity":null,"left_more":3,"right_more":4}"#
    );
    let names = crate::overlap::COLUMNS.iter().map(|column| format!("\"{}\":", column.name()));
    let places: Vec<usize> = names.map(|name| text.find(&name).unwrap()).collect();
    assert!(places.is_sorted());
    let few = serde_json::to_string(&OverlapRow { left_more: 0, right_more: 0, ..row }).unwrap();
    assert!(few.ends_with("\"similarity\":null}"), "{few}");
}

#[test]
fn names_of_tables_with_tabs() {
    let names = |table: Table| table.names().join(" ");
    assert_eq!(
        names(crate::topics::TABLE),
        "track topic judged_before judged_after relevant_before relevant_after lost"
    );
    let shared = "kind name shared_urls shared_urls_share shared_documents shared_documents_share left_documents \
                  left_documents_share right_documents right_documents_share";
    assert_eq!(names(domains::TABLE), shared);
    assert_eq!(names(domains::TLDS_TABLE_WITHOUT_JUDGMENTS), shared);
    let judged = "judged judged_share judged_shared judged_shared_share";
    assert_eq!(names(domains::TLDS_TABLE), format!("{shared} {judged}"));
    assert_eq!(
        names(crate::survival::TABLE),
        "kind name urls found found_share found_low found_high measured near near_share near_low near_high"
    );
    assert_eq!(
        names(crate::snapshots::TABLE),
        "tld snapshot name left_urls still still_share still_low still_high measured unchanged unchanged_share near near_share \
         urls always always_share new mean_similarity shingles_there shingles_all kept kept_share measured_since unchanged_since \
         unchanged_since_share near_since near_since_share mean_similarity_since"
    );
}

#[test]
fn every_column_has_one_name_and_a_sentence() {
    for file in files::COMMANDS.iter().flat_map(|command| command.files) {
        let OutputFile::Table(table, _) = file else { continue };
        let mut names: Vec<&str> = table.columns.iter().map(|column| column.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), table.columns.len(), "{}", table.name);
        for column in table.columns {
            let sentence = column.description();
            let whole = sentence.ends_with('.') && sentence.starts_with(char::is_uppercase);
            assert!(whole && !sentence.contains('|'), "{}.{}: {sentence:?}", table.name, column.name());
        }
    }
}

#[test]
fn the_reference_of_files_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/files.md");
    let expected = files::reference();
    if std::env::var_os("RENEW_FILES").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == expected,
        "docs/files.md does not say what the tables are; `RENEW_FILES=1 cargo test -p lookalike-tables` writes it anew"
    );
}
