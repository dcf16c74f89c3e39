//! Why there is no advice.

use catalogue::CatalogueError;
use model::Bytes;
use replay::{DemandError, ReplayError};
use thiserror::Error;

use super::layout::NoLayout;

/// Why there is no advice.
#[derive(Debug, Error)]
pub enum AdviseError {
    /// Neither the request nor today's layout names a cloud.
    #[error("it is not known which cloud; give --cloud ({known})")]
    NoCloud {
        /// The clouds of the catalogue.
        known: String,
    },
    /// The catalogue has no machines of this cloud.
    #[error("--cloud {name}: there is no such cloud; give one of {known}")]
    Cloud {
        /// The requested one.
        name: String,
        /// The clouds of the catalogue.
        known: String,
    },
    /// No price list is of this region.
    #[error(
        "--region {region}: there are no prices of it; those that there are: {known}; leave --region out, or give your own \
         (--prices FILE)"
    )]
    Region {
        /// The requested one.
        region: String,
        /// The price lists of the cloud.
        known: String,
    },
    /// Today's machine is to stay, and is not named.
    #[error("--keep-machine: today's layout does not name its machine; add `type` to [machine]")]
    NoMachine,
    /// Today's machine is to stay, and is not in the catalogue.
    #[error("{0}")]
    Machine(Box<CatalogueError>),
    /// A requested disk is not in the catalogue.
    #[error("--disk {name}: {why}")]
    Disk {
        /// The requested one.
        name: String,
        /// The cause.
        why: Box<CatalogueError>,
    },
    /// Temporary files are to be on local disks, and what they ask of disks is not known.
    #[error(
        "--temp local: requests for temporary files were not counted separately, so that what moving them does is not known; \
         record the server itself (`dbstow record`), or leave --temp out"
    )]
    TempNotCounted,
    /// Neither the request nor today's volume says how much space files need.
    #[error(
        "volume \"{volume}\" has no size, so that what has to fit is not known; give --capacity {roles}=SIZE"
    )]
    NoSize {
        /// The volume.
        volume: String,
        /// The files on it, as options.
        roles: String,
    },
    /// The files would grow beyond all disks.
    #[error(
        "--growth {growth}: {size} would grow to more than 2^64 bytes; give less --growth or --capacity"
    )]
    Growth {
        /// The requested factor.
        growth: f64,
        /// Today's size.
        size: Bytes,
    },
    /// The profile lacks data that a demand needs.
    #[error("{0}")]
    Demand(DemandError),
    /// No layout meets the requirements.
    #[error("{0}")]
    NoLayout(NoLayout),
    /// Today's layout cannot be simulated.
    #[error("today's layout: {0}")]
    Today(ReplayError),
    /// A layout that was found cannot be simulated under more load.
    #[error("{0}")]
    Headroom(ReplayError),
    /// The text of today's layout is not TOML.
    #[error("{0}")]
    Toml(toml_edit::TomlError),
}
