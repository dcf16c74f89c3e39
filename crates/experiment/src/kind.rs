//! Identifies a file given in place of another: its own parser would only complain about a character in it.

use serde_json::Value;
use thiserror::Error;

/// A dbstow file, by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Empty, or blank.
    Empty,
    /// An experiment, or a server's layout in the same format.
    Experiment,
    /// What a server asked of its disks.
    Profile,
    /// A plan, as `dbstow plan --out` writes it.
    Plan,
    /// Disks and machines.
    Catalogue,
    /// A JSON document of another kind.
    Document,
    /// Machine and volumes alone; only ever wanted, by `mount`.
    Volumes,
    /// What `doctor` wrote of a server; only ever wanted.
    Capture,
}

/// A file of another kind was given.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}: {why}")]
pub struct OtherKind {
    /// The file, as named by the user.
    pub file: String,
    /// What it is, what is wanted, and the remedy.
    pub why: String,
}

impl Kind {
    /// The kind of `text`; `None` where it resembles no file of dbstow.
    pub fn of(text: &str) -> Option<Kind> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Some(Kind::Empty);
        }
        if text.starts_with('{') {
            let document: Value = serde_json::from_str(text).ok()?;
            let schema = document.get("schema")?.as_str()?.strip_prefix("dbstow.")?;
            let is_plan = schema.split('/').next() == Some("plan");
            return Some(if is_plan { Kind::Plan } else { Kind::Document });
        }
        let table: toml::Table = toml::from_str(text).ok()?;
        let has = |key: &str| table.contains_key(key);
        let format = table.get("format").and_then(toml::Value::as_str);
        if format.is_some_and(|format| format.starts_with("dbstow.profile")) {
            Some(Kind::Profile)
        } else if has("placement") || has("workload") || has("question") {
            Some(Kind::Experiment)
        } else if has("disk") || has("class") {
            Some(Kind::Catalogue)
        } else {
            None
        }
    }

    /// Refuses `text` of `file` that resembles a file of another kind. It need not be a valid file of this one.
    ///
    /// # Errors
    /// What it is, and what it is used for.
    pub fn check(self, file: &str, text: &str) -> Result<(), OtherKind> {
        let wanted = self;
        let Some(found) = Kind::of(text).filter(|found| *found != wanted) else {
            return Ok(());
        };
        if (wanted, found) == (Kind::Volumes, Kind::Experiment) && is_layout(text) {
            return Ok(());
        }
        let remedy = match (wanted, found) {
            (_, Kind::Empty) => wanted.made().to_owned(),
            (Kind::Plan, Kind::Experiment) => {
                format!("`dbstow plan {file} --out plan.json` makes a plan of it")
            }
            (Kind::Volumes, Kind::Experiment) => {
                "put its [machine] and [volume.NAME] in a file of their own".to_owned()
            }
            (_, Kind::Experiment) => format!("`dbstow run {file}` runs it"),
            (Kind::Experiment, Kind::Profile) => {
                format!("`dbstow run EXPERIMENT --profile {file}` replays it")
            }
            (_, Kind::Profile) => format!("`dbstow profile {file}` shows it"),
            (_, Kind::Plan) => format!("`dbstow trial {file} --out FOLDER` runs its trials"),
            (_, Kind::Catalogue) => format!("give it with --catalogue {file}"),
            (_, Kind::Document | Kind::Volumes | Kind::Capture) => wanted.made().to_owned(),
        };
        let (found, wanted) = (found.name(), wanted.name());
        Err(OtherKind {
            file: file.to_owned(),
            why: format!("this is {found}, not {wanted}; {remedy}"),
        })
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Empty => "an empty file",
            Kind::Experiment => "an experiment",
            Kind::Profile => "a profile",
            Kind::Plan => "a plan",
            Kind::Catalogue => "a catalogue file",
            Kind::Document => "another document of dbstow",
            Kind::Volumes => "a file of volumes",
            Kind::Capture => "a capture of a server",
        }
    }

    /// How such a file is created.
    fn made(self) -> &'static str {
        match self {
            Kind::Empty | Kind::Document | Kind::Experiment => {
                "begin with a built-in one: `dbstow experiments tempdb-scale-out > mine.toml`"
            }
            Kind::Profile => "`dbstow record` and `dbstow import` write one",
            Kind::Plan => "`dbstow plan EXPERIMENT --out FILE` writes one",
            Kind::Catalogue => "`dbstow calibrate` writes one",
            Kind::Volumes => "give a TOML file with [volume.NAME] sections",
            Kind::Capture => "`dbstow doctor --out FILE` writes one",
        }
    }
}

/// Whether `text` has machine, volumes and placements alone: the layout of a server.
fn is_layout(text: &str) -> bool {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    let known = ["machine", "volume", "placement"];
    table.keys().all(|key| known.contains(&key.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::builtin_text;

    #[test]
    fn each_kind_is_known_by_what_is_in_it() {
        let experiment = builtin_text("tempdb-scale-out").expect("built in");
        let profile = include_str!("../../../examples/shop.toml");
        for (text, kind) in [
            ("", Some(Kind::Empty)),
            (" \n", Some(Kind::Empty)),
            (experiment, Some(Kind::Experiment)),
            (profile, Some(Kind::Profile)),
            ("{\"schema\": \"dbstow.plan/4\"}", Some(Kind::Plan)),
            ("{\"schema\": \"dbstow.advice/1\"}", Some(Kind::Document)),
            (
                "[disk.\"mine.a\"]\nclass = \"local-nvme\"",
                Some(Kind::Catalogue),
            ),
            ("select 1;", None),
            ("{", None),
        ] {
            assert_eq!(Kind::of(text), kind, "{text}");
        }
    }

    #[test]
    fn what_is_given_in_place_of_another_is_named_with_what_it_is_for() {
        let experiment = builtin_text("tempdb-scale-out").expect("built in");
        let refused = |wanted: Kind, text: &str| {
            let error = wanted.check("mine.toml", text);
            error.expect_err("it is another kind").to_string()
        };
        assert_eq!(
            refused(Kind::Plan, experiment),
            "mine.toml: this is an experiment, not a plan; `dbstow plan mine.toml --out plan.json` makes a plan of it"
        );
        assert_eq!(Kind::Experiment.check("mine.toml", experiment), Ok(()));
        assert!(refused(Kind::Volumes, experiment).contains("not a file of volumes"));
        let layout = include_str!("../../../examples/today.toml");
        assert_eq!(Kind::Volumes.check("today.toml", layout), Ok(()));
        let empty = refused(Kind::Experiment, "");
        assert!(empty.contains("an empty file"), "{empty}");
    }
}
