//! When each statement of a log is played, and what it waits for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use engine::logged::{Boundary, Logged, Login, StatementLog};

/// How exact a log's times are at best: of a millisecond, cut off.
const EXACT_US: i64 = 1_000;

/// What is kept of the order of a log's transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// None begins before one that writes and had ended before it in the log.
    #[default]
    Commits,
    /// Each session keeps its own.
    Sessions,
}

/// The sessions of a log, in lanes that run at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Sessions that follow each other: as many lanes as sessions overlapped.
    pub(crate) lanes: Vec<Vec<PlannedSession>>,
    /// How many transactions there are.
    pub(crate) transactions: u32,
    /// How many of them write.
    pub(crate) writing: u32,
    /// How many statements.
    pub(crate) statements: u64,
    /// How exact the log's times are.
    pub(crate) exact_us: i64,
    /// When the first statement began.
    pub(crate) from_us: i64,
    /// When the last one ended, or began.
    pub(crate) until_us: i64,
}

/// A session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedSession {
    pub(crate) login: Login,
    pub(crate) statements: Vec<Planned>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Planned {
    pub(crate) logged: Logged,
    /// How many transactions that write have to have ended before it, where it begins one.
    pub(crate) needs: u32,
    /// The transaction that it ends.
    pub(crate) ends: Option<End>,
}

/// The end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// All of its statements only read, so that none waits for it.
    Reads,
    /// One of them may have written; its rank among these, by when they ended in the log.
    Writes(u32),
}

impl Schedule {
    /// Derives the order of a log's transactions.
    pub fn of(log: StatementLog, order: Order) -> Schedule {
        let exact_us = log.exact_us.max(EXACT_US);
        let mut sessions: Vec<PlannedSession> = log.sessions.into_iter().map(planned).collect();
        // When each transaction that writes ended, and where its last statement is.
        let mut ends: Vec<(i64, usize, usize)> = Vec::new();
        for (number, session) in sessions.iter().enumerate() {
            for (place, statement) in session.statements.iter().enumerate() {
                if let Some(End::Writes(_)) = statement.ends {
                    ends.push((ended_us(session, place), number, place));
                }
            }
        }
        ends.sort_unstable();
        for (rank, (_, number, place)) in (0..).zip(&ends) {
            sessions[*number].statements[*place].ends = Some(End::Writes(rank));
        }
        for session in &mut sessions {
            for statement in &mut session.statements {
                if order == Order::Sessions {
                    statement.needs = 0;
                } else if statement.needs > 0 {
                    let start = statement.logged.start_us - EXACT_US;
                    statement.needs = ends.partition_point(|(end, _, _)| *end <= start) as u32;
                }
            }
        }
        let all = || sessions.iter().flat_map(|session| &session.statements);
        let transactions = all().filter(|statement| statement.ends.is_some());
        let start = |statement: &Planned| statement.logged.start_us;
        let end = |statement: &Planned| statement.logged.end_us.unwrap_or(start(statement));
        Schedule {
            transactions: transactions.count() as u32,
            writing: ends.len() as u32,
            statements: all().count() as u64,
            exact_us,
            from_us: all().map(start).min().unwrap_or(0),
            until_us: all().map(end).max().unwrap_or(0),
            lanes: in_lanes(sessions),
        }
    }

    /// Sessions at a time.
    pub fn sessions(&self) -> u32 {
        self.lanes.len() as u32
    }

    /// Who logs in, with the login of most statements first.
    pub fn logins(&self) -> Vec<Login> {
        let mut counts: BTreeMap<&Login, usize> = BTreeMap::new();
        for session in self.lanes.iter().flatten() {
            *counts.entry(&session.login).or_default() += session.statements.len();
        }
        let mut logins: Vec<(&Login, usize)> = counts.into_iter().collect();
        logins.sort_by_key(|(_, count)| Reverse(*count));
        logins.into_iter().map(|(login, _)| login.clone()).collect()
    }
}

