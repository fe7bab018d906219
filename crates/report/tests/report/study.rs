//! Studies as pages: well formed, deaf to what names say, and with every line inside its picture.

use html5gum::{Token, Tokenizer};
use lookalike_report::study::{
    Axis, Bars, Grid, Heat, Lines, NamedPoint, Origin, Plot, Point, Points, Series, Span, Spans, Value,
};
use lookalike_report::{Study, study_page, study_text};
use proptest::prelude::*;

use crate::markup::{assert_balanced, hostile, tags};

fn axis(name: &str) -> Axis {
    Axis { name: name.to_owned(), ..Axis::default() }
}

fn lines(text: &str) -> Lines {
    let series = |origin, points: &[(f64, f64)]| Series {
        name: text.to_owned(),
        origin,
        points: points.iter().map(|&(x, y)| Point { x, y, interval: Some((y - 0.1, y + 0.1)) }).collect(),
    };
    Lines {
        name: text.to_owned(),
        x: axis(text),
        y: axis(text),
        series: vec![
            series(Origin::Measured, &[(1.0, 0.2), (2.0, 0.5), (3.0, 0.9)]),
            series(Origin::Theory, &[(1.0, 0.1), (3.0, 0.8)]),
            series(Origin::Published, &[(2.0, 0.4)]),
        ],
    }
}

fn points(text: &str) -> Points {
    let point =
        |x, y, frontier, chosen| NamedPoint { name: text.to_owned(), at: Point::new(x, y), frontier, chosen };
    Points {
        name: text.to_owned(),
        x: axis(text),
        y: axis(text),
        points: vec![
            point(1.0, 0.5, true, false),
            point(2.0, 0.9, true, true),
            point(3.0, 0.7, false, false),
            point(4.0, 0.95, true, false),
        ],
        goal: Some(0.8),
        rightwards: false,
    }
}

fn heat(text: &str) -> Heat {
    Heat {
        name: text.to_owned(),
        rows: vec![text.to_owned(); 2],
        columns: vec![text.to_owned(); 3],
        values: vec![vec![Some(0.0), Some(0.55), Some(1.0)], vec![None, Some(f64::NAN)]],
    }
}

fn bars(text: &str) -> Bars {
    Bars {
        name: text.to_owned(),
        x: text.to_owned(),
        y: text.to_owned(),
        bins: vec![text.to_owned(); 3],
        series: vec![(text.to_owned(), vec![3, 0, 9]), (text.to_owned(), vec![1, 2])],
        logarithmic: false,
    }
}

fn spans(text: &str) -> Spans {
    let span = |value, chosen| Span {
        name: text.to_owned(),
        value,
        interval: Some((value - 0.5, value + 1.0)),
        chosen,
    };
    Spans {
        name: text.to_owned(),
        x: Axis { name: text.to_owned(), ..Axis::default() },
        rows: vec![span(3.0, false), span(5.0, true)],
    }
}

/// A study with one of everything, in which every text is `text`.
fn filled(text: &str) -> Study {
    let mut study = Study {
        id: text.to_owned(),
        title: text.to_owned(),
        lead: text.to_owned(),
        notes: vec![text.to_owned()],
        ..Study::default()
    };
    study.heading(text);
    study.text(text);
    let mut grid = Grid::new(text, [text, text, text]);
    grid.row([text.into(), 3u64.into(), text.into()]);
    grid.row([Value::None, 4u64.into(), Value::None]);
    study.table(grid);
    study.plot(Plot::Lines(lines(text)));
    study.plot(Plot::Points(points(text)));
    study.plot(Plot::Heat(heat(text)));
    study.plot(Plot::Bars(bars(text)));
    study.plot(Plot::Spans(spans(text)));
    study.fact(text, text);
    study
}

fn page_of(plot: Plot) -> String {
    let mut study = Study { id: "E1".to_owned(), ..Study::default() };
    study.plot(plot);
    study_page("t", "", &[study])
}

