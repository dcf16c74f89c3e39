//! A private server: own data directory, own socket, no network, one user.

#[cfg(target_os = "linux")]
use std::io::Write as _;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Stdio;
use std::sync::Arc;

use host::orphans::Registration;

use crate::session::address::Address;
use crate::session::target::{SessionSettings, Target};
use crate::session::tls::Encryption;
use crate::session::wire::Connection;
use crate::trial::access::{self, USER};
use crate::trial::find::Binaries;
use crate::trial::product::POSTGRESQL;
use crate::trial::settings;
use engine::EngineError;
use engine::Patience;
use engine::managed_server::{Directories, ManagedServer, Owner, Purpose};
use experiment::spec::Settings;

/// A private server.
pub(crate) struct Cluster {
    binaries: Binaries,
    /// Its command-line settings.
    settings: Vec<(String, String)>,
    /// Initial settings of every session.
    of_sessions: SessionSettings,
    server: ManagedServer,
    /// Whether its processes have no network.
    is_offline: bool,
}

impl Cluster {
    /// Creates the data directory `data` and the log's directory `log`, both inside existing directories; `initdb` are further
    /// options of `initdb`.
    pub(crate) fn create(
        (binaries, owner): (&Binaries, Option<Owner>),
        registration: &Arc<Registration>,
        directories: &mut Directories,
        (data, log): (&Path, &Path),
        settings: &Settings,
        initdb: &[&str],
    ) -> Result<Cluster, EngineError> {
        let cluster = Cluster::found((binaries, owner), registration, data, settings)?;
        directories.make(data)?;
        directories.make(log)?;
        cluster.initialise(log, initdb)?;
        Ok(cluster)
    }

    /// A server for the data directory `data`, which may exist already. It is not started yet.
    pub(crate) fn found(
        (binaries, owner): (&Binaries, Option<Owner>),
        registration: &Arc<Registration>,
        data: &Path,
        settings: &Settings,
    ) -> Result<Cluster, EngineError> {
        let run = access::run_directory(registration, owner)?;
        let own = access::settings(&run).into_iter();
        Ok(Cluster {
            binaries: binaries.clone(),
            settings: own
                .chain(settings::of_server(settings, binaries.major))
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            of_sessions: &[],
            server: ManagedServer::new(&POSTGRESQL, owner, registration, (run, data), settings)?,
            is_offline: false,
        })
    }

