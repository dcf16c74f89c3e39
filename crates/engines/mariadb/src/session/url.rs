//! `mysql://user@host:port/`, and the sources of a password that it does not contain.
//!
//! Source: <https://dev.mysql.com/doc/refman/8.4/en/connecting-using-uri-or-key-value-pairs.html>, "URI-Like Connection
//! Strings", and <https://dev.mysql.com/doc/refman/8.4/en/option-files.html>, read 2026-11-25.

use std::env;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::session::login::{Address, Target};
use crate::session::option_file;
use crate::session::tls::{Encryption, Mode};
use crate::session::wire::Connection;
use engine::EngineError;
use engine::Patience;
use engine::server_url::{Password, Pieces, own_name};

/// Default sockets of servers on this machine: Debian's, Red Hat's, and MariaDB's own.
const SOCKETS: [&str; 3] = [
    "/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

const PORT: u16 = 3306;

const LOCALHOST: &str = "localhost";

/// An existing server. Its `Display` text does not contain the password.
#[derive(Clone)]
pub struct ServerUrl {
    target: Target,
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = &self.target.user;
        match &self.target.address {
            Address::Tcp(..) => write!(f, "mysql://{user}@{}/", self.target.address),
            Address::Unix(path) => {
                write!(f, "mysql://{user}@{LOCALHOST}/?socket={}", path.display())
            }
        }
    }
}

impl ServerUrl {
    /// Parses a URL; missing parts come from `MYSQL_PWD`, the option file `~/.my.cnf`, and this machine's user.
    ///
    /// As for MySQL's clients, `localhost` without a port is the server's socket, if it exists in its usual place.
    ///
    /// # Errors
    /// When it is not such a URL, a certificate cannot be used, or other users can read the option file; the message does not
    /// contain the URL, since it may include a password.
    pub fn parse(text: &str) -> Result<ServerUrl, EngineError> {
        let of_url = |why: String| {
            EngineError::Missing(format!(
                "--server: {why}; give mysql://USER@HOST:PORT/, or \
                 mysql://USER@localhost/?socket=/run/mysqld/mysqld.sock for a socket"
            ))
        };
        let parts = Parts::of(text).map_err(of_url)?;
        let asked = |why: String| EngineError::Missing(format!("--server: {why}"));
        let address = parts.address();
        let encryption = match &address {
            Address::Unix(_) => match parts.mode {
                None | Some(Mode::Disabled) if parts.authorities.is_none() => {
                    Ok(Encryption::off())
                }
                _ => Err(
                    "a socket of this machine has no TLS; leave ssl-mode and ssl-ca out, or give a port to connect to"
                        .to_owned(),
                ),
            },
            Address::Tcp(host, _) => {
                Encryption::of(is_here(host), parts.mode, parts.authorities.clone())
            }
        };
        let password = match parts.password.or_else(|| env::var("MYSQL_PWD").ok()) {
            Some(password) => Some(password),
            None => from_file().map_err(asked)?,
        };
        Ok(ServerUrl {
            target: Target {
                address,
                user: parts.user.unwrap_or_else(|| own_name("root")),
                password: password.map(Password::new),
                encryption: encryption.map_err(asked)?,
                patience: Patience::default(),
            },
        })
    }

    /// Its address and login.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// A private server.
    #[cfg(target_os = "linux")]
    pub(crate) fn private(target: Target) -> ServerUrl {
        ServerUrl {
            target: target.with(Patience::default()),
        }
    }

    /// The server with these time limits.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> ServerUrl {
        self.target.patience = patience;
        self
    }

    /// Logs in.
    ///
    /// # Errors
    /// When the server rejects the login, or is not encrypted or verified as the URL requires.
    pub(crate) fn connect(&self) -> Result<Connection, EngineError> {
        self.target.open_given()
    }
}

/// The parts of a URL, before interpretation.
struct Parts {
    user: Option<String>,
    password: Option<String>,
    host: Option<String>,
    port: Option<u16>,
    socket: Option<PathBuf>,
    mode: Option<Mode>,
    authorities: Option<PathBuf>,
}

impl Parts {
    fn of(text: &str) -> Result<Parts, String> {
        let rest = text
            .strip_prefix("mysql://")
            .or_else(|| text.strip_prefix("mariadb://"))
            .ok_or("this is not a URL of a MariaDB or MySQL server")?;
        let pieces = Pieces::of(rest)?;
        if pieces.path.is_some() {
            return Err(
                "it names a database, and the whole server is looked at; leave the database out"
                    .to_owned(),
            );
        }
        let mut parts = Parts {
            user: pieces.user,
            password: pieces.password,
            host: pieces.host,
            port: pieces.port,
            socket: None,
            mode: None,
            authorities: None,
        };
        for (name, value) in pieces.parameters {
            match name.as_str() {
                "socket" => parts.socket = value.map(PathBuf::from),
                "ssl-mode" => parts.mode = value.map(|mode| mode.parse()).transpose()?,
                "ssl-ca" => parts.authorities = value.map(PathBuf::from),
                // Without its name: if a password contains a `?`, the name is a part of it.
                _ => {
                    return Err(
                        "it has an unknown parameter (known: socket, ssl-mode, ssl-ca)".to_owned(),
                    );
                }
            }
        }
        let is_elsewhere = parts.host.as_deref().is_some_and(|host| host != LOCALHOST);
        if parts.socket.is_some() && (is_elsewhere || parts.port.is_some()) {
            return Err(
                "it has a socket of this machine beside a host or port; leave one of them out"
                    .to_owned(),
            );
        }
        Ok(parts)
    }

