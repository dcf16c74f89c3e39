//! Why an arm cannot run.

use catalogue::CatalogueError;
use model::Bytes;

use super::attached::AttachedError;
use super::service::ServiceError;

/// Why an arm cannot run.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A disk or machine is not in the catalogue, or not sold like this.
    #[error("volume \"{volume}\": {source}")]
    Volume {
        /// The volume.
        volume: String,
        /// The cause.
        source: Box<CatalogueError>,
    },
    /// The machine is not in the catalogue.
    #[error("machine: {0}")]
    Machine(#[from] Box<CatalogueError>),
    /// The machine has no local disk.
    #[error(
        "volume \"{volume}\" is the machine's local disk, but {machine} has none; name a disk of the catalogue (`dbstow disks`)"
    )]
    NoLocalDisk {
        /// The volume.
        volume: String,
        /// The machine.
        machine: String,
    },
    /// The vendor allows no host cache for this disk.
    #[error(
        "volume \"{volume}\" asks for a host cache, which {disk} does not have; set host_cache = \"none\""
    )]
    NoHostCache {
        /// The volume.
        volume: String,
        /// The disk.
        disk: String,
    },
    /// The machine's host has no cache.
    #[error(
        "volume \"{volume}\" asks for a host cache, which {machine} does not have ({why}); set host_cache = \"none\", or name \
         another machine"
    )]
    MachineCachesNothing {
        /// The volume.
        volume: String,
        /// The machine.
        machine: String,
        /// The source of that.
        why: String,
    },
    /// It has a cache of unknown size.
    #[error(
        "volume \"{volume}\" asks for a host cache; {machine} has one, but the vendor does not publish {unknown}; give \
         [machine] host_cache = {{ {example} }} (Dsv3, Esv3 and Ddsv4 have 25 GiB per vCPU, E8s_v3 200 GiB), or set \
         host_cache = \"none\""
    )]
    HostCacheUnknown {
        /// The volume.
        volume: String,
        /// The machine.
        machine: String,
        /// What is not known.
        unknown: &'static str,
        /// The missing keys, with values.
        example: &'static str,
    },
    /// Its limits hold on other machines only.
    #[error(transparent)]
    Attached(#[from] Box<AttachedError>),
    /// A managed service does not have this placement.
    #[error(transparent)]
    Service(#[from] Box<ServiceError>),
    /// A burst on a limit that the disk does not have.
    #[error(
        "volume \"{volume}\" has {key}, but {disk} has no limit that it could be the burst of; give {limit} too"
    )]
    BurstWithoutLimit {
        /// The volume.
        volume: String,
        /// Key of the burst.
        key: &'static str,
        /// The disk.
        disk: String,
        /// Key of the limit.
        limit: &'static str,
    },
    /// A burst that is not faster than the sustained rate.
    #[error(
        "volume \"{volume}\" has {key} = {burst}, and its limit sustains {sustained}; give a higher rate, or leave the burst \
         out"
    )]
    BurstTooSlow {
        /// The volume.
        volume: String,
        /// Key of the burst.
        key: &'static str,
        /// Its rate, in requests or bytes per second.
        burst: u64,
        /// The sustained rate.
        sustained: u64,
    },
    /// Its files are larger than the volume.
    #[error(
        "the files on volume \"{volume}\" take {files}, but it holds {capacity}; make them smaller or the volume larger"
    )]
    TooSmall {
        /// The volume.
        volume: String,
        /// Size of its files.
        files: Bytes,
        /// Its capacity.
        capacity: Bytes,
    },
}
