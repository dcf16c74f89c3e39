//! What is assumed of the log of a profile, in a sentence.

use products::LogLimit;
use profile::Profile;
use reading::Role;

use super::demand::LogDemand;
use super::log_writer::{InFlight, LogWriter, MORE_MAX, knows_commits};

impl LogWriter {
    /// The assumption about the log of `profile`, of these periods; `None` if the product's behaviour is known, or
    /// if no session waits for a log.
    pub(super) fn assumption(
        self,
        profile: &Profile,
        logs: impl Iterator<Item = LogDemand> + Clone,
    ) -> Option<String> {
        let waited_for = logs.filter(|log| log.commits_per_operation > 0.0);
        let most = waited_for.map(|log| log.in_flight_max);
        let (low, high) = (most.clone().min()?, most.max()?);
        let waited = profile.total(|interval| {
            let waited = interval.roles.get(&Role::Log)?.writes.waited?;
            Some(waited.as_secs_f64())
        });
        let mean = waited.map(|waited| waited / profile.covered().as_secs_f64());
        let recorded = match mean {
            Some(mean) => format!("{mean:.1} were recorded on average"),
            None => "how many there were was not recorded".to_owned(),
        };
        match self.in_flight {
            InFlight::One { logs }
                if mean.is_none_or(|mean| mean <= f64::from(logs) * (1.0 + MORE_MAX)) =>
            {
                None
            }
            InFlight::One { .. } => {
                let product = profile.origin.product.as_deref().unwrap_or("the server");
                Some(format!(
                    "One log write at a time is replayed, as {product} writes; {recorded}, so that other requests are counted \
                     among them."
                ))
            }
            InFlight::UpTo { limit, title, or } => {
                let LogLimit { writes, versions } = limit;
                let or = or.map(|or| {
                    format!(
                        "; the version was not recorded, and {} it is {}",
                        or.versions, or.writes
                    )
                });
                let or = or.unwrap_or_default();
                let is_known = knows_commits(profile);
                let why = match high {
                    high if high > writes => ", of several databases",
                    high if high < writes && is_known => {
                        ", as commits were recorded to share writes"
                    }
                    _ => "",
                };
                let counted = match is_known {
                    true => "",
                    false => "Commits were not recorded: each log write is taken as one commit. ",
                };
                Some(format!(
                    "{counted}Up to {} in flight{why}; {recorded}, and {title}'s limit for a database is {writes} ({versions}{or}).",
                    log_writes(low, high)
                ))
            }
            InFlight::Recorded => Some(format!(
                "The product was not recorded: up to {} in flight; {recorded}.",
                log_writes(low, high)
            )),
        }
    }
}

/// The most log writes in flight, and the fewest where periods differ.
pub(super) fn log_writes(low: u32, high: u32) -> String {
    match (low, high) {
        (1, 1) => "1 log write is".to_owned(),
        (low, high) if low == high => format!("{high} log writes are"),
        (low, high) => format!("{high} log writes (at some times up to {low}) are"),
    }
}
