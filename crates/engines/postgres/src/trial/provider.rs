//! PostgreSQL as an engine provider.

use std::sync::Arc;

use host::orphans::Registration;
use model::Bytes;

use super::{BIN, Binaries, Postgres, owner, reading};
use crate::ServerUrl;
use crate::recorder::SERVERS;
use crate::session::login::{OBSERVER, open};
use engine::EngineError;
use engine::Options;
use engine::Patience;
#[cfg(target_os = "linux")]
use engine::drilled::DrillProvider;
use engine::recorder::RecordedServers;
#[cfg(target_os = "linux")]
use engine::rehearsed::RehearsalProvider;
use engine::row::first;
use engine::{
    EngineProvider, EngineRun, Opening, OptionKind, OptionSpec, Started, TrialVolumes, Users,
};
use experiment::spec::{Arm, Mode, Role};
use workload::Dialect;

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: BIN,
    kind: OptionKind::Path("DIR"),
    help: "Directory of PostgreSQL's programs [default: the newest found]",
    is_fact: true,
    excludes: None,
    in_drill: true,
    in_rehearsal: true,
    login: None,
}];

/// PostgreSQL: a private server for each trial, or a database in a given server.
pub struct Provider;

impl EngineProvider for Provider {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn about(&self) -> &'static str {
        "PostgreSQL 13 to 18"
    }

    fn dialect(&self) -> Dialect {
        Dialect::POSTGRES
    }

    /// `read_ahead` applies to the volumes too.
    fn keys(&self, _mode: Mode) -> Option<&'static [&'static str]> {
        Some(&[
            "like",
            "memory",
            "sort_memory",
            "checkpoint",
            "commit",
            "read_ahead",
            "versions",
            "versions.bytes_per_row",
            "postgres",
            "start",
            "host_cache_start",
        ])
    }

    /// A tablespace has no size; the log's size limits it (`max_wal_size`).
    fn sized(&self) -> &'static [Role] {
        &[Role::Log]
    }

    fn users(&self) -> Users {
        Users::Server
    }

    fn takes_server(&self) -> bool {
        true
    }

    fn recorded(&self) -> Option<&'static RecordedServers> {
        Some(&SERVERS)
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    #[cfg(target_os = "linux")]
    fn drilled(&self) -> Option<&'static dyn DrillProvider> {
        Some(&crate::drill::Drill)
    }

    #[cfg(target_os = "linux")]
    fn rehearsed(&self) -> Option<&'static dyn RehearsalProvider> {
        Some(&crate::rehearse::Rehearsal)
    }

    fn check(&self, options: &Options, arms: &[Arm]) -> Result<(), String> {
        if options.server.is_some() && options.of_product.has(BIN) {
            return Err(
                "--server uses a server that runs already, so --postgres-bin is of no use; leave one of them out"
                    .to_owned(),
            );
        }
        if options.server.is_some() {
            check_logs(arms)?;
            reading::check_given(arms)?;
        }
        Ok(())
    }

    fn look(&self, options: &Options, _mode: Mode) -> Result<(), EngineError> {
        match &options.server {
            Some(url) => ServerUrl::parse(url).map(|_| ()),
            None => {
                Binaries::find(options.of_product.path(BIN))?;
                owner().map(|_| ())
            }
        }
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError> {
        let own = |arm: &Arm| arm.settings.engine.own.has("postgres");
        if opening.arms.iter().any(own) {
            match &opening.options.server {
                Some(url) => check_server(&server(url, &opening.patience())?, opening.arms)?,
                None => {
                    let binaries = Binaries::find(opening.options.of_product.path(BIN))?;
                    reading::check_programs(&binaries, opening.arms)?;
                }
            }
        }
        Ok(Box::new(Run {
            options: opening.options.clone(),
            patience: opening.patience(),
            registration: Arc::clone(opening.registration),
        }))
    }
}

/// A server's log cannot be moved: arms that differ only in its placement would be identical.
fn check_logs(arms: &[Arm]) -> Result<(), String> {
    let volumes = |arm: &Arm| -> Vec<String> {
        let files = arm.settings.placement.files(Role::Log).iter();
        files.map(|file| file.volume.clone()).collect()
    };
    let mut logs = arms.iter().map(|arm| (arm, volumes(arm)));
    let Some((first, volume)) = logs.next() else {
        return Ok(());
    };
    match logs.find(|(_, other)| *other != volume) {
        None => Ok(()),
        Some((arm, other)) => Err(format!(
            "arm \"{}\" puts the log on {} and \"{}\" on {}, and pg_wal of a server that is given with --server \
             stays where it is; give the log one place (--set placement.NAME.log='{{ volumes = \"{}\" }}' for each \
             placement), or leave --server out",
            first.name,
            volume.join(", "),
            arm.name,
            other.join(", "),
            volume.join(", ")
        )),
    }
}

/// Checks the version and settings of an external server before any trial.
fn check_server(url: &ServerUrl, arms: &[Arm]) -> Result<(), EngineError> {
    let mut connection = open(url.target(), OBSERVER)?;
    let mut value = |expression: &str| -> Result<String, EngineError> {
        let rows = connection
            .query(&format!("SELECT {expression}"))
            .map_err(|error| EngineError::failed(format!("look at {url}"), error))?;
        let answer = first(&rows).and_then(|row| Ok(row.word(0)?.to_owned()));
        answer.map_err(|error| EngineError::failed(format!("look at {url}"), error))
    };
    let number = value("current_setting('server_version_num')")?;
    let major = number.parse::<u32>().unwrap_or(0) / 10_000;
    let server = format!("{url} is {}", value("current_setting('server_version')")?);
    reading::check_version(
        arms,
        major,
        &server,
        "use another server, or leave the key out",
    )
    .map_err(EngineError::Missing)?;
    if major < 18 {
        return Ok(());
    }
    let allowed = value("pg_size_bytes(current_setting('io_max_combine_limit'))")?;
    let allowed = allowed.parse().map(Bytes).map_err(|error| {
        EngineError::failed(format!("read io_max_combine_limit of {url}"), error)
    })?;
    reading::check_combined(arms, allowed, &server).map_err(EngineError::Missing)
}

/// The server of a URL, with time limits.
fn server(url: &str, patience: &Patience) -> Result<ServerUrl, EngineError> {
    Ok(ServerUrl::parse(url)?.with_patience(patience.clone()))
}

struct Run {
    options: Options,
    patience: Patience,
    registration: Arc<Registration>,
}

impl EngineRun for Run {
    fn start(&self, trial: TrialVolumes<'_>) -> Result<Started, EngineError> {
        let workload = trial.workload();
        let TrialVolumes {
            settings,
            statements: _,
            site,
            pacer: _,
        } = trial;
        let engine = match &self.options.server {
            Some(url) => {
                Postgres::external(&server(url, &self.patience)?, site, settings, workload)?
            }
            None => {
                let binaries = Binaries::find(self.options.of_product.path(BIN))?;
                let asked = (site, settings, workload);
                Postgres::private(&binaries, owner()?, &self.registration, asked)?
            }
        };
        Ok(Started::Engine(Box::new(engine)))
    }
}
