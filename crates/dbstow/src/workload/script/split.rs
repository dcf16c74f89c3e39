//! Cuts the text of a script into statements and backslash commands.

use super::scan::{Kind, Lexeme, Scanner};
use super::{ScriptProblem, parse};

/// A statement or a command, with the line it begins on.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// SQL without its `;`.
    Sql { text: &'a str, line: u32 },
    /// `\name rest`, continued lines joined.
    Command {
        name: &'a str,
        rest: String,
        line: u32,
    },
}

/// Cuts `text` up.
///
/// # Errors
/// The line of a quote that is not closed, or of a command inside a statement.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, (u32, ScriptProblem)> {
    let mut splitter = Splitter {
        scanner: Scanner::new(text),
        line: 1,
        open: None,
        pieces: Vec::new(),
    };
    while let Some(lexeme) = splitter.scanner.next() {
        splitter.take(lexeme)?;
    }
    // As in pgbench, the last statement may go without its `;`.
    splitter.close(text.len());
    Ok(splitter.pieces)
}

struct Splitter<'a> {
    scanner: Scanner<'a>,
    line: u32,
    open: Option<Open>,
    pieces: Vec<Piece<'a>>,
}

/// A statement whose end is not found yet.
struct Open {
    start: usize,
    line: u32,
    trigger: TriggerEnd,
}

impl<'a> Splitter<'a> {
    fn take(&mut self, lexeme: Lexeme<'a>) -> Result<(), (u32, ScriptProblem)> {
        match lexeme.kind {
            Kind::Unclosed => return Err((self.line, unclosed(lexeme.text))),
            Kind::Backslash => return self.command(lexeme.start),
            Kind::Semicolon => self.semicolon(lexeme.start),
            Kind::Word | Kind::Quoted | Kind::Parameter | Kind::Other => {
                let line = self.line;
                let open = self.open.get_or_insert_with(|| Open {
                    start: lexeme.start,
                    line,
                    trigger: TriggerEnd::default(),
                });
                open.trigger.word(lexeme);
            }
            Kind::Blank | Kind::Comment => {}
        }
        self.line += lines(lexeme.text);
        Ok(())
    }

    fn semicolon(&mut self, start: usize) {
        if let Some(open) = &mut self.open
            && open.trigger.semicolon_ends()
        {
            self.close(start);
        }
    }

    fn close(&mut self, end: usize) {
        if let Some(open) = self.open.take() {
            self.pieces.push(Piece::Sql {
                text: self.scanner.text[open.start..end].trim_end(),
                line: open.line,
            });
        }
    }

    /// Takes the command whose backslash is at `start`, to the end of its line.
    fn command(&mut self, start: usize) -> Result<(), (u32, ScriptProblem)> {
        let text = &self.scanner.text[start..];
        let end = command_length(text);
        let written = &text[..end];
        let name_end = written[1..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .map_or(end, |length| length + 1);
        let name = &written[..name_end];
        if self.open.is_some() {
            // `\gset` ends a statement in pgbench: say that it is unsupported, not that it is misplaced.
            let problem = parse::unsupported(name).unwrap_or(ScriptProblem::InsideStatement {
                command: name.to_owned(),
            });
            return Err((self.line, problem));
        }
        self.pieces.push(Piece::Command {
            name,
            rest: written[name_end..]
                .replace("\\\r\n", " ")
                .replace("\\\n", " ")
                .trim()
                .to_owned(),
            line: self.line,
        });
        self.line += lines(written);
        self.scanner.position = start + end;
        Ok(())
    }
}

/// To the end of the line, or of the last line where lines end in a backslash.
fn command_length(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end_matches(['\n', '\r']).ends_with('\\') || line == "\\\n" {
            break;
        }
    }
    text[..end].trim_end_matches(['\n', '\r']).len()
}

fn lines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

fn unclosed(text: &str) -> ScriptProblem {
    let (what, close) = match text.as_bytes().first() {
        Some(b'\'') => ("a text", "'"),
        Some(b'"') => ("a quoted name", "\""),
        Some(b'`') => ("a quoted name", "`"),
        _ => ("a comment", "*/"),
    };
    ScriptProblem::Unclosed { what, close }
}

/// Finds the end of `CREATE TRIGGER .. BEGIN ..; ..; END`, which has `;` inside.
///
/// A trigger ends at a `;` behind an `END` behind a `;`, as SQLite's `sqlite3_complete` has it.
#[derive(Default)]
struct TriggerEnd {
    /// Words seen, up to the three of `CREATE TEMP TRIGGER`.
    words: u8,
    creates: bool,
    is_trigger: bool,
    after_semicolon: bool,
    after_end: bool,
}

impl TriggerEnd {
    fn word(&mut self, lexeme: Lexeme<'_>) {
        let is = |word: &str| lexeme.text.eq_ignore_ascii_case(word);
        self.words = self.words.saturating_add(1);
        self.creates |= self.words == 1 && is("create");
        self.is_trigger |= self.creates && self.words <= 3 && is("trigger");
        self.after_end = self.after_semicolon && is("end");
        self.after_semicolon = false;
    }

    fn semicolon_ends(&mut self) -> bool {
        self.after_semicolon = true;
        !self.is_trigger || self.after_end
    }
}
