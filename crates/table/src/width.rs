//! Text width, and sentences wrapped to it.

use textwrap::{Options, WordSeparator, WordSplitter};

/// Line width of text for a terminal, from 60 to 200 columns.
///
/// A longer word is not broken, so that a name or a path can be copied: its line is wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width(usize);

impl Width {
    /// Below this width, a table of figures is unreadable.
    const MIN: usize = 60;
    /// Longer lines are hard to read.
    const MAX: usize = 200;

    /// The text width for a terminal of this many columns.
    pub fn of(columns: usize) -> Width {
        Width(columns.clamp(Width::MIN, Width::MAX))
    }

    /// The columns.
    pub fn columns(self) -> usize {
        self.0
    }

    /// `text` in lines, the first after `first`, the others indented to match. A percentage stays on one line with its
    /// sign.
    pub fn wrapped(self, first: &str, text: &str) -> String {
        let indent = " ".repeat(first.chars().count());
        let words: Vec<&str> = text.split_whitespace().collect();
        let together = words.join(" ").replace(" %", "\u{a0}%");
        let options = unbroken(self.0)
            .initial_indent(first)
            .subsequent_indent(&indent);
        textwrap::fill(&together, options).replace("\u{a0}%", " %") + "\n"
    }
}

/// Output that is not a terminal has 100 columns.
impl Default for Width {
    fn default() -> Width {
        Width(100)
    }
}

/// `text` wrapped for output that is not a terminal, the first line after `first`, the others indented to match.
pub fn wrapped(first: &str, text: &str) -> String {
    Width::default().wrapped(first, text)
}

/// Lines of at most `columns`, broken at spaces alone.
pub(crate) fn unbroken<'a>(columns: usize) -> Options<'a> {
    Options::new(columns)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_and_indented() {
        for (columns, kept) in [(0, 60), (60, 60), (83, 83), (1_000, 200)] {
            let text = Width::of(columns).wrapped("- ", &"word ".repeat(80));

            // A line is full when the next word and its space would not fit.
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert!(
                longest.is_some_and(|longest| longest <= kept && longest + 5 > kept),
                "{text}"
            );
            assert!(text.lines().skip(1).all(|line| line.starts_with("  word")));
        }
    }

    #[test]
    fn a_word_is_never_broken() {
        let name = "azure.premium-v2.".repeat(6);

        let text = Width::of(60).wrapped("", &format!("on {name} and elsewhere"));

        assert!(text.lines().any(|line| line == name), "{text}");
    }
}