/// When the transaction that this statement ends had ended at the latest; where the log does not say, before the session's next
/// statement.
fn ended_us(session: &PlannedSession, place: usize) -> i64 {
    let known = session.statements[place].logged.end_us;
    let next = session.statements.get(place + 1);
    known
        .or(next.map(|next| next.logged.start_us))
        .unwrap_or(i64::MAX)
}

/// The statements of a session, those that begin and end a transaction marked.
fn planned(session: engine::logged::LoggedSession) -> PlannedSession {
    let (mut is_open, mut reads) = (false, true);
    let last = session.statements.len().saturating_sub(1);
    let statements = session.statements.into_iter().enumerate();
    let statements = statements.map(|(place, logged)| {
        let begins = !is_open;
        reads = logged.reads && (begins || reads);
        match logged.boundary {
            Boundary::Begins => is_open = true,
            Boundary::Ends => is_open = false,
            Boundary::Within => {}
        }
        // A session that ends, ends its transaction.
        let ends = !is_open || place == last;
        Planned {
            logged,
            needs: u32::from(begins),
            // Ranks follow once all are known.
            ends: ends.then_some(if reads { End::Reads } else { End::Writes(0) }),
        }
    });
    PlannedSession {
        login: session.login,
        statements: statements.collect(),
    }
}

