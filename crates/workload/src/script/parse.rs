//! Parses the text of a script into a [`Script`].

use products::{Dialect, Grammar};

use super::super::expression::Expression;
use super::super::suggest;
use super::super::value::Value;
use super::super::variables::{BUILTIN_VARIABLES, Names, Slot};
use super::split::{Piece, Unit, pieces};
use super::unsupported::unsupported;
use super::{Branch, Command, Pause, PauseUnit, Script, ScriptError, ScriptProblem, Statement};

/// Maximum nesting of `\if`; it bounds the stack needed to run a script.
const DEPTH_MAX: usize = 32;

const COMMANDS: [&str; 6] = ["\\set", "\\if", "\\elif", "\\else", "\\endif", "\\sleep"];

impl Script {
    /// Reads a script whose SQL is in `dialect`; `name` is the file name for messages.
    ///
    /// Scripts that are given the same `names` share variables. Whether every variable is set is checked later, for all scripts
    /// together.
    ///
    /// # Errors
    /// The first error, with its line.
    pub fn parse(
        name: &str,
        text: &str,
        dialect: Dialect,
        names: &mut Names,
    ) -> Result<Script, ScriptError> {
        Script::read(
            name,
            pieces(text, dialect, Unit::Statement),
            Builder::new(name, dialect, names),
        )
    }

    /// Reads a query for other tools. In T-SQL each batch is one statement: what they send at once.
    ///
    /// Batches end at a line with `GO`; a backslash command may follow one, or a `;`. The words in
    /// `mapped`, such as `@name`, are variables of these names.
    ///
    /// # Errors
    /// The first error, with its line.
    pub(crate) fn parse_query(
        name: &str,
        text: &str,
        dialect: Dialect,
        mapped: &[String],
        names: &mut Names,
    ) -> Result<Script, ScriptError> {
        let unit = match dialect.grammar {
            Grammar::Batches => Unit::Batch,
            Grammar::Plain | Grammar::Programs => Unit::Statement,
        };
        let builder = Builder {
            mapped,
            ..Builder::new(name, dialect, names)
        };
        Script::read(name, pieces(text, dialect, unit), builder)
    }

    fn read(
        name: &str,
        pieces: Result<Vec<Piece<'_>>, (u32, ScriptProblem)>,
        mut builder: Builder<'_>,
    ) -> Result<Script, ScriptError> {
        let at = |(line, problem)| ScriptError {
            file: name.to_owned(),
            line,
            problem,
        };
        for piece in pieces.map_err(at)? {
            builder.piece(piece).map_err(at)?;
        }
        match builder.open.first() {
            Some(block) => Err(at((block.line, ScriptProblem::IfNotClosed))),
            None => Ok(Script {
                name: name.to_owned(),
                commands: builder.commands,
                statements: builder.statements,
            }),
        }
    }
}

struct Builder<'a> {
    file: &'a str,
    dialect: Dialect,
    /// Words that are variables, with their `@`.
    mapped: &'a [String],
    names: &'a mut Names,
    statements: usize,
    commands: Vec<Command>,
    /// The open `\if`s, outermost first.
    open: Vec<Block>,
}

struct Block {
    line: u32,
    branches: Vec<Branch>,
    /// Body of `\else`, once seen.
    otherwise: Option<Vec<Command>>,
}

