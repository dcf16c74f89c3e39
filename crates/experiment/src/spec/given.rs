//! The keys that a file gives, and those of them that have no effect.

use std::collections::BTreeMap;

use super::arm::SETTABLE;
use super::settings::Settings;

/// A key without effect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Idle {
    /// The key, dotted.
    pub key: String,
    /// Why; lower case, without a full stop.
    pub why: String,
}

impl Idle {
    /// The section that the key is in, whether the file or an arm sets it.
    pub fn section(&self) -> &str {
        let key = self.key.split_once(".set.\"");
        let key = key.map_or(self.key.as_str(), |(_, own)| own);
        key.split('.').next().unwrap_or_default()
    }

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

/// The keys given for an arm, dotted.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) keys: Vec<String>,
    /// The arm's name in the file.
    arm: String,
    /// What the arm sets itself: keys, or whole sections of them.
    own: Vec<String>,
}

impl Given {
    /// The keys of `text`, TOML, in the sections that make up an arm and its comparison. Those of parts that its placement does
    /// not use are for other arms, unless the arm itself sets them.
    pub(super) fn of(
        text: &str,
        arm: &str,
        set: &BTreeMap<String, toml::Value>,
        settings: &Settings,
    ) -> Given {
        let sections = SETTABLE.into_iter().chain(["protocol"]);
        let mut given = Given {
            keys: Vec::new(),
            arm: arm.to_owned(),
            own: set.keys().cloned().collect(),
        };
        let mut keys = leaves_of(text, sections);
        keys.retain(|key| given.set_by_arm(key).is_some() || is_of(settings, key));
        given.keys = keys;
        given
    }

    /// The key of the arm's own settings that sets `key`.
    fn set_by_arm(&self, key: &str) -> Option<&str> {
        let is_in = |own: &&String| {
            let rest = key.strip_prefix(own.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.own.iter().find(is_in).map(String::as_str)
    }

    /// `key` as the file has it: other arms may set it, too, or use what this one does not.
    pub(super) fn named(&self, key: &str) -> String {
        match self.set_by_arm(key) {
            None => key.to_owned(),
            Some(own) => format!("arm.{}.set.\"{own}\"{}", self.arm, &key[own.len()..]),
        }
    }
}

/// Whether the arm has the volume or the placement that `key` is about.
fn is_of(settings: &Settings, key: &str) -> bool {
    match key.split('.').collect::<Vec<_>>()[..] {
        ["volume", volume, ..] => settings.volume(volume).is_some(),
        ["placement", placement, ..] => placement == settings.placement.name,
        _ => true,
    }
}

/// The dotted keys of `text`, TOML, in `sections`.
fn leaves_of<'a>(text: &str, sections: impl Iterator<Item = &'a str>) -> Vec<String> {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    let mut keys = Vec::new();
    for section in sections {
        if let Some(value) = table.get(section) {
            leaves(section, value, &mut keys);
        }
    }
    keys
}

fn leaves(path: &str, value: &toml::Value, keys: &mut Vec<String>) {
    match value.as_table() {
        None => keys.push(path.to_owned()),
        Some(table) => {
            for (key, value) in table {
                leaves(&format!("{path}.{key}"), value, keys);
            }
        }
    }
}

/// The dotted keys of standalone volumes.
pub(super) fn given_alone(text: &str) -> Vec<String> {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    let mut keys = Vec::new();
    for (section, value) in &table {
        leaves(section, value, &mut keys);
    }
    keys
}
