//! Whether a workload's statements showed the claimed behaviour, according to the server's plan cache.

use experiment::record::Note;
use workload::{Claim, Command, Statement, Workload};

/// The claim of a workload and its statements.
pub(crate) struct Claims {
    claim: Claim,
    statements: Vec<Claimed>,
}

/// A statement of the workload.
struct Claimed {
    /// Script and line.
    place: String,
    text: String,
}

/// A statement in the server's plan cache.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) text: String,
    /// Maximum number of threads of an execution.
    pub(crate) threads: i64,
    /// Pages that all executions wrote to tempdb.
    pub(crate) spilled_pages: i64,
}

impl Claims {
    /// `None` if the workload has no claim.
    pub(crate) fn of(workload: &Workload) -> Option<Claims> {
        let claim = workload.claim?;
        let mut statements = Vec::new();
        for weighted in &workload.run.scripts {
            collect(&weighted.script.commands, &mut |statement| {
                statements.push(Claimed {
                    place: format!("{}:{}", weighted.script.name, statement.line),
                    text: bare(&statement.text).to_owned(),
                });
            });
        }
        Some(Claims { claim, statements })
    }

    /// Notes on claims that failed or cannot be verified.
    pub(crate) fn judge(&self, remembered: &[Remembered]) -> Vec<Note> {
        // The server puts the declarations of parameters before a prepared statement.
        let executions = |claimed: &Claimed| -> Vec<&Remembered> {
            let same = |known: &&Remembered| bare(&known.text).ends_with(&claimed.text);
            remembered.iter().filter(same).collect()
        };
        let known: Vec<(&Claimed, Vec<&Remembered>)> = (self.statements.iter())
            .map(|claimed| (claimed, executions(claimed)))
            .filter(|(_, executions)| !executions.is_empty())
            .collect();
        if known.is_empty() {
            return vec![self.unknown("the server's plan cache has none of its statements")];
        }
        let missed = known.into_iter().filter_map(|(claimed, executions)| {
            let most = |of: fn(&Remembered) -> i64| executions.iter().map(|one| of(one)).max();
            let Claimed { place, text } = claimed;
            match self.claim {
                Claim::Spill if most(|one| one.spilled_pages) == Some(0) => Some(format!(
                    "{place} did not spill into tempdb: make the data larger (--set workload.parameters.rows=..), or \
                     give the server less memory"
                )),
                Claim::Parallel if asks_for_threads(text) && most(|one| one.threads) <= Some(1) => {
                    Some(format!(
                        "{place} ran on one thread, although its hint asks for more: see the server's max degree of \
                         parallelism, cost threshold for parallelism and edition"
                    ))
                }
                Claim::Spill | Claim::Parallel => None,
            }
        });
        missed.map(Note::NotExercised).collect()
    }

    /// The note if claims cannot be verified, with the reason.
    pub(crate) fn unknown(&self, why: &str) -> Note {
        let what = match self.claim {
            Claim::Spill => "spilled into tempdb",
            Claim::Parallel => "ran on several threads",
        };
        Note::Other(format!(
            "whether the workload's statements {what} is not known: {why}"
        ))
    }
}

fn collect(commands: &[Command], found: &mut impl FnMut(&Statement)) {
    for command in commands {
        match command {
            Command::Sql(statement) => found(statement),
            Command::If {
                branches,
                otherwise,
            } => {
                for branch in branches {
                    collect(&branch.commands, found);
                }
                collect(otherwise, found);
            }
            Command::Set { .. } | Command::Sleep { .. } => {}
        }
    }
}

/// Without insignificant characters at the ends.
fn bare(text: &str) -> &str {
    text.trim().trim_end_matches(';').trim_end()
}

/// Whether a hint `MAXDOP` is above 1.
fn asks_for_threads(text: &str) -> bool {
    let upper = text.to_uppercase();
    let Some((_, after)) = upper.split_once("MAXDOP ") else {
        return false;
    };
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u32>().is_ok_and(|threads| threads > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SORT: &str = "SELECT COUNT(*) FROM a ORDER BY b";
    const JOIN: &str = "SELECT COUNT(*) FROM a JOIN b ON a.c = b.c OPTION (MAXDOP 2)";

    fn claims(claim: Claim) -> Claims {
        let claimed = |(line, text): (u32, &str)| Claimed {
            place: format!("run.sql:{line}"),
            text: text.to_owned(),
        };
        Claims {
            claim,
            statements: [(1, SORT), (5, JOIN)].map(claimed).into(),
        }
    }

    fn remembered(text: &str, threads: i64, spilled_pages: i64) -> Remembered {
        Remembered {
            text: format!("(@p1 bigint){text};"),
            threads,
            spilled_pages,
        }
    }

    #[test]
    fn each_kind_of_statement_has_to_spill() {
        let seen = [remembered(SORT, 1, 0), remembered(JOIN, 1, 12)];
        let notes = claims(Claim::Spill).judge(&seen);
        let [Note::NotExercised(what)] = &notes[..] else {
            panic!("{notes:?}");
        };
        assert!(what.starts_with("run.sql:1 did not spill"), "{what}");
        let seen = [remembered(SORT, 1, 3), remembered(JOIN, 1, 12)];
        assert_eq!(claims(Claim::Spill).judge(&seen), []);
    }

    #[test]
    fn a_statement_whose_hint_asks_for_threads_has_to_have_them() {
        let seen = [remembered(SORT, 1, 0), remembered(JOIN, 1, 0)];
        let notes = claims(Claim::Parallel).judge(&seen);
        let [Note::NotExercised(what)] = &notes[..] else {
            panic!("{notes:?}");
        };
        assert!(what.starts_with("run.sql:5 ran on one thread"), "{what}");
        let seen = [remembered(SORT, 1, 0), remembered(JOIN, 2, 0)];
        assert_eq!(claims(Claim::Parallel).judge(&seen), []);
    }

    #[test]
    fn what_the_server_forgot_is_not_known() {
        let notes = claims(Claim::Spill).judge(&[remembered("SELECT 1", 1, 0)]);
        assert!(matches!(&notes[..], [Note::Other(why)] if why.contains("is not known")));
    }
}
