//! A slow, simple reader of generated pages: what profile `web` says, written down a second time.

use std::collections::{BTreeSet, HashMap};

use lookalike_generate::{GeneratedDocument, Plan};
use lookalike_model::Media;

/// The word 5-grams of every document of a plan, as strings.
pub(crate) fn all_grams(plan: Plan) -> HashMap<u64, BTreeSet<String>> {
    let mut documents = plan.documents();
    let mut all = HashMap::new();
    while let Some(document) = documents.next() {
        all.insert(document.position, grams(&words(&visible(&document))));
    }
    all
}

/// The visible text of a document.
pub(crate) fn visible(document: &GeneratedDocument<'_>) -> String {
    visible_in(document.media, document.content)
}

/// The visible text of a page.
pub(crate) fn visible_in(media: Media, content: &str) -> String {
    if media == Media::Html { strip(content) } else { content.to_owned() }
}

const INLINE: [&str; 8] = ["a", "b", "i", "em", "strong", "span", "font", "img"];

/// Removes tags, comments, scripts and styles; block-level tags become a line break; decodes entities.
fn strip(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        if rest.starts_with("<!--") {
            rest = &rest[rest.find("-->").unwrap() + 3..];
            continue;
        }
        let end = rest.find('>').unwrap();
        let tag = rest[1..end].to_lowercase();
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        if !INLINE.contains(&name) {
            text.push('\n');
        }
        if ["script", "style"].contains(&name) && !tag.starts_with('/') {
            rest = &rest[rest.to_ascii_lowercase().find(&format!("</{name}")).unwrap()..];
        }
    }
    text.push_str(rest);
    decode(&text)
}

fn decode(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').unwrap();
        out.push(match name {
            "amp" => '&',
            "nbsp" => '\u{a0}',
            "mdash" => '—',
            "eacute" => 'é',
            "egrave" => 'è',
            "agrave" => 'à',
            "uuml" => 'ü',
            "ouml" => 'ö',
            "aring" => 'å',
            "atilde" => 'ã',
            "ntilde" => 'ñ',
            number => char::from_u32(number.strip_prefix('#').unwrap().parse().unwrap()).unwrap(),
        });
        out.push_str(rest);
    }
    out
}

/// Words by the rules of profile `web`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut run = String::new();
    for letter in text.chars().flat_map(char::to_lowercase).chain([' ']) {
        let breaks = run.chars().next().is_some_and(|first| is_unspaced(first) != is_unspaced(letter));
        if !is_letter(letter) || breaks {
            end_run(&mut run, &mut words);
        }
        if is_letter(letter) {
            run.push(letter);
        }
    }
    words
}

fn end_run(run: &mut String, words: &mut Vec<String>) {
    let letters: Vec<char> = run.chars().collect();
    if letters.len() > 1 && is_unspaced(letters[0]) {
        words.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
    } else if !letters.is_empty() {
        words.push(run.clone());
    }
    run.clear();
}

/// Letters, marks and digits. The standard library does not call every mark alphanumeric.
fn is_letter(letter: char) -> bool {
    let is_mark = matches!(letter, '\u{0900}'..='\u{0903}' | '\u{093c}' | '\u{093e}'..='\u{094d}'
        | '\u{0e31}' | '\u{0e34}'..='\u{0e3a}' | '\u{0e47}'..='\u{0e4e}');
    letter.is_alphanumeric() || is_mark
}

fn is_unspaced(letter: char) -> bool {
    is_letter(letter)
        && matches!(letter, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

/// The set of 5-grams; under five words the whole sequence.
pub(crate) fn grams(words: &[String]) -> BTreeSet<String> {
    if words.is_empty() {
        return BTreeSet::new();
    }
    words.windows(words.len().min(5)).map(|window| window.join(" ")).collect()
}
