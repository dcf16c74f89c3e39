//! MariaDB as an engine provider.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::capture::{Product, of_server};
use host::orphans::Registration;

use crate::recorder::SERVERS;
#[cfg(target_os = "linux")]
use crate::rehearse::Rehearsal;
use crate::session::url::ServerUrl;
use crate::trial::external::External;
use crate::trial::find::{BIN, Programs};
use crate::trial::product::owner;
use crate::trial::server::MariaDb;
use crate::trial::settings;
use engine::EngineError;
use engine::Options;
use engine::Patience;
use engine::recorder::RecordedServers;
#[cfg(target_os = "linux")]
use engine::rehearsed::RehearsalProvider;
use engine::{
    EngineProvider, EngineRun, Opening, OptionKind, OptionSpec, ProductOptions, Started,
    TrialVolumes, Users,
};
use experiment::spec::{Arm, Mode, Role};
use rules::Captured;
use workload::Dialect;

const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: BIN,
    kind: OptionKind::Path("DIR"),
    help: "Directory of MariaDB's server program [default: the first found]",
    is_fact: true,
    excludes: None,
    in_drill: false,
    in_rehearsal: true,
    login: None,
}];

/// MariaDB: a private server for each trial, or databases in a given server.
pub struct Provider;

impl EngineProvider for Provider {
    fn name(&self) -> &'static str {
        "mariadb"
    }

    fn about(&self) -> &'static str {
        "MariaDB 10.6 to 11.8; with --server also MySQL 8.0 to 9.7"
    }

    fn dialect(&self) -> Dialect {
        Dialect::MARIADB
    }

    /// `read_ahead` applies to the volumes too.
    fn keys(&self, _mode: Mode) -> Option<&'static [&'static str]> {
        Some(&[
            "like",
            "memory",
            "sort_memory",
            "commit",
            "read_ahead",
            "log_capacity",
            "mariadb",
            "start",
            "host_cache_start",
        ])
    }

    /// A table's file grows with it, and `log_capacity` is the log's size.
    fn sized(&self) -> &'static [Role] {
        &[]
    }

    fn users(&self) -> Users {
        Users::Server
    }

    fn roles(&self, _mode: Mode) -> &'static [Role] {
        &Role::ALL
    }

    fn takes_server(&self) -> bool {
        true
    }

    fn recorded(&self) -> Option<&'static RecordedServers> {
        Some(&SERVERS)
    }

    #[cfg(target_os = "linux")]
    fn rehearsed(&self) -> Option<&'static dyn RehearsalProvider> {
        Some(&Rehearsal)
    }

    fn capture(
        &self,
        server: &str,
        options: &ProductOptions,
        patience: Patience,
    ) -> Result<Box<dyn Captured>, EngineError> {
        if !options.is_empty() {
            let text = "options of SQL Server's login have no effect on MariaDB and MySQL; leave them out, and give \
                        ssl-mode and ssl-ca in the URL";
            return Err(EngineError::Missing(text.to_owned()));
        }
        let url = ServerUrl::parse(server)?.with_patience(patience);
        Ok(Box::new(of_server(&url)?))
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn check(&self, options: &Options, arms: &[Arm]) -> Result<(), String> {
        match (&options.server, options.of_product.path(BIN)) {
            (None, _) => Ok(()),
            (Some(_), Some(_)) => Err(
                "--server uses a server that runs already, so --mariadb-bin is of no use; leave one of them out"
                    .to_owned(),
            ),
            (Some(_), None) => check_given(arms),
        }
    }

    fn look(&self, options: &Options, _mode: Mode) -> Result<(), EngineError> {
        match &options.server {
            Some(url) => ServerUrl::parse(url).map(|_| ()),
            None => {
                Programs::find(options.of_product.path(BIN))?;
                owner().map(|_| ())
            }
        }
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn EngineRun>, EngineError> {
        if let (Some(url), Some(arm)) = (&opening.options.server, opening.arms.first()) {
            let external = External::open(&server(url, &opening.patience())?, &arm.settings)?;
            external.check_places(&of_data(opening))?;
        }
        Ok(Box::new(Run {
            options: opening.options.clone(),
            patience: opening.patience(),
            registration: Arc::clone(opening.registration),
        }))
    }
}

/// Rejects what an existing server cannot do: it is not restarted, and its own settings and locations are not changed.
fn check_given(arms: &[Arm]) -> Result<(), String> {
    let Some((first, others)) = arms.split_first() else {
        return Ok(());
    };
    for arm in others {
        let placed = |arm: &Arm, role: Role| -> Vec<String> {
            let files = arm.settings.placement.files(role).iter();
            files.map(|file| file.volume.clone()).collect()
        };
        let mut roles = Role::ALL.into_iter().filter(|role| *role != Role::Data);
        if let Some(role) = roles.find(|role| placed(first, *role) != placed(arm, *role)) {
            let place = |arm: &Arm| match placed(arm, role).join(", ") {
                none if none.is_empty() => "nowhere".to_owned(),
                volumes => format!("on {volumes}"),
            };
            return Err(format!(
                "arm \"{}\" puts {role} {} and \"{}\" {}, which takes a restart of a server that is given with --server; \
                 place {role} alike in all arms, move it with the scripts of `dbstow layout --engine mariadb --role {role}` \
                 and run one arm at a time, or leave --server out",
                first.name,
                place(first),
                arm.name,
                place(arm)
            ));
        }
        let own = |arm: &Arm| -> BTreeMap<&str, String> {
            settings::of_given(&arm.settings, Product::default())
                .into_iter()
                .collect()
        };
        let (one, other) = (own(first), own(arm));
        let mut names = one.keys().chain(other.keys());
        if let Some(name) = names.find(|name| one.get(*name) != other.get(*name)) {
            let value = |of: &BTreeMap<&str, String>| {
                of.get(name).map_or("the default".to_owned(), Clone::clone)
            };
            return Err(format!(
                "arm \"{}\" asks for {name} = {} and \"{}\" for {}, and a server that is given with --server keeps its own; \
                 give all arms the same, or leave --server out",
                first.name,
                value(&one),
                arm.name,
                value(&other)
            ));
        }
    }
    Ok(())
}

/// The directories that the user named for volumes of data files.
fn of_data(opening: &Opening<'_>) -> Vec<PathBuf> {
    let placements = opening.arms.iter().map(|arm| &arm.settings.placement);
    let files = placements.flat_map(|placement| placement.files(Role::Data));
    let named = files.filter_map(|file| opening.options.volumes.get(&file.volume));
    named
        .map(|directory| std::path::absolute(directory).unwrap_or_else(|_| directory.clone()))
        .collect()
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
                MariaDb::external(&server(url, &self.patience)?, site, settings, workload)?
            }
            None => {
                let programs = Programs::find(self.options.of_product.path(BIN))?;
                let asked = (site, settings, workload);
                MariaDb::private(&programs, owner()?, &self.registration, asked)?
            }
        };
        Ok(Started::Engine(Box::new(engine)))
    }
}
