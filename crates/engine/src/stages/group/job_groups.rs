//! The documents of a job as its groups see them, and the files that take the pairs of these groups.

use std::path::PathBuf;

use lookalike_model::{Candidate, DocNumber, Pair};
use lookalike_store::file::RunWriter;
use lookalike_store::sort::{Codec, Couples, RunLocation, Sorted, Sorter, existing};
use xxhash_rust::xxh3::xxh3_64;

use super::giants_name;
use super::groups::{GroupHost, MemberFacts, Tagged};
use super::sides::Sides;
use crate::catalogue::{Catalogue, Lookup};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::job::free_space;
use crate::panel::PanelMethod;
use crate::recipe::Task;

/// Returns the location of the sorted pairs of a method.
pub(super) fn pairs_location(ctx: &Context<'_>, method: usize) -> RunLocation {
    ctx.run_location(&format!("proposed{method}"))
}

/// Returns the location of the sorted pairs of the other direction, for methods some of whose keys only ask.
pub(super) fn back_pairs_location(ctx: &Context<'_>, method: usize) -> RunLocation {
    ctx.run_location(&format!("proposed{method}.back"))
}

/// Returns the length and the payload hash of the document with this record.
pub(crate) fn member_facts(entry: &PanelMethod, record: &[u8]) -> MemberFacts {
    // Of the payload and by a fixed hash: the landmarks of a giant group are drawn as if by lot, and yet the
    // same in every run.
    MemberFacts { length: entry.length(record), mark: xxh3_64(entry.payload(record)) as u32 }
}

/// The documents of a job, and the sorters that take the pairs of a method.
pub(super) struct JobGroupHost<'c> {
    catalogue: &'c Catalogue,
    facts: Vec<MemberFacts>,
    /// Pairs whose earlier document is found by the later; where no key only asks, all pairs.
    pairs: Sorter<Couples>,
    /// Pairs whose later document is found by the earlier.
    back: Option<Sorter<Couples>>,
    lookup: Lookup<'c>,
    folder: PathBuf,
    /// Bytes of disk for each pair: in a sorted run, and as a candidate.
    pair_bytes: u64,
    giants: Option<RunWriter>,
    /// The side of each document, where two corpora are compared.
    sides: Option<Sides>,
}

impl<'c> JobGroupHost<'c> {
    /// For the method of this number; also the last key whose group an earlier process took.
    pub(super) fn new(
        ctx: &'c Context<'c>,
        catalogue: &'c Catalogue,
        number: usize,
    ) -> Result<(Self, Option<u64>), EngineError> {
        let entry = &ctx.panel.proposers()[number];
        let abilities = entry.abilities();
        // Facts of all documents stay in memory: groups come by key, and their members stand all over the
        // corpus.
        let mut facts = Vec::with_capacity(catalogue.len() as usize);
        catalogue.records(ctx, |_, record| facts.push(member_facts(entry, record)))?;
        // Half of what is left: key runs are merged at the same time, and each of them has a block in memory.
        let memory = ctx.budget.free(catalogue.len().into(), 12) as usize / 2;
        // A pair comes once for each key that it shares. Where nobody counts, repeats are dropped as early as
        // they are met.
        let kind = |sorter: Sorter<Couples>| if abilities.counts_keys() { sorter } else { sorter.distinct() };
        let (pairs, back, skip) = if abilities.query_keys.is_some() {
            // Two sorters do not come to the same key together, so an earlier process leaves nothing to go on from.
            for location in [pairs_location(ctx, number), back_pairs_location(ctx, number)] {
                existing(&location)?.iter().try_for_each(|path| remove_if_there(path))?;
            }
            let sorter = |location| kind(Sorter::new(location, Couples, memory / 2));
            (sorter(pairs_location(ctx, number)), Some(sorter(back_pairs_location(ctx, number))), None)
        } else {
            // Runs up to the last mark hold all pairs of the groups up to that key. Those behind it are
            // removed here, and their groups propose again.
            let (pairs, skip) = Sorter::resume(pairs_location(ctx, number), Couples, memory)?;
            (kind(pairs), None, skip)
        };
        let giants = match ctx.recipe.task {
            Task::Dedup => None,
            Task::Pairs | Task::Compare => {
                Some(RunWriter::create(&ctx.file(&giants_name(number)), ctx.label("giants", 4))?)
            }
        };
        let sides = if ctx.recipe.task == Task::Compare { Some(Sides::load(ctx, catalogue)?) } else { None };
        let lookup = Lookup::new(ctx, catalogue);
        let folder = ctx.work.clone();
        let pair_bytes = (Couples.width() + Candidate::width(ctx.panel.proposers().len())) as u64;
        Ok((JobGroupHost { catalogue, facts, pairs, back, lookup, folder, pair_bytes, giants, sides }, skip))
    }

