//! Keys that only matter for runs, for commands that use the placements of an experiment alone.

use super::Idle;

impl Idle {
    /// Keys of `set` that only matter for runs, except those that are `used`, with the reason.
    pub fn without_run(set: &[(String, String)], used: &[&str], why: &str) -> Vec<Idle> {
        let of_runs = ["workload", "engine", "protocol"];
        let is_in = |key: &str, section: &str| {
            let rest = key.strip_prefix(section);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let keys = set.iter().map(|(key, _)| key);
        let idle = keys.filter(|key| {
            of_runs.iter().any(|section| is_in(key, section))
                && !used.iter().any(|used| is_in(key, used))
        });
        let idle = idle.map(|key| Idle {
            key: key.clone(),
            why: why.to_owned(),
        });
        idle.collect()
    }
}
