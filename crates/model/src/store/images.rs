//! Full-page images: which pages have changed since the last checkpoint.
//!
//! An engine that does this "writes the entire content of each disk page to WAL during the first modification of that
//! page after a checkpoint" (<https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-FULL-PAGE-WRITES>).

use hashbrown::HashSet;

use crate::time::{Duration, Instant};

/// The pages whose images are in the log since the last checkpoint.
pub(super) struct Images {
    /// Time between two checkpoints; `None`: the last one was before the start.
    interval: Option<Duration>,
    /// Number of checkpoints so far.
    checkpoints: u64,
    logged: HashSet<u64>,
}

impl Images {
    pub(super) fn new(interval: Option<Duration>) -> Images {
        Images {
            interval: interval.filter(|interval| *interval > Duration::ZERO),
            checkpoints: 0,
            logged: HashSet::new(),
        }
    }

    /// Whether the page changed at `now` must be logged whole; it then counts as logged.
    pub(super) fn is_due(&mut self, now: Instant, key: u64) -> bool {
        let checkpoints = self
            .interval
            .map_or(0, |interval| now.as_nanos() / interval.as_nanos());
        if checkpoints > self.checkpoints {
            self.checkpoints = checkpoints;
            self.logged.clear();
        }
        self.logged.insert(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_logged_whole_once_between_two_checkpoints() {
        let mut images = Images::new(Some(Duration::SECOND));
        let mut due = |ms, key| images.is_due(Instant::ZERO + Duration::from_millis(ms), key);
        assert!(due(0, 1) && due(0, 2), "the first change of each");
        assert!(!due(999, 1));
        assert!(due(1_000, 1), "a checkpoint later");
        assert!(!due(1_500, 1));
        assert!(due(7_200, 1) && due(7_200, 2), "several later");
    }

    #[test]
    fn without_checkpoints_a_page_is_logged_whole_once() {
        let mut images = Images::new(None);
        assert!(images.is_due(Instant::ZERO, 1));
        assert!(!images.is_due(Instant::ZERO + Duration::from_secs(3_600), 1));
    }
}
