//! The stage `order`: documents are numbered by a field, where that is asked for, and not by their places in the input.
//!
//! The sketch has numbered all records by their places. Here they are sorted by value, id and place, rejected ones behind them, each
//! corpus by itself, and what is known of them is brought into that order, so that all that comes later knows numbers alone:
//!
//! | file | holds | bytes per document |
//! |---|---|---|
//! | `order.places` | the place of each number | 4 |
//! | `order.numbers` | the number of each place | 4 |
//! | `o000000.docs`, `.names`, `.payload` | what the sketch's files of these names held, for as many numbers | as there |
//! | `ordered.keys0.000000` … | postings of the first method, sorted, numbered anew | 12 or 16 per key |
//! | `order.done` | how many of the latter there are | - |
//!
//! Then those of the sketch go. Symbols stay where they are, and so do shards and rejections, which are known by places.
//!
//! Stages before the sketch know places alone. That matters to one method: `exact` looks at one document in eight, by place,
//! to see which shingles are rare, and so proposes other pairs beside those that it finds.
//!
//! All code that goes back to the input (symbols, copies of shards, texts, segments) asks for the place of a number, or for
//! the number of a place (`PlaceMap`). No text is copied. A property test compares all of it with a job on a sorted copy
//! of the corpus.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use lookalike_model::{DocNumber, InputPlace};
use lookalike_store::file::{Label, RandomAccess, Records, Run, RunWriter};
use lookalike_store::sort::{Codec, Couples, Posting, Postings, Sorter, clear, couple, uncouple};
use lookalike_store::strings::StringSorter;
use serde::{Deserialize, Serialize};

use crate::catalogue::{Catalogue, id_and_address, take_names};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::keep_order;
use crate::recipe::Order;
use crate::stages::sketch::{self, NO_FIELD, Row};

const PLACES: &str = "order.places";
const NUMBERS: &str = "order.numbers";
const DONE: &str = "order.done";

/// The record of the finished stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ordered {
    /// Number of key runs of each method.
    key_runs: Vec<usize>,
}

impl Ordered {
    /// The key runs of one method.
    pub(crate) fn key_runs(&self, ctx: &Context<'_>, method: usize) -> Vec<PathBuf> {
        (0..self.key_runs[method]).map(|run| ctx.file(&format!("{}.{run:06}", keys_name(method)))).collect()
    }
}

/// Returns the record of the stage, if it is finished.
pub(crate) fn done(ctx: &Context<'_>) -> Result<Option<Ordered>, EngineError> {
    if ctx.order.is_none() { Ok(None) } else { ctx.saved(DONE) }
}

/// The path of a file with rows, names or payloads of as many numbers as a unit has places.
pub(crate) fn unit_file(ctx: &Context<'_>, unit: usize, what: &str) -> PathBuf {
    ctx.file(&format!("o{unit:06}.{what}"))
}

fn keys_name(method: usize) -> String {
    format!("ordered.keys{method}")
}

/// A key run as the sketch left it.
fn keys_of_unit(ctx: &Context<'_>, unit: usize, method: usize, run: usize) -> PathBuf {
    sketch::unit_file(ctx, unit, &format!("keys{method}.{run:06}"))
}

/// Numbers of documents, or their places.
fn label(ctx: &Context<'_>) -> Label {
    ctx.label("order", 4)
}

/// Brings documents into the order that the recipe asks for, unless that was done; false where it asks for none.
pub(crate) fn order(ctx: &Context<'_>) -> Result<bool, EngineError> {
    let Some(order) = &ctx.order else { return Ok(false) };
    let catalogue = Catalogue::load(ctx)?;
    if done(ctx)?.is_none() {
        ctx.budget.admit(catalogue.len().into())?;
        let mut stage = OrderStage { ctx, catalogue: &catalogue, seen: 0 };
        // Documents are gone through when they are sorted and when they are moved, and then their keys.
        ctx.begin("order", Some(2 * u64::from(catalogue.len()) + postings(ctx, &catalogue)?), false);
        stage.number(order)?;
        stage.move_records()?;
        let key_runs = stage.move_keys()?;
        ctx.save(DONE, &Ordered { key_runs })?;
    }
    // Not under the condition above: a process that was stopped between its note and the end of the sweep
    // left files that the next one removes.
    sweep(ctx, &catalogue)?;
    Ok(true)
}

