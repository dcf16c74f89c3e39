//! `postgresql://user:password@host:port/database`, and the sources of a password that it does not contain.
//!
//! Source: <https://www.postgresql.org/docs/18/libpq-connect.html>, "Connection URIs" and "The Password
//! File", read 2026-11-21.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::session::address::Address;
use crate::session::sslmode::Mode;
use crate::session::target::{BUILT_IN_ONLY, Target};
use crate::session::tls::{CertificateMode, Encryption, OwnCertificate, TlsOptions};
use engine::EngineError;
use engine::Patience;
use engine::server_url::{Password, Pieces, number, own_name, secret_in};

/// Default socket directories on this machine; Debian's first.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

const PORT: u16 = 5432;

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
        self.target.fmt(f)
    }
}

/// The parts of a URL, before interpretation.
#[derive(Default)]
struct Parts {
    user: Option<String>,
    password: Option<String>,
    host: Option<String>,
    port: Option<u16>,
    database: Option<String>,
    sslmode: Option<Mode>,
    sslrootcert: Option<String>,
    sslcert: Option<String>,
    sslkey: Option<String>,
    sslcertmode: Option<CertificateMode>,
}

impl ServerUrl {
    /// Parses a URL; missing parts come from `PGPASSWORD`, the password file, `PGSSLMODE`, `PGSSLROOTCERT`,
    /// `PGSSLCERT`, `PGSSLKEY`, `PGSSLCERTMODE`, and this machine's user.
    ///
    /// # Errors
    /// When it is not such a URL, or a certificate or key cannot be used; the message does not contain the URL, since it may
    /// include a password.
    pub fn parse(text: &str) -> Result<ServerUrl, EngineError> {
        let parts = Parts::of(text).map_err(|why| {
            EngineError::Missing(format!(
                "--server: {why}; give postgresql://USER@HOST:PORT/DATABASE, or \
                 postgresql:///DATABASE?host=/var/run/postgresql for a socket"
            ))
        })?;
        let port = parts.port.unwrap_or(PORT);
        let address = match parts.host.filter(|host| !host.is_empty()) {
            Some(host) if host.starts_with('/') => socket(&host, port),
            Some(host) => Address::Tcp(host, port),
            None => {
                let there = SOCKETS
                    .into_iter()
                    .find(|folder| match socket(folder, port) {
                        Address::Unix(path) => path.exists(),
                        Address::Tcp(..) => false,
                    });
                socket(there.unwrap_or(SOCKETS[0]), port)
            }
        };
        let user = parts.user.unwrap_or_else(|| own_name("postgres"));
        let database = parts.database.unwrap_or_else(|| user.clone());
        let password = match parts.password.or_else(|| env::var("PGPASSWORD").ok()) {
            Some(password) => Some(password),
            None => from_file(&address, port, &database, &user)
                .map_err(|why| EngineError::Missing(format!("--server: {why}")))?,
        };
        let asked = TlsOptions {
            mode: parts.sslmode,
            root: parts.sslrootcert,
            own: OwnCertificate {
                certificate: parts.sslcert,
                key: parts.sslkey,
                mode: parts.sslcertmode,
            },
        };
        let encryption = Encryption::of(&address, asked)
            .map_err(|why| EngineError::Missing(format!("--server: {why}")))?;
        let target = Target {
            encryption,
            address,
            user,
            database,
            password: password.map(Password::new),
            patience: Patience::default(),
            settings: &BUILT_IN_ONLY,
        };
        Ok(ServerUrl { target })
    }

    /// A private server.
    #[cfg(target_os = "linux")]
    pub(crate) fn private(target: Target) -> ServerUrl {
        ServerUrl {
            target: Target {
                patience: Patience::default(),
                settings: &BUILT_IN_ONLY,
                ..target
            },
        }
    }

    /// The server with these time limits.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> ServerUrl {
        self.target.patience = patience;
        self
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }
}

impl Parts {
    fn of(text: &str) -> Result<Parts, String> {
        let rest = text
            .strip_prefix("postgresql://")
            .or_else(|| text.strip_prefix("postgres://"))
            .ok_or("this is not a URL of a PostgreSQL server")?;
        let pieces = Pieces::of(rest)?;
        let mut parts = Parts {
            user: pieces.user,
            password: pieces.password,
            host: pieces.host,
            port: pieces.port,
            database: pieces.path,
            ..Parts::default()
        };
        for (name, value) in pieces.parameters {
            parts.parameter(&name, value)?;
        }
        Ok(parts)
    }

