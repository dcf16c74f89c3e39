//! Builds an experiment in code: the same keys, checks and messages as for a file.
//!
//! ```
//! use experiment::build::{Experiment, Placement, Volume, Workload};
//! use experiment::spec::Variant;
//!
//! let spec = Experiment::new("log-apart", "Should the log have a volume of its own?")
//!     .machine("azure.DS14_v2")
//!     .volume("one", Volume::of("azure.premium.p30").count(2))
//!     .volume("log", Volume::of("azure.premium.p30"))
//!     .placement("together", Placement::on("one"))
//!     .placement("apart", Placement::on("one").log("log"))
//!     .workload(Workload::builtin("trade").sessions(8).duration("10 s"))
//!     .memory("512 MiB")
//!     .build(Variant::default())?;
//! assert_eq!(spec.arms.len(), 2);
//! # Ok::<(), experiment::spec::SpecError>(())
//! ```

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::spec::{ExperimentText, Spec, SpecError, Variant};

/// An experiment under construction. FORMAT.md lists all keys; [`set`] sets those that have no method.
///
/// [`set`]: Experiment::set
#[derive(Clone, Debug)]
pub struct Experiment {
    name: String,
    document: DocumentMut,
}

/// A volume: one disk, or a stripe of like disks.
#[derive(Clone, Debug)]
pub struct Volume(Table);

/// Where the files of each role live.
#[derive(Clone, Debug)]
pub struct Placement(Table);

/// What the sessions do.
#[derive(Clone, Debug)]
pub struct Workload(Table);

impl Experiment {
    /// Creates an experiment with only a name and its question.
    pub fn new(name: &str, question: &str) -> Experiment {
        let experiment = Experiment {
            name: name.to_owned(),
            document: DocumentMut::new(),
        };
        experiment.set("name", name).set("question", question)
    }

    /// The machine: a name of the catalogue.
    pub fn machine(self, name: &str) -> Experiment {
        self.set("machine.type", name)
    }

    /// A machine without limits of its own: virtual processors, and memory such as `"64 GiB"`.
    pub fn machine_of(self, cores: u32, memory: &str) -> Experiment {
        self.set("machine.cores", i64::from(cores))
            .set("machine.memory", memory)
    }

    /// Adds a volume.
    pub fn volume(self, name: &str, volume: Volume) -> Experiment {
        self.table(&["volume", name], volume.0)
    }

    /// Adds a placement.
    pub fn placement(self, name: &str, placement: Placement) -> Experiment {
        self.table(&["placement", name], placement.0)
    }

    /// What the sessions do.
    pub fn workload(self, workload: Workload) -> Experiment {
        self.table(&["workload"], workload.0)
    }

    /// Size of the engine's buffer pool, such as `"512 MiB"`.
    pub fn memory(self, size: &str) -> Experiment {
        self.set("engine.memory", size)
    }

    /// How often each arm is run.
    pub fn blocks(self, blocks: u32) -> Experiment {
        self.set("protocol.blocks", i64::from(blocks))
    }

    /// The placement that the others are compared with; without it, the first.
    pub fn baseline(self, placement: &str) -> Experiment {
        self.set("protocol.baseline", placement)
    }

    /// Sets a key, a dotted path such as `engine.memory`, to a number or a text such as `"128 MiB"`.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Experiment {
        let path: Vec<&str> = key.split('.').collect();
        let (last, sections) = path.split_last().expect("a split has at least one part");
        section(self.document.as_table_mut(), sections).insert(last, Item::Value(value.into()));
        self
    }

    /// The experiment in its file format.
    pub fn text(&self) -> String {
        self.document.to_string()
    }

    /// Validates the experiment. Names of disks, machines and workloads are not resolved;
    /// [`Spec::check`] does.
    ///
    /// # Errors
    /// The first error, with its key.
    pub fn build(&self, variant: Variant) -> Result<Spec, SpecError> {
        Spec::built(&self.into(), variant)
    }

    fn table(mut self, path: &[&str], table: Table) -> Experiment {
        let section = section(self.document.as_table_mut(), path);
        for (key, item) in table {
            section.insert(&key, item);
        }
        self
    }
}

impl Volume {
    /// A disk of the catalogue, `local` for the one inside the machine, or `unlimited`.
    pub fn of(disk: &str) -> Volume {
        Volume(Table::new()).set("disk", disk)
    }

    /// Number of striped disks.
    pub fn count(self, disks: u32) -> Volume {
        self.set("count", i64::from(disks))
    }

    /// Provisioned size of each disk, such as `"1 TiB"`.
    pub fn size(self, size: &str) -> Volume {
        self.set("size", size)
    }

    /// Provisioned requests per second of each disk.
    pub fn iops(self, iops: u32) -> Volume {
        self.set("iops", i64::from(iops))
    }

    /// Provisioned bytes per second of each disk, such as `"200 MB/s"`.
    pub fn throughput(self, throughput: &str) -> Volume {
        self.set("throughput", throughput)
    }

    /// Sets another key of a volume.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Volume {
        self.0.insert(key, Item::Value(value.into()));
        self
    }
}

impl Placement {
    /// All files on one volume: one file per role.
    pub fn on(volume: &str) -> Placement {
        Placement(Table::new())
            .data(volume)
            .temp(volume)
            .log(volume)
    }