impl<'a> Builder<'a> {
    fn new(file: &'a str, dialect: Dialect, names: &'a mut Names) -> Builder<'a> {
        Builder {
            file,
            dialect,
            mapped: &[],
            names,
            statements: 0,
            commands: Vec::new(),
            open: Vec::new(),
        }
    }

    fn piece(&mut self, piece: Piece<'_>) -> Result<(), (u32, ScriptProblem)> {
        match piece {
            Piece::Sql { text, line } => {
                let (names, file) = (&mut *self.names, self.file);
                let mut resolve = |name: &str| names.reference(name, file, line);
                let place = (line, self.statements);
                let language = (self.dialect, self.mapped);
                let statement = Statement::new(text, place, language, &mut resolve);
                self.statements += 1;
                self.push(Command::Sql(statement));
                Ok(())
            }
            Piece::Command { name, rest, line } => self
                .command(name, &rest, line)
                .map_err(|problem| (line, problem)),
        }
    }

    fn command(&mut self, name: &str, rest: &str, line: u32) -> Result<(), ScriptProblem> {
        match name {
            "\\set" => self.set(rest, line),
            "\\sleep" => self.sleep(rest, line),
            "\\if" => self.begin_if(rest, line),
            "\\elif" => self.elif(rest, line),
            "\\else" | "\\endif" if !rest.is_empty() => Err(ScriptProblem::Surplus {
                command: name.to_owned(),
                given: rest.to_owned(),
            }),
            "\\else" => self.begin_else(),
            "\\endif" => self.end_if(),
            _ => Err(
                unsupported(name).unwrap_or_else(|| ScriptProblem::UnknownCommand {
                    command: name.to_owned(),
                    remedy: suggest::remedy(name, COMMANDS),
                }),
            ),
        }
    }

    /// Appends a command to the innermost open branch.
    fn push(&mut self, command: Command) {
        let target = match self.open.last_mut() {
            None => &mut self.commands,
            Some(block) => match (&mut block.otherwise, block.branches.last_mut()) {
                (Some(otherwise), _) => otherwise,
                (None, Some(branch)) => &mut branch.commands,
                (None, None) => unreachable!("a block is opened with its first branch"),
            },
        };
        target.push(command);
    }

    fn expression(&mut self, text: &str, line: u32) -> Result<Expression, ScriptProblem> {
        let (names, file) = (&mut *self.names, self.file);
        let mut resolve = |name: &str| -> Slot { names.reference(name, file, line) };
        Ok(Expression::parse(text, &mut resolve)?)
    }

    fn set(&mut self, rest: &str, line: u32) -> Result<(), ScriptProblem> {
        let malformed = || ScriptProblem::Set {
            given: rest.to_owned(),
        };
        let (name, text) = rest.split_once(char::is_whitespace).ok_or_else(malformed)?;
        if !is_name(name) {
            return Err(malformed());
        }
        if BUILTIN_VARIABLES.contains(&name) {
            return Err(ScriptProblem::Reserved {
                name: name.to_owned(),
            });
        }
        let expression = self.expression(text, line)?;
        let slot = self.names.define(name);
        self.push(Command::Set {
            slot,
            expression,
            line,
        });
        Ok(())
    }

    fn sleep(&mut self, rest: &str, line: u32) -> Result<(), ScriptProblem> {
        let malformed = || ScriptProblem::Sleep {
            given: rest.to_owned(),
        };
        let mut words = rest.split_whitespace();
        let (amount, unit) = (words.next().ok_or_else(malformed)?, words.next());
        let unit = match unit {
            Some("us") => PauseUnit::Microsecond,
            Some("ms") => PauseUnit::Millisecond,
            Some("s") | None => PauseUnit::Second,
            Some(_) => return Err(malformed()),
        };
        let amount = match amount.strip_prefix(':') {
            Some(name) if is_name(name) => {
                Expression::Variable(self.names.reference(name, self.file, line))
            }
            Some(_) => return Err(malformed()),
            None => {
                let amount: u32 = amount.parse().map_err(|_| malformed())?;
                Expression::Constant(Value::Int(i64::from(amount)))
            }
        };
        if words.next().is_some() {
            return Err(malformed());
        }
        let pause = Pause { amount, unit };
        self.push(Command::Sleep { pause, line });
        Ok(())
    }

    fn begin_if(&mut self, rest: &str, line: u32) -> Result<(), ScriptProblem> {
        if self.open.len() >= DEPTH_MAX {
            return Err(ScriptProblem::TooDeep { limit: DEPTH_MAX });
        }
        let condition = self.expression(rest, line)?;
        self.open.push(Block {
            line,
            branches: vec![Branch {
                condition,
                line,
                commands: Vec::new(),
            }],
            otherwise: None,
        });
        Ok(())
    }

    fn elif(&mut self, rest: &str, line: u32) -> Result<(), ScriptProblem> {
        let condition = self.expression(rest, line)?;
        self.block_before_else("\\elif")?.branches.push(Branch {
            condition,
            line,
            commands: Vec::new(),
        });
        Ok(())
    }

    fn begin_else(&mut self) -> Result<(), ScriptProblem> {
        self.block_before_else("\\else")?.otherwise = Some(Vec::new());
        Ok(())
    }

    fn block_before_else(&mut self, command: &str) -> Result<&mut Block, ScriptProblem> {
        let command = || command.to_owned();
        match self.open.last_mut() {
            None => Err(ScriptProblem::WithoutIf { command: command() }),
            Some(block) if block.otherwise.is_some() => {
                Err(ScriptProblem::AfterElse { command: command() })
            }
            Some(block) => Ok(block),
        }
    }

    fn end_if(&mut self) -> Result<(), ScriptProblem> {
        let block = self.open.pop().ok_or_else(|| ScriptProblem::WithoutIf {
            command: "\\endif".to_owned(),
        })?;
        self.push(Command::If {
            branches: block.branches,
            otherwise: block.otherwise.unwrap_or_default(),
        });
        Ok(())
    }
}

/// Whether a text can name a variable: letters, digits and `_`, no digit first.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