    fn parameter(&mut self, name: &str, value: Option<String>) -> Result<(), String> {
        match name {
            "host" => self.host = value,
            "port" => self.port = number(value.as_deref().unwrap_or_default())?,
            "user" => self.user = value,
            "password" => self.password = value,
            "dbname" => self.database = value,
            "sslmode" => self.sslmode = value.map(|mode| mode.parse()).transpose()?,
            "sslrootcert" => self.sslrootcert = value,
            "sslcert" => self.sslcert = value,
            "sslkey" => self.sslkey = value,
            "sslcertmode" => {
                self.sslcertmode = value.map(|mode| mode.parse()).transpose()?;
            }
            // Without its name: if a password contains a `?`, the name is a part of it.
            _ => {
                return Err(
                    "it has an unknown parameter (known: host, port, user, password, dbname, sslmode, sslrootcert, sslcert, \
                     sslkey, sslcertmode)"
                        .to_owned(),
                );
            }
        }
        Ok(())
    }
}

fn socket(folder: &str, port: u16) -> Address {
    Address::Unix(PathBuf::from(folder).join(format!(".s.PGSQL.{port}")))
}

/// The password for this server in the user's password file.
fn from_file(
    address: &Address,
    port: u16,
    database: &str,
    user: &str,
) -> Result<Option<String>, String> {
    let file = match (env::var_os("PGPASSFILE"), env::var_os("HOME")) {
        (Some(file), _) => PathBuf::from(file),
        (None, Some(home)) => Path::new(&home).join(".pgpass"),
        (None, None) => return Ok(None),
    };
    let host = match address {
        // libpq's lookup name for a socket in its default directory, and close enough for others.
        Address::Unix(_) => "localhost",
        Address::Tcp(host, _) => host,
    };
    let wanted = [host, &port.to_string(), database, user];
    secret_in(&file, |text| password_in(text, wanted))
}

/// The password of the first line whose fields are those `wanted`, or `*`.
fn password_in(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(fields)
        .find(|fields| {
            let pairs = fields.iter().zip(wanted);
            fields.len() == 5
                && pairs
                    .clone()
                    .all(|(field, wanted)| field == "*" || field == wanted)
        })
        .and_then(|mut fields| fields.pop())
}

/// A line's fields; a backslash keeps the next character from being a separator.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let separates = character == ':' && fields.len() < 5;
        let last = fields.last_mut().expect("there is always one");
        match character {
            '\\' => last.extend(characters.next()),
            _ if separates => fields.push(String::new()),
            other => last.push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use engine::server_url::examples::{passwords, shows};

    #[test]
    fn a_url_is_taken_apart() {
        let url = ServerUrl::parse("postgresql://ann:s%40cret@db:5433/sales").unwrap();
        assert_eq!(url.to_string(), "postgresql://ann@db:5433/sales");
        let target = url.target();
        assert_eq!(target.address, Address::Tcp("db".to_owned(), 5433));
        assert_eq!(target.password.as_ref().unwrap().secret(), "s@cret");
    }

    #[test]
    fn a_socket_is_a_directory_of_the_query() {
        let url = ServerUrl::parse("postgres://ann@/sales?host=/run/pg&port=6000").unwrap();
        let path = PathBuf::from("/run/pg/.s.PGSQL.6000");
        assert_eq!(url.target().address, Address::Unix(path));
    }

    proptest! {
        #[test]
        fn no_message_and_no_name_of_a_server_repeats_a_password(
            password in passwords(),
            form in prop_oneof![
                Just("postgresql://ann:{}@db/sales"),
                Just("postgresql://ann:{}@db:99999/sales"),
                Just("postgresql://ann:{}@db:port/sales"),
                Just("postgresql://ann:{}@/sales?host=/run/pg"),
                Just("postgresql://ann:{}@db/sales?colour=red"),
                Just("postgresql://ann@db/sales?password={}"),
                Just("postgresql://ann@db/sales?passwd={}"),
                Just("mysql://ann:{}@db/sales"),
                Just("ann:{}@db/sales"),
                Just("postgresql:ann:{}@db/sales"),
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

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for wrong in [
            "mysql://ann:hunter2@db/sales",
            "postgresql://ann:hunter2@db:port/sales",
            "postgresql://ann:hunter2@db/sales?sslmode=hunter2",
            "postgresql://ann:hunter2@db/sales?sslcertmode=hunter2",
            "postgresql://ann:hunter2@/sales?host=/run/pg&sslmode=require",
            "postgresql://ann@db/sales?password=hunter2&colour=red",
        ] {
            let error = ServerUrl::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("--server: "), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
        let url = ServerUrl::parse("postgresql://ann:hunter2@db/sales").unwrap();
        assert!(!format!("{url} {url:?}").contains("hunter2"));
    }

    #[test]
    fn the_password_files_first_line_that_fits_counts() {
        let text = "# comment\nother:5432:*:ann:no\nlocalhost:*:sales:ann:a\\:b:c\n*:*:*:*:late\n";
        let wanted = |host| password_in(text, [host, "5432", "sales", "ann"]);
        assert_eq!(wanted("localhost").as_deref(), Some("a:b:c"));
        assert_eq!(wanted("else").as_deref(), Some("late"));
        assert_eq!(password_in("a:b:c", ["a", "b", "c", "d"]), None);
    }
}
