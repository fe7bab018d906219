//! The frame that a site puts around its articles: menus above, notices below.

use crate::prose::Prose;
use crate::writer::Writer;

/// The amount of text around an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameSize {
    /// Nothing at all.
    None,
    Light,
    Medium,
    /// More than many an article has to say.
    Heavy,
}

impl FrameSize {
    /// Three in ten sites are light, five medium, two heavy.
    pub(crate) fn by_tenth(tenth: u32) -> Self {
        match tenth {
            0..3 => FrameSize::Light,
            3..8 => FrameSize::Medium,
            _ => FrameSize::Heavy,
        }
    }

    /// Fewest and most entries of the menu, then of notices.
    fn counts(self) -> [(u32, u32); 2] {
        match self {
            FrameSize::None => [(0, 0), (0, 0)],
            FrameSize::Light => [(2, 5), (1, 2)],
            FrameSize::Medium => [(6, 10), (3, 6)],
            FrameSize::Heavy => [(12, 24), (8, 16)],
        }
    }
}

/// Puts `article` between a menu and notices by `writer`. The title stays on top.
pub(crate) fn frame(article: &Prose, size: FrameSize, writer: &mut Writer<'_>, page: &mut Prose) {
    let [menu, notices] = size.counts();
    if let Some((title, rest)) = article.lines().split_first() {
        page.copy_line(article, title);
        for _ in 0..writer.random.between(menu.0, menu.1) {
            writer.menu(page);
        }
        page.copy_lines(article, rest);
        for _ in 0..writer.random.between(notices.0, notices.1) {
            writer.footer(page);
        }
    }
}