    /// All pairs, each as often as it was proposed, and those of the other direction.
    pub(super) fn finish(self) -> Result<(Sorted<Couples>, Option<Sorted<Couples>>), EngineError> {
        self.giants.map_or(Ok(()), RunWriter::finish)?;
        let back = self.back.map(Sorter::sorted).transpose()?;
        Ok((self.pairs.sorted()?, back))
    }
}

impl GroupHost for JobGroupHost<'_> {
    fn facts(&self, document: DocNumber) -> MemberFacts {
        self.facts[document.index()]
    }

    fn record(&mut self, document: DocNumber) -> Result<&[u8], EngineError> {
        self.lookup.record(document)
    }

    fn is_reference(&self, document: DocNumber) -> bool {
        self.catalogue.is_reference(document)
    }

    fn compares(&self) -> bool {
        self.sides.is_some()
    }

    fn sides(&self, document: DocNumber) -> [bool; 2] {
        self.sides.as_ref().map_or([false; 2], |sides| [sides.has_left(document), sides.has_right(document)])
    }

    fn check_room(&self, documents: usize, pairs: u64) -> Result<(), EngineError> {
        // The forecast of the stage is asked between two postings, and one large group could fill the disk
        // before the next of them.
        let needed = pairs.saturating_mul(self.pair_bytes);
        match free_space(&self.folder) {
            Some(free) if needed > free => Err(EngineError::TooManyPairs {
                documents: documents as u64,
                pairs,
                folder: self.folder.clone(),
                needed,
                free,
            }),
            _ => Ok(()),
        }
    }

    fn pair(&mut self, pair: Pair) -> Result<(), EngineError> {
        Ok(self.pairs.push(pair.pack())?)
    }

    fn pair_back(&mut self, pair: Pair) -> Result<(), EngineError> {
        Ok(self.back.as_mut().map_or(Ok(()), |back| back.push(pair.pack()))?)
    }

    fn writes_giants(&self) -> bool {
        self.giants.is_some()
    }

    fn giant(&mut self, group: &[Tagged]) -> Result<(), EngineError> {
        let Some(giants) = &mut self.giants else { return Ok(()) };
        for member in group {
            giants.push(&(member.document + 1).to_le_bytes())?;
        }
        Ok(giants.push(&0u32.to_le_bytes())?)
    }

    fn checkpoint(&mut self, key: u64) -> Result<(), EngineError> {
        Ok(self.pairs.checkpoint(key)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::stages::collapse;
    use crate::tests::context::{StageTest, as_lines, doc};
    use crate::tests::recipe;
    use lookalike_store::file::Run;

    fn pair(a: u32, b: u32) -> Pair {
        Pair::ordered(doc(a), doc(b))
    }

    fn tagged(document: u32, tag: u32) -> Tagged {
        Tagged { document: doc(document), tag }
    }

    /// Makes the host of the only method of a job whose documents are sketched and collapsed.
    fn with_host(test: &StageTest, work: impl FnOnce(&Context<'_>, JobGroupHost<'_>)) {
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        collapse::collapse(&ctx, &catalogue).unwrap();
        let (host, skip) = JobGroupHost::new(&ctx, &catalogue, 0).unwrap();
        assert_eq!(skip, None);
        work(&ctx, host);
    }

    #[test]
    fn facts_are_the_length_and_a_hash_of_the_payload() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["one two three", "one two", "one two three"]));
        with_host(&test, |ctx, mut host| {
            let [one, two, three] = [0, 1, 2].map(|document| host.facts(doc(document)));
            assert_eq!([one.length, two.length, three.length], [3, 2, 3]);
            assert!(one.mark == three.mark && one.mark != two.mark);
            let record = host.record(doc(1)).unwrap().to_vec();
            assert_eq!(record.len(), ctx.panel.width());
            assert_eq!(member_facts(&ctx.panel.proposers()[0], &record).length, 2);
        });
    }

    #[test]
    fn pairs_are_sorted_and_each_is_there_once_unless_keys_are_counted() {
        for (spec, expected) in
            [("md5", vec![pair(0, 1), pair(0, 2)]), ("mod", vec![pair(0, 1), pair(0, 2), pair(0, 2)])]
        {
            let test = StageTest::new(recipe(spec), &as_lines(&["one", "two", "three"]));
            with_host(&test, |ctx, mut host| {
                assert_eq!(ctx.panel.proposers()[0].abilities().counts_keys(), spec == "mod");
                for (a, b) in [(0, 2), (0, 1), (0, 2)] {
                    host.pair(pair(a, b)).unwrap();
                }
                let (mut pairs, back) = host.finish().unwrap();
                assert!(back.is_none());
                let found: Vec<Pair> =
                    std::iter::from_fn(|| pairs.next().unwrap()).map(Pair::unpack).collect();
                assert_eq!(found, expected, "{spec}");
            });
        }
    }

    #[test]
    fn giants_are_written_where_pairs_are_listed() {
        let test =
            StageTest::new(JobRecipe { task: Task::Pairs, ..recipe("md5") }, &as_lines(&["one", "two"]));
        with_host(&test, |ctx, mut host| {
            assert!(host.writes_giants() && !host.compares());
            host.giant(&[tagged(0, 5), tagged(3, 6)]).unwrap();
            host.giant(&[tagged(1, 0)]).unwrap();
            host.finish().unwrap();
            let mut records = Run::open(&ctx.file("giants0"), ctx.label("giants", 4)).unwrap().records();
            let mut found = Vec::new();
            while let Some(bytes) = records.next().unwrap() {
                found.push(u32::from_le_bytes(bytes.try_into().unwrap()));
            }
            // Numbers count from 1, and a 0 ends a group.
            assert_eq!(found, [1, 4, 0, 2, 0]);
        });
        let test = StageTest::new(recipe("md5"), &as_lines(&["one", "two"]));
        with_host(&test, |ctx, mut host| {
            assert!(!host.writes_giants());
            host.giant(&[tagged(0, 5)]).unwrap();
            assert!(!ctx.file("giants0").exists());
        });
    }

    #[test]
    fn sides_are_known_where_two_corpora_are_compared() {
        let recipe = JobRecipe { task: Task::Compare, ..recipe("md5") };
        let test = StageTest::against(recipe, &as_lines(&["a", "b"]), &as_lines(&["b", "c"]));
        with_host(&test, |_, host| {
            assert!(host.compares());
            assert!(host.is_reference(doc(1)) && !host.is_reference(doc(2)));
            assert_eq!(
                [0, 1, 3].map(|document| host.sides(doc(document))),
                [[true, false], [true, true], [false, true]]
            );
        });
    }

    #[test]
    fn pairs_that_no_disk_holds_are_refused() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a"]));
        with_host(&test, |_, host| {
            host.check_room(5, 10).unwrap();
            let error = host.check_room(5, u64::MAX).unwrap_err();
            assert!(
                matches!(error, EngineError::TooManyPairs { documents: 5, pairs: u64::MAX, .. }),
                "{error}"
            );
        });
    }

    #[test]
    fn a_method_with_keys_that_ask_has_pairs_of_both_directions() {
        let test = StageTest::new(
            recipe("simhash:search=probabilistic,probes=2"),
            &as_lines(&["one two three", "four"]),
        );
        with_host(&test, |ctx, mut host| {
            assert!(ctx.panel.proposers()[0].abilities().query_keys.is_some());
            host.pair(pair(0, 1)).unwrap();
            host.pair_back(pair(0, 2)).unwrap();
            let (mut pairs, back) = host.finish().unwrap();
            assert_eq!((pairs.next().unwrap(), pairs.next().unwrap()), (Some(pair(0, 1).pack()), None));
            assert_eq!(back.unwrap().next().unwrap(), Some(pair(0, 2).pack()));
        });
    }
}
