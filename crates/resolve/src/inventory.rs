//! Resolves names in an experiment: the catalogue's disks and machines, engines, and workloads.

mod known;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::Duration;
use replay::DemandSeries;

use crate::carried::{Inputs, Named};
use crate::work::{Recording, Work};
use catalogue::{Catalogue, CatalogueError};
use engine::Engines;
use experiment::spec::{self, Arrival, EngineName, Parameter, Script};
use files::input::{self, Reach};
use workload::{Dialect, Files, Value, Workload};

/// The catalogue, the engines, and the source of workloads.
pub struct Inventory {
    /// The engines.
    pub engines: Engines,
    /// Disks and machines.
    pub catalogue: Catalogue,
    /// Digests of the user's own files.
    own: Own,
    /// The SQL dialect of the workloads.
    pub dialect: Dialect,
    /// Where the files of a workload may be.
    pub reach: Reach,
}

/// The user's own files: digests of those that define disks and machines, by name.
#[derive(Default)]
struct Own {
    disks: BTreeMap<String, String>,
    machines: BTreeMap<String, String>,
    /// Digest of the last file, including all before it.
    last: String,
    /// The files.
    files: Vec<Named>,
    /// All of the user's files that may be read, if they came with a plan.
    carried: Option<Inputs>,
}

impl Inventory {
    /// The built-in catalogue, these engines, and workloads in SQLite's dialect.
    pub fn with_engines(engines: Engines) -> Inventory {
        Inventory {
            engines,
            catalogue: Catalogue::builtin(),
            dialect: Dialect::SQLITE,
            reach: Reach::Beneath,
            own: Own::default(),
        }
    }

    /// Adds a catalogue file of the user's own. Returns the names of its disks.
    ///
    /// # Errors
    /// When the text is not a catalogue file, refers to something unknown, or redefines a name.
    pub fn add_catalogue(&mut self, text: &str, file: &str) -> Result<Vec<String>, CatalogueError> {
        let (disks, machines) = (
            names_of_disks(&self.catalogue),
            names_of_machines(&self.catalogue),
        );
        self.catalogue.add(text, file)?;
        self.own.files.push(Named {
            name: file.to_owned(),
            text: text.to_owned(),
        });
        // A file may refer to classes in earlier files, which then determine its disks.
        let is_alone = Catalogue::builtin().add(text, file).is_ok();
        let all = format!("{}{text}", self.own.last);
        self.own.last = experiment::plan::digest_of(all.as_bytes());
        let digest = match is_alone {
            true => experiment::plan::digest_of(text.as_bytes()),
            false => self.own.last.clone(),
        };
        let is_new = |known: &BTreeSet<String>, names: BTreeSet<String>| -> Vec<String> {
            names.difference(known).cloned().collect()
        };
        let disks = is_new(&disks, names_of_disks(&self.catalogue));
        let machines = is_new(&machines, names_of_machines(&self.catalogue));
        let with_digest = |name: &String| (name.clone(), digest.clone());
        self.own.disks.extend(disks.iter().map(with_digest));
        self.own.machines.extend(machines.iter().map(with_digest));
        Ok(disks)
    }

    /// The same, with workloads for `engine`; unchanged if no engine has this name.
    pub fn of_engine(self, engine: &EngineName) -> Inventory {
        let engine = self.engines.find(engine);
        let dialect = engine.map_or(self.dialect, |engine| engine.dialect());
        Inventory { dialect, ..self }
    }

    /// The same, with the files of workloads restricted by `reach`.
    pub fn reaching(self, reach: Reach) -> Inventory {
        Inventory { reach, ..self }
    }

    /// The same, where the user's own workloads and profiles are only those that came with a plan.
    pub fn carrying(mut self, inputs: Inputs) -> Inventory {
        self.own.carried = Some(inputs);
        self
    }

    /// The user's own catalogue files, in the order in which they were added.
    pub fn own_catalogues(&self) -> &[Named] {
        &self.own.files
    }

    /// The files of the workload at `path`.
    ///
    /// # Errors
    /// When they cannot be read, or contain an error.
    pub fn files_of_workload(&self, path: &str) -> Result<Files, String> {
        if let Some(inputs) = &self.own.carried {
            return inputs.workload(path).cloned();
        }
        let files = Workload::files(Path::new(path), self.dialect, self.reach);
        files.map_err(|error| error.to_string())
    }

