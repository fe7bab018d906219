//! The stage `report`: texts of samples and large clusters are read again from the input.

use std::collections::HashMap;

use lookalike_corpus::{Item, LineReader, Lines};
use lookalike_model::{DocNumber, InputPlace};
use lookalike_text::extract::Extractor;

use crate::catalogue::{Catalogue, Lookup};
use crate::context::Context;
use crate::error::EngineError;
use crate::reread::{Rereader, ShardReaders};
use crate::results::Findings;
use crate::stages::order::PlaceMap;

/// Text that is kept of a sample.
const SAMPLE_BYTES: usize = 64 << 10;
/// Lines are looked through so many bytes at a time.
const BLOCK_BYTES: usize = 512 << 10;

/// Reads the texts of samples and large clusters again from the input.
pub(crate) fn read_samples(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    findings: &mut Findings,
) -> Result<(), EngineError> {
    let mut wanted: Vec<DocNumber> = findings
        .samples
        .iter()
        .flat_map(|sample| [sample.a.number, sample.b.number])
        .chain(findings.biggest.iter().map(|cluster| cluster.kept_document))
        .collect();
    // In order, because shards are read forwards; once each, because a document may be in several samples.
    wanted.sort_unstable();
    wanted.dedup();
    ctx.begin("report", None, false);
    let texts = texts(ctx, catalogue, &wanted)?;
    let mut lookup = Lookup::new(ctx, catalogue);
    for sample in &mut findings.samples {
        for document in [&mut sample.a, &mut sample.b] {
            let names = lookup.names(document.number)?;
            document.id = names.id;
            document.url = names.url;
            document.text = texts.get(&document.number).cloned().unwrap_or_default();
        }
    }
    for cluster in &mut findings.biggest {
        let text = texts.get(&cluster.kept_document).map_or("", String::as_str);
        cluster.facts.excerpt = text.split_whitespace().take(40).collect::<Vec<_>>().join(" ");
    }
    Ok(())
}

/// The texts of a few documents. For those that cannot be read from where they stand, shards are read up to the last one
/// wanted.
pub(crate) fn texts(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    wanted: &[DocNumber],
) -> Result<HashMap<DocNumber, String>, EngineError> {
    let mut texts = HashMap::new();
    let mut put = |document: DocNumber, text: &str| {
        let end = text.floor_char_boundary(SAMPLE_BYTES.min(text.len()));
        texts.insert(document, text[..end].to_owned());
    };
    let (readers, mut others) = (ShardReaders::new(ctx, catalogue), Vec::new());
    let (mut rereader, mut kept) = (Rereader::new(&readers), Vec::new());
    for &document in wanted {
        if rereader.has(document)? { kept.push(document) } else { others.push(document) }
    }
    rereader.documents(&kept, |worker, document, row, source| {
        // The digest first: beside a similarity that was measured no other text may be shown than the
        // one that was.
        if !worker.reread_document(ctx, source, row.digest, |_| ()) {
            return Err(crate::gather::input_changed(ctx));
        }
        worker.reread_text(ctx, source).into_iter().for_each(|text| put(document, text));
        Ok(())
    })?;
    let (mut extractor, mut lines) = (Extractor::default(), Lines::default());
    let wanted = PlaceMap::open(ctx)?.of(&others)?;
    for view in catalogue.shards(ctx) {
        let before = |end: InputPlace| wanted.partition_point(|&(place, _)| place < end);
        let mut wanted = &wanted[before(view.first)..before(view.end())];
        let corpus = if view.reference { ctx.against.unwrap_or(ctx.corpus) } else { ctx.corpus };
        let mut reader = if wanted.is_empty() { continue } else { view.shard.open(corpus.options())? };
        let mut line_reader = LineReader::new(corpus.options());
        let mut take = |document: DocNumber, item: Item<'_>| {
            if let Item::Document(found) = item {
                put(document, extractor.extract(&found, ctx.content).text);
            }
        };
        let mut place = view.first;
        while let Some(&(next, document)) = wanted.first() {
            ctx.check()?;
            // Where a shard has lines, those between two wanted ones are counted and not parsed.
            if reader.lines(BLOCK_BYTES, &mut lines)? {
                let end = place + lines.len() as u32;
                let here = wanted.partition_point(|&(wanted, _)| wanted < end);
                for &(found, document) in &wanted[..here] {
                    take(document, line_reader.read(lines.view_some(), (found - place) as usize));
                }
                (wanted, place) = (&wanted[here..], end);
                continue;
            }
            match reader.next()? {
                None => break,
                // What is skipped was given no number, and must not move `place` on.
                Some(Item::Skipped(_)) => continue,
                Some(item) if place == next => {
                    take(document, item);
                    wanted = &wanted[1..];
                }
                Some(_) => {}
            }
            place += 1;
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Task;
    use crate::tests::context::{StageTest, as_lines, doc};
    use crate::tests::{recipe, settings};
    use crate::{JobRecipe, Settings, Spool};
    use std::collections::BTreeSet;

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
            let found = texts(&ctx, &Catalogue::load(&ctx).unwrap(), &[0, 2, 3].map(doc)).unwrap();
            assert_eq!(found.keys().copied().collect::<BTreeSet<_>>(), BTreeSet::from([0, 2, 3].map(doc)));
            assert_eq!((found[&doc(0)].as_str(), found[&doc(2)].as_str()), ("zero", "two"), "{spool:?}");
            assert!(found[&doc(3)].len() == SAMPLE_BYTES - 1 && long.starts_with(found[&doc(3)].as_str()));
        }
    }

    #[test]
    fn texts_that_the_spool_has_not_are_read_from_the_input() {
        // Of the right side only what may be near a document of the left side is kept.
        let recipe = JobRecipe { task: Task::Compare, ..recipe("md5") };
        let test =
            StageTest::against(recipe, &as_lines(&["one two"]), &as_lines(&["three", "one two", "..."]));
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let readers = ShardReaders::new(&ctx, &catalogue);
        let mut rereader = Rereader::new(&readers);
        let kept = [0, 1, 2, 3].map(|document| rereader.has(doc(document)).unwrap());
        assert_eq!(kept, [true, false, true, false]);
        let mut read = Vec::new();
        rereader.read(&[0, 1, 2, 3].map(doc), |document, _| read.push(document)).unwrap();
        assert_eq!(read, [0, 2].map(doc));
        let found = texts(&ctx, &catalogue, &[0, 1, 2, 3].map(doc)).unwrap();
        let found = [0, 1, 2, 3].map(|document| found[&doc(document)].as_str());
        assert_eq!(found, ["one two", "three", "one two", "..."]);
    }
}
