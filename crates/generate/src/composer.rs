//! Composes any document of a plan from its family alone: original, edit, frame.

use std::sync::Arc;

use crate::edits;
use crate::families::Family;
use crate::frame::{FrameSize, frame};
use crate::genres;
use crate::lexicon::coined;
use crate::phrasebook::Phrasebook;
use crate::prose::Prose;
use crate::random::{Random, child};
use crate::writer::{Length, Subject, Writer};
use crate::{Kind, Language};

/// Keys below a family's key; its members have the numbers from 1 on.
const TRAITS: u64 = u64::MAX;
const ARTICLE: u64 = u64::MAX - 1;
const FRAME: u64 = u64::MAX - 2;
const FORM: u64 = u64::MAX - 3;

/// The traits that the members of a family have in common.
#[derive(Debug, Clone, Copy)]
struct Traits {
    subject: Subject,
    length: Length,
    frame_size: FrameSize,
}

impl Traits {
    fn of(family: &Family) -> Self {
        let mut random = Random::new(child(family.key, TRAITS));
        let language = Language::by_percentile(random.below(100));
        let second = random.one_in(12).then(|| other_language(language, &mut random));
        let length = match random.below(100) {
            _ if family.kind == Kind::Short => {
                if random.one_in(2) {
                    Length::Tiny
                } else {
                    Length::Little
                }
            }
            0..2 if family.kind == Kind::Alone => Length::Tiny,
            2..4 if family.kind == Kind::Alone => Length::Little,
            99 => Length::Long,
            _ => Length::Full,
        };
        let is_short = matches!(length, Length::Tiny | Length::Little);
        let frame_size = match family.kind {
            Kind::Containment => FrameSize::None,
            Kind::Site => FrameSize::Heavy,
            _ if is_short => FrameSize::None,
            _ => FrameSize::by_tenth(random.below(10)),
        };
        Traits {
            subject: Subject {
                style: random.index(genres::ALL.len()),
                language,
                second,
                name: coined(family.number),
            },
            length,
            frame_size,
        }
    }
}

fn other_language(than: Language, random: &mut Random) -> Language {
    let others = Language::ALL.len() as u32 - 1;
    Language::ALL[(than as usize + 1 + random.below(others) as usize) % Language::ALL.len()]
}

/// The facts about a composed page that rendering needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageFacts {
    pub(crate) language: Language,
    pub(crate) is_html: bool,
    /// Decides on skin, inline tags and entities.
    pub(crate) form: u64,
    /// Coined name of the site.
    pub(crate) host: u64,
    /// Folder of the site.
    pub(crate) folder: &'static str,
}

/// Composes pages one at a time, in buffers that it keeps.
pub(crate) struct Composer {
    pub(crate) book: Arc<Phrasebook>,
    original: Prose,
    /// The family that `original` belongs to, so that siblings in a row need it written only once.
    original_of: Option<u64>,
    copy: Prose,
    page: Prose,
}

impl Composer {
    pub(crate) fn new(book: Arc<Phrasebook>) -> Self {
        let (original, copy, page) = Default::default();
        Composer { book, original, original_of: None, copy, page }
    }

    /// Composes a member of a family; the words are in [`Composer::page`].
    pub(crate) fn compose(&mut self, family: &Family, member: u64) -> PageFacts {
        let traits = Traits::of(family);
        self.page.clear();
        if family.kind != Kind::Empty {
            self.write_original(family, &traits);
            self.write_copy(family, member, &traits);
            self.write_frame(family, member, &traits);
        }
        let shares_form = matches!(family.kind, Kind::Mirror | Kind::Cluster);
        let form = child(if shares_form { family.key } else { family.member_key(member) }, FORM);
        let moves = member > 0 && family.kind != Kind::Cluster;
        PageFacts {
            language: traits.subject.language,
            is_html: Random::new(form).one_in(3),
            form,
            host: if moves { family.member_key(member) } else { family.key },
            folder: self.book.style(traits.subject.style).genre.name,
        }
    }

    /// Writes the next original anew, even if its family has the number of the last.
    pub(crate) fn forget(&mut self) {
        self.original_of = None;
    }

    /// The page composed last.
    pub(crate) fn page(&self) -> &Prose {
        &self.page
    }

    fn write_original(&mut self, family: &Family, traits: &Traits) {
        if self.original_of == Some(family.number) {
            return;
        }
        self.original.clear();
        let random = Random::new(child(family.key, ARTICLE));
        let mut writer = Writer { book: &self.book, subject: traits.subject, random };
        writer.article(traits.length, &mut self.original);
        self.original_of = Some(family.number);
    }

    fn write_copy(&mut self, family: &Family, member: u64, traits: &Traits) {
        if member == 0 {
            return;
        }
        self.copy.clear();
        let random = Random::new(family.member_key(member));
        let mut writer = Writer { book: &self.book, subject: traits.subject, random };
        edits::apply(family, &self.original, &mut writer, &mut self.copy);
    }

    fn write_frame(&mut self, family: &Family, member: u64, traits: &Traits) {
        let article = if member == 0 { &self.original } else { &self.copy };
        let mut key = child(family.key, FRAME);
        let mut subject = Subject { second: None, ..traits.subject };
        let mut frame_size = traits.frame_size;
        match family.kind {
            Kind::Template | Kind::Quote if member > 0 => {
                key = child(family.member_key(member), FRAME);
                frame_size = FrameSize::by_tenth((key % 10) as u32);
            }
            Kind::Translation if member > 0 => {
                subject.language =
                    other_language(subject.language, &mut Random::new(family.member_key(member)));
            }
            _ => {}
        }
        // A site has a name of its own, apart from those of families.
        subject.name = coined(key);
        let mut writer = Writer { book: &self.book, subject, random: Random::new(key) };
        frame(article, frame_size, &mut writer, &mut self.page);
    }

    /// Bytes held, the lexicon included.
    pub(crate) fn memory(&self) -> usize {
        let prose = [&self.original, &self.copy, &self.page].into_iter().map(Prose::memory).sum::<usize>();
        prose + self.book.lexicon.memory()
    }
}