    /// A server for a copy of another server's files, with these settings alone, without a network, whose users `roles` may log
    /// in. The memory of `settings` is all that it and its page cache may take.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_copy(
        (binaries, owner): (&Binaries, Option<Owner>),
        registration: &Arc<Registration>,
        data: &Path,
        settings: &Settings,
        (server, roles): (Vec<(String, String)>, &[&str]),
    ) -> Result<Cluster, EngineError> {
        let run = access::run_directory_for(registration, owner, roles)?;
        let own = access::settings(&run).into_iter();
        let own = own.map(|(name, value)| (name.to_owned(), value));
        let file = access::settings_file(&run);
        Ok(Cluster {
            binaries: binaries.clone(),
            // Later ones take precedence.
            settings: server.into_iter().chain(own).chain([file]).collect(),
            of_sessions: &[],
            server: ManagedServer::new(&POSTGRESQL, owner, registration, (run, data), settings)?,
            is_offline: true,
        })
    }

    /// The server, ignoring settings files in its data directory where PostgreSQL allows it.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only drills need it, which are of Linux")
    )]
    pub(crate) fn reading_no_file_of_its_data(mut self) -> Cluster {
        self.settings.push(access::settings_file(self.server.run()));
        self
    }

    /// The server with `more` settings, which take precedence over the others.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only drills need it, which are of Linux")
    )]
    pub(crate) fn with(mut self, more: impl Iterator<Item = (String, String)>) -> Cluster {
        self.settings.extend(more);
        self
    }

    /// The server, whose sessions begin with these settings, overriding those of its database.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only drills need it, which are of Linux")
    )]
    pub(crate) fn with_sessions(mut self, settings: SessionSettings) -> Cluster {
        self.of_sessions = settings;
        self
    }

    /// Address and login for `database`.
    pub(crate) fn target(&self, database: &str) -> Target {
        Target {
            address: Address::Unix(access::socket(self.server.run())),
            user: USER.to_owned(),
            database: database.to_owned(),
            password: None,
            encryption: Encryption::off(),
            patience: Patience::endless(),
            settings: self.of_sessions,
        }
    }

    /// Its process and exit status.
    pub(crate) fn server(&self) -> &ManagedServer {
        &self.server
    }

    /// Starts the server, and waits until it accepts clients.
    pub(crate) fn start(&self) -> Result<(), EngineError> {
        let mut command = self
            .server
            .command(&self.binaries.program("postgres"), Purpose::Serve);
        let settings = self.settings.iter();
        command
            .arg("-D")
            .arg(self.server.data())
            .args(settings.flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]));
        // It exists in every cluster, and is not used otherwise.
        let target = self.target(if self.is_offline {
            "template1"
        } else {
            "postgres"
        });
        let ready = || Connection::open(&target, "dbstow").map(|_| ());
        let start = || self.server.start(command, ready);
        #[cfg(target_os = "linux")]
        if self.is_offline {
            let started = host::network::without_network(start);
            return started
                .map_err(|error| EngineError::failed("take PostgreSQL's network away", error))?;
        }
        start()
    }

    /// Executes statements, one a line, without a server, so that no one can log in meanwhile.
    #[cfg(target_os = "linux")]
    pub(crate) fn alone(&self, statements: &str) -> Result<(), EngineError> {
        let failed =
            |why: String| EngineError::failed("prepare the copy for a private server", why);
        let mut command = self
            .server
            .command(&self.binaries.program("postgres"), Purpose::Initialise);
        let settings = self.settings.iter();
        command
            .arg("--single")
            .arg("-D")
            .arg(self.server.data())
            .args(settings.flat_map(|(name, value)| ["-c".to_owned(), format!("{name}={value}")]))
            .arg("template1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let run = || {
            let mut process = command.spawn()?;
            let input = process.stdin.take();
            let written = input.expect("it is piped").write_all(statements.as_bytes());
            // If it has ended early, its own words say why.
            process.wait_with_output().map(|output| (output, written))
        };
        let (output, _) = host::network::without_network(run)
            .and_then(|ran| ran)
            .map_err(|error| failed(error.to_string()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let refused = said.lines().find(|line| {
            ["FATAL:", "PANIC:", "ERROR:"]
                .iter()
                .any(|word| line.contains(word))
        });
        match (output.status.success(), refused) {
            (true, None) => Ok(()),
            (_, Some(line)) => Err(failed(rules::said(line))),
            (false, None) => Err(failed(format!("postgres ended with {}", output.status))),
        }
    }

    fn initialise(&self, log: &Path, options: &[&str]) -> Result<(), EngineError> {
        let output = self
            .server
            .command(&self.binaries.program("initdb"), Purpose::Initialise)
            // Access rules are outside the data directory, whose own rules reject all logins.
            .args(["--auth=reject", "--encoding=UTF8", "--no-locale"])
            // What a trial requires on disk is written by the checkpoint after its load.
            .args(["--no-sync", "--username", USER])
            .args((self.binaries.major >= 14).then_some("--no-instructions"))
            .args(options)
            .arg("--pgdata")
            .arg(self.server.data())
            .arg("--waldir")
            .arg(log)
            .output()
            .map_err(|error| EngineError::failed("start initdb", error))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let remedy = match said.contains("Permission denied") {
            true => "; every directory above has to let PostgreSQL's user through (chmod o+x)",
            false => "",
        };
        Err(EngineError::failed("initdb", format!("{said}{remedy}")))
    }
}
