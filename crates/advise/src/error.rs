//! Why there is no advice.

use catalogue::CatalogueError;
use model::Bytes;
use replay::{DemandError, ReplayError};
use thiserror::Error;

use super::layout::NoLayout;
use super::licence::LicenceError;

/// Why there is no advice.
#[derive(Debug, Error)]
pub enum AdviseError {
    /// A disk that is asked for is storage of a managed service that is not.
    #[error(
        "--disk {disk}: it is storage of {title}, and that is not asked for; ask for it too (--service {family}), or name another disk \
         (`dbstow disks`)"
    )]
    ServiceDisk {
        /// The disk.
        disk: String,
        /// The service.
        title: String,
        /// What it is asked for by.
        family: String,
    },
    /// Services are asked for, and the product of the database is not known.
    #[error(
        "--service: the profile does not say which product it is of, so that services for it are not known; record the server \
         (`dbstow record`), or name its class as today's machine"
    )]
    ServiceProduct,
    /// No service is like this.
    #[error(
        "--service {wish}: there is none for {product} on {cloud}{why}; there are: {known}; give one of these with its --cloud, or \
         leave --service out"
    )]
    NoService {
        /// What was asked for.
        wish: String,
        /// The product.
        product: String,
        /// The cloud.
        cloud: String,
        /// Why one that there is does not count; in brackets.
        why: String,
        /// Those of the product.
        known: String,
    },
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
    /// No machine of the cloud has this in its name.
    #[error("--machine {pattern}: {why}")]
    Pattern {
        /// What was requested.
        pattern: String,
        /// The cause, with the nearest names.
        why: Box<CatalogueError>,
    },
    /// The budget is below the price of every machine.
    #[error(
        "--budget {budget}: that is ${budget:.2} a month, and the cheapest machine that qualifies costs ${least:.2} without disks; \
         give more (thousands without a separator: 1500, as 1.500 is one dollar and a half)"
    )]
    Budget {
        /// The budget, in dollars a month.
        budget: f64,
        /// The price of the cheapest machine, in dollars a month.
        least: f64,
    },
    /// The licence cannot be as it is asked for.
    #[error("{0}")]
    Licence(LicenceError),
    /// Today's machine cannot have so many processors, and a licence is paid for each.
    #[error(
        "today's layout: `cores` in [machine] is {cores}, and {machine} can have {can}; write one of these, leave it out, or name the \
         machine that has {cores} (`dbstow machines`)"
    )]
    Cores {
        /// What is said of it.
        cores: u32,
        /// Its name.
        machine: String,
        /// Numbers of processors.
        can: String,
    },
    /// What a commitment makes of prices is not known.
    #[error(
        "--term {years}y: what it makes of prices of \"{cloud}\" is not known; leave it out, or give your own prices (--prices FILE)"
    )]
    Commitment {
        /// Years.
        years: u32,
        /// The cloud.
        cloud: String,
    },
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
    /// Neither the request nor today's volumes say how much space files need.
    #[error(
        "{volumes} no size, so that what has to fit is not known; give --capacity {roles}=SIZE"
    )]
    NoSize {
        /// The volumes, with their verb.
        volumes: String,
        /// The files on them, as options.
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