    /// The text of a profile.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text_of_profile(&self, file: &str) -> Result<String, String> {
        if let Some(inputs) = &self.own.carried {
            return inputs.profile(file).cloned();
        }
        input::named(Path::new(file)).map_err(|error| {
            format!("{file}: {error}; give a profile, such as `dbstow record` writes")
        })
    }

    /// The work of the sessions that an experiment specifies.
    ///
    /// # Errors
    /// An unknown workload or profile, or what is wrong with it.
    pub fn work(&self, asked: &spec::Workload) -> Result<Work, String> {
        match &asked.script {
            Script::Profile { file, window } => {
                let (Recording { profile, demand }, _) = self.recording(file, *window)?;
                let demand = demand.map(|demand| {
                    let demand = match demand.sessions_max() {
                        recorded if recorded == asked.sessions => demand,
                        _ => demand.with_sessions(asked.sessions),
                    };
                    match asked.arrival {
                        Arrival::Closed { .. } => demand,
                        Arrival::Open { rate_per_s } => demand.with_rate(rate_per_s),
                    }
                });
                Ok(Work::Recording(Box::new(Recording { profile, demand })))
            }
            Script::BuiltIn(_) | Script::Folder(_) => {
                self.workload(asked).map(Box::new).map(Work::Statements)
            }
        }
    }

    /// The busiest `window` of a profile, and the digest of its file.
    fn recording(&self, file: &str, window: Duration) -> Result<(Recording, String), String> {
        let text = self.text_of_profile(file)?;
        let profile = profile::read(file, &text).map_err(|error| error.to_string())?;
        let profile = profile.busiest(window).in_common_roles();
        let demand = DemandSeries::of(&profile);
        let digest = experiment::plan::digest_of(text.as_bytes());
        Ok((Recording { profile, demand }, digest))
    }

    /// A workload with its parameters set as in the experiment.
    ///
    /// # Errors
    /// An unknown workload, or what is wrong with it.
    pub fn workload(&self, asked: &spec::Workload) -> Result<Workload, String> {
        let mut workload = self.read(&asked.script)?;
        for (name, parameter) in &asked.parameters {
            let value = match parameter {
                Parameter::Integer(value) => Value::Int(*value),
                Parameter::Number(value) => Value::Double(*value),
                Parameter::Text(text) => Value::Text(text.clone()),
            };
            workload
                .set_parameter(name, value)
                .map_err(|error| error.to_string())?;
        }
        if let Some(bytes) = asked.log_bytes_per_row {
            workload.run.log_bytes_per_row = bytes;
        }
        Ok(workload)
    }

    /// A built-in workload, a folder, a SQL script, or a SQLQueryStress settings file.
    ///
    /// # Errors
    /// An unknown workload, or what is wrong with it.
    pub fn read(&self, script: &Script) -> Result<Workload, String> {
        let dialect = self.dialect;
        let result = match script {
            Script::BuiltIn(name) => Workload::builtin(name, dialect),
            Script::Folder(path) => {
                let carried = self.own.carried.as_ref();
                let carried = carried.map(|inputs| inputs.workload(path)).transpose()?;
                let path = Path::new(path);
                match carried {
                    None => Workload::from_path(path, dialect, self.reach),
                    Some(files) => Workload::from_files(path, files, dialect),
                }
            }
            Script::Profile { file, .. } => {
                return Err(format!(
                    "{file} is a profile, which has no statements; run it with --profile"
                ));
            }
        };
        result.map_err(|error| error.to_string())
    }
}

fn names_of_disks(catalogue: &Catalogue) -> BTreeSet<String> {
    catalogue.disks().map(|disk| disk.name.clone()).collect()
}

fn names_of_machines(catalogue: &Catalogue) -> BTreeSet<String> {
    let machines = catalogue.machines();
    machines.map(|machine| machine.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EMBEDDED;
    use experiment::spec::Known as _;

    const DISK: &str = r#"
        [source.mine]
        title = "a test"
        date = "2026"
        [disk."mine.disk"]
        class = "CLASS"
        title = "a disk"
        aliases = ["mine.alias"]
        size = "1 TiB"
        iops = 1000
        confidence = "assumed"
        sources = ["mine"]
        [machine."mine.machine"]
        cores = 2
        memory = "8 GiB"
        limits = {}
        confidence = "assumed"
        sources = ["mine"]
    "#;

    fn class(read: &str) -> String {
        format!(
            "[class.own]\ntitle = \"a class\"\nread = {{ value = \"{read}\", assumed = \"a test\" }}\n\
             write = {{ value = \"1 ms\", assumed = \"a test\" }}\nflush = {{ value = \"1 ms\", assumed = \"a test\" }}\n"
        )
    }

    fn digests(files: &[&str]) -> [Option<String>; 3] {
        let mut inventory = Inventory::with_engines(EMBEDDED);
        for (at, text) in files.iter().enumerate() {
            let added = inventory.add_catalogue(text, &format!("{at}.toml"));
            added.expect("a valid file");
        }
        [
            inventory.entry("mine.disk"),
            inventory.entry("mine.alias"),
            inventory.machine_entry("mine.machine"),
        ]
    }

    #[test]
    fn disks_and_machines_of_a_file_have_its_digest_and_those_that_ship_have_none() {
        let text = DISK.replace("CLASS", "local-nvme");
        let digest = Some(experiment::plan::digest_of(text.as_bytes()));
        assert_eq!(digests(&[&text]), [digest.clone(), digest.clone(), digest]);
        assert_eq!(Inventory::with_engines(EMBEDDED).entry("aws.gp3"), None);
        assert_eq!(
            Inventory::with_engines(EMBEDDED).machine_entry("azure.DS2"),
            None
        );
    }

    #[test]
    fn a_file_before_it_is_in_the_digest_of_a_disk_only_where_that_needs_it() {
        let alone = DISK.replace("CLASS", "local-nvme");
        assert_eq!(digests(&[&class("1 ms"), &alone]), digests(&[&alone]));
        let needs = DISK.replace("CLASS", "own");
        let of = |read: &str| digests(&[&class(read), &needs]);
        assert_eq!(of("1 ms"), of("1 ms"));
        assert_ne!(of("1 ms"), of("2 ms"), "another disk under the same name");
    }
}
