//! Documents from places that are spread over a whole corpus: its first ones may be unlike all others.
//!
//! A place is a share of the bytes of the input. A file of plain JSON lines is entered anywhere, a Parquet file at its row groups, which
//! are read on, since rows of all lengths count alike in their bytes. Of other files the beginning is a place, and where several places
//! lie in one, it is read on from there, for a sixteenth of it at most: what lies behind is a guess, and is told as a range.

use std::sync::Arc;

use lookalike_corpus::{Compression, Corpus, Format, Item, Origin, ReadOptions, Reader, Shard};
use lookalike_text::extract::Extractor;

use crate::error::EngineError;
use crate::pipeline::HEAVY;
use crate::recipe::JobRecipe;

/// Places that are looked at.
const PLACES: u64 = 8;

/// Bytes of input that are read at a place.
const PLACE_BYTES: u64 = 64 << 10;

/// Bytes of texts that are looked at, at a place; where there are more, every second document is, or every fourth, and so on: of the
/// others only the length counts. Compressed input can hold any number.
const TEXT_BYTES: u64 = 512 << 10;

/// Bytes of a file of so many that are read on from its beginning, where it cannot be entered elsewhere. To unpack what would be a
/// better sample takes longer than all that is decided by it.
fn reach(bytes: u64) -> u64 {
    (bytes / 16).clamp(1 << 20, 8 << 20).min(bytes)
}

/// Bytes of the contents of a Parquet file that are read at a place.
const GROUP_BYTES: u64 = 4 << 20;

/// Bytes of a file of lines in which one must end, so that it can be entered there.
const LONGEST_LINE: usize = 4 << 20;

/// The documents at one place of a corpus.
#[derive(Debug, Default)]
pub(super) struct SampledPart {
    pub(super) texts: Vec<String>,
    /// Number of documents, of which texts need not be held.
    pub(super) documents: u64,
    /// Bytes of the contents of these, and of the documents behind them.
    pub(super) seen: u64,
    pub(super) unseen: u64,
    /// Bytes of the input that they took.
    pub(super) read: u64,
    /// Bytes of their names.
    pub(super) named: u64,
    /// Bytes of documents too large to be looked at.
    pub(super) heavy: u64,
    /// Bytes of the input for which they stand, and those among them that are beyond reach, and may be unlike all that was read.
    pub(super) stands_for: u64,
    pub(super) guessed: u64,
}

/// The texts of a place, thinned out evenly where they are too many.
#[derive(Debug)]
struct ThinnedTexts {
    /// Texts, with the bytes of the documents they are of.
    kept: Vec<(String, u64)>,
    /// One document of so many is kept.
    stride: u64,
    /// Bytes of kept documents, and of all.
    bytes: u64,
    all_bytes: u64,
    documents: u64,
    most: u64,
}

impl ThinnedTexts {
    fn new(most: u64) -> Self {
        ThinnedTexts { kept: Vec::new(), stride: 1, bytes: 0, all_bytes: 0, documents: 0, most }
    }

    /// True if the next document is kept.
    fn keeps_next(&self) -> bool {
        self.documents.is_multiple_of(self.stride)
    }

    /// Counts a document of so many bytes, with its text if it is kept.
    fn add(&mut self, bytes: u64, text: Option<String>) {
        self.all_bytes += bytes;
        self.documents += 1;
        if let Some(text) = text {
            self.kept.push((text, bytes));
            self.bytes += bytes;
        }
        while self.bytes > self.most && self.kept.len() > 1 {
            self.stride *= 2;
            let mut number = 0;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.bytes = self.kept.iter().map(|(_, bytes)| bytes).sum();
        }
    }
}