    /// Data on this volume.
    pub fn data(self, volume: &str) -> Placement {
        self.files("data", &[volume], 1)
    }

    /// Temporary space on this volume.
    pub fn temp(self, volume: &str) -> Placement {
        self.files("temp", &[volume], 1)
    }

    /// The log on this volume.
    pub fn log(self, volume: &str) -> Placement {
        self.files("log", &[volume], 1)
    }

    /// This many files of `role` (such as `temp`, a name of [`crate::spec::Role`]), distributed to `volumes` in turn.
    pub fn files(mut self, role: &str, volumes: &[&str], files: u32) -> Placement {
        let mut table = InlineTable::new();
        table.insert(
            "volumes",
            Value::Array(volumes.iter().copied().collect::<Array>()),
        );
        table.insert("files", i64::from(files).into());
        self.0.insert(role, Item::Value(table.into()));
        self
    }
}

impl Workload {
    /// A built-in workload.
    pub fn builtin(name: &str) -> Workload {
        Workload(Table::new()).set("name", name)
    }

    /// A workload of your own: a folder, an `.sql` file, or a settings file of SQLQueryStress.
    pub fn folder(path: &str) -> Workload {
        Workload(Table::new()).set("folder", path)
    }

    /// The demand of a profile, for as long as it was recorded.
    pub fn profile(file: &str) -> Workload {
        Workload(Table::new()).set("profile", file)
    }

    /// Connections that run operations in turn.
    pub fn sessions(self, sessions: u32) -> Workload {
        self.set("sessions", i64::from(sessions))
    }

    /// Ends after this many operations of all sessions together.
    pub fn operations(self, operations: u32) -> Workload {
        self.set("operations", i64::from(operations))
    }

    /// Ends after this time, such as `"30 s"`.
    pub fn duration(self, duration: &str) -> Workload {
        self.set("duration", duration)
    }

    /// Sets another key of a workload.
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Workload {
        self.0.insert(key, Item::Value(value.into()));
        self
    }
}

/// The section at `path`, created if missing. A value in its place is replaced: the later setting wins.
fn section<'a>(root: &'a mut Table, path: &[&str]) -> &'a mut Table {
    path.iter().fold(root, |table, part| {
        let item = table
            .entry(part)
            .or_insert_with(|| Item::Table(Table::new()));
        if !item.is_table() {
            *item = Item::Table(Table::new());
        }
        item.as_table_mut().expect("it was just made one")
    })
}

impl From<&Experiment> for ExperimentText {
    fn from(experiment: &Experiment) -> ExperimentText {
        ExperimentText::of_code(&experiment.name, experiment.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Experiment {
        Experiment::new("mine", "Which is faster?")
            .machine_of(4, "16 GiB")
            .volume("one", Volume::of("azure.premium.p30"))
            .volume("two", Volume::of("azure.premium.p30").count(2))
            .placement("single", Placement::on("one"))
            .placement(
                "striped",
                Placement::on("two").files("temp", &["one", "two"], 4),
            )
            .workload(Workload::builtin("spill").operations(8))
            .memory("128 MiB")
    }

    fn refused(experiment: &Experiment) -> String {
        let built = experiment.build(Variant::default());
        built.expect_err("it makes no sense").to_string()
    }

    #[test]
    fn what_is_made_in_code_is_what_its_file_says() {
        let text = r#"
            name = "mine"
            question = "Which is faster?"
            [machine]
            cores = 4
            memory = "16 GiB"
            [volume]
            one.disk = "azure.premium.p30"
            two = { disk = "azure.premium.p30", count = 2 }
            [placement]
            single.data.volumes = "one"
            single.temp.volumes = "one"
            single.log.volumes = "one"
            striped.data.volumes = "two"
            striped.temp = { volumes = ["one", "two"], files = 4 }
            striped.log.volumes = "two"
            [workload]
            name = "spill"
            operations = 8
            [protocol]
            blocks = 7
            baseline = "striped"
            [engine]
            memory = "128 MiB"
        "#;
        let read = Spec::parse("mine.toml", text, &[], Variant::default()).expect("it makes sense");

        let made = small().blocks(7).baseline("striped");
        let made = made.build(Variant::default()).expect("it makes sense");

        assert_eq!(made.arms, read.arms);
        assert_eq!(made.protocol, read.protocol);
        assert_eq!((&made.name, &made.question), (&read.name, &read.question));
    }

    #[test]
    fn a_mistake_is_reported_by_its_key_with_the_message_of_a_file() {
        let missing = small().placement("apart", Placement::on("one").log("three"));
        let text = refused(&missing);
        assert!(
            text.starts_with("experiment \"mine\", placement.apart.log"),
            "{text}"
        );
        assert!(
            text.contains("volume \"three\", which is not defined"),
            "{text}"
        );

        let text = refused(&small().set("volume.two.count", 0));
        assert!(
            text.starts_with("experiment \"mine\", volume.two.count: "),
            "{text}"
        );
    }

    #[test]
    fn a_useless_key_or_value_is_reported_with_what_was_set() {
        let text = refused(&small().set("volume.two.disks", 3));
        assert!(
            text.contains("\"mine\", `disks = 3`: ") && text.contains("disks"),
            "{text}"
        );
        let text = refused(&small().set("engine.memory", true));
        assert!(text.contains("\"mine\", `memory = true`: "), "{text}");
    }
}
