//! A server's current layouts: what `dbstow advise --today` and a back-test do with them.

use std::sync::LazyLock;

use crate::ENGINES;
use advise::{Load, Placed};
use engine::Options;
use experiment::plan::Plan;
use experiment::spec::{ExperimentText, Spec, Variant};
use lab::Prepared;
use lab::inventory::Inventory;
use tempfile::TempDir;

use crate::meaning::is_real;

/// The profile that is replayed.
const PROFILE: &str = include_str!("../corpus/profile/every-column.toml");

static INVENTORY: LazyLock<Inventory> = LazyLock::new(|| Inventory::with_engines(ENGINES));

/// A folder with the profile.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("p.toml"), PROFILE).expect("the folder can be written");
    folder
});

/// Parses and checks the layout, and resolves its machine and volumes.
pub(crate) fn read(text: &str) -> Result<(), String> {
    let profile = FOLDER.path().join("p.toml").display().to_string();
    let is_given = |key: &str| {
        let table: Option<toml::Table> = toml::from_str(text).ok();
        table.is_none_or(|table| table.contains_key(key))
    };
    let added = [("name", "today"), ("question", "Does it fit?")];
    let added = added.into_iter().filter(|(key, _)| !is_given(key));
    let added = added.chain([("workload.profile", profile.as_str())]);
    let overrides: Vec<(String, String)> = added
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let layout = ExperimentText::of_file("fuzz.toml", text);
    let spec = Spec::swept(&layout, &overrides, &Variant::default(), &*INVENTORY);
    let spec = spec.map_err(|error| error.to_string())?;
    let spec = spec.check(&*INVENTORY).map_err(|error| error.to_string())?;
    let plan = Plan::new(&spec, false);
    let prepared =
        Prepared::new(&plan, &INVENTORY, &Options::default()).map_err(|error| error.to_string())?;
    let (arm, stage, recording) = prepared.first();
    is_real("the machine", &stage.machine);
    for volume in &stage.volumes {
        is_real("a volume's disks", &volume.disks);
    }
    let recording = recording.ok_or("it replays no profile")?;
    let load = Load::of(&recording.profile).map_err(|error| error.to_string())?;
    is_real("its load", &load.sessions_max());
    let placed = Placed {
        machine: stage.machine.clone(),
        volumes: stage.volumes.clone(),
        places: stage.replay_places(&arm.settings.placement),
    };
    assert!(!placed.places.data.is_empty());
    Ok(())
}