    fn address(&self) -> Address {
        if let Some(socket) = &self.socket {
            return Address::Unix(socket.clone());
        }
        let host = self.host.as_deref().unwrap_or(LOCALHOST);
        let usual = || SOCKETS.iter().map(Path::new).find(|path| path.exists());
        // A request for TLS implies the network.
        let may_be_socket = host == LOCALHOST
            && self.port.is_none()
            && self.mode.is_none_or(|mode| mode == Mode::Disabled);
        match may_be_socket.then(usual).flatten() {
            Some(socket) => Address::Unix(socket.to_owned()),
            None => Address::Tcp(host.to_owned(), self.port.unwrap_or(PORT)),
        }
    }
}

/// Whether packets to a host stay on this machine.
fn is_here(host: &str) -> bool {
    host == LOCALHOST
        || host
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

/// The client password in the user's option file.
fn from_file() -> Result<Option<String>, String> {
    let Some(home) = env::var_os("HOME") else {
        return Ok(None);
    };
    option_file::password(&Path::new(&home).join(".my.cnf"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use engine::server_url::examples::{passwords, shows};

    #[test]
    fn a_url_is_taken_apart() {
        let url = ServerUrl::parse("mysql://ann:s%40cret@db:3307/?ssl-mode=DISABLED").unwrap();
        assert_eq!(url.to_string(), "mysql://ann@db:3307/");
        let target = &url.target;
        assert_eq!(target.address, Address::Tcp("db".to_owned(), 3307));
        assert_eq!(target.password.as_ref().unwrap().secret(), "s@cret");
        assert!(target.encryption.is_off());
        let url = ServerUrl::parse("mariadb://ann:x@[2001:db8::1]").unwrap();
        assert_eq!(url.to_string(), "mysql://ann@[2001:db8::1]:3306/");
        assert!(!url.target.encryption.is_off());
    }

    #[test]
    fn a_socket_is_a_parameter() {
        let url = ServerUrl::parse("mysql://ann:x@localhost/?socket=/run/a/b.sock").unwrap();
        let path = PathBuf::from("/run/a/b.sock");
        assert_eq!(url.target.address, Address::Unix(path));
        assert_eq!(
            url.to_string(),
            "mysql://ann@localhost/?socket=/run/a/b.sock"
        );
    }

    #[test]
    fn packets_to_a_loopback_address_stay_here() {
        for (host, here) in [
            ("localhost", true),
            ("127.0.1.1", true),
            ("::1", true),
            ("10.0.0.1", false),
            ("localhost.example", false),
        ] {
            assert_eq!(is_here(host), here, "{host}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (wrong, said) in [
            ("postgresql://ann:hunter2@db/", "not a URL of a MariaDB"),
            ("mysql://ann:hunter2@db:port/", "its port"),
            ("mysql://ann:hunter2@db/sales", "names a database"),
            (
                "mysql://ann:hunter2@db/?ssl-mode=hunter2",
                "ssl-mode is unknown",
            ),
            (
                "mysql://ann:hunter2@db/?password=hunter2",
                "unknown parameter",
            ),
            ("mysql://ann:hunter2@db/?socket=/a", "beside a host"),
            (
                "mysql://ann:hunter2@localhost/?socket=/a&ssl-mode=REQUIRED",
                "no TLS",
            ),
            (
                "mysql://ann:hunter2@db/?ssl-ca=/nowhere.pem",
                "/nowhere.pem",
            ),
        ] {
            let error = ServerUrl::parse(wrong).unwrap_err().to_string();
            assert!(
                error.contains("--server: ") && error.contains(said),
                "{error}"
            );
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_message_and_no_name_of_a_server_repeats_a_password(
            password in passwords(),
            form in prop_oneof![
                Just("mysql://ann:{}@db/"),
                Just("mariadb://ann:{}@db:99999/"),
                Just("mysql://ann:{}@localhost/?socket=/run/my.sock"),
                Just("mysql://ann:{}@db/?colour=red"),
                Just("mysql://ann@db/?password={}"),
                Just("postgresql://ann:{}@db/sales"),
                Just("ann:{}@db/"),
            ],
        ) {
            let url = form.replace("{}", &password);
            let shown = match ServerUrl::parse(&url) {
                Ok(url) => format!("{url} {url:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            prop_assert!(!shows(&shown, &password), "{url}: {shown}");
        }
    }
}