impl SampledPart {
    /// Bytes that become of all of its documents, when so many become of those that were looked at.
    pub(super) fn of_all(&self, seen: u64) -> u64 {
        let share = u128::from(self.unseen) * u128::from(seen) / u128::from(self.seen.max(1));
        seen.saturating_add(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// The same for the part of the input for which they stand.
    pub(super) fn of_input(&self, part: u64) -> f64 {
        part as f64 * self.stands_for as f64 / self.read.max(1) as f64
    }
}

/// A place where documents are read.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    shard: usize,
    /// Bytes of the shard before it.
    offset: u64,
    /// Number of places that it stands for.
    places: u64,
    /// Bytes of the shard behind which nothing is read: the next place begins there.
    until: u64,
    /// It is reached by reading on from the place before.
    reads_on: bool,
    /// Share of the bytes it stands for that are beyond reach.
    guessed: f64,
}

/// A shard that is read.
struct OpenShard {
    shard: usize,
    reader: Reader,
    /// Bytes that its reader had consumed when it was opened, and at the place where it was entered.
    opened: u64,
    entered: u64,
}

/// Reads the documents at places spread over a corpus; none of standard input, which comes only once.
pub(super) fn parts(recipe: &JobRecipe, corpus: &Corpus) -> Result<Vec<SampledPart>, EngineError> {
    let total: u64 = sizes(corpus).map(|(_, bytes)| bytes).sum();
    let (mut parts, mut open) = (Vec::new(), None);
    for entry in entries(corpus, total) {
        let stands_for = total * entry.places / PLACES;
        let (part, last) = read(recipe, corpus, entry, open.take())?;
        open = last;
        if part.read > 0 {
            let guessed = (stands_for as f64 * entry.guessed) as u64;
            parts.push(SampledPart { stands_for, guessed, ..part });
        }
    }
    // Places where nothing could be read are like the others.
    let covered: u64 = parts.iter().map(|part| part.stands_for).sum();
    let whole = |bytes: u64| (u128::from(bytes) * u128::from(total) / u128::from(covered.max(1))) as u64;
    for part in &mut parts {
        (part.stands_for, part.guessed) = (whole(part.stands_for), whole(part.guessed));
    }
    Ok(parts)
}

/// The shards that can be sampled, by their numbers, with their sizes.
fn sizes(corpus: &Corpus) -> impl Iterator<Item = (usize, u64)> {
    let shards = corpus.shards().iter().enumerate();
    shards
        .filter(|(_, shard)| shard.origin != Origin::Stdin)
        .filter_map(|(number, shard)| Some((number, shard.bytes?)))
}

/// Spreads places over a corpus. Those from which the same documents would be read become one.
fn entries(corpus: &Corpus, total: u64) -> Vec<Entry> {
    let Some((first, _)) = sizes(corpus).find(|&(_, bytes)| bytes > 0) else { return Vec::new() };
    if total <= PLACES * PLACE_BYTES {
        return vec![Entry { places: PLACES, ..Entry::beginning(first) }];
    }
    let mut found: Vec<Entry> = Vec::new();
    let (mut before, mut place) = (0, 0);
    for (shard, bytes) in sizes(corpus).filter(|&(_, bytes)| bytes > 0) {
        let mut offsets = Vec::new();
        while place < PLACES && total * place / PLACES < before + bytes {
            offsets.push(total * place / PLACES - before);
            place += 1;
        }
        found.extend(entries_of(shard, &corpus.shards()[shard], corpus.options(), bytes, &offsets));
        before += bytes;
    }
    found
}

/// The entries to one shard of so many bytes for places at these offsets.
fn entries_of(
    number: usize,
    shard: &Shard,
    options: &Arc<ReadOptions>,
    bytes: u64,
    offsets: &[u64],
) -> Vec<Entry> {
    let access = offsets.last().map_or(Access::Beginning, |&last| access(shard, options, last));
    if access == Access::ReadOn && offsets.len() > 1 {
        let (count, reach) = (offsets.len() as u64, reach(bytes));
        let guessed = (bytes - reach) as f64 / bytes as f64;
        let entry = |index| Entry {
            offset: reach * index / count,
            reads_on: index > 0,
            guessed,
            ..Entry::beginning(number)
        };
        return (0..count).map(entry).collect();
    }
    let mut found: Vec<Entry> = Vec::new();
    for &wanted in offsets {
        let offset = if access == Access::Anywhere { reachable_offset(shard, options, wanted) } else { 0 };
        match found.last_mut() {
            Some(last) if last.offset == offset => last.places += 1,
            _ => {
                if let Some(last) = found.last_mut() {
                    last.until = offset;
                }
                found.push(Entry { offset, ..Entry::beginning(number) });
            }
        }
    }
    found
}

impl Entry {
    /// One place at the beginning of a shard.
    fn beginning(shard: usize) -> Self {
        Entry { shard, offset: 0, places: 1, until: u64::MAX, reads_on: false, guessed: 0.0 }
    }
}

/// The places of a shard that can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// It can be entered where lines or row groups begin.
    Anywhere,
    /// It is read on from its beginning.
    ReadOn,
    /// Only its beginning is read: the rest would have to come over a network.
    Beginning,
}

