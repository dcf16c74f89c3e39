//! Address and login of a server, for every connection of a run.

use std::sync::Arc;

use crate::session::{Credentials, Driver, Encryption, Failure, Limits, Login, Server};

use engine::EngineError;
use engine::Patience;
use engine::ProductOptions;

use super::options::{ENCRYPT, TOKEN_ENV, TOKEN_FILE, TRUST};

/// A server and a login.
#[derive(Clone, Debug)]
pub struct Access {
    server: Server,
    login: Login,
    limits: Limits,
}

impl Access {
    /// From `server` and the options; passwords come from the environment.
    ///
    /// # Errors
    /// When it is not a server, or a password or token is missing.
    pub fn new(server: &str, options: &ProductOptions) -> Result<Access, EngineError> {
        let missing = |error: &dyn std::fmt::Display| EngineError::Missing(error.to_string());
        let server = Server::parse(server).map_err(|error| missing(&error))?;
        let variable = |name: &str| std::env::var(name).ok();
        let credentials = match (options.text(TOKEN_ENV), options.path(TOKEN_FILE)) {
            (Some(name), _) => Credentials::token_of_variable(name, variable),
            (None, Some(file)) => Credentials::token_of_file(file),
            (None, None) => Credentials::from_environment(server.user(), variable),
        };
        let login = Login {
            credentials: credentials.map_err(|error| missing(&error))?,
            encryption: match options.text(ENCRYPT) {
                Some("off-insecure") => Encryption::OffInsecure,
                Some("optional") => Encryption::Optional,
                Some("strict") => Encryption::Strict,
                _ => Encryption::Mandatory,
            },
            trust_certificate: options.has(TRUST),
        };
        Ok(Access {
            server,
            login,
            limits: Limits::default(),
        })
    }

    /// The access with these time limits.
    #[must_use]
    pub fn with_patience(mut self, patience: &Patience) -> Access {
        let answer = patience.answer().unwrap_or(Patience::DEFAULT);
        self.limits = Limits {
            answer: std::time::Duration::from_nanos(answer.as_nanos()),
            stop: patience.stop(),
        };
        self
    }

    /// The access, ignoring a stop request of the user: a run's changes are restored after that.
    #[must_use]
    pub(crate) fn to_the_end(&self) -> Access {
        let mut access = self.clone();
        access.limits.stop = Arc::default();
        access
    }

    /// The server, without a password: for messages and records.
    pub fn server(&self) -> String {
        self.server.to_string()
    }

    /// The `sqlcmd` command line for the same login, without the script. The password stays in SQLCMDPASSWORD.
    pub(crate) fn sqlcmd(&self) -> String {
        // `-b`: stop at an error; `-x`: `$(..)` in a name is not a variable; the script is UTF-8, which must be specified on
        // Windows.
        let mut line = format!("sqlcmd -S \"{}\"", self.server);
        line += &match &self.login.credentials {
            Credentials::Password { user, .. } => format!(" -U {}", quoted(user)),
            Credentials::Token(_) => " -G".to_owned(),
            Credentials::Integrated => " -E".to_owned(),
        };
        line += match self.login.encryption {
            Encryption::Optional | Encryption::OffInsecure => " -No",
            Encryption::Mandatory => "",
            Encryption::Strict => " -Ns",
        };
        if self.login.trust_certificate {
            line += " -C";
        }
        line += " -b -x";
        line + if cfg!(windows) { " -f 65001" } else { "" }
    }

    /// Logs in; the server lists the session as `application`.
    ///
    /// # Errors
    /// When the server is unreachable or rejects the login, with the remedy.
    pub fn connect(&self, application: &str) -> Result<Driver, EngineError> {
        self.attempt(application)
            .map_err(|failure| self.in_words(&failure))
    }

    /// As [`Access::connect`], but returns the original failure.
    pub(crate) fn attempt(&self, application: &str) -> Result<Driver, Failure> {
        Driver::connect(&self.server, &self.login, application, &self.limits)
    }

    /// Why the connection failed, with the remedy.
    pub(crate) fn in_words(&self, failure: &Failure) -> EngineError {
        let why = match self.remedy(failure) {
            Some(remedy) => format!("{failure}; {remedy}"),
            None => failure.to_string(),
        };
        EngineError::failed(format!("connect to SQL Server at {}", self.server), why)
    }

