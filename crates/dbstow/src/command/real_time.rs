//! Options for the location of a real-time run's files, and their storage.

use std::path::PathBuf;

use super::choice::{FRONTS, TRANSPORTS, one_of};
use super::pair::name_and_path;
use super::product_args::{OfRun, ProductArgs, ServerLogin};
use super::server_timeout::ServerTimeout;
use engine::{FrontKind, Options, TransportKind};

/// Where a run in real time has its files, and on what.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Real time (emulate or measure)")]
pub struct RealTimeArgs {
    /// Real directory of a volume (measure); one for every volume. dbstow works in a directory of its own
    /// in it
    #[arg(long, value_name = "VOLUME=DIR", value_parser = name_and_path)]
    #[cfg_attr(feature = "shell", arg(add = super::names::path_of_volume()))]
    pub volume: Vec<(String, PathBuf)>,
    /// Directory that holds the data of modelled volumes (emulate) [default: the temporary directory]
    #[arg(long, value_name = "DIR")]
    pub backing: Option<PathBuf>,
    /// What programs see of modelled volumes (emulate) [default: file for raw, block for servers]
    #[arg(long, value_parser = one_of(FRONTS))]
    pub front: Option<FrontKind>,
    /// How requests reach the emulator [default: fuser]
    #[arg(long, value_parser = one_of(TRANSPORTS))]
    pub transport: Option<TransportKind>,
    /// Use a running server: postgresql://USER@HOST/ on this machine (password from PGPASSWORD or
    /// ~/.pgpass), mysql://USER@HOST/ of a MariaDB on this machine (password from MYSQL_PWD or ~/.my.cnf), or
    /// sqlserver://USER@HOST, HOST,PORT or HOST\INSTANCE (password from SQLCMDPASSWORD); the
    /// directories of --volume are then paths on that server
    #[arg(long, value_name = "SERVER")]
    pub server: Option<String>,
    /// How long it may take
    #[command(flatten)]
    pub timeout: ServerTimeout,
    /// Options that one product alone takes
    #[command(flatten)]
    pub of_product: ProductArgs<OfRun>,
    /// How to log in
    #[command(flatten)]
    pub login: ServerLogin,
}

impl RealTimeArgs {
    /// The given options.
    pub fn options(&self) -> Options {
        Options {
            volumes: self.volume.iter().cloned().collect(),
            backing: self.backing.clone(),
            front: self.front,
            transport: self.transport,
            server: self.server.clone(),
            backup: None,
            timeout: self.timeout.timeout,
            of_product: self
                .of_product
                .options
                .clone()
                .with(self.login.options.clone()),
        }
    }
}