#[test]
fn every_element_is_closed() {
    assert_balanced(&study_page("a title", "a lead", &[filled("plain"), filled("plain")]));
    assert_balanced(&study_page("", "", &[]));
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let page = study_page("t", "l", &[filled("plain"), filled("other")]);
    for tag in tags(&page) {
        let mut words = tag.split(' ');
        let name = words.next().unwrap_or_default();
        assert!(
            !["script", "link", "img", "image", "use", "iframe", "object", "embed", "base", "form"]
                .contains(&name)
        );
        for attribute in words {
            assert!(
                !["src", "style", "srcset"].contains(&attribute) && !attribute.starts_with("on"),
                "{tag}"
            );
            assert!(attribute != "href" || name == "a", "{tag}");
        }
    }
    assert!(page.contains("default-src &#39;none&#39;") && !page.contains("url("));
    assert_eq!(page.matches("href=\"").count(), page.matches("href=\"#").count());
}

#[test]
fn anchors_are_there_once_and_links_lead_to_them() {
    let named = |id: &str| Study { id: id.to_owned(), title: format!("about {id}"), ..Study::default() };
    let page = study_page("t", "", &[named("E1"), named("E 2"), named("E1"), named("")]);
    for anchor in ["E1", "E-2", "E1-2", "study"] {
        assert_eq!(page.matches(&format!("<section id=\"{anchor}\">")).count(), 1, "{anchor}");
        assert_eq!(page.matches(&format!("href=\"#{anchor}\"")).count(), 1, "{anchor}");
    }
    assert!(!study_page("t", "", &[named("E1")]).contains("<nav"), "one study needs no contents");
    let mut ids = attributes(&study_page("t", "", &[filled("x"), filled("x")]), "id");
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "no id is there twice");
}