    /// The remedy. Source of the numbers: Microsoft, "Database engine events and errors", read 2026-11.
    fn remedy(&self, failure: &Failure) -> Option<&'static str> {
        match (failure.number(), failure) {
            (Some(18456), _) => Some(
                "check login and password (SQLCMDUSER, SQLCMDPASSWORD); the server's error log says which of them it was",
            ),
            (Some(18452 | 18487 | 18488), _) => Some(
                "this login cannot be used as it is; try another, or ask who administers the server",
            ),
            (Some(4060), _) => Some(
                "there is no such database, or the login may not use it; name another one in --server",
            ),
            (Some(40615), _) => {
                Some("the server's firewall does not know this address; add it in the portal")
            }
            (Some(_), _) => None,
            // Failures before the login concern the network or TLS.
            (None, Failure::Lost(text) | Failure::OutOfStep(text))
                if self.login.encryption == Encryption::Strict && is_cut(text) =>
            {
                Some(NO_STRICT)
            }
            (None, Failure::Lost(text) | Failure::OutOfStep(text)) => Some(of_words(text)),
            (None, Failure::NoEncryption) => Some(
                "SQL Server always has TLS, so check what answers at that address; --encrypt off-insecure sends \
                 the password in clear text, for a network that others cannot read",
            ),
            (None, Failure::Timeout) => Some("check host, port and firewall"),
            (None, Failure::Refused(_) | Failure::Cancelled) => None,
        }
    }
}

/// A name for the shell of this system.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-@".contains(c);
    if name.chars().all(plain) {
        return name.to_owned();
    }
    match cfg!(windows) {
        true => format!("\"{name}\""),
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

/// Whether the server may be down: no or an incomplete response, not related to the login.
pub(crate) fn is_down(failure: &Failure) -> bool {
    match failure {
        Failure::Timeout => true,
        Failure::Lost(text) => of_words(text) == NOT_THERE,
        Failure::Refused(_)
        | Failure::Cancelled
        | Failure::NoEncryption
        | Failure::OutOfStep(_) => false,
    }
}

const NOT_THERE: &str = "check host and port, whether the server runs, and whether it listens on TCP (SQL Server Configuration Manager)";

/// A server before 2022 misinterprets the first TLS message as its own protocol, and closes the connection.
///
/// Source: Microsoft, "TDS 8.0" (read 2026-11).
const NO_STRICT: &str = "--encrypt strict needs SQL Server 2022 or later, and an older one hangs up; take --encrypt mandatory for it";

/// Whether the peer closed a connection without a message.
fn is_cut(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["eof", "reset by peer", "closed", "aborted"]
        .iter()
        .any(|word| text.contains(word))
}

/// The remedy by error text: failed connections have no error numbers.
fn of_words(text: &str) -> &'static str {
    let text = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["certificate", "encrypt", "tls", "ssl"]) {
        "for a certificate that is not trusted, such as that of a new server, add --trust-server-certificate"
    } else if has(&["instance", "browser", "ssrp"]) {
        "a named instance is found by the SQL Server Browser service (UDP 1434): start it, or give the instance's port (HOST,PORT)"
    } else if has(&["gssapi", "kerberos", "sspi", "ticket"]) {
        "without a user it is your own account that logs in (Kerberos): run `kinit`, or name a login (sqlserver://USER@HOST) with its password in SQLCMDPASSWORD"
    } else {
        NOT_THERE
    }
}

/// Application name of dbstow's other connections.
pub(crate) const OBSERVER: &str = "dbstow";

#[cfg(test)]
mod tests {
    use crate::session::Secret;

    use super::*;

    fn line(credentials: Credentials, encryption: Encryption, trust_certificate: bool) -> String {
        let access = Access {
            server: Server::parse("db1,1433").expect("a server"),
            login: Login {
                credentials,
                encryption,
                trust_certificate,
            },
            limits: Limits::default(),
        };
        access.sqlcmd()
    }

    #[test]
    fn a_line_of_sqlcmd_logs_in_as_the_run_does() {
        let sa = |user: &str| Credentials::Password {
            user: user.to_owned(),
            password: Secret::new("hunter2"),
        };
        let trusted = line(sa("sa"), Encryption::Mandatory, true);
        assert!(
            trusted.starts_with("sqlcmd -S \"db1,1433\" -U sa -C -b -x"),
            "{trusted}"
        );
        let strict = line(Credentials::Integrated, Encryption::Strict, false);
        assert!(strict.contains(" -E -Ns -b"), "{strict}");
        let odd = line(sa("o'hara"), Encryption::Optional, false);
        assert!(!odd.contains("hunter2") && odd.contains(" -No "), "{odd}");
        if cfg!(unix) {
            assert!(odd.contains("-U 'o'\\''hara'"), "{odd}");
        }
    }
}
