//! SQL Server as an engine provider.

use std::path::PathBuf;
use std::sync::Arc;

use host::site::Site;

use super::options::{DRIVEN, ON_SERVER, OPTIONS};
use super::{Access, Backup, OPERATIONS_PER_TRIP, ServerRun, ServerSite, SqlServer, restore};
use crate::capture;
use crate::recorder::SERVERS;
use engine::EngineError;
use engine::Patience;
use engine::recorder::RecordedServers;
#[cfg(target_os = "linux")]
use engine::rehearsed::RehearsalProvider;
use engine::{
    Closed, EngineProvider, EngineRun, Measured, Modelled, Opening, Started, TrialVolumes, Users,
};
use engine::{FrontKind, OptionSpec, Options, ProductOptions};
use experiment::spec::{Arm, Mode, Role, Settings, differ_in};
use rules::Captured;
use workload::{Dialect, Workload};

/// The user that SQL Server's Linux packages create. Source: Microsoft, "Install SQL Server on Linux" (read
/// 2026-11).
const OWNER: &str = "mssql";

/// The name under which a server lists the session of a capture.
const CAPTURES: &str = "dbstow doctor";

/// An existing SQL Server.
pub struct Provider;

impl EngineProvider for Provider {
    fn name(&self) -> &'static str {
        "sqlserver"
    }

    fn about(&self) -> &'static str {
        "A running SQL Server (--server); T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on SQL Server"
    }

    fn dialect(&self) -> Dialect {
        Dialect::TSQL
    }

    /// `read_ahead` applies to mounted volumes.
    fn keys(&self, mode: Mode) -> Option<&'static [&'static str]> {
        const MEASURED: &[&str] = &["memory", "commit", "versions", "start"];
        const MOUNTED: &[&str] = &[
            "like",
            "memory",
            "commit",
            "versions",
            "read_ahead",
            "start",
            "host_cache_start",
        ];
        Some(match mode {
            Mode::Simulate | Mode::Measure => MEASURED,
            Mode::Emulate => MOUNTED,
        })
    }

    fn modelled(&self) -> Modelled {
        Modelled::Mounted {
            front: FrontKind::Block,
            owner: Some(OWNER),
        }
    }

    fn users(&self) -> Users {
        Users::Server
    }

    /// Temporary space stays where it is unless arms differ in it; a managed instance places all files itself.
    fn measured(&self, arms: &[Arm]) -> Measured {
        let moves = differ_in(arms, Role::Temp);
        let roles = Role::COMMON.into_iter();
        Measured::Server(roles.filter(|role| moves || *role != Role::Temp).collect())
    }

    fn counts_whole_ms(&self) -> bool {
        true
    }

    fn takes_server(&self) -> bool {
        true
    }

    fn recorded(&self) -> Option<&'static RecordedServers> {
        Some(&SERVERS)
    }

    fn capture(
        &self,
        server: &str,
        options: &ProductOptions,
        patience: Patience,
    ) -> Result<Box<dyn Captured>, EngineError> {
        let access = Access::new(server, options)?.with_patience(&patience);
        let captured = capture::capture(&mut access.connect(CAPTURES)?);
        let captured = captured.map_err(|error| {
            EngineError::failed(format!("ask the SQL Server at {}", access.server()), error)
        });
        Ok(Box::new(captured?))
    }

    #[cfg(target_os = "linux")]
    fn rehearsed(&self) -> Option<&'static dyn RehearsalProvider> {
        Some(&crate::rehearse::Rehearsal)
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn check(&self, options: &Options, arms: &[Arm]) -> Result<(), String> {
        if options.backup.is_some() && options.volumes.is_empty() {
            let volumes = arms.iter().flat_map(|arm| &arm.settings.volumes);
            let name = volumes.map(|volume| volume.name.as_str()).next();
            return Err(format!(
                "the server restores the backup to directories that stand for the layouts' volumes; add --volume {}=DIR for each, as the \
                 server sees it",
                name.unwrap_or("NAME")
            ));
        }
        match &options.server {
            Some(_) => Ok(()),
            None => Err(
                "--engine sqlserver needs a running server: add --server HOST, HOST,PORT, HOST\\INSTANCE or \
                 sqlserver://USER@HOST (password in SQLCMDPASSWORD); `dbstow doctor` says what works there"
                    .to_owned(),
            ),
        }
    }

    /// Driven by the server, a workload requires a server-side loop.
    fn adapt(&self, mut workload: Workload, options: &Options) -> Result<Workload, String> {
        if options.of_product.text(DRIVEN) == Some(ON_SERVER) {
            let run = workload.run.on_server(OPERATIONS_PER_TRIP);
            workload.run = run.ok_or_else(|| {
                format!(
                    "the workload {} has no loop on the server (`server_loop` in its workload.toml); leave --driven out",
                    workload.name
                )
            })?;
        }
        Ok(workload)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError> {
        let options = opening.options;
        let server = options.server.as_deref().unwrap_or_default();
        let access = Access::new(server, &options.of_product)?.with_patience(&opening.patience());
        let (run, session) = ServerRun::open(access, opening)?;
        restore::earlier(&run, session)?;
        run.check(opening.arms)?;
        let backup = options.backup.as_deref().map(|path| run.backup(path));
        Ok(Box::new(Run {
            backup: backup.transpose()?.map(Arc::new),
            server: Arc::new(run),
        }))
    }
}

struct Run {
    server: Arc<ServerRun>,
    /// What each trial's database is restored from.
    backup: Option<Arc<Backup>>,
}

impl EngineRun for Run {
    fn start(&self, trial: TrialVolumes<'_>) -> Result<Started, EngineError> {
        let (site, settings) = (trial.site, trial.settings);
        let server = Arc::clone(&self.server);
        let engine = match &self.backup {
            Some(backup) => SqlServer::restored(server, site, settings, backup)?,
            None => SqlServer::start(server, site, settings, trial.workload())?,
        };
        Ok(Started::Engine(Box::new(engine)))
    }

    fn site(
        &self,
        settings: &Settings,
        directories: Vec<PathBuf>,
    ) -> Option<Box<dyn Site + Send + Sync>> {
        let site = ServerSite::new(Arc::clone(&self.server), settings, directories);
        Some(Box::new(site))
    }

    fn holds_volumes(&self) -> bool {
        self.server.is_on_volumes()
    }

    fn close(&self) -> Closed {
        let mut not_put_back = restore::close(&self.server);
        not_put_back.extend(self.server.stranded());
        // Until tempdb is restored, some of these may be in use.
        let left_behind = match not_put_back.is_empty() {
            true => self.server.left_behind(),
            false => None,
        };
        Closed {
            not_put_back,
            left_behind,
        }
    }
}
