//! What clients know to be committed, held against what a server has after a crash.

use std::fmt;

use model::Instant;
use serde::{Deserialize, Serialize};

/// What the clients of a recording know: when the server had acknowledged each commit, session by session. Commit numbers
/// begin with 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// By the recording's clock, and not too early.
    pub(crate) sessions: Vec<Vec<Instant>>,
}

/// What a server has of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Highest commit of each session, in their order; 0 without any.
    pub last: Vec<u64>,
    /// What cannot be: rows that are missing in between, with other content, twice; tables that contradict their indexes; ..
    pub contradictions: Vec<String>,
}

/// What became of a server in a crash state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// It has everything that was acknowledged, and nothing that cannot be.
    Intact,
    /// It started, without commits that it had acknowledged.
    Lost {
        /// How many.
        commits: u64,
    },
    /// It started, with something that cannot be.
    Corrupt {
        /// What.
        what: String,
    },
    /// It did not start.
    DoesNotStart {
        /// The end of its log.
        why: String,
    },
}

impl Ledger {
    /// Commits that were acknowledged by `at`, of each session.
    pub(crate) fn acknowledged(&self, at: Instant) -> Vec<u64> {
        let by_then =
            |session: &Vec<Instant>| session.partition_point(|commit| *commit <= at) as u64;
        self.sessions.iter().map(by_then).collect()
    }

    /// All commits.
    pub(crate) fn commits(&self) -> u64 {
        self.sessions
            .iter()
            .map(|session| session.len() as u64)
            .sum()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Intact => f.write_str("intact"),
            Verdict::Lost { commits: 1 } => f.write_str("an acknowledged commit is lost"),
            Verdict::Lost { commits } => write!(f, "{commits} acknowledged commits are lost"),
            Verdict::Corrupt { what } => write!(f, "corrupt: {what}"),
            Verdict::DoesNotStart { why } => write!(f, "does not start: {why}"),
        }
    }
}

impl Verdict {
    /// Of a server that started with what was `found`, where so many commits of each session were acknowledged.
    pub fn of(acknowledged: &[u64], found: &Found) -> Verdict {
        if let Some(what) = found.contradictions.first() {
            return Verdict::Corrupt { what: what.clone() };
        }
        let last = found.last.iter().chain(std::iter::repeat(&0));
        let lost = acknowledged.iter().zip(last);
        match lost
            .map(|(acknowledged, last)| acknowledged.saturating_sub(*last))
            .sum()
        {
            0 => Verdict::Intact,
            commits => Verdict::Lost { commits },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_acknowledged_by_then_counts_and_what_came_later_may_be_there() {
        let at = |ns: &u64| Instant::from_nanos(*ns);
        let ledger = Ledger {
            sessions: vec![
                [5, 10, 20].iter().map(at).collect(),
                [7].iter().map(at).collect(),
                Vec::new(),
            ],
        };
        let acknowledged = ledger.acknowledged(at(&10));
        assert_eq!(acknowledged, [2, 1, 0]);
        assert_eq!(ledger.commits(), 4);
        let verdict = |last: &[u64]| {
            let found = Found {
                last: last.to_vec(),
                contradictions: Vec::new(),
            };
            Verdict::of(&acknowledged, &found)
        };
        assert_eq!(verdict(&[2, 1, 0]), Verdict::Intact);
        assert_eq!(verdict(&[3, 1, 1]), Verdict::Intact);
        assert_eq!(verdict(&[1, 0, 5]), Verdict::Lost { commits: 2 });
        assert_eq!(verdict(&[]), Verdict::Lost { commits: 3 });
    }

    #[test]
    fn what_cannot_be_is_worse_than_what_is_lost() {
        let found = Found {
            last: vec![0],
            contradictions: vec!["commit 3 of session 0 is missing".to_owned()],
        };
        let verdict = Verdict::of(&[5], &found);
        assert!(matches!(verdict, Verdict::Corrupt { what } if what.contains("missing")));
    }
}
