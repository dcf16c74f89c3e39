//! Which experiment a user asks for, and what of it is changed.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::spec::{Known, Spec, builtin_names};

/// Which experiment, and what of it is changed.
#[derive(Clone, Debug, clap::Args)]
pub struct Asked {
    /// Name of a built-in experiment, or path of an experiment file
    pub experiment: String,
    /// Set a key of the experiment, such as workload.sessions=4; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub set: Vec<(String, String)>,
    /// Use the experiment's own quick settings
    #[arg(long)]
    pub quick: bool,
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
            let text = fs::read_to_string(&self.experiment)
                .with_context(|| format!("cannot read experiment file {}", self.experiment))?;
            Spec::parse(&self.experiment, &text, &overrides, self.quick)?
        } else {
            Spec::builtin(&self.experiment, &overrides, self.quick)?
        };
        Ok(spec.check(known)?)
    }

    /// `--set` in its order, then `--blocks` and `--seed`, which are short for two keys.
    fn overrides(&self) -> Vec<(String, String)> {
        let blocks = self
            .blocks
            .map(|blocks| ("protocol.blocks", blocks.to_string()));
        let seed = self.seed.map(|seed| ("protocol.seed", seed.to_string()));
        let named = [blocks, seed].into_iter().flatten();
        let named = named.map(|(key, value)| (key.to_owned(), value));
        self.set.iter().cloned().chain(named).collect()
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
