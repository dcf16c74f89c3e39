//! Connections to a server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use model::Duration;
use mysql::{Conn, DriverError, Error, OptsBuilder};

use super::tls::Encryption;
use crate::engine::EngineError;
use crate::engine::server_url::Password;

/// How long an answer may take where the server is not ours: a connection without one is lost.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Bytes of a packet that are read at most. The server has a limit of its own for requests, and its rows may be larger.
pub(super) const PACKET_MAX: usize = 1 << 30;

/// `ER_ACCESS_DENIED_ERROR`, and `ER_SECURE_TRANSPORT_REQUIRED`.
/// Source: <https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference>, read 2026-11-25.
const DENIED: u16 = 1045;
const ENCRYPTED_ONLY: u16 = 3159;

/// How to reach a server, and who logs in.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) address: Address,
    pub(super) user: String,
    pub(super) password: Option<Password>,
    pub(super) encryption: Encryption,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// A socket file.
    Unix(PathBuf),
    /// Host and port.
    Tcp(String, u16),
}

impl Target {
    /// By a socket of this machine, as whom the kernel says that we are.
    pub(super) fn local(socket: PathBuf, user: String) -> Target {
        Target {
            address: Address::Unix(socket),
            user,
            password: None,
            encryption: Encryption::off(),
        }
    }

    /// Opens a connection to `database`, or to none.
    ///
    /// # Errors
    /// When the server does not let us in.
    pub(super) fn open(&self, database: Option<&str>) -> mysql::Result<Conn> {
        Conn::new(self.options().db_name(database))
    }

    /// Opens a connection to a server that is not ours, which may be of any kind.
    ///
    /// # Errors
    /// When it does not let us in, or does not answer.
    pub(super) fn open_given(&self) -> Result<Conn, EngineError> {
        let limit = Some(std::time::Duration::from_nanos(ANSWER_MAX.as_nanos()));
        let options = self
            .options()
            .read_timeout(limit)
            .write_timeout(limit)
            .tcp_connect_timeout(limit);
        // The client library panics where a server asks for a login that it was built without.
        let opened = catch_unwind(AssertUnwindSafe(|| Conn::new(options)));
        let why = match opened {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) => self.why(error),
            Err(_) => unknown_login(),
        };
        Err(EngineError::failed(
            format!("connect to MariaDB or MySQL at {}", self.address),
            why,
        ))
    }

    /// Whether its connections are encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self.address, Address::Tcp(..)) && self.encryption.options().is_some()
    }

    fn options(&self) -> OptsBuilder {
        let password = self
            .password
            .as_ref()
            .map(|password| password.secret().to_owned());
        let options = OptsBuilder::new()
            // It would otherwise ask a server that it reaches by network for its socket.
            .prefer_socket(false)
            .user(Some(self.user.clone()))
            .pass(password)
            // Sessions keep their own.
            .stmt_cache_size(0)
            // It would otherwise ask for the server's, and lose track at a row that is larger.
            .max_allowed_packet(Some(PACKET_MAX));
        match &self.address {
            Address::Unix(path) => options.socket(Some(path.display().to_string())),
            Address::Tcp(host, port) => options
                .ip_or_hostname(Some(host.clone()))
                .tcp_port(*port)
                .ssl_opts(self.encryption.options()),
        }
    }

    /// Why there is no connection, with the remedy where there is one.
    fn why(&self, error: Error) -> String {
        let host = match &self.address {
            Address::Unix(_) => "",
            Address::Tcp(host, _) => host,
        };
        match error {
            Error::TlsError(error) => Encryption::refused(host, error.to_string()),
            Error::DriverError(DriverError::TlsNotSupported) => self.encryption.not_offered(),
            Error::DriverError(DriverError::UnknownAuthPlugin(_)) => unknown_login(),
            Error::MySqlError(said) if said.code == DENIED => {
                format!("{}{}", said.message, self.remedy_where_denied())
            }
            Error::MySqlError(said) if said.code == ENCRYPTED_ONLY => {
                format!("{}; use ssl-mode=REQUIRED in the URL", said.message)
            }
            error => words(&error),
        }
    }
}

impl Target {
    fn remedy_where_denied(&self) -> String {
        let of_password = match self.password {
            Some(_) => "",
            None => "; give the login's password in MYSQL_PWD or in ~/.my.cnf",
        };
        let is_plain =
            matches!(self.address, Address::Tcp(..)) && self.encryption.options().is_none();
        // The server does not say which of both it is.
        let of_encryption = match is_plain {
            true => {
                "; where it lets this login in with TLS alone, use ssl-mode=REQUIRED in the URL"
            }
            false => "",
        };
        format!("{of_password}{of_encryption}")
    }
}

/// What an error says, without the names of the client library's types.
pub(super) fn words(error: &Error) -> String {
    match error {
        Error::MySqlError(said) => format!("{} (error {})", said.message, said.code),
        Error::DriverError(error) => error.to_string(),
        Error::IoError(error) => error.to_string(),
        Error::CodecError(error) => error.to_string(),
        error => error.to_string(),
    }
}

fn unknown_login() -> String {
    "the server asks for a way to log in that dbstow does not know; use a login with mysql_native_password, \
     caching_sha2_password or unix_socket"
        .to_owned()
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "{}", path.display()),
            Address::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp(host, port) => write!(f, "{host}:{port}"),
        }
    }
}
