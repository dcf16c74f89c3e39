//! An operation's time, by what its session waits for: recorded beside replayed.

use std::fmt;
use std::ops::{Add, Index, IndexMut};

use profile::{Interval, Profile, Wait};
use serde::{Deserialize, Serialize};

/// What a session spends an operation's time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimePart {
    /// Reads of data files.
    Read,
    /// Writes of data files.
    Write,
    /// Requests to temporary files.
    Temp,
    /// Writes and flushes of the log.
    Log,
    /// Locks and latches.
    Lock,
    /// Use of a processor; replayed, also the wait for one.
    Processor,
    /// All else: the network, and waits that were not seen, such as that for a processor.
    Other,
}

impl TimePart {
    /// All of them, in the order of reports.
    pub const ALL: [TimePart; 7] = [
        TimePart::Read,
        TimePart::Write,
        TimePart::Temp,
        TimePart::Log,
        TimePart::Lock,
        TimePart::Processor,
        TimePart::Other,
    ];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            TimePart::Read => "read",
            TimePart::Write => "write",
            TimePart::Temp => "temp",
            TimePart::Log => "log",
            TimePart::Lock => "lock",
            TimePart::Processor => "processor",
            TimePart::Other => "other",
        }
    }
}

impl fmt::Display for TimePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Seconds by what they are spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts([f64; TimePart::ALL.len()]);

impl Parts {
    /// All parts together.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    /// The share of a part in the whole, 0 to 1.
    pub fn share(&self, part: TimePart) -> f64 {
        let total = self.total();
        if total > 0.0 { self[part] / total } else { 0.0 }
    }

    /// Each part multiplied by `factor`.
    #[must_use]
    pub fn times(&self, factor: f64) -> Parts {
        Parts(self.0.map(|seconds| seconds * factor))
    }

    /// The time of an operation of `profile` on average; `None` if operations, running sessions, or what these wait for were not
    /// recorded.
    pub fn recorded(profile: &Profile) -> Option<Parts> {
        let operations = profile.total(|interval| interval.operations)?;
        let over_time = |figure: &dyn Fn(&Interval) -> Option<f64>| {
            profile.total(|interval| Some(figure(interval)? * interval.length.as_secs_f64()))
        };
        let waited = |wait| over_time(&|interval| interval.waiting.get(&wait).copied());
        let processor =
            profile.total(|interval| interval.processor.map(model::Duration::as_secs_f64));
        let mut parts = Parts::default();
        let mut is_known = false;
        for (part, wait) in [
            (TimePart::Read, Wait::DataRead),
            (TimePart::Write, Wait::DataWrite),
            (TimePart::Temp, Wait::Temp),
            (TimePart::Log, Wait::Log),
            (TimePart::Lock, Wait::Lock),
            (TimePart::Other, Wait::Other),
        ] {
            let seconds = waited(wait);
            is_known |= seconds.is_some();
            parts[part] = seconds.unwrap_or(0.0);
        }
        parts[TimePart::Processor] = processor.unwrap_or(0.0);
        let running = over_time(&|interval| interval.running)?;
        parts[TimePart::Other] += (running - parts.total()).max(0.0);
        (is_known && operations > 0.0).then(|| parts.times(1.0 / operations))
    }
}

impl Index<TimePart> for Parts {
    type Output = f64;

    fn index(&self, part: TimePart) -> &f64 {
        &self.0[part as usize]
    }
}

impl IndexMut<TimePart> for Parts {
    fn index_mut(&mut self, part: TimePart) -> &mut f64 {
        &mut self.0[part as usize]
    }
}

impl Add for Parts {
    type Output = Parts;

    fn add(mut self, other: Parts) -> Parts {
        for part in TimePart::ALL {
            self[part] += other[part];
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_running_sessions_were_not_seen_waiting_for_is_other() {
        let text = r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"
[origin]
tool = "test"
[intervals]
at_s = [0.0]
length_s = [10.0]
operations = [100.0]
processor_s = [5.0]
running = [4.0]
[intervals.waiting]
data_read = [2.0]
other = [0.5]
[intervals.data]
reads = [100.0]
read_bytes = [819200.0]
"#;
        let profile = profile::read("a.toml", text).expect("a profile");
        let parts = Parts::recorded(&profile).expect("waits were recorded");
        // 2 of 4 sessions read for 10 s, which 100 operations share.
        assert!((parts[TimePart::Read] - 0.2).abs() < 1e-12);
        assert!((parts[TimePart::Processor] - 0.05).abs() < 1e-12);
        // (4 - 2 - 0.5) x 10 s - 5 s on processors, and the 5 s that were seen.
        assert!((parts[TimePart::Other] - 0.15).abs() < 1e-12);
        assert!((parts.total() - 0.4).abs() < 1e-12);
        assert!((parts.share(TimePart::Read) - 0.5).abs() < 1e-12);
        let unseen = text.replace(
            "[intervals.waiting]\ndata_read = [2.0]\nother = [0.5]\n",
            "",
        );
        let profile = profile::read("a.toml", &unseen).expect("a profile");
        assert_eq!(Parts::recorded(&profile), None);
    }
}
