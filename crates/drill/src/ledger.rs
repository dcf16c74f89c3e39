//! Compares what clients know to be committed with what a server has after a crash.

use model::Instant;
use serde::{Deserialize, Serialize};

/// What the clients of a recording know: when the server acknowledged each commit, session by session. Commit numbers
/// begin with 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    /// By the recording's clock, never too early.
    pub(crate) sessions: Vec<Vec<Instant>>,
}

impl Ledger {
    /// Number of commits acknowledged by `at`, for each session.
    pub(crate) fn acknowledged(&self, at: Instant) -> Vec<u64> {
        let by_then =
            |session: &Vec<Instant>| session.partition_point(|commit| *commit <= at) as u64;
        self.sessions.iter().map(by_then).collect()
    }

    /// Total number of commits.
    pub(crate) fn commits(&self) -> u64 {
        self.sessions
            .iter()
            .map(|session| session.len() as u64)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use engine::drilled::{Found, Verdict};

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
