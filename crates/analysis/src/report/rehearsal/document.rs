//! A rehearsal as a document.

use std::collections::BTreeMap;

use reading::object::{ObjectKind, Used};
use serde::Serialize;

/// Name of the document's version.
pub const SCHEMA: &str = "dbstow.rehearsal/1";

/// What was rehearsed, and the results. Times are milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rehearsal {
    /// [`SCHEMA`].
    pub schema: String,
    /// The backup.
    pub backup: Backup,
    /// The log.
    pub log: Log,
    /// The share of statements that must end as recorded for a verdict.
    pub fidelity_min: f64,
    /// What the machine that this ran on does to the answer; sentences without a full stop.
    pub assumed: Vec<String>,
    /// The layouts, in the order in which they were given.
    pub layouts: Vec<Layout>,
    /// Kinds of statements, those first whose time differs most between layouts: the first twenty, and those that became slower.
    pub statements: Vec<Statement>,
    /// Kinds of statements that ended otherwise than in the log, most first.
    pub differing: Vec<Differing>,
    /// Tables and indexes that were read most on any layout, most first.
    pub objects: Vec<Object>,
}

/// The backup of a rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Backup {
    /// The product and its version.
    pub server: String,
    /// What kind of copy it is.
    pub kind: String,
    /// Its size.
    pub bytes: u64,
    /// Settings of its own that were kept.
    pub settings: BTreeMap<String, String>,
    /// What the private server changes.
    pub changed: Vec<String>,
}

/// The log of a rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Log {
    /// Its form.
    pub form: String,
    /// Statements that are replayed.
    pub statements: u64,
    /// Transactions that they make.
    pub transactions: u64,
    /// Sessions.
    pub sessions: u64,
    /// Sessions at a time.
    pub sessions_at_a_time: u32,
    /// From its first statement to its last.
    pub lasted_s: f64,
    /// How fast it was played.
    pub pace: String,
    /// Statements that cannot be replayed, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Sessions whose beginning is not in it.
    pub began_before: u64,
    /// Whether its last line is incomplete.
    pub half_line: bool,
    /// Whether it says how long statements took.
    pub has_durations: bool,
    /// Whether it says which statements failed; otherwise those that fail count as having ended otherwise.
    pub has_errors: bool,
}

/// The result of a layout, over all blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// Its name.
    pub name: String,
    /// Statements that were played.
    pub played: u64,
    /// Statements that were not: their connection was gone.
    pub not_played: u64,
    /// The share of all that ended as recorded.
    pub fidelity: f64,
    /// What all statements took together.
    pub total_ms: f64,
    /// How long sessions waited together for transactions that had ended before in the log.
    pub order_ms: f64,
    /// How long they waited together since the log has a pause, or its time had not come.
    pub pauses_ms: f64,
    /// How late statements were sent on average though all was ready.
    pub player_late_ms: f64,
    /// The same, at most.
    pub player_late_max_ms: f64,
    /// How late the server was ready on average for statements whose time had come; `None`: times are not those of the log.
    pub server_late_ms: Option<f64>,
    /// The same, at most.
    pub server_late_max_ms: Option<f64>,
}

/// A kind of statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// Identifies the kind: a hash of its form.
    pub id: String,
    /// Its form, without constants; only where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Of each layout, in order.
    pub layouts: Vec<Durations>,
}

/// A kind is slower where its mean is by more than this.
const SLOWER: f64 = 1.05;

/// The share of the first layout's time by which a kind has to be slower to count: what is rare and short makes no difference.
const COUNTS_FROM: f64 = 0.005;

impl Statement {
    /// Whether it became slower on the layout at `place` than on the first, where all statements took `total_ms`.
    pub fn is_slower(&self, place: usize, total_ms: f64) -> bool {
        let (Some(before), Some(after)) = (self.layouts.first(), self.layouts.get(place)) else {
            return false;
        };
        let longer = after.mean_ms() - before.mean_ms();
        before.count > 0
            && after.mean_ms() > before.mean_ms() * SLOWER
            && longer * after.count as f64 >= COUNTS_FROM * total_ms
    }
}

/// How long statements of a kind took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Durations {
    /// How many were played.
    pub count: u64,
    /// Together.
    pub total_ms: f64,
    /// Half took at most this.
    pub p50_ms: f64,
    /// Of a hundred, one took longer.
    pub p99_ms: f64,
}

/// Statements of a kind that ended otherwise than in the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Differing {
    /// The kind.
    pub id: String,
    /// Its form, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// How many.
    pub count: u64,
    /// How the first ended.
    pub first: String,
}

/// A table or an index.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ObjectKind,
    /// What each layout used it for, in order and in all blocks together.
    pub layouts: Vec<Used>,
}

impl Rehearsal {
    /// The layouts in which fewer statements than asked for ended as recorded.
    pub fn unfaithful(&self) -> Vec<&Layout> {
        let layouts = self.layouts.iter();
        layouts
            .filter(|layout| layout.fidelity < self.fidelity_min)
            .collect()
    }

    /// As text.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("it is plain data");
        text.push('\n');
        text
    }
}

impl Durations {
    /// Of durations in microseconds.
    pub fn of(mut took_us: Vec<u32>) -> Durations {
        took_us.sort_unstable();
        let at = |share: f64| {
            let place = (share * took_us.len() as f64).ceil() as usize;
            let us = took_us.get(place.saturating_sub(1)).copied().unwrap_or(0);
            f64::from(us) / 1e3
        };
        Durations {
            count: took_us.len() as u64,
            total_ms: took_us.iter().map(|us| f64::from(*us)).sum::<f64>() / 1e3,
            p50_ms: at(0.5),
            p99_ms: at(0.99),
        }
    }

    /// Mean of one.
    pub fn mean_ms(&self) -> f64 {
        self.total_ms / (self.count as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_durations_are_those_of_their_rank() {
        // 1 ms to 100 ms: the 50th and the 99th; together 5,050 ms.
        let durations = Durations::of((1..=100).rev().map(|ms| ms * 1_000).collect());
        assert_eq!(durations.p50_ms, 50.0);
        assert_eq!(durations.p99_ms, 99.0);
        assert_eq!(durations.total_ms, 5_050.0);
        assert_eq!(Durations::of(Vec::new()), Durations::default());
    }

    #[test]
    fn a_kind_is_slower_where_its_mean_and_its_part_of_all_time_are() {
        let took = |ms: u32| Durations::of(vec![ms * 1_000; 10]);
        let statement = Statement {
            id: String::new(),
            form: None,
            layouts: vec![took(10), took(11), took(10), Durations::default()],
        };
        // 10 ms longer in all: a part of 1 % counts, one of 0.1 % does not.
        assert!(statement.is_slower(1, 1_000.0));
        assert!(!statement.is_slower(1, 10_000.0));
        assert!(!statement.is_slower(2, 1_000.0) && !statement.is_slower(3, 1_000.0));
    }
}