/// Counts the keys of all documents, by all methods together.
fn postings(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<u64, EngineError> {
    let mut count = 0;
    for (method, proposer) in ctx.panel.proposers().iter().enumerate() {
        let codec = Postings { tagged: proposer.tagged };
        for (path, _) in catalogue.key_runs(ctx, method) {
            count += Run::open(&path, ctx.label(Postings::KIND, codec.width()))?.count();
        }
    }
    Ok(count)
}

/// Removes what nobody needs once documents are in order, as far as it is there.
fn sweep(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<(), EngineError> {
    for (unit, meta) in catalogue.units().iter().enumerate() {
        for what in ["docs", "names", "payload", "values"] {
            remove_if_there(&sketch::unit_file(ctx, unit, what))?;
        }
        for (method, &runs) in meta.key_runs.iter().enumerate() {
            (0..runs).try_for_each(|run| remove_if_there(&keys_of_unit(ctx, unit, method, run)))?;
        }
    }
    Ok(["ordering", "placing", "moving"].iter().try_for_each(|name| clear(&ctx.run_location(name)))?)
}

struct OrderStage<'c> {
    ctx: &'c Context<'c>,
    catalogue: &'c Catalogue,
    seen: u64,
}

impl OrderStage<'_> {
    /// One more document, or key.
    fn step(&mut self) -> Result<(), EngineError> {
        self.seen += 1;
        if self.seen.is_multiple_of(16_384) {
            self.ctx.watch.steps.store(self.seen, Ordering::Relaxed);
            self.ctx.check()?;
        }
        Ok(())
    }

    /// A part of the memory.
    fn memory(&self) -> usize {
        // A third: while documents are numbered, two sorters are filled side by side, and the files that are
        // read and written have buffers as well.
        let third = self.ctx.budget.free(self.catalogue.len().into(), 4) / 3;
        self.ctx.bucket_bytes.unwrap_or(third) as usize
    }

    /// The units of one of the corpora, those to compare with or the input.
    fn side(&self, reference: bool) -> Range<usize> {
        let references = self.ctx.units().iter().filter(|(reference, _)| *reference).count();
        if reference { 0..references } else { references..self.catalogue.units().len() }
    }

    /// Sorts all documents; writes the place of each number, and the number of each place.
    fn number(&mut self, order: &Order) -> Result<(), EngineError> {
        let ctx = self.ctx;
        let sides = [true, false].map(|reference| self.side(reference));
        let values: Result<Vec<ValueCounts>, EngineError> =
            sides.iter().map(|units| self.values(order, units.clone())).collect();
        let values = values?;
        self.require_values(order, &values)?;
        clear(&ctx.run_location("placing"))?;
        let mut places = RunWriter::create(&ctx.file(PLACES), label(ctx))?;
        let mut numbers = Sorter::new(ctx.run_location("placing"), Couples, self.memory());
        let mut number = 0;
        // The corpus to compare with comes first and `number` counts on, because all later stages tell the
        // two corpora apart by comparing numbers with `references`.
        for (units, values) in sides.into_iter().zip(values) {
            clear(&ctx.run_location("ordering"))?;
            let mut keys = StringSorter::new(ctx.run_location("ordering"), 0, self.memory());
            let mut key = Vec::new();
            for unit in units {
                let mut reader = UnitReader::open(ctx, unit, order)?;
                let mut place = InputPlace::new(self.catalogue.base(unit));
                while reader.next()? {
                    reader.key(values.are_numbers(), place, &mut key);
                    keys.add(&key, &[])?;
                    place += 1;
                    self.step()?;
                }
            }
            let mut sorted = keys.sorted()?;
            while let Some((key, _)) = sorted.next()? {
                let bytes = key[key.len() - 4..].try_into().expect("four bytes");
                let place = InputPlace::new(u32::from_be_bytes(bytes));
                places.push(&place.to_le_bytes())?;
                // Sorted by place, these are the inverse of what is written to `places`: a sort turns the
                // permutation around without writes all over a file.
                numbers.push(couple(place.get(), number))?;
                number += 1;
            }
        }
        places.finish()?;
        let mut sorted = numbers.sorted()?;
        let mut numbers = RunWriter::create(&ctx.file(NUMBERS), label(ctx))?;
        while let Some(pair) = sorted.next()? {
            numbers.push(&uncouple(pair).1.to_le_bytes())?;
        }
        Ok(numbers.finish()?)
    }

    /// Counts the documents of some units, their values, and the values that are numbers.
    fn values(&self, order: &Order, units: Range<usize>) -> Result<ValueCounts, EngineError> {
        let mut found = ValueCounts::default();
        for unit in units {
            self.ctx.check()?;
            let mut reader = UnitReader::open(self.ctx, unit, order)?;
            while reader.next()? {
                found.documents += u64::from(!reader.rejected());
                if let Some(value) = reader.value() {
                    found.values += 1;
                    found.numbers += u64::from(keep_order::parse_number(value).is_some());
                }
            }
        }
        Ok(found)
    }

    /// Refuses an order by a field that no document has.
    fn require_values(&self, order: &Order, sides: &[ValueCounts]) -> Result<(), EngineError> {
        let Order::Field(name) = order else { return Ok(()) };
        if sides.iter().all(|side| side.documents == 0) || sides.iter().any(|side| side.values > 0) {
            return Ok(());
        }
        Err(EngineError::Request(format!(
            "no document has a field {name} to be ordered by; give --order-field a field that documents have, or id, which all have"
        )))
    }

    /// Writes rows, names and payloads in order.
    fn move_records(&mut self) -> Result<(), EngineError> {
        let ctx = self.ctx;
        clear(&ctx.run_location("moving"))?;
        let mut moved = StringSorter::new(ctx.run_location("moving"), 0, self.memory());
        let mut numbers = Run::open(&ctx.file(NUMBERS), label(ctx))?.records();
        let (mut number, mut record) = ([0; 4], Vec::new());
        for unit in 0..self.catalogue.units().len() {
            // `Order::Id` opens no file of values, whatever the order is: they have done their work.
            let mut reader = UnitReader::open(ctx, unit, &Order::Id)?;
            let width = ctx.panel.width();
            let path = sketch::unit_file(ctx, unit, "payload");
            let mut payloads = Run::open(&path, ctx.label("payload", width))?.records();
            while reader.next()? {
                if !numbers.take(&mut number)? {
                    return Err(numbers.damaged("numbers are missing").into());
                }
                let Some(payload) = payloads.next()? else {
                    return Err(payloads.damaged("payloads are missing").into());
                };
                record.clear();
                // Bytes sort as numbers do when the highest comes first.
                record.extend(number.iter().rev());
                for part in [reader.row.as_slice(), payload, &reader.names] {
                    record.extend_from_slice(part);
                }
                moved.add(&record, &[])?;
                self.step()?;
            }
        }
        let mut sorted = moved.sorted()?;
        for unit in 0..self.catalogue.units().len() {
            let create = |what: &'static str, width| {
                RunWriter::create(&unit_file(ctx, unit, what), ctx.label(what, width))
            };
            let mut docs = create("docs", Row::WIDTH)?;
            let mut names = create("names", 1)?;
            let mut payloads = create("payload", ctx.panel.width())?;
            // Units keep their sizes, so that the bases by which a document is found are the same before and
            // after.
            for _ in self.catalogue.base(unit)..self.catalogue.base(unit + 1) {
                let Some((record, _)) = sorted.next()? else { break };
                let (row, rest) = record[4..].split_at(Row::WIDTH);
                let (payload, own) = rest.split_at(ctx.panel.width());
                // A row may come from another unit; the offset that it has is one in the names of that unit.
                docs.push(&Row { names: names.position(), ..Row::decode(row) }.encode())?;
                payloads.push(payload)?;
                names.push(own)?;
            }
            docs.finish()?;
            names.finish()?;
            payloads.finish()?;
        }
        drop(sorted);
        Ok(clear(&ctx.run_location("moving"))?)
    }

    /// Writes the keys of all methods by numbers; returns how many runs each has.
    fn move_keys(&mut self) -> Result<Vec<usize>, EngineError> {
        let ctx = self.ctx;
        let mut runs = Vec::new();
        for (method, proposer) in ctx.panel.proposers().iter().enumerate() {
            let (location, codec) =
                (ctx.run_location(&keys_name(method)), Postings { tagged: proposer.tagged });
            // Later stages know these runs by their count: one that an earlier process left beyond it would
            // stay on the disk unnoticed.
            clear(&location)?;
            let mut sorter = Sorter::new(location, codec, self.memory());
            for unit in 0..self.catalogue.units().len() {
                let numbers = UnitNumbers::of_unit(ctx, self.catalogue, unit)?;
                for run in 0..self.catalogue.units()[unit].key_runs[method] {
                    let path = keys_of_unit(ctx, unit, method, run);
                    let mut records = Run::open(&path, ctx.label(Postings::KIND, codec.width()))?.records();
                    while let Some(bytes) = records.next()? {
                        self.step()?;
                        let posting = Posting::unpack(codec.get(bytes));
                        sorter.push(
                            Posting { document: numbers.of(posting.document).get(), ..posting }.pack(),
                        )?;
                    }
                }
            }
            runs.push(sorter.into_runs()?.len());
        }
        Ok(runs)
    }
}

