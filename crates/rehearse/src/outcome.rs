//! How the statements of a trial ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::EngineError;
use experiment::plan::digest_of;
use reading::object::{ObjectKind, ObjectUse, Used};
use serde::{Deserialize, Serialize};

/// How the statements of a trial, or of a lane of it, ended. Kinds of statements go by their form, and by its hash once the trial is
/// over, so that no text of a statement is written down.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome<K: Ord = Arc<str>> {
    /// Statements that were played.
    pub(crate) played: u64,
    /// Of these, those that ended as in the log: with an error or without, and with as many rows where the log has them.
    pub(crate) as_recorded: u64,
    /// Statements that were not played: their connection was gone, or could not be made.
    pub(crate) not_played: u64,
    /// Statements that ended otherwise, by kind.
    pub(crate) differing: BTreeMap<K, Differing>,
    /// How long statements took, by kind.
    pub(crate) took_us: BTreeMap<K, Vec<u32>>,
    /// How late statements were sent for which all was ready: the player's fault.
    pub(crate) player_late_us: Lateness,
    /// How long sessions waited for transactions that had ended before in the log, together.
    pub(crate) order_us: u64,
    /// How long they waited since the log has a pause, or its time had not come, together.
    pub(crate) pauses_us: u64,
    /// How late the server was ready for statements whose time had come; only where times are those of the log.
    pub(crate) server_late_us: Lateness,
    /// Tables and indexes that were used.
    pub(crate) objects: BTreeMap<String, (ObjectKind, Used)>,
    /// Why those are not known.
    pub(crate) objects_missing: Option<String>,
}

/// Statements of a form that ended otherwise than in the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Differing {
    /// How many.
    pub(crate) count: u64,
    /// How the first ended: an error's text, or that there was none.
    pub(crate) first: String,
}

/// How late statements were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lateness {
    /// Together.
    pub(crate) sum: u64,
    /// At most.
    pub(crate) max: u64,
}

impl Lateness {
    pub(crate) fn add(&mut self, us: u64) {
        self.sum += us;
        self.max = self.max.max(us);
    }

    fn merge(&mut self, other: Lateness) {
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

impl Outcome {
    /// Notes a statement that ended otherwise than in the log.
    pub(crate) fn differs(&mut self, form: &Arc<str>, how: impl FnOnce() -> String) {
        let differing = self.differing.entry(Arc::clone(form)).or_default();
        if differing.count == 0 {
            differing.first = how();
        }
        differing.count += 1;
    }

    /// The same, by the hashes of forms.
    pub(crate) fn by_hash(self) -> Outcome<String> {
        let hash = |form: Arc<str>| digest_of(form.as_bytes());
        let mut all = Outcome {
            differing: self
                .differing
                .into_iter()
                .map(|(form, differing)| (hash(form), differing))
                .collect(),
            took_us: self
                .took_us
                .into_iter()
                .map(|(form, took)| (hash(form), took))
                .collect(),
            played: self.played,
            as_recorded: self.as_recorded,
            not_played: self.not_played,
            player_late_us: self.player_late_us,
            order_us: self.order_us,
            pauses_us: self.pauses_us,
            server_late_us: self.server_late_us,
            objects: self.objects,
            objects_missing: self.objects_missing,
        };
        // So that they take less when they are written.
        all.took_us
            .values_mut()
            .for_each(|took| took.sort_unstable());
        all
    }
}

impl<K: Ord> Outcome<K> {
    /// Adds other statements.
    pub(crate) fn merge(&mut self, other: Outcome<K>) {
        self.played += other.played;
        self.as_recorded += other.as_recorded;
        self.not_played += other.not_played;
        for (form, differing) in other.differing {
            let own = self.differing.entry(form).or_default();
            if own.count == 0 {
                own.first = differing.first;
            }
            own.count += differing.count;
        }
        for (form, took) in other.took_us {
            self.took_us.entry(form).or_default().extend(took);
        }
        self.player_late_us.merge(other.player_late_us);
        self.order_us += other.order_us;
        self.pauses_us += other.pauses_us;
        self.server_late_us.merge(other.server_late_us);
        for (name, (kind, used)) in other.objects {
            self.add_object(name, kind, used);
        }
        self.objects_missing = self.objects_missing.take().or(other.objects_missing);
    }

    /// Adds tables and indexes that were used, or notes why they are not known.
    pub(crate) fn used(&mut self, objects: Result<Vec<ObjectUse>, EngineError>) {
        match objects {
            Ok(objects) => {
                for ObjectUse { kind, name, used } in objects {
                    self.add_object(name, kind, used);
                }
            }
            Err(error) => self.objects_missing = Some(error.to_string()),
        }
    }

    fn add_object(&mut self, name: String, kind: ObjectKind, used: Used) {
        let (_, sum) = self.objects.entry(name).or_insert((kind, Used::default()));
        *sum = sum.and(used);
    }

    /// How long all statements took together.
    pub(crate) fn total_us(&self) -> u64 {
        let all = self.took_us.values().flatten();
        all.map(|us| u64::from(*us)).sum()
    }

    /// The share of all statements that were played and ended as in the log.
    pub(crate) fn fidelity(&self) -> f64 {
        let all = self.played + self.not_played;
        self.as_recorded as f64 / (all as f64).max(1.0)
    }
}
