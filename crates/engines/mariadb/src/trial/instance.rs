//! A private server: own directories, own socket, no network, one user.

use std::io::Write;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use host::orphans::Registration;

use crate::session::login::Target;
use crate::trial::find::Programs;
use crate::trial::places::Places;
use crate::trial::product::MARIADB;
use crate::trial::settings;
use engine::EngineError;
use engine::managed_server::{Directories, ManagedServer, Owner, Purpose, RunDirectory, own_name};
use engine::server_url::Password;
use experiment::spec::Settings;

/// The socket's name in the run directory.
const SOCKET: &str = "mariadb.sock";

/// A private server.
pub(crate) struct Instance {
    programs: Programs,
    /// Its command-line arguments.
    arguments: Vec<String>,
    /// The only user that may log in; of a copy, that of dbstow.
    user: String,
    /// Of a copy, the password of all users.
    password: Option<Password>,
    /// Whether its processes have no network.
    #[cfg(target_os = "linux")]
    is_offline: bool,
    server: ManagedServer,
}

impl Instance {
    /// Creates the directories of `places` inside existing directories, and initializes the data directory.
    ///
    /// # Errors
    /// When one exists already or cannot be created, or MariaDB fails to initialize it.
    pub(crate) fn create(
        (programs, owner): (&Programs, Option<Owner>),
        registration: &Arc<Registration>,
        directories: &mut Directories,
        places: &Places,
        settings: &Settings,
    ) -> Result<Instance, EngineError> {
        let user = own_name(&MARIADB)?;
        let run = RunDirectory::make(registration, owner, &[])?;
        let data = places.data_directory();
        let instance = Instance {
            programs: programs.clone(),
            arguments: settings::of_files(places, settings)
                .into_iter()
                .chain(settings::of_server(places, settings))
                .chain(settings::of_access(&socket(&run)))
                .collect(),
            server: ManagedServer::new(&MARIADB, owner, registration, (run, data), settings)?,
            user,
            password: None,
            #[cfg(target_os = "linux")]
            is_offline: false,
        };
        for place in places.all() {
            directories.make(place)?;
        }
        instance.fill(&settings::of_files(places, settings))?;
        Ok(instance)
    }