/// The counts of the documents of a corpus, of their values, and of the values that are numbers.
#[derive(Debug, Clone, Copy, Default)]
struct ValueCounts {
    documents: u64,
    values: u64,
    numbers: u64,
}

impl ValueCounts {
    /// Every value is a number.
    fn are_numbers(self) -> bool {
        self.values == self.numbers
    }
}

/// A reader of the rows, names and values that the sketch wrote for a unit, one document after the other.
struct UnitReader {
    rows: Records,
    all_names: Records,
    all_values: Option<Records>,
    row: [u8; Row::WIDTH],
    names: Vec<u8>,
    value: Option<Vec<u8>>,
}

impl UnitReader {
    fn open(ctx: &Context<'_>, unit: usize, order: &Order) -> Result<Self, EngineError> {
        let open = |what: &'static str, width| {
            let run = Run::open(&sketch::unit_file(ctx, unit, what), ctx.label(what, width));
            run.map(Run::records)
        };
        Ok(UnitReader {
            rows: open("docs", Row::WIDTH)?,
            all_names: open("names", 1)?,
            all_values: if *order == Order::Id { None } else { Some(open("values", 1)?) },
            row: [0; Row::WIDTH],
            names: Vec::new(),
            value: None,
        })
    }

    /// Turns to the next document; false behind the last.
    fn next(&mut self) -> Result<bool, EngineError> {
        if !self.rows.take(&mut self.row)? {
            return Ok(false);
        }
        if !take_names(&mut self.all_names, &mut self.names)? {
            return Err(self.all_names.damaged("names are missing").into());
        }
        let Some(values) = &mut self.all_values else { return Ok(true) };
        let mut length = [0; 4];
        let mut whole = values.take(&mut length)?;
        self.value = match u32::from_le_bytes(length) {
            NO_FIELD => None,
            length => {
                let mut value = vec![0; length as usize];
                whole &= value.is_empty() || values.take(&mut value)?;
                Some(value)
            }
        };
        if whole { Ok(true) } else { Err(values.damaged("values are missing").into()) }
    }

    fn rejected(&self) -> bool {
        Row::decode(&self.row).words == Row::REJECTED
    }

    /// The value that the document has.
    fn value(&self) -> Option<&str> {
        self.value.as_deref().map(|value| std::str::from_utf8(value).unwrap_or_default())
    }

    /// Replaces `key` by bytes that sort as documents do, and end in the place.
    fn key(&self, numbers: bool, place: InputPlace, key: &mut Vec<u8>) {
        key.clear();
        if self.rejected() {
            key.push(REJECTED);
        } else {
            put_value(self.value(), numbers, key);
            put_text(id_and_address(&self.names).0, key);
        }
        // The sorter keeps equal texts once, so that without the place documents of equal value and id would
        // become one. With the highest byte first they stay in the order of the input.
        key.extend_from_slice(&place.get().to_be_bytes());
    }
}

