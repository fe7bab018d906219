//! Writes a page with every kind of picture to the file named, from made-up figures.
//!
//! `cargo run -p lookalike-report --example study -- study.html`

use lookalike_report::study::{
    Axis, Bars, Grid, Heat, Lines, NamedPoint, Origin, Plot, Point, Points, Series, Span, Spans, Study, Value,
};
use lookalike_report::{study_page, study_text};

fn main() -> std::io::Result<()> {
    let path =
        std::env::args_os().nth(1).ok_or_else(|| std::io::Error::other("a file to write is wanted"))?;
    let studies = [curves(), choices(), agreement(), sizes()];
    let lead = "Made-up figures that show every kind of picture, table and number.";
    std::fs::write(path, study_page("Pictures of studies", lead, &studies))?;
    for study in &studies {
        std::io::Write::write_all(&mut std::io::stdout(), study_text(study, 100).as_bytes())?;
    }
    Ok(())
}

/// A number between 0 and 1 that follows from `seed`.
fn chance(seed: u64) -> f64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 40) as f64 / (1u64 << 24) as f64
}

fn axis(name: &str, range: Option<(f64, f64)>, logarithmic: bool) -> Axis {
    Axis { name: name.to_owned(), range, logarithmic }
}

/// The probability that a pair of similarity `s` is proposed by `bands` of `rows`.
fn proposed(s: f64, rows: i32, bands: i32) -> f64 {
    1.0 - (1.0 - s.powi(rows)).powi(bands)
}

fn curves() -> Study {
    let mut study = Study {
        id: "E1".to_owned(),
        title: "Does the formula hold?".to_owned(),
        lead: "Measured shares follow 1 − (1 − sʳ)ᵇ within their intervals.".to_owned(),
        notes: vec!["Only 4,000 documents were looked at.".to_owned()],
        ..Study::default()
    };
    let mut series = Vec::new();
    for (rows, bands) in [(4, 16), (8, 16), (8, 32)] {
        let name = format!("{bands} bands of {rows}");
        let at = |i: u64| 0.3 + i as f64 / 20.0;
        let measured = (0..14u64).map(|i| {
            let y = (proposed(at(i), rows, bands) + 0.04 * (chance(i + rows as u64) - 0.5)).clamp(0.0, 1.0);
            Point { x: at(i), y, interval: Some(((y - 0.05).max(0.0), (y + 0.05).min(1.0))) }
        });
        series.push(Series { name: name.clone(), origin: Origin::Measured, points: measured.collect() });
        let theory =
            (0..=70).map(|i| 0.3 + f64::from(i) / 100.0).map(|s| Point::new(s, proposed(s, rows, bands)));
        series.push(Series { name, origin: Origin::Theory, points: theory.collect() });
    }
    let published = [(0.5, 0.4), (0.7, 0.93), (0.9, 1.0)].map(|(x, y)| Point::new(x, y)).to_vec();
    series.push(Series {
        name: "Thesis, figure 12".to_owned(),
        origin: Origin::Published,
        points: published,
    });
    study.plot(Plot::Lines(Lines {
        name: "Pairs that are proposed, by similarity".to_owned(),
        x: axis("similarity", Some((0.3, 1.0)), false),
        y: axis("share of pairs proposed", Some((0.0, 1.0)), false),
        series,
    }));
    let many = |line: u64| Series {
        name: format!("method {} with parameters", line + 1),
        origin: if line == 9 { Origin::Theory } else { Origin::Measured },
        points: (0..9)
            .map(|i| Point::new(10f64.powi(i), 0.01 * 4f64.powi(i) * (1.0 + 7.0 * chance(line))))
            .collect(),
    };
    study.heading("A dozen");
    study.text("With twelve lines no two look alike, and both axes are logarithmic.");
    study.plot(Plot::Lines(Lines {
        name: "Time by number of documents".to_owned(),
        x: axis("documents", None, true),
        y: axis("seconds", None, true),
        series: (0..12).map(many).collect(),
    }));
    let band = (0..60).map(|i| {
        let y = 0.9 + 0.0015 * f64::from(i) + 0.01 * chance(i as u64);
        Point { x: f64::from(i), y, interval: Some((y - 0.02, (y + 0.02).min(1.0))) }
    });
    study.plot(Plot::Lines(Lines {
        name: "Recall while the corpus grows".to_owned(),
        x: axis("million documents", None, false),
        y: axis("recall", None, false),
        series: vec![Series { name: "minhash".to_owned(), origin: Origin::Measured, points: band.collect() }],
    }));
    study.fact("corpus", "generated, 4,000 documents");
    study.fact("seed", "1");
    study
}