fn access(shard: &Shard, options: &Arc<ReadOptions>, offset: u64) -> Access {
    if !matches!(shard.origin, Origin::File(_) | Origin::Memory(_)) {
        return Access::Beginning;
    }
    // A shard that cannot be opened is told of when it is read.
    let Ok(mut reader) = shard.open(options) else { return Access::Beginning };
    let lines = reader.format() == Format::Jsonl && reader.compression() == Compression::None;
    if lines || reader.pass_over(offset).is_ok_and(|passed| passed) {
        return Access::Anywhere;
    }
    Access::ReadOn
}

/// The last offset up to `offset` from which documents can be read without those before them: in a file of plain lines any, in a Parquet
/// file that of a row group.
fn reachable_offset(shard: &Shard, options: &Arc<ReadOptions>, offset: u64) -> u64 {
    if offset == 0 {
        return 0;
    }
    let Ok(mut reader) = shard.open(options) else { return 0 };
    let opened = reader.consumed();
    if reader.pass_over(offset).is_ok_and(|passed| passed) {
        return reader.consumed() - opened;
    }
    if lines_at(shard, offset).is_ok_and(|lines| lines.is_some()) { offset } else { 0 }
}

/// Reads documents from a place on, in further shards where one has too few. `before` is the shard that was read for the place before;
/// returns the one that was read last.
fn read(
    recipe: &JobRecipe,
    corpus: &Corpus,
    entry: Entry,
    before: Option<OpenShard>,
) -> Result<(SampledPart, Option<OpenShard>), EngineError> {
    let (mut part, mut extractor) = (SampledPart::default(), Extractor::default());
    let mut texts = ThinnedTexts::new(TEXT_BYTES * entry.places);
    let (enough, most) = (PLACE_BYTES * entry.places, GROUP_BYTES * entry.places);
    let content = recipe.content()?;
    let mut open = enter(corpus, entry, before)?;
    // What a place that is read on has too little of lies behind the last one.
    let further = !entry.reads_on && entry.guessed == 0.0;
    for (number, _) in sizes(corpus).filter(|&(number, _)| number >= entry.shard) {
        if number != open.shard {
            open = OpenShard::new(corpus, number)?;
        }
        let groups = open.reader.format() == Format::Parquet;
        let mut end = None;
        loop {
            // A reader takes in more than it has handed out: the sample goes on to where it would take in more.
            let read = open.reader.consumed() - open.entered;
            if end.is_some_and(|end| read > end) {
                break;
            }
            let full = if groups { texts.all_bytes >= most } else { part.read + read >= enough };
            end = end.or(full.then_some(read));
            let document = match open.reader.next()? {
                None => break,
                Some(Item::Document(document)) => {
                    let bytes = document.content.len() as u64;
                    let named = (12 + document.id.len() + document.url.map_or(0, str::len)) as u64;
                    let keep = texts.keeps_next() && bytes < HEAVY as u64;
                    let text = keep.then(|| extractor.extract(&document, content).text.to_owned());
                    Some((bytes, named, text))
                }
                Some(_) => None,
            };
            if groups && number == entry.shard && open.reader.consumed() - open.opened > entry.until {
                // The next place begins with it.
                end = end.or(Some(read));
                break;
            }
            let Some((bytes, named, text)) = document else { continue };
            part.documents += 1;
            if bytes >= HEAVY as u64 {
                // It would take more memory than an estimate is worth, and has keys like any other.
                part.heavy += bytes;
                continue;
            }
            part.named += named;
            texts.add(bytes, text);
        }
        part.read += end.unwrap_or_else(|| open.reader.consumed() - open.entered);
        if part.read >= enough || end.is_some() || !further {
            break;
        }
    }
    (part.seen, part.unseen) = (texts.bytes, texts.all_bytes - texts.bytes);
    part.texts = texts.kept.into_iter().map(|(text, _)| text).collect();
    Ok((part, Some(open)))
}

impl OpenShard {
    fn new(corpus: &Corpus, shard: usize) -> Result<Self, EngineError> {
        let reader = corpus.shards()[shard].open(corpus.options())?;
        Ok(OpenShard { shard, reader, opened: 0, entered: 0 })
    }