// First bytes of a key: their order is the order of the three kinds of records, whatever comes behind.
const VALUE: u8 = 0;
const MISSING: u8 = 1;
const REJECTED: u8 = 2;

/// Appends bytes that sort as values do: numbers by their size, others by their bytes, missing ones last.
fn put_value(value: Option<&str>, numbers: bool, key: &mut Vec<u8>) {
    let Some(value) = value else { return key.push(MISSING) };
    key.push(VALUE);
    match keep_order::parse_number(value).filter(|_| numbers) {
        None => put_text(value, key),
        Some(number) => {
            // The more negative a number is, the more its other bits say.
            let bits = number.to_bits();
            let turned = if number.is_sign_negative() { !bits } else { bits | 1 << 63 };
            key.extend_from_slice(&turned.to_be_bytes());
        }
    }
}

/// Appends bytes that sort as a text does, whatever comes behind it: it ends in two zeros, and none of its own zeros is
/// followed by another.
fn put_text(text: &str, key: &mut Vec<u8>) {
    for &byte in text.as_bytes() {
        key.push(byte);
        if byte == 0 {
            key.push(1);
        }
    }
    key.extend_from_slice(&[0, 0]);
}

/// The numbers of the documents of a unit, by their places in it. In memory: four bytes for each where they were ordered.
pub(crate) enum UnitNumbers {
    /// They are numbered by their places, from this on.
    Consecutive(DocNumber),
    /// They are numbered so.
    Reordered(Vec<DocNumber>),
}

