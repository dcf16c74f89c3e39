//! A machine in the catalogue.

use model::MachineSpec;

use super::source::{Confidence, Source};

/// A virtual machine size, or a managed service's compute tier.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineEntry {
    /// Vendor and size, such as `azure.DS14_v2`.
    pub name: String,
    /// What it is, where the name does not say.
    pub title: String,
    /// Other names that lead to it.
    pub aliases: Vec<String>,
    /// For the model.
    pub spec: MachineSpec,
    /// Data disks that can be attached, where that is known.
    pub disks_max: Option<u32>,
    /// Database files that it may hold, for managed services.
    pub files_max: Option<u32>,
    /// How its figures are known.
    pub confidence: Confidence,
    /// Where they come from.
    pub sources: Vec<Source>,
    /// What nobody published, and why it was chosen so.
    pub assumed: Vec<String>,
    /// What to know.
    pub notes: Vec<String>,
}
