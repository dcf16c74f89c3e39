//! How a server of a managed service is changed in place: commands of the vendor's own client, as data.
//!
//! Nothing here is run. Words in braces, such as `{class}`, stand for values, which are quoted where they are filled in.

use serde::Deserialize;

use super::source::Source;

/// Words in braces that stand for what a service calls a server and what is around it, each with the option of `dbstow layout`
/// that gives the name.
pub const NAMED: [(&str, &str); 4] = [
    ("server", "--server-name"),
    ("group", "--resource-group"),
    ("database", "--database"),
    ("parameters", "--parameter-group"),
];

/// Commands that change a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Services with the same one and of the same product are tiers of one resource, which one becomes the other in place.
    pub name: String,
    /// What reads the commands.
    pub shell: Shell,
    /// The command without its options.
    pub command: String,
    /// Waits until the server takes another command; `None`: the command itself waits.
    pub waits: Option<String>,
    /// Another class.
    pub class: Option<Part>,
    /// The series of a class, by how its name begins, where the command wants it beside the class.
    pub series: Vec<Series>,
    /// Another type of storage; `None`: not in place.
    pub storage: Option<Part>,
    /// More storage.
    pub size: Option<Part>,
    /// Whether storage can be made smaller again.
    pub shrinks: bool,
    /// By how many percent storage grows at least; the service makes more of less.
    pub grows_by: u64,
    /// GiB that sizes are multiples of.
    pub size_step: u64,
    /// Provisioned IOPS.
    pub iops: Option<Part>,
    /// Provisioned throughput.
    pub throughput: Option<Part>,
    /// A log volume.
    pub log_volume: Option<Switch>,
    /// Further volumes.
    pub volumes: Option<MoreVolumes>,
    /// Other things to know before it is changed.
    pub notes: Vec<String>,
    /// Where this comes from.
    pub sources: Vec<Source>,
}

impl Change {
    /// Whether its command has this word in braces.
    pub fn needs(&self, word: &str) -> bool {
        self.command.contains(&format!("{{{word}}}"))
    }
}

/// What reads a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    /// A POSIX shell.
    Sh,
    /// PowerShell.
    Powershell,
}

/// An option of a command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The option, with its value in braces.
    pub option: String,
    /// What is documented of the time while it is applied; without a full stop.
    pub during: String,
}

/// Something that a server has or has not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Commands that make it so.
    pub on: Vec<String>,
    /// Commands that take it away; empty: nothing has to be executed.
    pub off: Vec<String>,
    /// What is documented of the time while it is applied; without a full stop.
    pub during: String,
}

/// Volumes beside the first.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoreVolumes {
    /// Their names, in the order in which they are used.
    pub names: Vec<String>,
    /// Where the server sees them, the first volume's place before theirs.
    pub places: Vec<String>,
    /// Where the server sees the disk inside the class.
    pub local: String,
    /// The option, with a JSON array in braces.
    pub option: String,
    /// What is documented of the time while they are added; without a full stop.
    pub during: String,
}

/// How the names of a series of classes begin.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// The beginning.
    pub begins: String,
    /// What the command calls it.
    pub name: String,
}

/// A file's keys for [`Change`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeWire {
    shell: Shell,
    command: String,
    waits: Option<String>,
    class: Option<Part>,
    #[serde(default)]
    series: Vec<Series>,
    storage: Option<Part>,
    size: Option<Part>,
    #[serde(default)]
    shrinks: bool,
    #[serde(default)]
    grows_by: u64,
    #[serde(default = "one")]
    size_step: u64,
    iops: Option<Part>,
    throughput: Option<Part>,
    log_volume: Option<Switch>,
    volumes: Option<MoreVolumes>,
    #[serde(default)]
    notes: Vec<String>,
    pub(super) sources: Vec<String>,
}

fn one() -> u64 {
    1
}

impl ChangeWire {
    pub(super) fn meaning(&self, name: &str, sources: Vec<Source>) -> Change {
        Change {
            name: name.to_owned(),
            shell: self.shell,
            command: self.command.clone(),
            waits: self.waits.clone(),
            class: self.class.clone(),
            series: self.series.clone(),
            storage: self.storage.clone(),
            size: self.size.clone(),
            shrinks: self.shrinks,
            grows_by: self.grows_by,
            size_step: self.size_step.max(1),
            iops: self.iops.clone(),
            throughput: self.throughput.clone(),
            log_volume: self.log_volume.clone(),
            volumes: self.volumes.clone(),
            notes: self.notes.clone(),
            sources,
        }
    }
}
