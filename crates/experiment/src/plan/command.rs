//! The command that recreates a plan.

use super::Plan;
use crate::shell;
use crate::spec::{EngineName, Variant, builtin_names, builtin_text};

/// Keys with a shorter command-line option.
const SHORT: [(&str, &str); 4] = [
    ("protocol.blocks", "--blocks"),
    ("protocol.seed", "--seed"),
    ("workload.folder", "--workload"),
    ("workload.profile", "--profile"),
];

/// Keys that a report states separately.
const STATED: [&str; 3] = ["protocol.blocks", "protocol.seed", NOMINAL];

/// The key of `--nominal`.
const NOMINAL: &str = "protocol.nominal";

impl Plan {
    /// The user's changes to the experiment for this run, as text, one entry each.
    pub fn changed(&self) -> Vec<String> {
        let quick = self.variant.quick.then(|| {
            "quick settings (less work on less data: ratios and reasons may differ)".to_owned()
        });
        let set = self.overrides.iter();
        let set = set.filter(|(key, _)| !STATED.contains(&key.as_str()));
        let set = set.map(|(key, value)| format!("{key} = {value}"));
        quick.into_iter().chain(set).collect()
    }

    /// The command that recreates it, quoted for a shell; an experiment that is not built in is assumed to be in a file of its
    /// name.
    pub fn command(&self) -> String {
        let mut words = vec!["dbstow".to_owned(), "run".to_owned(), experiment(self)];
        let Variant {
            mode,
            engine,
            quick,
        } = &self.variant;
        let default = Variant {
            engine: builtin_text(&self.experiment)
                .map_or_else(|_| EngineName::default(), EngineName::meant_by),
            ..Variant::default()
        };
        words.extend(quick.then(|| "--quick".to_owned()));
        if *mode != default.mode {
            words.extend(["--mode".to_owned(), mode.to_string()]);
        }
        if *engine != default.engine {
            words.extend(["--engine".to_owned(), engine.to_string()]);
        }
        words.extend(self.twin.is_some().then(|| "--aa".to_owned()));
        for file in &self.catalogues {
            words.extend(["--catalogue".to_owned(), file.clone()]);
        }
        for (key, value) in &self.overrides {
            match SHORT.iter().find(|(long, _)| long == key) {
                Some((_, option)) => words.extend([(*option).to_owned(), value.clone()]),
                None if key == NOMINAL && value == "true" => words.push("--nominal".to_owned()),
                None => words.extend(["--set".to_owned(), format!("{key}={value}")]),
            }
        }
        for (name, value) in &self.place {
            match name.strip_prefix("volume ") {
                Some(volume) => words.extend(["--volume".to_owned(), format!("{volume}={value}")]),
                None => words.extend([format!("--{name}"), value.clone()]),
            }
        }
        shell::line(words)
    }
}

/// Its name, or that of its file.
fn experiment(plan: &Plan) -> String {
    let name = &plan.experiment;
    if builtin_names().contains(&name.as_str()) {
        name.clone()
    } else {
        format!("{name}.toml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Mode, Spec};

    fn of(overrides: &[(&str, &str)], variant: Variant, aa: bool) -> Plan {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let overrides: Vec<_> = overrides.iter().map(own).collect();
        let spec = Spec::builtin("tempdb-spill", &overrides, variant).expect("it is built in");
        Plan::new(&spec, aa)
    }

    #[test]
    fn a_plain_run_is_a_plain_command() {
        let plan = of(&[], Variant::default(), false);
        assert_eq!(plan.command(), "dbstow run tempdb-spill");
    }

    #[test]
    fn an_engine_that_the_experiment_is_not_meant_for_is_named() {
        let plan = |engine| {
            let variant = Variant {
                engine,
                ..Variant::default()
            };
            let spec = Spec::builtin("volume-alone", &[], variant).expect("it is built in");
            Plan::new(&spec, false).command()
        };
        assert_eq!(plan(EngineName::new("raw")), "dbstow run volume-alone");
        assert_eq!(
            plan(EngineName::SQLITE),
            "dbstow run volume-alone --engine sqlite"
        );
    }

    #[test]
    fn whatever_was_asked_is_in_the_command() {
        let variant = Variant {
            mode: Mode::Measure,
            engine: EngineName::new("postgres"),
            quick: true,
        };
        let plan = of(
            &[
                ("engine.memory", "8 MiB"),
                ("protocol.seed", "7"),
                ("protocol.nominal", "true"),
            ],
            variant,
            true,
        );
        let place = [("volume d".to_owned(), "/mnt/a b".to_owned())].into();

        assert_eq!(
            plan.reading(vec!["own.toml".to_owned()])
                .at(place)
                .command(),
            "dbstow run tempdb-spill --quick --mode measure --engine postgres --aa --catalogue own.toml \
             --set 'engine.memory=8 MiB' --seed 7 --nominal --volume 'd=/mnt/a b'"
        );
    }
}
