//! A plan together with the user's own files that it refers to, as one file: all that a trial needs on another machine.
//!
//! ```text
//! Plan ──────────────────────────────┐
//! Inventory (own catalogues,         ├── PlanFile ──(any machine)──> Plan, Inventory ──> Prepared
//!   workloads, profiles by name) ────┘
//! ```
//!
//! A file may come from anyone: its plan is checked by the rules of experiments before it is used.
//!
//! What ships with the program is not included: the program must be of the version that made the plan. What is included
//! is checked against the digests in the plan's settings before anything runs.

use engine::Engines;
use std::cell::RefCell;
use std::collections::BTreeMap;

use experiment::plan::{Plan, PlanError};
use experiment::spec::{
    Amount, Arm, Disk, EngineName, Known, KnownWorkload, Machine, Mode, Role, Script, Variant,
    Volume,
};
use model::Bytes;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::carried::{Inputs, Named};
use crate::inventory::Inventory;

/// A plan and the files it refers to.
#[derive(Debug)]
pub struct PlanFile {
    /// The plan.
    pub plan: Plan,
    /// The user's own files.
    pub inputs: Inputs,
}

/// Why a plan file cannot be used.
#[derive(Debug, Error)]
pub enum PlanFileError {
    /// It is not a plan file, or was changed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It was made by another version, which may simulate something else.
    #[error(
        "this plan was made by dbstow {found}, and this is {own}; use the version that made it, or plan again with \
         this one"
    )]
    Version {
        /// The version that made it.
        found: String,
        /// This one.
        own: &'static str,
    },
    /// A file in it cannot be used.
    #[error("this plan carries {name}, which cannot be used: {why}; plan again")]
    Input {
        /// The file.
        name: String,
        /// Why.
        why: String,
    },
    /// A name is unknown, or the vendor, the engine or the workload does not allow its use.
    #[error("arm \"{arm}\": {why}; change the experiment, and plan it again")]
    Refused {
        /// The arm.
        arm: String,
        /// Why.
        why: String,
    },
    /// A name does not refer to what the plan was made with.
    #[error(
        "{what} of arm \"{arm}\" is not what this plan was made with ({found}, not {planned}); plan again"
    )]
    Differs {
        /// The arm.
        arm: String,
        /// What differs.
        what: String,
        /// Its digest here.
        found: String,
        /// Its digest in the plan.
        planned: String,
    },
}

/// A plan, with one additional key if it refers to the user's own files, in one document.
#[derive(Serialize)]
struct Wire<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<&'a Inputs>,
}

/// The part of the document that does not belong to the plan.
#[derive(Deserialize)]
struct Beside {
    #[serde(default)]
    inputs: Inputs,
}

impl PlanFile {
    /// `plan`, with the files of `inventory` that it refers to.
    ///
    /// # Errors
    /// When one of them can no longer be read.
    pub fn new(plan: Plan, inventory: &Inventory) -> Result<PlanFile, String> {
        let mut inputs = Inputs {
            catalogues: inventory.own_catalogues().to_vec(),
            ..Inputs::default()
        };
        for script in plan.all_arms().map(|arm| &arm.settings.workload.script) {
            match script {
                Script::BuiltIn(_) => {}
                Script::Folder(path) if inputs.workloads.contains_key(path) => {}
                Script::Profile { file, .. } if inputs.profiles.contains_key(file) => {}
                Script::Folder(path) => {
                    let files = inventory.files_of_workload(path)?;
                    inputs.workloads.insert(path.clone(), files);
                }
                Script::Profile { file, .. } => {
                    let text = inventory.text_of_profile(file)?;
                    inputs.profiles.insert(file.clone(), text);
                }
            }
        }
        Ok(PlanFile { plan, inputs })
    }

    /// The document.
    pub fn to_json(&self) -> String {
        let has_none = self.inputs == Inputs::default();
        let wire = Wire {
            plan: &self.plan,
            inputs: (!has_none).then_some(&self.inputs),
        };
        serde_json::to_string_pretty(&wire).expect("a plan has text keys and finite numbers only")
    }

