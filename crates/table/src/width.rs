//! Text width, and sentences wrapped to it.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Follows what is left out of a line.
const CUT: &str = " ..";

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

    /// `text` on one line after `first`: all of it, or what fits of its sentences, its clauses, or else its words.
    pub fn line(self, first: &str, text: &str) -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        let whole = words.join(" ");
        let room = self.0.saturating_sub(display_width(first));
        if display_width(&whole) <= room {
            return format!("{first}{whole}\n");
        }
        let last = |mark: &str, of: &str, least: usize| {
            let ends = whole.match_indices(mark);
            let ends = ends.map(|(at, _)| &whole[..at + mark.len() - 1]);
            let fits = |part: &&str| (least..=room).contains(&(display_width(part) + of.len()));
            ends.filter(fits).last().map(|part| format!("{part}{of}"))
        };
        // A comma may also stand between names, which say nothing alone.
        let clause = last(". ", "", 0).or_else(|| last("; ", CUT, 0));
        let clause = clause.or_else(|| last(", ", CUT, room * 2 / 3));
        let cut = clause.or_else(|| last(" ", CUT, 0));
        let cut = cut.unwrap_or_else(|| format!("{}{CUT}", words[0]));
        format!("{first}{cut}\n")
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

    #[test]
    fn a_line_ends_with_a_sentence_a_clause_or_a_word() {
        let line = |text: &str| Width::of(60).line("! ", text);
        let long = "more and more of it ".repeat(5);

        assert_eq!(line("all of it"), "! all of it\n");
        assert_eq!(line(&format!("One; two. {long}")), "! One; two.\n");
        assert_eq!(line(&format!("one; two: {long}")), "! one; ..\n");
        let names = "names, more names, and what is said of them, which is ";
        assert_eq!(
            line(&format!("{names}{long}")),
            "! names, more names, and what is said of them, ..\n"
        );
        // 60 columns less 2 before and 3 behind are 55; with the next word there would be 56.
        let words = "more and more of it more and more of it more and more";
        assert_eq!(line(&long), format!("! {words} ..\n"));
        let name = "azure.premium-v2.".repeat(6);
        assert_eq!(
            line(&format!("{name} and elsewhere")),
            format!("! {name} ..\n")
        );
    }
}