/// Sessions in as few lanes as there were at a time; in each, one has ended before the next begins.
fn in_lanes(mut sessions: Vec<PlannedSession>) -> Vec<Vec<PlannedSession>> {
    let start = |session: &PlannedSession| session.statements[0].logged.start_us;
    sessions.sort_by_key(start);
    let mut lanes: Vec<Vec<PlannedSession>> = Vec::new();
    // Lanes by when their last session ended.
    let mut free: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    for session in sessions {
        let (begins, last) = (start(&session), session.statements.len() - 1);
        let ends = session.statements[last].logged.end_us;
        let ends = ends.unwrap_or(session.statements[last].logged.start_us);
        let lane = match free.peek() {
            Some(Reverse((ended, lane))) if ended + EXACT_US <= begins => {
                let lane = *lane;
                free.pop();
                lane
            }
            _ => {
                lanes.push(Vec::new());
                lanes.len() - 1
            }
        };
        lanes[lane].push(session);
        free.push(Reverse((ends, lane)));
    }
    lanes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::logged::LoggedSession;
    use proptest::prelude::*;

    use super::*;

    fn logged(text: &str, start_ms: i64, end_ms: i64) -> Logged {
        let boundary = match text {
            "BEGIN" => Boundary::Begins,
            "COMMIT" => Boundary::Ends,
            _ => Boundary::Within,
        };
        Logged {
            text: Arc::from(text),
            form: Arc::from(text),
            parameters: None,
            is_prepared: false,
            start_us: start_ms * 1_000,
            end_us: Some(end_ms * 1_000),
            failed: false,
            rows: None,
            boundary,
            reads: text != "UPDATE",
        }
    }

    fn log(sessions: Vec<Vec<Logged>>) -> StatementLog {
        let login = Login {
            user: None,
            database: Arc::from("shop"),
        };
        StatementLog {
            sessions: sessions
                .into_iter()
                .map(|statements| LoggedSession {
                    login: login.clone(),
                    statements,
                })
                .collect(),
            ..StatementLog::default()
        }
    }

    /// Of a lane's first session, what each statement needs and ends.
    fn needs(schedule: &Schedule, lane: usize) -> Vec<(u32, Option<End>)> {
        let statements = schedule.lanes[lane][0].statements.iter();
        statements
            .map(|planned| (planned.needs, planned.ends))
            .collect()
    }

    #[test]
    fn a_transaction_needs_those_that_had_ended_and_none_that_had_not() {
        let first = vec![
            logged("BEGIN", 0, 1),
            logged("UPDATE", 1, 5),
            logged("COMMIT", 5, 10),
        ];
        // It begins within the first, and its next statement after it.
        let second = vec![logged("UPDATE", 4, 6), logged("UPDATE", 12, 13)];
        let schedule = Schedule::of(log(vec![first, second]), Order::Commits);
        assert_eq!(schedule.lanes.len(), 2);
        assert_eq!(schedule.transactions, 3);
        // The first UPDATE ended at 6 (rank 0), the transaction at 10 (rank 1).
        let writes = |rank| Some(End::Writes(rank));
        assert_eq!(needs(&schedule, 0), [(0, None), (0, None), (0, writes(1))]);
        assert_eq!(needs(&schedule, 1), [(0, writes(0)), (2, writes(2))]);
    }

    #[test]
    fn none_waits_for_a_transaction_that_only_reads_and_that_one_waits_for_those_that_write() {
        let reading = vec![
            logged("BEGIN", 0, 1),
            logged("SELECT", 1, 2),
            logged("COMMIT", 2, 3),
            // It waits for what was written at 6.
            logged("SELECT", 20, 21),
        ];
        let writing = vec![
            logged("SELECT", 4, 5),
            logged("UPDATE", 5, 6),
            // Opened by its first statement, it is one that writes to its end.
            logged("BEGIN", 7, 8),
            logged("UPDATE", 8, 9),
            logged("SELECT", 9, 10),
            logged("COMMIT", 10, 11),
        ];
        let schedule = Schedule::of(log(vec![reading, writing]), Order::Commits);
        assert_eq!((schedule.transactions, schedule.writing), (5, 2));
        let reads = Some(End::Reads);
        assert_eq!(
            needs(&schedule, 0),
            [(0, None), (0, None), (0, reads), (2, reads)]
        );
        let writes = |rank| Some(End::Writes(rank));
        assert_eq!(
            needs(&schedule, 1),
            [
                (0, reads),
                (0, writes(0)),
                (1, None),
                (0, None),
                (0, None),
                (0, writes(1))
            ]
        );
    }

    #[test]
    fn sessions_that_follow_each_other_share_a_lane() {
        let one = |from: i64| vec![logged("SELECT", from, from + 5)];
        let schedule = Schedule::of(log(vec![one(0), one(3), one(10), one(20)]), Order::Commits);
        assert_eq!(schedule.sessions(), 2);
    }

    proptest! {
        /// Every order of a log can be played to its end: what a transaction waits for never waits for it.
        #[test]
        fn no_transaction_waits_for_itself(
            sessions in proptest::collection::vec(proptest::collection::vec((0i64..30, 0i64..30, 0u8..4), 1..8), 1..5)
        ) {
            let sessions = sessions.into_iter().map(|statements| {
                let mut at = 0;
                statements.into_iter().map(|(gap, took, kind)| {
                    let start = at + gap;
                    at = start + took;
                    logged(["BEGIN", "COMMIT", "SELECT", "UPDATE"][usize::from(kind)], start, at)
                }).collect()
            }).collect();
            let schedule = Schedule::of(log(sessions), Order::Commits);
            let mut lanes: Vec<Vec<Planned>> = schedule.lanes.into_iter()
                .map(|lane| lane.into_iter().flat_map(|session| session.statements).collect()).collect();
            let mut ended = vec![false; schedule.writing as usize];
            let mut left: usize = lanes.iter().map(Vec::len).sum();
            while left > 0 {
                let mark = ended.iter().take_while(|ended| **ended).count() as u32;
                let before = left;
                for lane in &mut lanes {
                    if lane.first().is_some_and(|planned| planned.needs <= mark) {
                        let planned = lane.remove(0);
                        left -= 1;
                        if let Some(End::Writes(rank)) = planned.ends {
                            ended[rank as usize] = true;
                        }
                    }
                }
                prop_assert!(left < before, "all wait");
            }
            prop_assert!(ended.iter().all(|ended| *ended));
        }
    }
}
