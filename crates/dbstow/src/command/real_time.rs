//! Where a user wants a run in real time to have its files, and on what.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use model::Duration;

use super::choice::{DRIVERS, FRONTS, TRANSPORTS, one_of};
use super::login::{ServerLogin, ServerTimeout};
use super::names;
use super::pair::name_and_path;
use engine::{
    DrivenKind, EngineProvider, FrontKind, MariadbOptions, Measured, Options, PostgresOptions,
    SqlServerOptions, TransportKind,
};
use experiment::spec::Arm;

/// Where a run in real time has its files, and on what.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Real time (emulate or measure)")]
pub struct RealTimeArgs {
    /// Real directory of a volume (measure); one for every volume. dbstow works in a directory of its own
    /// in it
    #[arg(long, value_name = "VOLUME=DIR", value_parser = name_and_path, add = names::path_of_volume())]
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
    /// Directory of PostgreSQL's programs [default: the newest found]
    #[arg(long, value_name = "DIR")]
    pub postgres_bin: Option<PathBuf>,
    /// Directory of MariaDB's server program [default: the first found]
    #[arg(long, value_name = "DIR")]
    pub mariadb_bin: Option<PathBuf>,
    /// SQL Server: command to restart it, such as 'systemctl restart mssql-server', when tempdb has to move; without
    /// it, dbstow asks you to restart it
    #[arg(long, value_name = "COMMAND")]
    pub restart_command: Option<String>,
    /// SQL Server: longest that a restart may take, until tempdb can be used again, such as '20 min' [default: 5 min,
    /// and 40 s for every GB that the server has to zero: logs, and data files without instant file
    /// initialization]
    #[arg(long, value_name = "TIME")]
    pub restart_limit: Option<Duration>,
    /// SQL Server: keep its max server memory instead of the experiment's
    #[arg(long)]
    pub leave_memory: bool,
    /// SQL Server: where statements are issued; a loop on the server is many times faster [default: client]
    #[arg(long, value_parser = one_of(DRIVERS))]
    pub driven: Option<DrivenKind>,
    /// SQL Server's login
    #[command(flatten)]
    pub login: ServerLogin,
}

impl RealTimeArgs {
    /// What was given.
    pub fn options(&self) -> Options {
        Options {
            volumes: self.volume.iter().cloned().collect(),
            backing: self.backing.clone(),
            front: self.front,
            transport: self.transport,
            server: self.server.clone(),
            timeout: self.timeout.timeout,
            postgres: PostgresOptions {
                bin: self.postgres_bin.clone(),
            },
            mariadb: MariadbOptions {
                bin: self.mariadb_bin.clone(),
            },
            sqlserver: SqlServerOptions {
                login: self.login.options(),
                restart_command: self.restart_command.clone(),
                restart_limit: self.restart_limit,
                leave_memory: self.leave_memory,
                driven: self.driven,
            },
        }
    }

    /// What of it decides the outcome of a trial, with absolute paths; those of a server that makes
    /// its files itself are its own.
    ///
    /// # Errors
    /// When the current directory is not known.
    pub(super) fn facts(
        &self,
        engine: &dyn EngineProvider,
        arms: &[Arm],
    ) -> Result<BTreeMap<String, String>> {
        let whole = |path: &Path| std::path::absolute(path).context("the current directory");
        let mut options = self.options();
        if engine.measured(arms) == Measured::Directories {
            for directory in options.volumes.values_mut() {
                *directory = whole(directory)?;
            }
        }
        for path in [
            &mut options.backing,
            &mut options.postgres.bin,
            &mut options.mariadb.bin,
        ] {
            if let Some(given) = path {
                *path = Some(whole(given)?);
            }
        }
        Ok(options.facts())
    }
}
