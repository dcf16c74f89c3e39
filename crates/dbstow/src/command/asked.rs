//! Which experiment a user asks for, and what of it is changed.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::spec::{EngineKind, Known, Mode, Spec, SpecError, Variant, builtin_names};

/// Which experiment, and what of it is changed.
#[derive(Clone, Debug, clap::Args)]
pub struct Asked {
    /// Name of a built-in experiment, or path of an experiment file
    pub experiment: String,
    /// Set a key of the experiment, such as workload.sessions=4; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub set: Vec<(String, String)>,
    /// Run this workload instead: a folder, an .sql file, or a settings file of SQLQueryStress (.json)
    #[arg(long, value_name = "PATH")]
    pub workload: Option<String>,
    /// Use the experiment's own quick settings
    #[arg(long)]
    pub quick: bool,
    /// How it is carried out
    #[arg(long, value_enum, default_value_t)]
    pub mode: Mode,
    /// What carries the workload out
    #[arg(long, value_enum, default_value_t)]
    pub engine: EngineKind,
    /// How often every arm is run
    #[arg(long)]
    pub blocks: Option<u32>,
    /// Seed of all randomness
    #[arg(long)]
    pub seed: Option<u64>,
}

impl Asked {
    /// Reads and checks the experiment.
    ///
    /// # Errors
    /// When it cannot be read, or has a mistake.
    pub fn spec(&self, known: &dyn Known) -> Result<Spec> {
        let overrides = self.overrides();
        let spec = if is_path(&self.experiment) {
            let text =
                fs::read_to_string(&self.experiment).map_err(|error| SpecError::Unreadable {
                    file: self.experiment.clone(),
                    why: error.to_string(),
                })?;
            Spec::parse(&self.experiment, &text, &overrides, self.variant())?
        } else {
            Spec::builtin(&self.experiment, &overrides, self.variant())?
        };
        let spec = spec.check(known)?;
        Ok(match self.workload {
            None => spec,
            Some(_) => spec.without_published(),
        })
    }

    /// Which reading of the file is wanted.
    fn variant(&self) -> Variant {
        Variant {
            mode: self.mode,
            engine: self.engine,
            quick: self.quick,
        }
    }

    /// `--workload`, then `--set` in its order, so that it can set the workload's parameters, then
    /// `--blocks` and `--seed`: the three are short for a key each.
    fn overrides(&self) -> Vec<(String, String)> {
        let blocks = self
            .blocks
            .map(|blocks| ("protocol.blocks", blocks.to_string()));
        let seed = self.seed.map(|seed| ("protocol.seed", seed.to_string()));
        let own = |(key, value): (&str, String)| (key.to_owned(), value);
        let workload = self
            .workload
            .clone()
            .map(|path| own(("workload.folder", path)));
        let named = [blocks, seed].into_iter().flatten().map(own);
        let set = self.set.iter().cloned();
        workload.into_iter().chain(set).chain(named).collect()
    }
}

/// A name that is built in is that experiment, whatever the current folder holds.
fn is_path(experiment: &str) -> bool {
    !builtin_names().contains(&experiment)
        && (experiment.contains(['/', '\\', '.']) || Path::new(experiment).exists())
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| "give a key and a value, such as workload.sessions=4".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_built_in_name_is_not_taken_for_a_path() {
        assert!(!is_path("tempdb-spill"));
        assert!(!is_path("tempdb-spil"));
        assert!(is_path("mine.toml"));
        assert!(is_path("experiments/tempdb-spill.toml"));
    }

    #[test]
    fn a_value_may_hold_an_equals_sign() {
        let both = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(key_and_value("a.b = c=d"), both("a.b", "c=d"));
        assert!(key_and_value("a.b").is_err());
    }
}