    /// A server for a copy of another server's files, with these arguments alone and without a network, to which `login` has access.
    /// It loads no libraries, and its statements reach no files. The memory of `settings` is all that it and its page cache may take.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_copy(
        (programs, owner): (&Programs, Option<Owner>),
        registration: &Arc<Registration>,
        (data, settings): (&Path, &Settings),
        mut arguments: Vec<String>,
        (user, password): (&str, &Password),
    ) -> Result<Instance, EngineError> {
        let run = RunDirectory::make(registration, owner, &[])?;
        // The directory has no files, and the server cannot write to it.
        let nothing = run.path().display().to_string();
        arguments.extend(settings::of_access(&socket(&run)));
        arguments.push(format!("--plugin-dir={nothing}"));
        arguments.push(format!("--secure-file-priv={nothing}"));
        Ok(Instance {
            programs: programs.clone(),
            arguments,
            server: ManagedServer::new(&MARIADB, owner, registration, (run, data), settings)?,
            user: user.to_owned(),
            password: Some(password.clone()),
            is_offline: true,
        })
    }

    /// Its address and login.
    pub(crate) fn target(&self) -> Target {
        Target {
            password: self.password.clone(),
            ..Target::local(self.socket(), self.user.clone())
        }
    }

    /// Its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        socket(self.server.run())
    }

    /// Its process and exit status.
    pub(crate) fn server(&self) -> &ManagedServer {
        &self.server
    }

    /// Starts the server, and waits until it accepts clients.
    ///
    /// # Errors
    /// When it exits or is not ready in time; with the end of its log.
    pub(crate) fn start(&self) -> Result<(), EngineError> {
        let mut command = self.server.command(&self.programs.server, Purpose::Serve);
        command.arg("--no-defaults").args(&self.arguments);
        let target = self.target();
        let ready = || target.open(None).map(|_| ());
        let start = || self.server.start(command, ready);
        #[cfg(target_os = "linux")]
        if self.is_offline {
            let started = host::network::without_network(start);
            return started
                .map_err(|error| EngineError::failed("take MariaDB's network away", error))?;
        }
        start()
    }

    /// Executes statements on a copy, one a line, while no user can log in; returns what the server said.
    ///
    /// # Errors
    /// When it does not start, or refuses one.
    #[cfg(target_os = "linux")]
    pub(crate) fn alone(&self, statements: String) -> Result<String, EngineError> {
        let run = || self.bootstrap(&self.arguments, statements);
        let ran = host::network::without_network(run).map_err(|error| error.to_string());
        ran.and_then(|ran| ran)
            .map_err(|why| EngineError::failed("prepare the copy for a private server", why))
    }

    /// Creates the system tables and the only login: the operating system user that dbstow runs as.
    /// Source: <https://mariadb.com/docs/server/reference/plugins/authentication-plugins/authentication-plugin-unix-socket>,
    /// read 2026-11-25.
    fn fill(&self, arguments: &[String]) -> Result<(), EngineError> {
        let user = self.user.replace('\\', "\\\\").replace('\'', "''");
        // Each statement ends with its line.
        let text = format!(
            "CREATE DATABASE mysql;\nUSE mysql;\n{}\
             DELETE FROM global_priv;\nDELETE FROM proxies_priv;\nDELETE FROM db;\n\
             INSERT INTO global_priv VALUES ('localhost', '{user}', '{{\"access\": 18446744073709551615, \"plugin\": \"unix_socket\"}}');\n",
            self.programs.system_tables()?
        );
        self.bootstrap(arguments, text)
            .map(|_| ())
            .map_err(|why| EngineError::failed("fill MariaDB's data directory", why))
    }

    /// Has a server execute statements, one a line, and end; returns what it said.
    fn bootstrap(&self, arguments: &[String], statements: String) -> Result<String, String> {
        let mut child = self
            .server
            .command(&self.programs.server, Purpose::Initialise)
            .args(["--no-defaults", "--bootstrap"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut input = child.stdin.take().expect("it is piped");
        // A server that ends early reports why on exit.
        let sent = std::thread::spawn(move || input.write_all(statements.as_bytes()));
        let output = child
            .wait_with_output()
            .map_err(|error| error.to_string())?;
        let sent = sent.join().expect("it only writes");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match (output.status.success(), sent) {
            (true, Ok(())) => Ok(said),
            (true, Err(error)) => Err(error.to_string()),
            (false, _) => Err(with_remedy(&errors_in(&said))),
        }
    }
}

/// Where a server listens.
fn socket(run: &RunDirectory) -> PathBuf {
    run.socket_directory().join(SOCKET)
}

/// The lines of a server's log with errors, or its end.
fn errors_in(log: &str) -> String {
    // `Aborting` only refers to another line with the reason; errors before the log is opened have no mark.
    let is_error = |line: &&str| {
        let is_marked = line.contains("[ERROR]") && !line.ends_with("Aborting");
        is_marked || line.contains("mariadbd: ") || line.contains("Errcode: ")
    };
    let lines: Vec<&str> = log.lines().collect();
    let errors: Vec<&str> = lines.iter().copied().filter(is_error).take(3).collect();
    match (errors.is_empty(), lines.is_empty()) {
        (false, _) => errors.join(" | "),
        (true, false) => lines[lines.len().saturating_sub(3)..].join(" | "),
        (true, true) => "it said nothing".to_owned(),
    }
}

/// Adds the remedy for an error caused by the machine's security policy.
pub(crate) fn with_remedy(said: &str) -> String {
    let is_denied = said.contains("Permission denied")
        || said.contains("Errcode: 13")
        || said.contains("error 13");
    let remedy = match is_denied {
        true => {
            "; every directory above has to let MariaDB's user through (chmod o+x), and AppArmor or SELinux have to allow \
             mariadbd these directories (aa-status, or ausearch -m avc)"
        }
        false => "",
    };
    format!("{said}{remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_denied_comes_with_a_remedy() {
        let log = "[Note] one\n[ERROR] InnoDB: Operating system error number 13\n[ERROR] Can't create (Errcode: 13 \"Permission denied\")\n";
        let said = with_remedy(&errors_in(log));
        assert!(said.starts_with("[ERROR] InnoDB"), "{said}");
        assert!(said.contains("AppArmor"), "{said}");
        assert_eq!(with_remedy(&errors_in("[Note] end")), "[Note] end");
    }
}
