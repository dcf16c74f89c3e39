//! Splits the text of a script into statements and backslash commands.

use products::{Dialect, Grammar};

use super::ScriptProblem;
use super::programs;
use super::scan::{Kind, Lexeme, Scanner};
use super::tsql::{self, BlockEnd, Separator};
use super::unsupported::unsupported;

/// The unit that is sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Up to a `;`. In T-SQL a `GO` ends it too.
    Statement,
    /// Up to a `GO`: T-SQL as its own tools send it.
    Batch,
}

/// A statement or a command, with the line it begins on.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// SQL without its `;`. T-SQL keeps it, since some statements require one (`MERGE`).
    Sql { text: &'a str, line: u32 },
    /// `\name rest`, continued lines joined.
    Command {
        name: &'a str,
        rest: String,
        line: u32,
    },
}

/// Splits `text`.
///
/// # Errors
/// The line of a quote or block that is not closed, or of a command inside a statement.
pub(super) fn pieces(
    text: &str,
    dialect: Dialect,
    unit: Unit,
) -> Result<Vec<Piece<'_>>, (u32, ScriptProblem)> {
    let mut splitter = Splitter {
        scanner: Scanner::new(text, dialect.grammar),
        grammar: dialect.grammar,
        unit,
        line: 1,
        open: None,
        pieces: Vec::new(),
    };
    while let Some(lexeme) = splitter.scanner.next() {
        splitter.take(lexeme)?;
    }
    // As in pgbench, the last statement may lack its `;`.
    splitter.close(text.len())?;
    Ok(splitter.pieces)
}

struct Splitter<'a> {
    scanner: Scanner<'a>,
    grammar: Grammar,
    unit: Unit,
    line: u32,
    open: Option<Open>,
    pieces: Vec<Piece<'a>>,
}

/// A statement whose end was not found yet.
struct Open {
    start: usize,
    line: u32,
    end: End,
}

/// What finds the end of a statement.
enum End {
    Trigger(TriggerEnd),
    Block(BlockEnd),
    Program(programs::BlockEnd),
    /// A `GO` or a command, which may only follow a `;`.
    Batch {
        after_semicolon: bool,
    },
}

impl<'a> Splitter<'a> {
    fn take(&mut self, lexeme: Lexeme<'a>) -> Result<(), (u32, ScriptProblem)> {
        match lexeme.kind {
            Kind::Unclosed => return Err((self.line, unclosed(lexeme.text))),
            Kind::Backslash => return self.command(lexeme.start),
            Kind::Semicolon => self.semicolon(lexeme.start)?,
            Kind::Word | Kind::Quoted | Kind::Parameter | Kind::Other => {
                if self.of_the_client(lexeme)? {
                    return Ok(());
                }
                let line = self.line;
                let open = self.open.get_or_insert_with(|| Open {
                    start: lexeme.start,
                    line,
                    end: End::of(self.grammar, self.unit),
                });
                open.end.take(lexeme, line);
            }
            Kind::Blank | Kind::Comment => {}
        }
        self.line += lines(lexeme.text);
        Ok(())
    }

    fn semicolon(&mut self, start: usize) -> Result<(), (u32, ScriptProblem)> {
        let ends = match &mut self.open {
            None => false,
            Some(open) => open.end.semicolon_ends(),
        };
        match (ends, self.grammar) {
            (false, _) => Ok(()),
            (true, Grammar::Plain | Grammar::Programs) => self.close(start),
            (true, Grammar::Batches) => self.close(start + 1),
        }
    }

    /// Whether the lexeme is not SQL, but for the client program.
    fn of_the_client(&mut self, lexeme: Lexeme<'_>) -> Result<bool, (u32, ScriptProblem)> {
        match self.grammar {
            Grammar::Plain => Ok(false),
            Grammar::Batches => self.separated(lexeme),
            Grammar::Programs => match self.open.is_none() && programs::is_delimiter(lexeme) {
                false => Ok(false),
                true => Err((
                    self.line,
                    ScriptProblem::Unsupported {
                        command: lexeme.text.to_owned(),
                        remedy: "remove it: a `;` inside `BEGIN .. END` does not end a statement",
                    },
                )),
            },
        }
    }

    /// Whether the lexeme is a `GO`, which ends the open statement.
    fn separated(&mut self, lexeme: Lexeme<'_>) -> Result<bool, (u32, ScriptProblem)> {
        match tsql::separator(self.scanner.text, lexeme) {
            None => Ok(false),
            Some(Separator::End) => self.close(lexeme.start).map(|()| true),
            Some(Separator::Repeat(count)) => Err((
                self.line,
                ScriptProblem::Unsupported {
                    command: format!("GO {count}"),
                    remedy: "write `GO` alone; how often a script runs is for the run to say",
                },
            )),
        }
    }

    fn close(&mut self, end: usize) -> Result<(), (u32, ScriptProblem)> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        if let Some((line, what)) = open.end.open_block() {
            return Err((line, ScriptProblem::Unclosed { what, close: "END" }));
        }
        self.pieces.push(Piece::Sql {
            text: self.scanner.text[open.start..end].trim_end(),
            line: open.line,
        });
        Ok(())
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
        if let Some(open) = &self.open
            && open.end.is_behind_semicolon()
        {
            self.close(start)?;
        }
        if self.open.is_some() {
            // `\gset` ends a statement in pgbench: say that it is unsupported, not that it is misplaced.
            let problem = unsupported(name).unwrap_or(ScriptProblem::InsideStatement {
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
        Some(b'[') => ("a quoted name", "]"),
        _ => ("a comment", "*/"),
    };
    ScriptProblem::Unclosed { what, close }
}

impl End {
    fn of(grammar: Grammar, unit: Unit) -> End {
        match (unit, grammar) {
            (Unit::Batch, _) => End::Batch {
                after_semicolon: false,
            },
            (Unit::Statement, Grammar::Batches) => End::Block(BlockEnd::default()),
            (Unit::Statement, Grammar::Programs) => End::Program(programs::BlockEnd::default()),
            (Unit::Statement, Grammar::Plain) => End::Trigger(TriggerEnd::default()),
        }
    }

    fn take(&mut self, lexeme: Lexeme<'_>, line: u32) {
        match self {
            End::Trigger(trigger) => trigger.word(lexeme),
            End::Block(block) => block.take(lexeme, line),
            End::Program(program) => program.take(lexeme, line),
            End::Batch { after_semicolon } => *after_semicolon = false,
        }
    }

    fn semicolon_ends(&mut self) -> bool {
        match self {
            End::Trigger(trigger) => trigger.semicolon_ends(),
            End::Block(block) => block.semicolon_ends(),
            End::Program(program) => program.semicolon_ends(),
            End::Batch { after_semicolon } => {
                *after_semicolon = true;
                false
            }
        }
    }

    /// The line of an open block, and its name.
    fn open_block(&self) -> Option<(u32, &'static str)> {
        let (line, what) = match self {
            End::Trigger(_) | End::Batch { .. } => return None,
            End::Block(block) => (
                block.open(),
                "a block (a transaction takes `BEGIN TRANSACTION`)",
            ),
            End::Program(program) => (program.open(), "a block"),
        };
        line.map(|line| (line, what))
    }

    fn is_behind_semicolon(&self) -> bool {
        match self {
            End::Trigger(_) | End::Block(_) | End::Program(_) => false,
            End::Batch { after_semicolon } => *after_semicolon,
        }
    }
}

/// Finds the end of `CREATE TRIGGER .. BEGIN ..; ..; END`, which has `;` inside.
///
/// A trigger ends at `; END ;`, as in SQLite's `sqlite3_complete`.
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
