//! The frame of all pages: head, navigation, and the page of a refusal.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lookalike::report::parts::{Html, counted, thousands};

use crate::answer::Refusal;
use crate::app_state::AppState;

/// The current page in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NavPage {
    Overview,
    Clusters,
    Ask,
    /// None of them.
    Other,
}

/// A page.
pub(super) fn page(
    state: &AppState,
    title: &str,
    current: NavPage,
    inside: impl FnOnce(&mut Html),
) -> Response {
    page_with(state, StatusCode::OK, title, Some(current), inside)
}

/// A page with a status; without navigation for visitors who are not logged in.
pub(super) fn page_with(
    state: &AppState,
    status: StatusCode,
    title: &str,
    current: Option<NavPage>,
    inside: impl FnOnce(&mut Html),
) -> Response {
    let mut html = Html::default();
    html.literal("<!doctype html>\n");
    html.element("html", &[("lang", "en")], |html| {
        head(html, title);
        html.element("body", &[("class", "service")], |html| {
            html.leaf("a", &[("class", "skip"), ("href", "#main")], "Skip to the content");
            html.element("header", &[("class", "top")], |html| {
                html.leaf("a", &[("class", "brand"), ("href", "/")], "lookalike");
                if let Some(current) = current {
                    navigation(html, state, current);
                }
            });
            html.element("main", &[("id", "main")], inside);
        });
    });
    html.literal("\n");
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], html.finish()).into_response()
}

fn head(html: &mut Html, title: &str) {
    html.element("head", &[], |html| {
        html.void("meta", &[("charset", "utf-8")]);
        html.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
        html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
        html.leaf("title", &[], &format!("{title} · lookalike"));
        html.void("link", &[("rel", "stylesheet"), ("href", "/style.css")]);
        // Without one, browsers ask for a file that is not there.
        html.void("link", &[("rel", "icon"), ("href", "data:,")]);
    });
}

fn navigation(html: &mut Html, state: &AppState, current: NavPage) {
    html.element("nav", &[("aria-label", "Pages")], |html| {
        let mut link = |to: &str, name: &str, page: NavPage| {
            let mut attributes = vec![("href", to)];
            attributes.extend((page == current).then_some(("aria-current", "page")));
            html.leaf("a", &attributes, name);
        };
        link("/", "Overview", NavPage::Overview);
        link("/clusters", "Clusters", NavPage::Clusters);
        if state.source.store().is_ok() {
            link("/ask", "Ask", NavPage::Ask);
        }
        if state.settings.tokens.is_some() {
            html.element("form", &[("method", "post"), ("action", "/logout")], |html| {
                html.leaf("button", &[("class", "quiet")], "Log out");
            });
        }
    });
}

/// The page of a refusal; visitors who are not logged in see the login form.
pub(crate) fn refusal(state: &AppState, refusal: &Refusal, path: &str) -> Response {
    let mut response = match refusal.status {
        StatusCode::UNAUTHORIZED => super::login::login_form(state, StatusCode::UNAUTHORIZED, None, path),
        status => page_with(state, status, "That did not work", Some(NavPage::Other), |html| {
            html.leaf("h1", &[], "That did not work");
            html.leaf("p", &[("class", "lead")], &sentence(&refusal.sentence));
            html.element("p", &[], |html| html.leaf("a", &[("href", "/")], "Back to the overview"));
        }),
    };
    // Retry-After and the like stay.
    for (name, value) in refusal.clone().into_response().headers() {
        if ![header::CONTENT_TYPE, header::CONTENT_LENGTH].contains(name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}

/// A sentence with a capital and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

/// `0.93`: as many decimals as a person reads, never 1 for what is less.
pub(super) fn similarity(value: Option<f64>) -> String {
    match value {
        None => "not measured".to_owned(),
        Some(value) if (0.995..1.0).contains(&value) => "over 0.99".to_owned(),
        Some(value) => format!("{value:.2}"),
    }
}

/// A list in parts: which rows these are, and links to those before and behind. `address` makes the address of an offset.
pub(super) fn paging(
    html: &mut Html,
    (offset, shown, total): (u64, u64, u64),
    count: u64,
    words: (&str, &str),
    address: impl Fn(u64) -> String,
) {
    html.element("nav", &[("class", "paging"), ("aria-label", "Parts of the list")], |html| {
        let text = match shown {
            0 => format!("none of {}", counted(total, words.0, words.1)),
            _ => format!(
                "{} to {} of {}",
                thousands(offset + 1),
                thousands(offset + shown),
                counted(total, words.0, words.1)
            ),
        };
        if offset > 0 {
            let before = address(offset.saturating_sub(count));
            html.leaf("a", &[("rel", "prev"), ("href", &before)], "← Before");
        }
        html.leaf("span", &[("class", "facts")], &text);
        if offset + shown < total {
            html.leaf("a", &[("rel", "next"), ("href", &address(offset + count))], "Behind →");
        }
    });
}

/// A name and what belongs to it.
pub(super) fn fact(html: &mut Html, name: &str, inside: impl FnOnce(&mut Html)) {
    html.leaf("dt", &[], name);
    html.element("dd", &[], inside);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_are_short_and_honest() {
        let shown = [1.0, 0.9999, 0.995, 0.994, 0.8].map(|value| similarity(Some(value)));
        assert_eq!(shown, ["1.00", "over 0.99", "over 0.99", "0.99", "0.80"]);
    }

    #[test]
    fn sentences_look_like_sentences() {
        assert_eq!(sentence("there is nothing"), "There is nothing.");
        assert_eq!((sentence("Ä."), sentence("")), ("Ä.".to_owned(), ".".to_owned()));
    }
}