fn choices() -> Study {
    let mut study = Study {
        id: "E2".to_owned(),
        title: "Which setting is enough?".to_owned(),
        lead: "minhash:values=128 reaches 98 % at the least cost.".to_owned(),
        ..Study::default()
    };
    let plot = |name: &str, count: u64| {
        let raw = (0..count).map(|i| {
            let cost = 1.0 + 300.0 * chance(3 * i) * chance(3 * i + 1);
            (
                format!("minhash:values={}", 16 * (i + 1)),
                cost,
                1.0 - (0.4 + chance(3 * i + 2)) / (1.0 + cost.sqrt()),
            )
        });
        let raw: Vec<(String, f64, f64)> = raw.collect();
        let best = |x: f64, y: f64| !raw.iter().any(|other| other.1 < x && other.2 >= y);
        let chosen = raw.iter().filter(|point| point.2 >= 0.9).min_by(|a, b| a.1.total_cmp(&b.1));
        let points = raw.iter().map(|point| NamedPoint {
            name: point.0.clone(),
            at: Point {
                x: point.1,
                y: point.2,
                interval: (count < 20).then_some((point.2 - 0.02, point.2 + 0.01)),
            },
            frontier: best(point.1, point.2),
            chosen: Some(point) == chosen,
        });
        Plot::Points(Points {
            name: name.to_owned(),
            x: axis("nanoseconds per document", None, true),
            y: axis("recall", None, false),
            points: points.collect(),
            goal: Some(0.9),
            rightwards: false,
        })
    };
    study.plot(plot("A few settings: recall and cost", 12));
    study.plot(plot("Many settings: recall and cost", 150));
    let mut grid = Grid::new("Numbers as they are shown", ["What", "Pairs", "Share", "95 %", "Remark"]);
    grid.row([
        "nearly all".into(),
        1_234_567u64.into(),
        0.9987.into(),
        (0.9971, 0.9994).into(),
        "not 1".into(),
    ]);
    grid.row(["all".into(), 12u64.into(), 1.0.into(), (0.757, 1.0).into(), Value::None]);
    grid.row(["hardly any".into(), 3u64.into(), 0.00034.into(), (0.0001, 0.001).into(), "not 0".into()]);
    grid.row(["a large number".into(), Value::None, 48_213.7.into(), Value::None, "no decimals".into()]);
    study.table(grid);
    study
}

fn agreement() -> Study {
    let mut study = Study {
        id: "E3".to_owned(),
        title: "Do methods agree?".to_owned(),
        lead: "Share of the row's pairs that the column finds as well.".to_owned(),
        ..Study::default()
    };
    let heat = |name: &str, names: Vec<String>| {
        let value = |row: usize, column: usize| match (row, column) {
            (row, column) if row == column => Some(1.0),
            (0, 2) => None,
            (row, column) => Some(chance((row * 31 + column) as u64)),
        };
        let values = (0..names.len()).map(|row| (0..names.len()).map(|column| value(row, column)).collect());
        Plot::Heat(Heat {
            name: name.to_owned(),
            rows: names.clone(),
            columns: names.clone(),
            values: values.collect(),
        })
    };
    study.plot(heat("Four methods", ["md5", "minhash", "simhash", "a4"].map(str::to_owned).to_vec()));
    study.plot(heat("Twelve methods", (1..=12).map(|i| format!("a{i}: signature")).collect()));
    study.plot(heat("Twenty settings", (1..=20).map(|i| format!("k={i}")).collect()));
    study
}

fn sizes() -> Study {
    let mut study = Study {
        id: "E4".to_owned(),
        title: "How large are clusters?".to_owned(),
        lead: "Most have two documents.".to_owned(),
        ..Study::default()
    };
    let sizes = ["2", "3", "4–7", "8–15", "16–31", "32–63", "64–127"].map(str::to_owned).to_vec();
    study.plot(Plot::Bars(Bars {
        name: "Clusters by size, of three methods".to_owned(),
        x: "documents in the cluster".to_owned(),
        y: "clusters".to_owned(),
        bins: sizes,
        series: vec![
            ("minhash".to_owned(), vec![41_210, 9_120, 4_810, 1_200, 210, 14, 1]),
            ("simhash".to_owned(), vec![30_110, 7_020, 3_300, 800, 150, 9, 0]),
            ("both".to_owned(), vec![25_010, 5_020, 2_100, 500, 75, 3, 0]),
        ],
        logarithmic: true,
    }));
    let span = |(name, value, error): (&str, f64, f64)| Span {
        name: name.to_owned(),
        value,
        interval: Some((value - error, value + error)),
        chosen: name == "by overlap and size",
    };
    study.plot(Plot::Spans(Spans {
        name: "Pages of an engine, by several estimators".to_owned(),
        x: Axis { name: "pages".to_owned(), ..Axis::default() },
        rows: [
            ("by overlap and size", 21_300.0, 700.0),
            ("capture and recapture", 17_100.0, 150.0),
            ("two pools", 20_400.0, 1_900.0),
        ]
        .map(span)
        .to_vec(),
    }));
    study.plot(Plot::Bars(Bars {
        name: "Pairs by similarity".to_owned(),
        x: "similarity".to_owned(),
        y: "pairs".to_owned(),
        bins: (0..20).map(|i| format!("{:.3}", 0.5 + 0.025 * f64::from(i))).collect(),
        series: vec![("pairs".to_owned(), (0..20).map(|i| (1000.0 * chance(i)) as u64).collect())],
        logarithmic: false,
    }));
    study.plot(Plot::Bars(Bars {
        name: "Judged pairs by kind of difference".to_owned(),
        x: "kind".to_owned(),
        y: "pairs".to_owned(),
        bins: [
            "equal words",
            "only numbers and dates",
            "addresses",
            "another order",
            "something added",
            "one template",
            "other",
        ]
        .map(str::to_owned)
        .to_vec(),
        series: vec![
            ("duplicate".to_owned(), vec![20, 12, 9, 3, 14, 1, 6]),
            ("not".to_owned(), vec![0, 1, 0, 2, 3, 22, 7]),
        ],
        logarithmic: false,
    }));
    study
}
