//! Published judgments, where they are at hand, and made-up ones in every layout: each line is read and can be written back.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use lookalike::corpus::write::Sink;
use lookalike::corpus::{Compression, ListReader};
use lookalike::judgments::{
    DuplicateTreatment, GroupBuilder, Judgments, KeepRule, Layout, Line, Reader, Tally, dedup,
};

/// The folder of published judgments.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn shared() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LOOKALIKE_SHARED").map_or_else(beside, PathBuf::from).join("data/qrels");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no data/qrels in the shared collection (LOOKALIKE_SHARED names its folder)");
    None
}

/// Every file below a folder whose name begins so.
fn files(folder: &Path, beginnings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path, beginnings));
        } else if beginnings.iter().any(|beginning| name.starts_with(beginning)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn text_of(file: &Path) -> String {
    let mut text = String::new();
    ListReader::open(file).unwrap().read_to_string(&mut text).unwrap();
    text
}

fn read(file: &Path) -> Judgments {
    Judgments::read(&file.display().to_string(), ListReader::open(file).unwrap(), None).unwrap()
}

/// Reads a file line by line, sees that all lines are accounted for and that they can be written back as they were.
fn check(file: &Path) -> Judgments {
    let (text, judgments) = (text_of(file), read(file));
    let lines = text.lines().count() as u64;
    let found: Vec<Line> = Reader::new("file", text.as_bytes(), None).map(Result::unwrap).collect();
    assert_eq!((found.len() as u64, judgments.line_count()), (lines, lines), "{}", file.display());
    assert_eq!(Tally::of(&judgments).lines, lines);
    let back: Vec<&str> = judgments.lines.iter().map(|line| line.text()).collect();
    let there: Vec<&str> =
        text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect();
    assert!(back == there, "{}", file.display());
    for line in judgments.lines.iter().step_by(97) {
        let moved = line.for_document("elsewhere").unwrap();
        assert_eq!(moved.for_document(line.document()).unwrap().text(), line.text());
        assert_eq!(
            (moved.topic(), moved.label(), moved.document()),
            (line.topic(), line.label(), "elsewhere")
        );
    }
    judgments
}

#[test]
fn every_published_file_is_read_and_no_line_is_lost() {
    let Some(folder) = shared() else { return };
    let files = files(&folder, &["qrels", "prels"]);
    assert_eq!(files.len(), 44);
    let mut layouts: BTreeMap<Layout, u64> = BTreeMap::new();
    let mut lines = 0;
    for file in &files {
        let judgments = check(file);
        *layouts.entry(judgments.layout).or_default() += 1;
        lines += judgments.line_count();
        assert_eq!((judgments.blank, judgments.remarks), (0, 0), "{}", file.display());
    }
    assert_eq!(lines, 714_660);
    let expected = [
        (Layout::Qrels, 37),
        (Layout::Subtopics, 3),
        (Layout::Prels, 2),
        (Layout::Entity2009, 1),
        (Layout::Entity2010, 1),
    ];
    assert_eq!(layouts, BTreeMap::from(expected));
}

#[test]
fn published_files_have_the_lines_that_their_readme_counts() {
    let Some(folder) = shared() else { return };
    let counts = [
        ("prels.web.1-50", 13_118),
        ("qrels.web.51-100", 25_329),
        ("qrels.web.101-150", 19_381),
        ("qrels.web.151-200", 16_055),
        ("qrels.web.201-250", 14_474),
        ("qrels.web.251-300", 14_432),
        ("qrels.web.201-250.ndeval", 44_814),
        ("qrels.web.251-300.ndeval", 43_840),
        ("prels.mq.20001-60000", 34_534),
    ];
    for (track, lines) in counts {
        let judgments = read(&folder.join(format!("{track}.txt.zst")));
        assert_eq!((judgments.track.as_str(), judgments.lines.len()), (track, lines));
    }
}

#[test]
fn grades_of_published_files_are_those_of_their_tracks() {
    let Some(folder) = shared() else { return };
    let labels = |track: &str| -> Vec<String> {
        let tally = Tally::of(&read(&folder.join(format!("{track}.txt.zst"))));
        tally.grades.0.keys().map(ToString::to_string).collect()
    };
    assert_eq!(labels("qrels.web.151-200"), ["-2", "0", "1", "2", "3", "4"]);
    assert_eq!(labels("prels.web.1-50"), ["0", "1", "2"]);
    let pairs = ["0.-1", "0.0", "0.1", "0.2", "1.-1", "1.0", "1.1", "1.2", "2.-1", "2.0", "2.1", "2.2"];
    assert_eq!(labels("qrels.session2010"), pairs);
    // Of the entity track of 2010 the grade is that of the page, not that of the name behind it.
    assert_eq!(labels("qrels.entity2010"), ["0", "1", "2"]);
    assert_eq!(labels("qrels.entity2009"), ["0", "1", "2"]);
}

#[test]
fn published_judgments_without_near_duplicates_follow_from_published_groups() {
    let Some(folder) = shared() else { return };
    // How many lines stay; the published files lack a few more, of groups that were known to those who made them.
    let tracks = [
        ("qrels.inofficial.web.1-50", "09", 11_260),
        ("qrels.web.51-100", "09", 21_110),
        ("qrels.web.101-150", "09", 15_716),
        ("qrels.web.151-200", "09", 13_464),
        ("qrels.web.201-250", "12", 12_119),
        ("qrels.web.251-300", "12", 11_795),
    ];
    for (track, corpus, lines) in tracks {
        let judgments = read(&folder.join(format!("{track}.txt.zst")));
        let mut grouping = GroupBuilder::among(judgments.documents());
        let groups = folder.join(format!("groups/trec-fingerprint-groups-clueweb{corpus}-judged.jsonl.zst"));
        grouping.read("groups", ListReader::open(&groups).unwrap()).unwrap();
        let result = dedup::judgments(
            &judgments,
            &grouping.finish(),
            KeepRule::LowestName,
            DuplicateTreatment::Remove,
        );
        assert_eq!((result.lines.len(), track), (lines, track));
        let numbers = track.rsplit('.').next().unwrap();
        let published = format!("copycat/transferred/qrels.inofficial.duplicate-free.web.{numbers}.txt.zst");
        let published = read(&folder.join(published));
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut ours: Vec<_> = result.lines.iter().map(|line| words(line)).collect();
        ours.sort();
        assert!(
            published.lines.iter().all(|line| ours.binary_search(&words(line.text())).is_ok()),
            "{track}"
        );
        assert!(lines - published.lines.len() <= 40);
    }
}

#[test]
fn made_up_files_of_every_layout_and_compression_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let line = |layout: Layout, number: u64| {
        let (topic, grade) = (51 + number / 40, [-2, 0, 0, 1, 2, 3, 4][number as usize % 7]);
        match layout {
            Layout::Qrels if number.is_multiple_of(2) => format!("{topic} 0 page-{number} {grade}.-1"),
            Layout::Qrels => format!("{topic}  0\tpage-{number}   {grade}"),
            Layout::Subtopics => format!("{topic} {} page-{number} {grade}", number / 300),
            Layout::Prels => format!("{topic} page-{number} {grade} 1 0.{number}"),
            Layout::Entity2009 => format!("{topic}-WP page-{number} {grade} {number}"),
            Layout::Entity2010 => format!("{topic} page-{number} name_{number} {grade} 0 2"),
        }
    };
    for layout in Layout::ALL {
        for (ending, line_end) in [("", "\n"), (".gz", "\r\n"), (".zst", "\n"), (".bz2", "\n")] {
            let file = folder.path().join(format!("qrels.{layout}.txt{ending}"));
            let mut sink = Sink::create(&file, Compression::named(&file)).unwrap();
            write!(sink, "# judgments{line_end}{line_end}").unwrap();
            (0..500).for_each(|number| write!(sink, "{}{line_end}", line(layout, number)).unwrap());
            // The last line has no end.
            write!(sink, "{}", line(layout, 500)).unwrap();
            sink.finish().unwrap();
            let judgments = check(&file);
            assert_eq!((judgments.layout, judgments.lines.len()), (layout, 501));
            assert_eq!((judgments.blank, judgments.remarks), (1, 1));
            assert_eq!((judgments.documents().len(), judgments.topics().len()), (501, 13));
        }
    }
}
