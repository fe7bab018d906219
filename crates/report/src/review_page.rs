//! One pair at a time, for a person who judges: word by word, with buttons that have keys.
//!
//! Every button is a button of a form, so that the page works without its script; the script presses buttons by key
//! and shows the answer without loading a page anew.

use crate::data::PairSide;
use crate::diff::Comparison;
use crate::html::{Html, counted, percent, thousands};
use crate::kind::Kind;
use crate::numbers;
use crate::samples;

/// The progress of a review. Unsure judgments count separately.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReviewProgress {
    /// All pairs.
    pub pairs: u64,
    /// Those judged to be duplicates.
    pub duplicate: u64,
    /// Those judged not to be.
    pub not: u64,
    /// Those marked as unsure.
    pub unsure: u64,
    /// The interval of duplicates among the first two, at 95 %.
    pub interval: Option<(f64, f64)>,
}

/// The content of the page of a pair.
#[derive(Debug, Clone, Copy)]
pub struct Review<'r> {
    /// The title of the review.
    pub title: &'r str,
    /// The name of the reviewer.
    pub by: Option<&'r str>,
    /// The position of the pair, from 1 on.
    pub at: u64,
    /// Id of the first document.
    pub a: &'r str,
    /// Id of the second.
    pub b: &'r str,
    /// Their similarity, where measured.
    pub similarity: Option<f64>,
    /// The methods that found it.
    pub methods: &'r [String],
    /// Both, word by word.
    pub comparison: &'r Comparison,
    /// The judgment: `duplicate`, `not` or `unsure`.
    pub label: Option<&'r str>,
    /// The kind of difference that was chosen; that of the comparison is only a guess.
    pub kind: Option<Kind>,
    /// True if all equal words are shown.
    pub show_all: bool,
    /// True if a judgment leads to the next pair.
    pub auto_advance: bool,
    /// True if there is a judgment to undo.
    pub can_undo: bool,
    /// The position of a pair that is not judged yet.
    pub next_unjudged: Option<u64>,
    /// The progress of the review.
    pub progress: ReviewProgress,
    /// The nonce that script and style carry, which changes with every page.
    pub nonce: &'r str,
}

/// Makes the page of a pair.
///
/// Its script and style bear the nonce; everything from documents and ids is escaped.
pub fn review_page(review: &Review<'_>) -> String {
    let mut html = Html::default();
    html.literal("<!doctype html>\n");
    html.element("html", &[("lang", "en")], |html| {
        head(html, review);
        // The script takes the body out of an answer, which has its title with it.
        let attributes = [("class", "review"), ("data-title", &*title(review))];
        html.element("body", &attributes, |html| body(html, review));
    });
    html.literal("\n");
    html.finish()
}

fn title(review: &Review<'_>) -> String {
    format!("{} of {} · {}", review.at, review.progress.pairs, review.title)
}

fn head(html: &mut Html, review: &Review<'_>) {
    let nonce = [("nonce", review.nonce)];
    html.element("head", &[], |html| {
        html.void("meta", &[("charset", "utf-8")]);
        html.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
        html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
        html.leaf("title", &[], &title(review));
        html.element("style", &nonce, |html| {
            html.literal(include_str!("style.css"));
            html.literal(include_str!("review.css"));
        });
        html.element("script", &nonce, |html| html.literal(include_str!("review.js")));
    });
}

fn body(html: &mut Html, review: &Review<'_>) {
    html.element("header", &[], |html| {
        html.element("h1", &[], |html| {
            html.leaf("bdi", &[], review.title);
            if let Some(by) = review.by {
                html.text(" · judged by ");
                html.leaf("bdi", &[], by);
            }
        });
        progress(html, &review.progress);
        html.leaf("p", &[("id", "message"), ("role", "status")], "");
    });
    html.element("main", &[], |html| {
        pair(html, review);
        samples::marks(html);
    });
    let action = format!("/pair/{}", review.at);
    html.element("form", &[("class", "controls"), ("method", "post"), ("action", &action)], |html| {
        verdicts(html, review);
        kinds(html, review);
        navigation(html, review);
    });
}

fn progress(html: &mut Html, progress: &ReviewProgress) {
    let ReviewProgress { pairs, duplicate, not, unsure, interval } = *progress;
    let judged = duplicate + not + unsure;
    html.element("p", &[("class", "progress")], |html| {
        let (value, max) = (judged.to_string(), pairs.max(1).to_string());
        html.element("progress", &[("value", &value), ("max", &max), ("aria-label", "judged")], |_| {});
        let words = format!(
            " {} of {} judged: {}, {} not, {} unsure. ",
            thousands(judged),
            thousands(pairs),
            counted(duplicate, "duplicate", "duplicates"),
            thousands(not),
            thousands(unsure)
        );
        html.text(&words);
        if let Some((low, high)) = interval {
            html.text("Duplicates among the judged: ");
            html.leaf("strong", &[], &percent(duplicate, duplicate + not));
            html.text(&format!(" (95 %: {})", numbers::interval(low, high)));
        }
    });
}

