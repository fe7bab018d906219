//! The truth is true: counted again by a reader that shares no code with the generator.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lookalike_generate::{Kind, Language, Plan, sample};

use crate::reader;

#[test]
fn every_planted_pair_has_the_similarity_that_it_is_said_to_have() {
    let plan = sample();
    let grams = reader::all_grams(plan);
    for pair in plan.truth() {
        let (a, b) = (&grams[&pair.a], &grams[&pair.b]);
        let counted = (a.intersection(b).count() as u64, a.union(b).count() as u64);
        assert_eq!((pair.intersection, pair.union), counted, "{pair:?}");
    }
}

#[test]
fn every_tenth_from_three_tenths_up_has_pairs() {
    let mut tenths = BTreeMap::new();
    for pair in sample().truth() {
        *tenths.entry(pair.intersection * 10 / pair.union.max(1)).or_insert(0) += 1;
    }
    for tenth in 3..=10 {
        assert!(tenths.get(&tenth).copied().unwrap_or(0) >= 20, "pairs by tenth: {tenths:?}");
    }
}

#[test]
fn unrelated_documents_share_little() {
    let plan = sample();
    let grams = reader::all_grams(plan);
    let groups = group_of(plan);
    let mut holders: HashMap<&str, Vec<u64>> = HashMap::new();
    for (&position, grams) in &grams {
        grams.iter().for_each(|gram| holders.entry(gram).or_default().push(position));
    }
    let mut shared: HashMap<(u64, u64), usize> = HashMap::new();
    for list in holders.values() {
        for (index, &one) in list.iter().enumerate() {
            for &other in &list[index + 1..] {
                *shared.entry((one.min(other), one.max(other))).or_default() += 1;
            }
        }
    }
    for ((one, other), shared) in shared {
        let are_related = groups.contains_key(&one) && groups.get(&one) == groups.get(&other);
        let union = grams[&one].len() + grams[&other].len() - shared;
        assert!(are_related || shared * 10 < union, "pages {one} and {other} share {shared} of {union}");
    }
}

fn group_of(plan: Plan) -> HashMap<u64, u64> {
    plan.groups().flat_map(|group| group.members().map(move |member| (member, group.number()))).collect()
}

#[test]
fn documents_and_groups_agree() {
    let plan = sample();
    let groups = group_of(plan);
    let mut documents = plan.documents();
    while let Some(document) = documents.next() {
        assert_eq!(document.group, groups.get(&document.position).copied(), "{}", document.id);
    }
}

#[test]
fn groups_list_the_pairs_they_promise() {
    let plan = Plan { documents: 10_000, seed: 3 };
    let mut pairs: BTreeMap<u64, u64> = BTreeMap::new();
    for pair in plan.truth() {
        *pairs.entry(pair.group).or_default() += 1;
    }
    for group in plan.groups() {
        let size = group.size();
        let expected = if group.is_star() { size - 1 } else { size * (size - 1) / 2 };
        assert_eq!(pairs.remove(&group.number()), Some(expected));
    }
    assert!(pairs.is_empty());
}

#[test]
fn each_kind_keeps_its_word() {
    for pair in (Plan { documents: 20_000, seed: 4 }).truth() {
        match pair.kind {
            Kind::Mirror => assert_eq!(pair.intersection, pair.union),
            Kind::Alone | Kind::Empty => panic!("{:?} pages have no relatives", pair.kind),
            _ => assert!(pair.union > 0 && (!pair.derived || pair.intersection > 0), "{pair:?}"),
        }
    }
}

#[test]
fn contained_pages_are_contained_wholly() {
    let plan = sample();
    let grams = reader::all_grams(plan);
    for pair in plan.truth().filter(|pair| pair.kind == Kind::Containment && pair.derived) {
        assert!(grams[&pair.a].is_subset(&grams[&pair.b]));
    }
}

#[test]
fn mirrors_have_equal_bytes_at_different_addresses() {
    let plan = sample();
    let (mut one, mut other) = (plan.documents(), plan.documents());
    for pair in plan.truth().filter(|pair| pair.kind == Kind::Mirror) {
        let (one, other) = (one.get(pair.a).unwrap(), other.get(pair.b).unwrap());
        assert_eq!(one.content, other.content);
        assert_ne!(one.url, other.url);
    }
}

#[test]
fn the_sample_shows_every_kind_and_language_in_both_forms() {
    let (mut seen, mut html) = (BTreeSet::new(), 0);
    let mut documents = sample().documents();
    while let Some(document) = documents.next() {
        let is_html = document.media == lookalike_model::Media::Html;
        html += usize::from(is_html);
        seen.insert((document.language, is_html));
        if document.kind == Kind::Empty {
            assert_eq!(reader::words(&reader::visible(&document)), [""; 0]);
        }
    }
    assert_eq!(seen.len(), 2 * Language::ALL.len());
    assert!((900..1100).contains(&html), "{html} pages of 3000 are HTML");
    let kinds: BTreeSet<Kind> = sample().truth().map(|pair| pair.kind).collect();
    assert_eq!(kinds.len(), Kind::ALL.len() - 2);
}