impl UnitNumbers {
    pub(crate) fn of_unit(
        ctx: &Context<'_>,
        catalogue: &Catalogue,
        unit: usize,
    ) -> Result<Self, EngineError> {
        let (first, end) = (catalogue.base(unit), catalogue.base(unit + 1));
        if ctx.order.is_none() {
            return Ok(UnitNumbers::Consecutive(DocNumber::new(first)));
        }
        let mut numbers = RandomAccess::new(Run::open(&ctx.file(NUMBERS), label(ctx))?);
        InputPlace::range(first, end)
            .map(|place| Ok(DocNumber::from_le_bytes(numbers.record(place.into())?)))
            .collect::<Result<_, EngineError>>()
            .map(UnitNumbers::Reordered)
    }

    /// The number of the document at a place of the unit.
    pub(crate) fn of(&self, local: u32) -> DocNumber {
        match self {
            UnitNumbers::Consecutive(first) => *first + local,
            UnitNumbers::Reordered(numbers) => numbers[local as usize],
        }
    }
}

/// Places of documents in the input by their numbers, and the other way round.
pub(crate) struct PlaceMap(Option<[RandomAccess; 2]>);

impl PlaceMap {
    pub(crate) fn open(ctx: &Context<'_>) -> Result<Self, EngineError> {
        if ctx.order.is_none() {
            return Ok(PlaceMap(None));
        }
        let open =
            |name: &str| Ok::<_, EngineError>(RandomAccess::new(Run::open(&ctx.file(name), label(ctx))?));
        Ok(PlaceMap(Some([open(PLACES)?, open(NUMBERS)?])))
    }

    /// The place of a document in the input; documents to compare with come first there, too.
    pub(crate) fn place(&mut self, document: DocNumber) -> Result<InputPlace, EngineError> {
        match &mut self.0 {
            None => Ok(InputPlace::new(document.get())),
            Some([places, _]) => Ok(InputPlace::from_le_bytes(places.record(document.into())?)),
        }
    }