fn pair(html: &mut Html, review: &Review<'_>) {
    let comparison = review.comparison;
    html.element("article", &[("class", "pair")], |html| {
        html.element("h2", &[], |html| {
            html.text(&format!("Pair {} of {}", thousands(review.at), thousands(review.progress.pairs)));
            html.text(" ");
            let similarity = match review.similarity {
                Some(similarity) => format!("similarity {similarity:.4}"),
                None => "not measured".to_owned(),
            };
            html.leaf("span", &[("class", "facts")], &similarity);
            for method in review.methods {
                html.text(" ");
                html.leaf("bdi", &[("class", "kind")], method);
            }
        });
        html.element("dl", &[], |html| {
            let words = |count| counted(count, "word", "words");
            samples::side(html, PairSide::A, review.a, None, &words(comparison.words_a));
            samples::side(html, PairSide::B, review.b, None, &words(comparison.words_b));
        });
        let shared = format!(
            "{} in both, {} only in A, {} only in B",
            counted(comparison.shared, "word", "words"),
            thousands(comparison.removed),
            thousands(comparison.added)
        );
        html.leaf("p", &[("class", "facts")], &shared);
        if review.show_all {
            samples::all_words(html, comparison);
        } else {
            samples::comparison(html, comparison);
        }
    });
}

/// A button: its name, value, keys and label.
struct Button<'b> {
    name: &'static str,
    value: &'b str,
    /// By which keys the script presses it.
    keys: &'b str,
    /// The key that stands on it.
    key: &'b str,
    text: &'b str,
    pressed: bool,
    possible: bool,
}

impl Button<'_> {
    fn draw(&self, html: &mut Html) {
        let mut attributes = vec![("name", self.name), ("value", self.value), ("data-keys", self.keys)];
        attributes.push(("aria-pressed", if self.pressed { "true" } else { "false" }));
        attributes.extend((!self.possible).then_some(("disabled", "disabled")));
        html.element("button", &attributes, |html| {
            html.leaf("kbd", &[], self.key);
            html.text(" ");
            html.text(self.text);
        });
    }
}

fn group(html: &mut Html, name: &str, inside: impl FnOnce(&mut Html)) {
    html.element("div", &[("role", "group"), ("aria-label", name)], inside);
}

fn verdicts(html: &mut Html, review: &Review<'_>) {
    group(html, "Judgment", |html| {
        for (value, key, text) in
            [("duplicate", "d", "duplicate"), ("not", "n", "not a duplicate"), ("unsure", "u", "unsure")]
        {
            let pressed = review.label == Some(value);
            Button { name: "label", value, keys: key, key, text, pressed, possible: true }.draw(html);
        }
    });
}

fn kinds(html: &mut Html, review: &Review<'_>) {
    group(html, "Kind of difference", |html| {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            let key = (index + 1).to_string();
            let (value, pressed) = (kind.name(), review.kind == Some(kind));
            let button =
                Button { name: "kind", value, keys: &key, key: &key, text: value, pressed, possible: true };
            button.draw(html);
        }
        let guess = review.comparison.kind;
        let words = match review.kind {
            Some(kind) => kind.meaning().to_owned(),
            None => format!("looks like {}: {}", guess.name(), guess.meaning()),
        };
        html.leaf("span", &[("class", "facts")], &words);
    });
}

fn navigation(html: &mut Html, review: &Review<'_>) {
    let (before, after) = (review.at.saturating_sub(1), review.at + 1);
    let unjudged = review.next_unjudged.unwrap_or(review.at);
    let has_after = after <= review.progress.pairs;
    group(html, "Moves", |html| {
        for (to, keys, key, text, possible) in [
            (before, "ArrowLeft k", "←", "back", before > 0),
            (after, "ArrowRight j", "→", "on", has_after),
            (unjudged, "o", "o", "to an open one", review.next_unjudged.is_some()),
        ] {
            Button { name: "go", value: &to.to_string(), keys, key, text, pressed: false, possible }
                .draw(html);
        }
        let possible = review.can_undo;
        let undo = Button {
            name: "undo",
            value: "last",
            keys: "z",
            key: "z",
            text: "undo",
            pressed: false,
            possible,
        };
        undo.draw(html);
        for (name, key, text, pressed) in [
            ("whole", "w", "all words", review.show_all),
            ("onward", "a", "go on after judging", review.auto_advance),
        ] {
            let value = if pressed { "no" } else { "yes" };
            Button { name, value, keys: key, key, text, pressed, possible: true }.draw(html);
        }
    });
}
