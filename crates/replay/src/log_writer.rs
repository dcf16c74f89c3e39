//! How a server writes its log: in which units, and how many writes at the same time; and its other files.
//!
//! What is known of each product, with its sources, is in the tables of [`products`].

use model::{Bytes, Durability};
use products::{LogInFlight, LogLimit, LogWrites};
use profile::{Profile, Wait};
use reading::Role;

/// Write unit of a log whose product is not known: a sector.
pub(super) const SECTOR: Bytes = Bytes(512);

/// Share by which commits may exceed writes before commits are assumed to share writes, since both are not counted at the same
/// instant; and by which recorded writes in flight may exceed a product's limit.
pub(super) const MORE_MAX: f64 = 0.05;

/// How a server writes its log, and its other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogWriter {
    /// It writes whole pages of this size; above 0.
    pub(super) page: Bytes,
    pub(super) in_flight: InFlight,
    /// Whether its temporary files are written to the system's cache, so that sessions wait for reads of them before they wait for
    /// writes.
    pub(super) buffers_temp: bool,
    /// When a write of a data file is durable.
    pub(super) data_durability: Durability,
    /// What to record for commits to be counted.
    commits: Option<&'static str>,
}

/// How many writes a product keeps in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InFlight {
    /// One for each of this many logs; commits in the meantime share the next.
    One { logs: u32 },
    /// One for each commit, up to this limit of the product for a database.
    UpTo {
        limit: LogLimit,
        title: &'static str,
        /// That of older versions, if the version is unknown.
        or: Option<LogLimit>,
    },
    /// As many as recorded: the product is unknown.
    Recorded,
}

/// A log's writes, as recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Recorded {
    /// Mean number in flight: rate times latency (Little's law). `None`: the latency is unknown.
    pub(super) in_flight: Option<f64>,
    /// Operations that waited for the log, for each of them.
    pub(super) commits_per_write: f64,
}

impl LogWriter {
    /// How this product writes; a version is `major.minor..`.
    pub(crate) fn of(product: Option<&str>, version: Option<&str>) -> LogWriter {
        let Some(LogWrites {
            page,
            in_flight,
            title,
            buffers_temp,
            data_durability,
            commits,
            products: _,
        }) = product.and_then(LogWrites::of).copied()
        else {
            return LogWriter {
                page: SECTOR,
                in_flight: InFlight::Recorded,
                buffers_temp: false,
                data_durability: Durability::OnFlush,
                commits: None,
            };
        };
        let in_flight = match in_flight {
            LogInFlight::One { logs } => InFlight::One { logs },
            LogInFlight::UpTo {
                current,
                since,
                before,
            } => {
                let major =
                    version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
                let limit = match major {
                    Some(major) if major < since => before,
                    Some(_) | None => current,
                };
                let or = major.is_none().then_some(before);
                InFlight::UpTo { limit, title, or }
            }
        };
        LogWriter {
            page,
            in_flight,
            buffers_temp,
            data_durability,
            commits,
        }
    }

    /// The commits behind this many log writes, where they were not counted: one each, if the product writes its log for each.
    pub(super) fn commits_of(self, writes: Option<f64>) -> Option<f64> {
        match self.in_flight {
            InFlight::UpTo { .. } => writes,
            InFlight::One { .. } | InFlight::Recorded => None,
        }
    }

    /// What to record for commits to be counted, where `profile` has neither them nor waits for the log, and a log.
    pub(super) fn commits_lacking(self, profile: &Profile) -> Option<&'static str> {
        let has_log = profile.total(|interval| interval.roles.get(&Role::Log)?.writes.count);
        self.commits
            .filter(|_| has_log.is_some_and(|writes| writes > 0.0) && !knows_commits(profile))
    }

    /// Maximum number of writes in flight; at least 1.
    pub(super) fn in_flight_max(self, recorded: Recorded) -> u32 {
        match (self.in_flight, recorded.in_flight) {
            (InFlight::One { .. }, _) | (InFlight::Recorded, None) => 1,
            (InFlight::UpTo { limit, .. }, None) => limit.writes,
            (InFlight::UpTo { limit, .. }, Some(mean)) if mean > f64::from(limit.writes) => {
                databases(mean, limit.writes).saturating_mul(limit.writes)
            }
            (InFlight::UpTo { limit, .. }, Some(mean)) => {
                shared(recorded.commits_per_write, mean, limit.writes)
            }
            (InFlight::Recorded, Some(mean)) => (mean.round() as u32).max(1),
        }
    }
}

/// Whether a profile has commits, or sessions that waited for them.
pub(super) fn knows_commits(profile: &Profile) -> bool {
    let commits = profile.total(|interval| interval.commits);
    let waited = profile.total(|interval| interval.waiting.get(&Wait::Log).copied());
    commits.or(waited).is_some()
}

/// Number of databases that have this many writes in flight.
fn databases(mean: f64, limit: u32) -> u32 {
    (mean / f64::from(limit)).ceil() as u32
}

/// How many writes can be in flight, up to `limit`, when on average `mean` are: commits share writes because others must end
/// first.
///
/// Writes in flight are the servers of a queue with one place to wait, which all commits in the meantime share. With
/// `offered` = commits per second x latency, and Erlang's loss probability `B`, `offered / (1 + offered x B / servers)` are busy.
/// Source: Kleinrock, *Queueing Systems*, volume 1, 1975, chapter 3 (M/M/m/K).
fn shared(commits_per_write: f64, mean: f64, limit: u32) -> u32 {
    let offered = commits_per_write * mean;
    if offered <= mean * (1.0 + MORE_MAX) {
        return limit;
    }
    let (mut all_busy, mut fewer) = (1.0, 0.0);
    for servers in 1..=limit {
        let count = f64::from(servers);
        all_busy = offered * all_busy / (count + offered * all_busy);
        let busy = offered / (1.0 + offered * all_busy / count);
        if busy >= mean {
            let is_nearer = mean - fewer < busy - mean;
            return if is_nearer {
                (servers - 1).max(1)
            } else {
                servers
            };
        }
        fewer = busy;
    }
    limit
}

#[cfg(test)]
mod tests;