    /// The number of the document at a place of the input.
    pub(crate) fn number(&mut self, place: InputPlace) -> Result<DocNumber, EngineError> {
        match &mut self.0 {
            None => Ok(DocNumber::new(place.get())),
            Some([_, numbers]) => Ok(DocNumber::from_le_bytes(numbers.record(place.into())?)),
        }
    }

    /// `(place, number)` of documents, in the order of the input.
    pub(crate) fn of(
        &mut self,
        documents: &[DocNumber],
    ) -> Result<Vec<(InputPlace, DocNumber)>, EngineError> {
        let mut all: Vec<(InputPlace, DocNumber)> = documents
            .iter()
            .map(|&document| Ok((self.place(document)?, document)))
            .collect::<Result<_, EngineError>>()?;
        // Callers have their documents in order, and without an order by a field the places are the numbers.
        if self.0.is_some() {
            all.sort_unstable();
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use crate::JobRecipe;
    use crate::tests::context::{StageTest, doc, place};
    use crate::tests::recipe;
    use proptest::prelude::*;

    use super::*;
    use crate::keep_order::Rank;

    fn value() -> impl Strategy<Value = Option<String>> {
        let number = prop_oneof![
            any::<f64>()
                .prop_filter("it is finite", |number| number.is_finite())
                .prop_map(|number| number.to_string()),
            (-30i64..30).prop_map(|number| number.to_string()),
            prop::sample::select(vec!["0", "-0", "0.0", "-0.0", "1e3", " 7 ", "00"]).prop_map(str::to_owned),
        ];
        prop::option::weighted(0.9, number)
    }

    proptest! {
        #[test]
        fn keys_sort_as_ranks_do(
            numbers in any::<bool>(),
            (a, b) in (value(), value()),
            (text_a, text_b) in ("[a\u{0}\u{1}\u{ff}]{0,4}", "[a\u{0}\u{1}\u{ff}]{0,4}"),
            (id_a, id_b) in ("[a\u{0}é]{0,3}", "[a\u{0}é]{0,3}"),
        ) {
            let (a, b) = if numbers { (a, b) } else { (a.map(|_| text_a), b.map(|_| text_b)) };
            let key = |value: &Option<String>, id: &str| {
                let mut key = Vec::new();
                put_value(value.as_deref(), numbers, &mut key);
                put_text(id, &mut key);
                // A place that would sort the other way round.
                key.push(255 - id.len() as u8);
                key
            };
            let ranks = [&a, &b].map(|value| Rank::of_value(value.clone(), numbers));
            let expected = ranks[0].compare(&ranks[1], false).then(id_a.as_bytes().cmp(id_b.as_bytes()));
            prop_assert_eq!(key(&a, &id_a).cmp(&key(&b, &id_b)), expected);
        }
    }

    /// Documents whose dates are not in the order of the input; the fourth has none, the second is no document.
    fn ordered(order: &str) -> StageTest {
        let line =
            |id: &str, date: &str| format!("{{\"id\":\"{id}\",\"date\":\"{date}\",\"text\":\"{id}\"}}\n");
        let lines = [
            line("e", "9"),
            "{}\n".to_owned(),
            line("b", "10"),
            "{\"id\":\"a\",\"text\":\"a\"}\n".to_owned(),
            line("d", "9"),
        ];
        StageTest::new(JobRecipe { order: Some(order.to_owned()), ..recipe("md5") }, &lines.concat())
    }

    fn ids(test: &StageTest) -> Vec<String> {
        let ctx = test.sketched();
        let mut found = Vec::new();
        Catalogue::load(&ctx)
            .unwrap()
            .names(&ctx, |_, id, _| {
                found.push(id.to_owned());
                Ok(())
            })
            .unwrap();
        found
    }

    #[test]
    fn documents_are_numbered_by_value_then_id_and_rejected_ones_last() {
        assert_eq!(ids(&ordered("date")), ["d", "e", "b", "a", ""]);
        assert_eq!(ids(&ordered("id")), ["a", "b", "d", "e", ""]);
    }

    #[test]
    fn places_and_numbers_lead_to_each_other() {
        let test = ordered("date");
        let ctx = test.sketched();
        let mut map = PlaceMap::open(&ctx).unwrap();
        let places = [0, 1, 2, 3, 4].map(|number| map.place(doc(number)).unwrap());
        assert_eq!(places, [4, 0, 2, 3, 1].map(place));
        for (number, place) in (0..).zip(places) {
            assert_eq!(map.number(place).unwrap(), doc(number));
        }
        let expected = [(0, 1), (1, 4), (4, 0)].map(|(at, number)| (place(at), doc(number)));
        assert_eq!(map.of(&[0, 1, 4].map(doc)).unwrap(), expected);
        let numbers = UnitNumbers::of_unit(&ctx, &Catalogue::load(&ctx).unwrap(), 0).unwrap();
        assert_eq!([0, 1, 2, 3, 4].map(|local| numbers.of(local)), [1, 4, 2, 3, 0].map(doc));
    }

    #[test]
    fn without_an_order_numbers_are_places() {
        let test = StageTest::new(recipe("md5"), "{\"text\":\"a\"}\n{\"text\":\"b\"}\n");
        let mut ctx = test.sketched();
        assert!(!order(&ctx).unwrap());
        let mut map = PlaceMap::open(&ctx).unwrap();
        assert_eq!((map.place(doc(7)).unwrap(), map.number(place(7)).unwrap()), (place(7), doc(7)));
        assert_eq!(map.of(&[doc(3), doc(5)]).unwrap(), [(place(3), doc(3)), (place(5), doc(5))]);
        assert_eq!(UnitNumbers::Consecutive(doc(10)).of(3), doc(13));
        assert_eq!(done(&ctx).unwrap(), None);
        ctx.order = Some(Order::Id);
        assert!(PlaceMap::open(&ctx).is_err(), "nothing was ordered");
    }

    #[test]
    fn files_of_the_sketch_go_when_documents_are_in_order() {
        let test = ordered("date");
        let ctx = test.sketched();
        for what in ["docs", "names", "payload", "values", "keys0.000000"] {
            assert!(!sketch::unit_file(&ctx, 0, what).exists(), "{what}");
        }
        assert!(unit_file(&ctx, 0, "docs").exists() && sketch::unit_file(&ctx, 0, "texts").exists());
        assert_eq!(done(&ctx).unwrap(), Some(Ordered { key_runs: vec![1] }));
        assert!(order(&ctx).unwrap(), "what is done is not done again");
    }

    #[test]
    fn an_order_by_a_field_that_nobody_has_is_refused() {
        let counts = |documents, values, numbers| ValueCounts { documents, values, numbers };
        let test = StageTest::new(recipe("md5"), "{\"text\":\"a\"}\n");
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let stage = OrderStage { ctx: &ctx, catalogue: &catalogue, seen: 0 };
        let field = Order::Field("date".to_owned());
        assert!(stage.require_values(&field, &[counts(0, 0, 0), counts(3, 1, 0)]).is_ok());
        assert!(stage.require_values(&field, &[counts(0, 0, 0), counts(0, 0, 0)]).is_ok());
        assert!(stage.require_values(&Order::Id, &[counts(3, 0, 0)]).is_ok());
        let error =
            stage.require_values(&field, &[counts(0, 0, 0), counts(3, 0, 0)]).unwrap_err().to_string();
        assert!(error.starts_with("no document has a field date to be ordered by"), "{error}");
        assert!(counts(3, 2, 2).are_numbers() && !counts(3, 2, 1).are_numbers());
    }

    proptest! {
        #[test]
        fn texts_sort_whatever_comes_behind_them(a in "[a\u{0}b]{0,5}", b in "[a\u{0}b]{0,5}", behind: (u8, u8)) {
            let key = |text: &str, behind: u8| {
                let mut key = Vec::new();
                put_text(text, &mut key);
                key.push(behind);
                key
            };
            let expected = a.as_bytes().cmp(b.as_bytes()).then(behind.0.cmp(&behind.1));
            prop_assert_eq!(key(&a, behind.0).cmp(&key(&b, behind.1)), expected);
        }
    }
}