    /// Passes over records up to an offset, and at least to where the reader takes in more: the records that it has taken in belong to
    /// the place before.
    fn read_on(&mut self, offset: u64) -> Result<(), EngineError> {
        let begin = self.reader.consumed();
        loop {
            self.entered = self.reader.consumed();
            if self.reader.next()?.is_none() {
                return Ok(());
            }
            let consumed = self.reader.consumed();
            if consumed > begin && consumed - self.opened >= offset && consumed > self.entered {
                return Ok(());
            }
        }
    }
}

/// Opens a shard at a place, or at its beginning where no line ends near the place.
fn enter(corpus: &Corpus, entry: Entry, before: Option<OpenShard>) -> Result<OpenShard, EngineError> {
    if let Some(mut open) = before.filter(|open| entry.reads_on && open.shard == entry.shard) {
        open.read_on(entry.offset)?;
        return Ok(open);
    }
    let (shard, options) = (&corpus.shards()[entry.shard], corpus.options());
    let mut reader = shard.open(options)?;
    // A reader may have taken in its first bytes by now.
    let opened = reader.consumed();
    let whole = |reader, entered| OpenShard { shard: entry.shard, reader, opened, entered };
    if entry.offset == 0 {
        return Ok(whole(reader, 0));
    }
    if reader.pass_over(entry.offset)? {
        let entered = reader.consumed() - opened;
        return Ok(whole(reader, entered));
    }
    match lines_at(shard, entry.offset)? {
        Some(lines) => {
            Ok(OpenShard { shard: entry.shard, reader: lines.open(options)?, opened: 0, entered: 0 })
        }
        None => Ok(whole(reader, 0)),
    }
}