    /// Parses a stored document; a bare plan is accepted, too.
    ///
    /// # Errors
    /// When it is not a complete plan of this format, was changed, or is from another version.
    pub fn from_json(text: &str) -> Result<PlanFile, PlanFileError> {
        let plan = Plan::from_json(text)?;
        let own = env!("CARGO_PKG_VERSION");
        if plan.version != own {
            let found = plan.version;
            return Err(PlanFileError::Version { found, own });
        }
        let Beside { inputs } = serde_json::from_str(text).map_err(PlanError::from)?;
        Ok(PlanFile { plan, inputs })
    }

    /// Resolves the names in the plan: from what ships with the program, `engines`, and the files that came with the
    /// plan. Reads no other file.
    ///
    /// # Errors
    /// When one is missing, or differs from what the plan was made with.
    pub fn inventory(&self, engines: Engines) -> Result<Inventory, PlanFileError> {
        let inventory = Inventory::with_engines(engines);
        let mut inventory = inventory.of_engine(&self.plan.variant.engine);
        for Named { name, text } in &self.inputs.catalogues {
            let added = inventory.add_catalogue(text, name);
            added.map_err(|error| PlanFileError::Input {
                name: name.clone(),
                why: error.to_string(),
            })?;
        }
        let inventory = inventory.carrying(self.inputs.clone());
        let known = Remembering::of(&inventory);
        for arm in self.plan.all_arms() {
            check(arm, &self.plan.variant, &known)?;
        }
        Ok(inventory)
    }
}

/// Checks that what `arm` names is known, supports its use there, and is what the plan was made with.
fn check(arm: &Arm, variant: &Variant, known: &dyn Known) -> Result<(), PlanFileError> {
    let differs = |what: String, found: &Option<String>, planned: &Option<String>| {
        let shown = |digest: &Option<String>| digest.as_deref().unwrap_or("none").to_owned();
        if found == planned {
            return Ok(());
        }
        Err(PlanFileError::Differs {
            arm: arm.name.clone(),
            what,
            found: shown(found),
            planned: shown(planned),
        })
    };
    let refused = |why: String| PlanFileError::Refused {
        arm: arm.name.clone(),
        why,
    };
    let planned = &arm.settings;
    if let Some(kind) = &planned.machine.kind {
        let found = known.machine_entry(kind);
        differs(format!("machine {kind}"), &found, &planned.machine.entry)?;
    }
    for Volume {
        name, disk, entry, ..
    } in &planned.volumes
    {
        let found = match disk {
            Disk::Catalogue(disk) => known.entry(disk),
            Disk::Local | Disk::Unlimited | Disk::Recorded => None,
        };
        differs(format!("disk {disk} of volume {name}"), &found, entry)?;
    }
    let found = planned.looked_up(variant, known).map_err(refused)?;
    let script = &planned.workload.script;
    differs(
        format!("workload {script}"),
        &found.workload.digest,
        &planned.workload.digest,
    )?;
    match found == *planned {
        true => Ok(()),
        false => Err(refused(format!(
            "workload {script} has parameters that the plan does not set"
        ))),
    }
}

/// An inventory that reads a workload only once, however many arms run it.
struct Remembering<'a> {
    inventory: &'a Inventory,
    workloads: RefCell<BTreeMap<String, Result<KnownWorkload, String>>>,
}

impl<'a> Remembering<'a> {
    fn of(inventory: &'a Inventory) -> Remembering<'a> {
        Remembering {
            inventory,
            workloads: RefCell::default(),
        }
    }
}

impl Known for Remembering<'_> {
    fn engine(&self, name: &EngineName) -> Result<(), String> {
        self.inventory.engine(name)
    }

