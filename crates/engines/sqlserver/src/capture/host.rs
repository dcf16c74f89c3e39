//! User-supplied properties of a host that T-SQL cannot see.

use serde::{Deserialize, Serialize};

/// Facts about the host, supplied by its owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Whether it is a virtual machine of Azure.
    #[serde(default)]
    pub azure: Option<bool>,
    /// Its volumes.
    #[serde(default)]
    pub volumes: Vec<VolumeFacts>,
}

/// Facts about one volume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VolumeFacts {
    /// As in [`super::MountedVolume::mount_point`].
    pub mount_point: String,
    /// Allocation unit of its file system.
    #[serde(default)]
    pub allocation_unit_bytes: Option<i64>,
    /// Whether it loses its contents when the machine is moved.
    #[serde(default)]
    pub ephemeral: Option<bool>,
    /// Product in dbstow's catalogue, such as `azure.premium.p30`.
    #[serde(default)]
    pub disk: Option<String>,
    /// Disks it is striped over.
    #[serde(default)]
    pub disks: Option<u32>,
    /// The host's cache: `none`, `read-only` or `read-write`.
    #[serde(default)]
    pub host_cache: Option<String>,
}
