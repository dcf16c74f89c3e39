//! Which options are valid for a mode and an engine.

use std::collections::BTreeSet;

use crate::Engines;
use crate::options::Options;
use crate::provider::{EngineProvider, Measured, Modelled, Simulated};
use experiment::spec::{Arm, Mode};
use products::{PASSWORDS, PRODUCTS};

/// Incompatible options, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(String);

/// Refuses options that are invalid for this engine and mode, and volumes that are missing or unused by all arms.
///
/// # Errors
/// The first error, with the remedy.
pub fn check(
    engines: &Engines,
    options: &Options,
    engine: &dyn EngineProvider,
    mode: Mode,
    arms: &[Arm],
) -> Result<(), OptionsError> {
    let check = Check {
        engines,
        options,
        engine,
        mode,
    };
    let result = check
        .of_engine(arms)
        .and_then(|()| check.of_mode())
        .and_then(|()| match mode {
            Mode::Measure => check.volumes(arms),
            Mode::Simulate | Mode::Emulate => Ok(()),
        });
    result.map_err(OptionsError)
}

struct Check<'a> {
    engines: &'a Engines,
    options: &'a Options,
    engine: &'a dyn EngineProvider,
    mode: Mode,
}

impl Check<'_> {
    fn of_engine(&self, arms: &[Arm]) -> Result<(), String> {
        let name = self.engine.name();
        if self.options.server.is_some() && !self.engine.takes_server() {
            let servers = self
                .engines
                .built
                .iter()
                .filter(|other| other.takes_server());
            return Err(self.of_another("--server", servers.map(|other| other.name()).collect()));
        }
        for option in self.options.of_product.names() {
            let takes = |engine: &&&dyn EngineProvider| {
                let mut options = engine.options().iter();
                options.any(|known| known.name == option)
            };
            let takers: Vec<&str> = (self.engines.built.iter().filter(takes))
                .map(|engine| engine.name())
                .collect();
            if !takers.contains(&name) {
                return Err(self.of_another(&format!("--{option}"), takers));
            }
        }
        if self.options.server.as_deref().is_some_and(holds_password) {
            return Err(format!(
                "--server holds a password, which everybody on this machine can read in the list of processes; leave it \
                 out, and give it {PASSWORDS}"
            ));
        }
        let is_modelled =
            self.mode == Mode::Simulate && self.engine.simulated() == Some(Simulated::Statements);
        let others = PRODUCTS.into_iter().filter(|product| product.name != name);
        for product in others.filter(|product| product.simulated.is_none() || !is_modelled) {
            let mut arms = arms.iter();
            if let Some(arm) = arms.find(|arm| arm.settings.engine.own.has(product.name)) {
                return Err(format!(
                    "arm \"{arm}\" has settings of {title} itself (engine.{own}), which {name} does not have; add --engine {own} \
                     with --mode emulate or --mode measure, or leave them out",
                    arm = arm.name,
                    title = product.title,
                    own = product.name
                ));
            }
        }
        self.engine.check(self.options, arms)?;
        if self.mode == Mode::Simulate && self.engine.simulated().is_none() {
            return Err(
                "simulate executes SQL itself, in virtual time; for a server add --mode emulate (modelled disks) or \
                 --mode measure (real ones), otherwise leave --engine out"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// The error that `option` belongs to `engines` only.
    fn of_another(&self, option: &str, engines: Vec<&str>) -> String {
        let name = self.engine.name();
        let is_built = |engine: &&str| self.engines.names().any(|known| known == *engine);
        let add: Vec<String> = (engines.iter().filter(|engine| is_built(engine)))
            .map(|engine| format!("--engine {engine}"))
            .collect();
        let remedy = match add.is_empty() {
            true => "this dbstow was built without one that takes it:".to_owned(),
            false => format!("add {}, or", add.join(" or ")),
        };
        format!("{option} is about a server, and the engine is {name}; {remedy} leave {option} out")
    }

    fn of_mode(&self) -> Result<(), String> {
        let (options, mode) = (self.options, self.mode);
        let paced = self.engine.modelled() == Modelled::Paced;
        let emulating = [
            ("--backing", options.backing.is_some()),
            ("--front", options.front.is_some()),
            ("--transport", options.transport.is_some()),
        ];
        if !options.volumes.is_empty() && mode != Mode::Measure {
            return Err(format!(
                "--volume gives real directories to measure, and the mode is {mode}; add --mode \
                 measure, or leave --volume out"
            ));
        }
        for (option, given) in emulating {
            if given && mode != Mode::Emulate {
                return Err(format!(
                    "{option} is about modelled disks under real files, and the mode is {mode}; add \
                     --mode emulate, or leave {option} out"
                ));
            }
            if given && option != "--backing" && paced {
                return Err(format!(
                    "{option} is about FUSE, which {} does without: dbstow paces its requests itself; leave \
                     {option} out, or use another --engine",
                    self.engine.name()
                ));
            }
        }
        if mode == Mode::Emulate && !paced && cfg!(not(target_os = "linux")) {
            return Err(format!(
                "modelled disks under {} need Linux (FUSE); take --engine sqlite, or --mode \
                 measure",
                self.engine.name()
            ));
        }
        Ok(())
    }

    /// Measure: every volume used by an arm has a directory. A server that places its files itself needs none.
    fn volumes(&self, arms: &[Arm]) -> Result<(), String> {
        let roles = match self.engine.measured(arms) {
            Measured::Server(_) if self.options.volumes.is_empty() => return Ok(()),
            Measured::Server(roles) => roles,
            Measured::Directories => self.engine.roles(self.mode).to_vec(),
        };
        let placements = arms.iter().map(|arm| &arm.settings.placement);
        let files = roles.into_iter().flat_map(|role| {
            placements
                .clone()
                .flat_map(move |placement| placement.files(role))
        });
        let used: BTreeSet<&str> = files.map(|file| file.volume.as_str()).collect();
        let listed: Vec<&str> = used.iter().copied().collect();
        let unknown = self
            .options
            .volumes
            .keys()
            .find(|name| !used.contains(name.as_str()));
        if let Some(unknown) = unknown {
            return Err(format!(
                "--volume {unknown}=..: no arm has a volume \"{unknown}\" (they have: {})",
                listed.join(", ")
            ));
        }
        let missing = used
            .iter()
            .filter(|name| !self.options.volumes.contains_key(**name));
        let missing: Vec<&str> = missing.copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let example: Vec<String> = missing
            .iter()
            .map(|name| format!("--volume {name}=/mnt/{name}"))
            .collect();
        Err(format!(
            "measure needs a real directory for every volume, and has none for {}; add {}",
            missing.join(", "),
            example.join(" ")
        ))
    }
}

/// Whether `url` contains a password, before its host or as a parameter.
fn holds_password(url: &str) -> bool {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let place = place.split_once("://").map_or(place, |(_, place)| place);
    let login = place.rsplit_once('@').map_or("", |(login, _)| login);
    login.contains(':') || query.split('&').any(|pair| pair.starts_with("password="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_found_wherever_a_url_may_hold_it() {
        for url in [
            "postgresql://me:pw@host/db",
            "postgresql://me:p@w@host/db",
            "postgresql://host/db?sslmode=disable&password=pw",
        ] {
            assert!(holds_password(url), "{url}");
        }
        for url in [
            "postgresql://me@host:5432/db",
            "postgresql://[::1]:5432/db",
            "postgresql:///db?host=/run/x:y",
        ] {
            assert!(!holds_password(url), "{url}");
        }
    }
}
