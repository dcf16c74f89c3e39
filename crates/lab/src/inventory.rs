//! What names in an experiment stand for: the catalogue's disks and machines, and workloads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use model::Bytes;

use crate::engine::{LEFT_OUT, provider};
use crate::trial::Stage;
use catalogue::{Catalogue, CatalogueError};
use experiment::spec::{
    self, EngineName, Known, KnownWorkload, Machine, Parameter, Script, Volume,
};
use files::input::Reach;
use workload::{Dialect, Value, Workload};

/// The catalogue, and where workloads come from.
#[derive(Default)]
pub struct Inventory {
    /// Disks and machines.
    pub catalogue: Catalogue,
    /// Digests of the files that disks of the user's own are from, by the names of the disks.
    own: BTreeMap<String, String>,
    /// What the engine speaks that workloads are for.
    pub dialect: Dialect,
    /// Where the files of a workload may be.
    pub reach: Reach,
}

impl Inventory {
    /// What the program brings along; workloads in SQLite's dialect.
    pub fn builtin() -> Inventory {
        Inventory {
            catalogue: Catalogue::builtin(),
            dialect: Dialect::Sqlite,
            reach: Reach::Beneath,
            own: BTreeMap::new(),
        }
    }

    /// Adds a catalogue file of the user's own. Gives the names of its disks.
    ///
    /// # Errors
    /// When the text is not a catalogue file, refers to something unknown, or defines a name again.
    pub fn add_catalogue(&mut self, text: &str, file: &str) -> Result<Vec<String>, CatalogueError> {
        let known: BTreeSet<String> = self
            .catalogue
            .disks()
            .map(|disk| disk.name.clone())
            .collect();
        self.catalogue.add(text, file)?;
        let all = self.catalogue.disks().map(|disk| disk.name.clone());
        let names: Vec<String> = all.filter(|name| !known.contains(name)).collect();
        let digest = experiment::plan::digest_of(text.as_bytes());
        let own = names.iter().map(|name| (name.clone(), digest.clone()));
        self.own.extend(own);
        Ok(names)
    }

    /// The same, with workloads for `engine`; as it is, where there is none of this name.
    pub fn of_engine(self, engine: &EngineName) -> Inventory {
        let dialect = provider(engine).map_or(self.dialect, |engine| engine.dialect());
        Inventory { dialect, ..self }
    }

    /// The same, with the files of workloads where `reach` allows them to be.
    pub fn reaching(self, reach: Reach) -> Inventory {
        Inventory { reach, ..self }
    }

    /// A workload with its parameters set as an experiment says.
    ///
    /// # Errors
    /// No such workload, or what is wrong with it.
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
        Ok(workload)
    }

    /// A built-in workload, a folder, a SQL script, or a SQLQueryStress settings file.
    ///
    /// # Errors
    /// No such workload, or what is wrong with it.
    pub fn read(&self, script: &Script) -> Result<Workload, String> {
        let dialect = self.dialect;
        let result = match script {
            Script::BuiltIn(name) => Workload::builtin(name, dialect),
            Script::Folder(path) => {
                let path = Path::new(path);
                match path.extension().and_then(|end| end.to_str()) {
                    Some("sql") => Workload::from_sql_file(path, 1, 1, dialect),
                    Some("json") => Workload::from_sqlquerystress(path, dialect),
                    Some(_) | None => Workload::from_folder(path, dialect, self.reach),
                }
            }
        };
        result.map_err(|error| error.to_string())
    }
}

impl Known for Inventory {
    fn engine(&self, name: &EngineName) -> Result<(), String> {
        // One that is left out may still be what a file is meant for; whoever runs it looks it up.
        let is_left_out = LEFT_OUT
            .iter()
            .any(|(left_out, _)| *left_out == name.as_str());
        match provider(name) {
            Err(error) if !is_left_out => Err(error.to_string()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn machine(&self, machine: &Machine) -> Result<(), String> {
        match &machine.kind {
            Some(kind) => self
                .catalogue
                .machine(kind)
                .map(|_| ())
                .map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    fn disk(&self, machine: &Machine, volume: &Volume) -> Result<Option<Bytes>, String> {
        let disk =
            Stage::disk_of(volume, machine, &self.catalogue).map_err(|error| error.to_string())?;
        Ok(Some(disk.size).filter(|size| size.0 < u64::MAX))
    }

    fn entry(&self, name: &str) -> Option<String> {
        self.own.get(name).cloned()
    }

    fn workload(&self, script: &Script) -> Result<KnownWorkload, String> {
        let workload = self.read(script)?;
        let parameter = |(name, value): (&String, &Value)| {
            let parameter = match value {
                Value::Int(value) => Parameter::Integer(*value),
                Value::Double(value) => Parameter::Number(*value),
                Value::Text(text) => Parameter::Text(text.clone()),
                Value::Null => Parameter::Text(String::new()),
            };
            (name.clone(), parameter)
        };
        let parameters: BTreeMap<_, _> = workload.parameters().iter().map(parameter).collect();
        // The scripts as they were read: a changed script is another plan.
        let mut text = String::new();
        write!(text, "{:?} {:?}", workload.load, workload.run)
            .expect("writing to a string does not fail");
        Ok(KnownWorkload {
            parameters,
            digest: experiment::plan::digest_of(text.as_bytes()),
        })
    }
}