    fn roles(&self, name: &EngineName, mode: Mode) -> &'static [Role] {
        self.inventory.roles(name, mode)
    }

    fn engine_with(&self, role: Role, mode: Mode) -> Option<&str> {
        self.inventory.engine_with(role, mode)
    }

    fn machine(&self, machine: &Machine) -> Result<(), String> {
        self.inventory.machine(machine)
    }

    fn disk(&self, machine: &Machine, volume: &Volume) -> Result<Option<Bytes>, String> {
        self.inventory.disk(machine, volume)
    }

    fn entry(&self, name: &str) -> Option<String> {
        self.inventory.entry(name)
    }

    fn machine_entry(&self, kind: &str) -> Option<String> {
        self.inventory.machine_entry(kind)
    }

    fn workload(&self, script: &Script) -> Result<KnownWorkload, String> {
        let mut workloads = self.workloads.borrow_mut();
        let read = || Known::workload(self.inventory, script);
        let known = workloads.entry(format!("{script:?}"));
        known.or_insert_with(read).clone()
    }

    fn end(&self, workload: &experiment::spec::Workload) -> Result<Option<Amount>, String> {
        Known::end(self.inventory, workload)
    }
}

#[cfg(test)]
mod tests {
    use experiment::spec::{ExperimentText, Spec, Variant};

    use super::*;
    use crate::EMBEDDED;

    const DISK: &str = r#"
        [source.mine]
        title = "a test"
        date = "2026"
        [disk."mine.disk"]
        class = "local-nvme"
        title = "a disk"
        size = "1 TiB"
        iops = 1000
        confidence = "assumed"
        sources = ["mine"]
    "#;

    /// A plan with a disk and a workload of the user's own, whose files no longer exist.
    fn plan_file() -> PlanFile {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = folder.path().join("one.sql");
        std::fs::write(&script, "select 1;").expect("it can be written");
        let mut inventory = Inventory::with_engines(EMBEDDED);
        inventory.add_catalogue(DISK, "mine.toml").expect("sound");
        let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let overrides = [
            set("workload.folder", &script.display().to_string()),
            set("volume.d", "{ disk = \"mine.disk\" }"),
        ];
        let variant = Variant::default();
        let experiment = ExperimentText::builtin("tempdb-ssd-vs-premium").expect("built in");
        let spec = Spec::swept(&experiment, &overrides, &variant, &inventory);
        let plan = Plan::new(&spec.expect("sound"), false);
        PlanFile::new(plan, &inventory).expect("its files are there")
    }

    #[test]
    fn a_plan_goes_on_where_none_of_its_files_are() {
        let file = plan_file();
        let read = PlanFile::from_json(&file.to_json()).expect("it was just written");
        assert_eq!(read.plan, file.plan);
        assert_eq!(read.inputs, file.inputs);
        let inventory = read.inventory(EMBEDDED).expect("all came with it");
        crate::Resolved::new(&read.plan, &inventory, &Default::default()).expect("all is known");
    }

    #[test]
    fn what_is_missing_or_was_changed_is_named() {
        let mut file = plan_file();
        let error = |file: &PlanFile| file.inventory(EMBEDDED).err().expect("refused").to_string();
        let catalogues = std::mem::take(&mut file.inputs.catalogues);
        let shown = error(&file);
        assert!(shown.contains("disk mine.disk of volume d"), "{shown}");
        assert!(shown.contains("plan again"), "{shown}");
        file.inputs.catalogues = catalogues;
        for files in file.inputs.workloads.values_mut() {
            files.insert("one.sql".to_owned(), "select 2;".to_owned());
        }
        let shown = error(&file);
        assert!(shown.contains("one.sql"), "{shown}");
        file.inputs.workloads.clear();
        let shown = error(&file);
        assert!(shown.contains("does not carry"), "{shown}");
    }

    #[test]
    fn a_plan_of_another_version_is_refused() {
        let mut file = plan_file();
        "0.0.1".clone_into(&mut file.plan.version);
        // The version is in the digest.
        let plan = file.plan.at(BTreeMap::new());
        let error = PlanFile::from_json(&plan.to_json()).expect_err("of another version");
        let shown = error.to_string();
        assert!(shown.contains("dbstow 0.0.1"), "{shown}");
    }

    #[test]
    fn a_key_that_is_not_known_is_refused_among_the_inputs() {
        let text = plan_file().to_json();
        let text = text.replace("\"catalogues\":", "\"catalogs\":");
        let error = PlanFile::from_json(&text).expect_err("unknown");
        assert!(error.to_string().contains("catalogs"), "{error}");
    }
}