/// Whole lines of a file from an offset on, as a shard of their own.
fn lines_at(shard: &Shard, offset: u64) -> Result<Option<Shard>, EngineError> {
    let (mut source, mut bytes) = (shard.bytes_at()?, Vec::new());
    let mut wanted = 2 * PLACE_BYTES as usize;
    while wanted <= LONGEST_LINE {
        bytes.clear();
        let at_end = source.read(offset, wanted, &mut bytes)? < wanted;
        let begin = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1);
        let end = if at_end { bytes.len() } else { memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1) };
        if begin < end {
            let content: Arc<[u8]> = bytes[begin..end].into();
            let (bytes, format) = (Some(content.len() as u64), Some(Format::Jsonl));
            return Ok(Some(Shard {
                name: shard.name.clone(),
                bytes,
                format,
                ..Shard::new(Origin::Memory(content))
            }));
        }
        if at_end {
            break;
        }
        wanted *= 4;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lookalike_corpus::write::Sink;

    use super::*;
    use crate::tests::recipe;

    fn line(number: usize, words: usize) -> String {
        format!("{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n", "word ".repeat(words))
    }

    /// Many short documents, and then as many bytes of long ones.
    fn short_then_long(bytes: usize) -> String {
        let mut lines = String::new();
        while lines.len() < 2 * bytes {
            lines += &line(lines.len(), if lines.len() < bytes { 1 } else { 1000 });
        }
        lines
    }

    fn documents(corpus: &Corpus) -> f64 {
        let parts = parts(&recipe("md5"), corpus).unwrap();
        parts.iter().map(|part| part.of_input(part.documents)).sum()
    }

    fn near(estimated: f64, counted: usize) {
        let ratio = estimated / counted as f64;
        assert!((0.9..1.1).contains(&ratio), "{estimated} for {counted}");
    }

    #[test]
    fn a_file_of_lines_is_read_all_over() {
        let lines = short_then_long(2 << 20);
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        near(documents(&corpus), lines.lines().count());
    }

    #[test]
    fn no_document_is_sampled_twice() {
        // Beyond the first place no line ends before the file does.
        let lines = line(0, 1).repeat(20) + &line(1, 2 * LONGEST_LINE);
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let total = lines.len() as u64;
        assert_eq!(entries(&corpus, total), [Entry { places: PLACES, ..Entry::beginning(0) }]);
        assert_eq!(parts(&recipe("md5"), &corpus).unwrap()[0].stands_for, total);
        let folder = tempfile::tempdir().unwrap();
        let packed = folder.path().join("docs.jsonl.gz");
        let mut sink = Sink::create(&packed, Compression::Gzip).unwrap();
        for n in 0..80_000 {
            writeln!(sink, "{{\"text\":\"{:x}\"}}", lookalike_hash::mix(n)).unwrap();
        }
        sink.finish().unwrap();
        let corpus = Corpus::open(&[&packed], ReadOptions::default()).unwrap();
        let total = corpus.bytes().unwrap();
        assert!(total > PLACES * PLACE_BYTES);
        let found = entries(&corpus, total);
        assert_eq!(found.len(), PLACES as usize, "read on from its beginning");
        assert!(found.iter().all(|entry| entry.guessed == 0.0 && entry.reads_on == (entry.offset > 0)));
        let sampled = parts(&recipe("md5"), &corpus).unwrap();
        let mut texts: Vec<&String> = sampled.iter().flat_map(|part| &part.texts).collect();
        let count = texts.len();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), count);
        let covered: u64 = sampled.iter().map(|part| part.stands_for).sum();
        assert!(covered <= total && total - covered < PLACES, "{covered} of {total}");
        let ratio = documents(&corpus) / 80_000.0;
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_compressed_file_is_read_on_and_what_lies_behind_is_a_guess() {
        let folder = tempfile::tempdir().unwrap();
        let packed = folder.path().join("docs.jsonl.gz");
        let mut sink = Sink::create(&packed, Compression::Gzip).unwrap();
        // Short documents, and then long ones.
        let (mut counted, mut written) = (0, 0);
        while written < 1_800_000 {
            let words: Vec<String> = (0..if written < 700_000 { 20 } else { 300 })
                .map(|word| format!("{:x}", lookalike_hash::mix(counted * 1000 + word)))
                .collect();
            let line = format!("{{\"text\":\"{}\"}}", words.join(" "));
            writeln!(sink, "{line}").unwrap();
            written += line.len();
            counted += 1;
        }
        sink.finish().unwrap();
        let corpus = Corpus::open(&[&packed], ReadOptions::default()).unwrap();
        let total = corpus.bytes().unwrap();
        assert!(total > PLACES * PLACE_BYTES && reach(total) == total, "{total}");
        let ratio = documents(&corpus) / counted as f64;
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
        let shard = &corpus.shards()[0];
        let offsets: Vec<u64> = (0..4).map(|place| place << 22).collect();
        let far = entries_of(0, shard, corpus.options(), 4 << 22, &offsets);
        let reached: Vec<u64> = far.iter().map(|entry| entry.offset).collect();
        assert_eq!(reached, [0, 1, 2, 3].map(|place| place << 18));
        assert!(far.iter().all(|entry| entry.guessed == 0.9375));
        assert_eq!([0, 1 << 20, 1 << 25, 1 << 40].map(reach), [0, 1 << 20, 1 << 21, 8 << 20]);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn rows_of_all_lengths_in_one_row_group_count_by_their_share() {
        use lookalike_corpus::write::rows::{Cell, Column, Kind, RowFormat, RowWriter};
        const COLUMNS: &[Column] = &[Column::new("id", Kind::Text), Column::new("text", Kind::Text)];
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("docs.parquet");
        let mut rows = RowWriter::create(&table, RowFormat::Parquet, COLUMNS, "").unwrap();
        // Long texts, and then many short ones.
        let (mut count, mut bytes) = (0_u64, 0_u64);
        while count < 6000 {
            let words: Vec<String> = (0..if count < 400 { 600 } else { 4 })
                .map(|word| format!("{:x}", lookalike_hash::mix(count * 1000 + word)))
                .collect();
            let text = words.join(" ");
            rows.push(&[Cell::Text(&count.to_string()), Cell::Text(&text)]).unwrap();
            (count, bytes) = (count + 1, bytes + text.len() as u64);
        }
        rows.finish().unwrap();
        let corpus = Corpus::open(&[&table], ReadOptions::default()).unwrap();
        let parts = parts(&recipe("md5"), &corpus).unwrap();
        let estimated: f64 = parts.iter().map(|part| part.of_input(part.seen + part.unseen)).sum();
        near(estimated, bytes as usize);
        near(parts.iter().map(|part| part.of_input(part.documents)).sum(), count as usize);
        let held: u64 = parts.iter().map(|part| part.seen).sum();
        assert!(held <= PLACES * TEXT_BYTES, "{held}");
    }

    #[test]
    fn texts_are_thinned_out_evenly() {
        let mut texts = ThinnedTexts::new(100);
        for number in 0..1000 {
            let text = texts.keeps_next().then(|| number.to_string());
            texts.add(10, text);
        }
        let numbers: Vec<u64> = texts.kept.iter().map(|(text, _)| text.parse().unwrap()).collect();
        assert!((5..=10).contains(&numbers.len()), "{numbers:?}");
        assert!(numbers.iter().enumerate().all(|(index, &number)| number == index as u64 * texts.stride));
        assert_eq!((texts.bytes, texts.all_bytes), (10 * numbers.len() as u64, 10_000));
        let mut one = ThinnedTexts::new(100);
        one.add(1000, Some("long".to_owned()));
        assert_eq!(one.kept.len(), 1, "of one document too long all is looked at");
    }

    #[test]
    fn files_are_read_all_over() {
        let folder = tempfile::tempdir().unwrap();
        let lines = short_then_long(1 << 20);
        // Compressed files are read from their beginning, and one in eight of them is.
        for (number, some) in lines.lines().collect::<Vec<_>>().chunks(500).enumerate() {
            let name = folder.path().join(format!("{number:04}.jsonl.gz"));
            let mut sink = Sink::create(&name, Compression::Gzip).unwrap();
            some.iter().try_for_each(|line| writeln!(sink, "{line}")).unwrap();
            sink.finish().unwrap();
        }
        let corpus = Corpus::open(&[folder.path()], ReadOptions::default()).unwrap();
        // The bytes of a corpus are those of its files; how many documents a byte is differs between these.
        let ratio = documents(&corpus) / lines.lines().count() as f64;
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_place_goes_on_in_the_next_small_file() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..3000 {
            std::fs::write(folder.path().join(format!("{number:05}.jsonl")), line(number, 40)).unwrap();
        }
        let corpus = Corpus::open(&[folder.path()], ReadOptions::default()).unwrap();
        let parts = parts(&recipe("md5"), &corpus).unwrap();
        assert_eq!(parts.len(), PLACES as usize);
        assert!(parts.iter().all(|part| part.read >= PLACE_BYTES && part.documents > 200));
        near(documents(&corpus), 3000);
    }

    #[test]
    fn a_line_without_end_is_no_place_to_enter() {
        let lines = line(0, LONGEST_LINE / 4) + &line(1, 1);
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let shard = &corpus.shards()[0];
        assert!(lines_at(shard, 10).unwrap().is_none());
        let near_end = lines_at(shard, lines.len() as u64 - 100).unwrap().unwrap();
        assert_eq!(near_end.bytes, Some(line(1, 1).len() as u64));
        // It is read from the beginning then, and counts all the same.
        assert!(documents(&corpus) >= 1.0);
    }

    #[test]
    fn what_packs_well_is_not_held() {
        let folder = tempfile::tempdir().unwrap();
        let line = format!("{{\"text\":\"{}\"}}\n", "a rose is a rose ".repeat(600));
        let small = folder.path().join("small.jsonl.zst");
        let mut sink = Sink::create(&small, Compression::Zstd).unwrap();
        sink.write_all(line.repeat(1500).as_bytes()).unwrap();
        sink.finish().unwrap();
        let corpus = Corpus::open(&[&small], ReadOptions::default()).unwrap();
        let sampled = parts(&recipe("minhash"), &corpus).unwrap().remove(0);
        let held: usize = sampled.texts.iter().map(String::len).sum();
        assert!((held as u64) < PLACES * TEXT_BYTES + HEAVY as u64, "{held}");
        let all = sampled.seen + sampled.unseen;
        assert_eq!(all, 1500 * (line.len() as u64 - 12), "all of them count");
        assert_eq!(sampled.of_all(sampled.seen), all);
    }

    #[test]
    fn a_large_document_counts_by_its_length_alone() {
        let lines = format!("{{\"id\":\"d0\",\"text\":\"{}\"}}\n", "a".repeat(HEAVY));
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let sampled = parts(&recipe("md5"), &corpus).unwrap().remove(0);
        assert_eq!((sampled.texts.len(), sampled.heavy, sampled.seen), (0, HEAVY as u64, 0));
    }

    #[test]
    fn unseen_documents_become_as_much_as_those_that_were_looked_at() {
        let sampled = SampledPart { seen: 10, unseen: 5, ..SampledPart::default() };
        assert_eq!((sampled.of_all(20), sampled.of_all(0)), (30, 0));
        let nothing = SampledPart { unseen: 5, ..SampledPart::default() };
        assert_eq!(nothing.of_all(0), 0);
        let huge = SampledPart { seen: 1, unseen: u64::MAX, ..SampledPart::default() };
        assert_eq!(huge.of_all(u64::MAX), u64::MAX);
    }
}