#[test]
fn blocks_come_in_their_order_with_facts_at_the_end() {
    let mut study = Study { title: "A title".to_owned(), lead: "A lead".to_owned(), ..Study::default() };
    study.notes.push("A warning".to_owned());
    study.fact("seed", "77");
    study.heading("First");
    study.text("One paragraph.\n\nAnother one.");
    study.plot(Plot::Bars(bars("Some bars")));
    let page = study_page("Page", "Lead of the page", &[study]);
    let places: Vec<usize> = [
        "<h1>Page",
        "Lead of the page",
        "A title",
        "A lead",
        "A warning",
        "<h3>First",
        "<p>One paragraph.</p><p>Another one.</p>",
        "<svg",
        "<figcaption>Some bars.",
        "<details>",
        "77",
    ]
    .iter()
    .map(|part| page.find(part).unwrap_or_else(|| panic!("{part} is not there")))
    .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn numbers_are_shown_for_people() {
    let mut study = Study::default();
    let mut grid = Grid::new("g", ["name", "count", "share", "interval", "nothing"]);
    grid.row(["x".into(), 1_234_567u64.into(), 0.9987.into(), (0.93, 0.97).into(), Value::None]);
    study.table(grid);
    let page = study_page("t", "", &[study]);
    for cell in ["1,234,567", "0.9987", "0.93–0.97"] {
        assert!(page.contains(&format!("<td class=\"number\">{cell}</td>")), "{cell}");
    }
    assert!(page.contains("<td><bdi>–</bdi></td>"));
}

#[test]
fn where_numbers_come_from_is_seen_without_colours() {
    let page = page_of(Plot::Lines(lines("x")));
    assert!(page.contains("class=\"curve c0\"") && page.contains("class=\"sign c0\""), "measured");
    assert!(page.contains("class=\"curve c0 theory-0\""), "theory");
    assert!(page.contains("class=\"curve c0 published\"") || page.contains("class=\"sign hollow c0\""));
    for name in [">x (theory)</text>", ">x (published)</text>"] {
        assert!(page.contains(name), "{name}");
    }
    assert_eq!(page.matches("class=\"whisker c0\"").count(), 6 * 3, "a line and two ends for each point");
}

#[test]
fn many_intervals_are_a_band_and_many_points_have_few_signs() {
    let points = (0..500).map(|i| Point { x: f64::from(i), y: 0.5, interval: Some((0.4, 0.6)) });
    let series = Series { name: "x".to_owned(), origin: Origin::Measured, points: points.collect() };
    let page = page_of(Plot::Lines(Lines { series: vec![series], ..Lines::default() }));
    assert!(page.contains("class=\"band c0\"") && !page.contains("class=\"whisker"));
    assert!(page.matches("class=\"sign c0\"").count() <= 31);
    assert_eq!(page.matches("<th scope=\"row\">").count(), 500, "all are in the table");
}

#[test]
fn the_frontier_is_a_line_of_steps() {
    let page = page_of(Plot::Points(points("x")));
    let class = "class=\"curve frontier-line\" d=\"";
    let path = page.split(class).nth(1).and_then(|rest| rest.split('"').next()).expect("a path");
    let places: Vec<(f64, f64)> = path
        .split(['M', 'L'])
        .skip(1)
        .map(|place| place.split_once(' ').expect("two numbers"))
        .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
        .collect();
    assert_eq!(places.len(), 6, "three points, a corner before all but the first, and the way to the edge");
    for two in places.windows(2) {
        assert!(two[0].0 == two[1].0 || two[0].1 == two[1].1, "straight up or to the right: {places:?}");
        assert!(two[0].0 <= two[1].0 && two[0].1 >= two[1].1);
    }
    assert_eq!(page.matches("class=\"sign chosen\"").count(), 2, "itself and the legend");
    assert!(page.contains("goal: 0.8"));
}

#[test]
fn of_many_points_only_the_best_have_names() {
    let many = |count: u32| {
        let at = |i: u32| Point::new(f64::from(i), f64::from(i * 7919 % 101));
        let point = |i| NamedPoint { name: format!("n{i}."), at: at(i), frontier: i == 5, chosen: i == 9 };
        page_of(Plot::Points(Points { points: (0..count).map(point).collect(), ..Points::default() }))
    };
    let named = |page: &str| page.matches("class=\"name").count();
    assert!(named(&many(20)) > 15);
    let page = many(60);
    assert_eq!(named(&page), 2);
    assert_eq!(page.matches("<title>n").count(), 60, "all have a title");
}

#[test]
fn squares_have_their_figures_in_them() {
    let page = page_of(Plot::Heat(heat("x")));
    assert_eq!(page.matches("class=\"square\"").count(), 3);
    assert_eq!(page.matches("class=\"square empty\"").count(), 3, "null, NaN and what is not there");
    for figure in [">0</text>", ">0.55</text>", ">1</text>", ">–</text>"] {
        assert!(page.contains(figure), "{figure}");
    }
    assert!(page.contains("class=\"figure strong\"") && page.contains("class=\"figure middle\""));
}

#[test]
fn points_that_the_axes_do_not_reach_are_said() {
    let mut lines = lines("x");
    lines.y.range = Some((0.0, 0.45));
    assert!(page_of(Plot::Lines(lines)).contains("only among the figures: 3."));
    let mut lines = self::lines("x");
    lines.x.logarithmic = true;
    lines.series[0].points[0].x = 0.0;
    assert!(page_of(Plot::Lines(lines)).contains("only among the figures: 1."));
}

#[test]
fn equal_studies_give_equal_pages() {
    assert_eq!(study_page("t", "l", &[filled("x")]), study_page("t", "l", &[filled("x")]));
}

#[test]
fn a_study_is_json_as_well() {
    let value = serde_json::to_value(filled("x")).expect("plain data");
    assert_eq!(value["blocks"][3]["plot"]["kind"], "lines");
}

/// Values of an attribute, wherever it stands.
fn attributes(page: &str, wanted: &str) -> Vec<String> {
    let mut out = Vec::new();
    for Ok(token) in Tokenizer::new(page) {
        if let Token::StartTag(tag) = token {
            let found = tag.attributes.iter().filter(|(name, _)| name.as_slice() == wanted.as_bytes());
            out.extend(found.map(|(_, value)| String::from_utf8_lossy(value).into_owned()));
        }
    }
    out
}

/// Fails unless every place of every picture is a number inside of it.
fn assert_inside(page: &str) {
    let mut view = (0.0, 0.0);
    for Ok(token) in Tokenizer::new(page) {
        let Token::StartTag(tag) = token else { continue };
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        let text = |wanted: &str| {
            let value = tag.attributes.get(wanted.as_bytes())?;
            Some(String::from_utf8_lossy(value).into_owned())
        };
        let number = |wanted: &str| -> Option<f64> {
            let number = text(wanted)?.parse().unwrap_or(f64::NAN);
            assert!(number.is_finite(), "{name} {wanted}");
            Some(number)
        };
        if let Some(size) = text("viewbox").or_else(|| text("viewBox")) {
            let size: Vec<f64> = size.split(' ').map(|number| number.parse().expect("a number")).collect();
            view = (size[2], size[3]);
            continue;
        }
        let inside = |x: f64, y: f64| {
            assert!((-0.1..=view.0 + 0.1).contains(&x), "{name}: {x} of {view:?}");
            assert!((-0.1..=view.1 + 0.1).contains(&y), "{name}: {y} of {view:?}");
        };
        match name.as_str() {
            "rect" => {
                let [x, y, width, height] =
                    ["x", "y", "width", "height"].map(|name| number(name).expect("a place"));
                assert!(width >= 0.0 && height >= 0.0);
                inside(x, y);
                inside(x + width, y + height);
            }
            "line" => {
                inside(number("x1").unwrap(), number("y1").unwrap());
                inside(number("x2").unwrap(), number("y2").unwrap());
            }
            "circle" => {
                let [x, y, r] = ["cx", "cy", "r"].map(|name| number(name).expect("a place"));
                inside(x - r, y - r);
                inside(x + r, y + r);
            }
            "text" => inside(number("x").unwrap(), number("y").unwrap()),
            "path" => {
                let d = text("d").expect("a path");
                for place in d.trim_end_matches('Z').split(['M', 'L']).filter(|place| !place.is_empty()) {
                    let (x, y) = place.split_once(' ').expect("two numbers");
                    inside(x.parse().expect("a number"), y.parse().expect("a number"));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn pictures_of_nothing_are_pictures() {
    for plot in [
        Plot::Lines(Lines::default()),
        Plot::Points(Points::default()),
        Plot::Heat(Heat::default()),
        Plot::Bars(Bars::default()),
        Plot::Spans(Spans::default()),
        Plot::Bars(Bars { bins: vec!["x".to_owned()], logarithmic: true, ..Bars::default() }),
        Plot::Points(Points { goal: Some(f64::INFINITY), ..Points::default() }),
    ] {
        let page = page_of(plot);
        assert_balanced(&page);
        assert_inside(&page);
    }
}

/// Plain numbers, and those that break pictures.
fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..1.0f64,
        2 => -1e6..1e6f64,
        1 => prop::num::f64::ANY,
        1 => prop::sample::select(vec![0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN,
            f64::MIN_POSITIVE, 5e-324, 1e-300, 1e300]),
    ]
}

fn any_axis() -> impl Strategy<Value = Axis> {
    (".{0,12}", prop::option::of((any_number(), any_number())), any::<bool>())
        .prop_map(|(name, range, logarithmic)| Axis { name, range, logarithmic })
}

fn any_point() -> impl Strategy<Value = Point> {
    (any_number(), any_number(), prop::option::of((any_number(), any_number())))
        .prop_map(|(x, y, interval)| Point { x, y, interval })
}

fn any_lines() -> impl Strategy<Value = Plot> {
    let origin = prop::sample::select(vec![Origin::Measured, Origin::Theory, Origin::Published]);
    let series = (".{0,60}", origin, prop::collection::vec(any_point(), 0..40))
        .prop_map(|(name, origin, points)| Series { name, origin, points });
    (".{0,9}", any_axis(), any_axis(), prop::collection::vec(series, 0..13))
        .prop_map(|(name, x, y, series)| Plot::Lines(Lines { name, x, y, series }))
}

fn any_points() -> impl Strategy<Value = Plot> {
    let point = (".{0,40}", any_point(), any::<bool>(), any::<bool>())
        .prop_map(|(name, at, frontier, chosen)| NamedPoint { name, at, frontier, chosen });
    (any_axis(), any_axis(), prop::collection::vec(point, 0..40), prop::option::of(any_number())).prop_map(
        |(x, y, points, goal)| {
            let rightwards = points.len() % 2 == 0;
            Plot::Points(Points { name: "p".to_owned(), x, y, points, goal, rightwards })
        },
    )
}

fn any_heat() -> impl Strategy<Value = Plot> {
    let names = || prop::collection::vec(".{0,30}", 0..25);
    let values = prop::collection::vec(prop::collection::vec(prop::option::of(any_number()), 0..25), 0..25);
    (names(), names(), values)
        .prop_map(|(rows, columns, values)| Plot::Heat(Heat { name: "h".to_owned(), rows, columns, values }))
}

fn any_bars() -> impl Strategy<Value = Plot> {
    let count = prop_oneof![3 => 0..1000u64, 1 => any::<u64>()];
    let series = (".{0,20}", prop::collection::vec(count, 0..40));
    let bins =
        prop_oneof![prop::collection::vec(".{0,30}", 0..60), prop::collection::vec("[0-9]{1,6}", 0..60)];
    (bins, prop::collection::vec(series, 0..13), any::<bool>()).prop_map(|(bins, series, logarithmic)| {
        let (name, x, y) = ("b".to_owned(), "x".to_owned(), "y".to_owned());
        Plot::Bars(Bars { name, x, y, bins, series, logarithmic })
    })
}

fn any_spans() -> impl Strategy<Value = Plot> {
    let span = (".{0,40}", any_number(), prop::option::of((any_number(), any_number())), any::<bool>())
        .prop_map(|(name, value, interval, chosen)| Span { name, value, interval, chosen });
    (any_axis(), prop::collection::vec(span, 0..30))
        .prop_map(|(x, rows)| Plot::Spans(Spans { name: "s".to_owned(), x, rows }))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn names_cannot_change_the_page(text in hostile()) {
        // Of blanks alone there is no paragraph.
        let text = format!("x{text}");
        let page = study_page(&text, &text, &[filled(&text), filled(&text)]);
        assert_balanced(&page);
        // Words may take another place, and paragraphs end at blank lines; no other element comes or goes.
        let only = |page: &str| -> Vec<String> {
            let mut names: Vec<String> = tags(page).into_iter().filter(|tag| !tag.starts_with("text") && tag != "/text").collect();
            names.sort();
            names.dedup();
            names
        };
        prop_assert_eq!(only(&page), only(&study_page("plain", "plain", &[filled("plain"), filled("plain")])));
        let shown = study_text(&filled(&text), 80);
        prop_assert!(!shown.contains(|c: char| c.is_control() && c != '\n'));
    }

    #[test]
    fn every_place_is_inside_its_picture(plot in prop_oneof![any_lines(), any_points(), any_heat(), any_bars(), any_spans()]) {
        let page = page_of(plot);
        assert_balanced(&page);
        assert_inside(&page);
        prop_assert!(!page.contains("NaN") && !page.contains("inf\""));
    }
}
