//! Connections to a server.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use mysql_common::crypto;
use mysql_common::packets::AuthPlugin;
use native_tls::{HandshakeError, TlsConnector};
use rules::caught;

use crate::session::failure::Failure;
use crate::session::parse::{Bytes, Greeting, refusal};
use crate::session::tls::Encryption;
use crate::session::wire::{Connection, END, ERROR, MORE, OK, malformed};
use engine::EngineError;
use engine::Patience;
use engine::server_url::Password;
use engine::socket::{Socket, Stream};

/// Maximum packet size that the client announces to the server. Skipped bytes take no memory.
const PACKET_MAX: u32 = 1 << 30;

/// Requested protocol capabilities: the 4.1 protocol, authentication plugins, multiple results, multiple statements in a text,
/// and long numbers. It does not offer files of this machine (`CLIENT_LOCAL_FILES`), and keeps the packets at the end of columns
/// and rows (no `CLIENT_DEPRECATE_EOF`).
/// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html>, read 2026-11-26.
const WANTED: u32 =
    LONG_PASSWORD | 1 << 2 | NEEDED | 1 << 13 | 1 << 16 | 1 << 17 | 1 << 18 | METHODS;
const LONG_PASSWORD: u32 = 1;
const METHODS: u32 = 1 << 19;
const WITH_DATABASE: u32 = 1 << 3;
const TLS: u32 = 1 << 11;
/// The 4.1 protocol, and its password hashes.
const NEEDED: u32 = 1 << 9 | 1 << 15;

/// `utf8mb4_general_ci`
const COLLATION: u8 = 45;

/// Authentication methods.
const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";

/// Length of the nonce that a password is hashed with, in both.
const NONCE_BYTES: usize = 20;

/// `ER_ACCESS_DENIED_ERROR`, and `ER_SECURE_TRANSPORT_REQUIRED`.
/// Source: <https://mariadb.com/docs/server/reference/error-codes/mariadb-error-code-reference>, read 2026-11-25.
const DENIED: u16 = 1045;
const ENCRYPTED_ONLY: u16 = 3159;

/// Address of a server, and the login.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: Address,
    pub(crate) user: String,
    pub(crate) password: Option<Password>,
    pub(crate) encryption: Encryption,
    /// Time limits.
    pub(crate) patience: Patience,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A socket file.
    Unix(PathBuf),
    /// Host and port.
    Tcp(String, u16),
}

impl Target {
    /// A local socket, authenticated by the kernel's peer credentials.
    pub(crate) fn local(socket: PathBuf, user: String) -> Target {
        Target {
            address: Address::Unix(socket),
            user,
            password: None,
            encryption: Encryption::off(),
            patience: Patience::endless(),
        }
    }

    /// The target with these time limits.
    pub(crate) fn with(&self, patience: Patience) -> Target {
        Target {
            patience,
            ..self.clone()
        }
    }

    /// Opens a connection to `database`, or to none.
    ///
    /// # Errors
    /// When the server rejects the login or does not answer.
    pub(crate) fn open(&self, database: Option<&str>) -> Result<Connection, Failure> {
        let patience = &self.patience;
        let mut socket = match &self.address {
            Address::Unix(path) => Socket::unix(path, patience)?,
            Address::Tcp(host, port) => Socket::tcp(host, *port, patience)?,
        };
        let greeting = greeting(&mut socket)?;
        let mut capabilities = greeting.capabilities & WANTED;
        if capabilities & NEEDED != NEEDED {
            let text = "the server is older than MySQL 4.1, or none of MariaDB and MySQL";
            return Err(Failure::Login(text.to_owned()));
        }
        if database.is_some() {
            capabilities |= WITH_DATABASE;
        }
        let (stream, part) = match self.connector()? {
            None => (Stream::Plain(socket), 1),
            Some(_) if greeting.capabilities & TLS == 0 => {
                return Err(Failure::Login(self.encryption.not_offered()));
            }
            Some(connector) => {
                capabilities |= TLS;
                (self.encrypted(socket, &connector, capabilities)?, 2)
            }
        };
        let mut connection = Connection::new(stream, part, greeting.number);
        let mut nonce = greeting.nonce;
        nonce.resize(NONCE_BYTES, 0);
        let method = Method::of(&greeting.method).unwrap_or(Method::Native);
        let hash = self.hash(method, &nonce);
        connection.send(&self.introduction(capabilities, method, &hash, database))?;
        self.authenticate(&mut connection, method, nonce)?;
        Ok(connection)
    }

    /// Requests TLS and performs the handshake.
    fn encrypted(
        &self,
        mut socket: Socket,
        connector: &TlsConnector,
        capabilities: u32,
    ) -> Result<Stream, Failure> {
        let host = match &self.address {
            Address::Unix(_) => "",
            Address::Tcp(host, _) => host,
        };
        let request = start(capabilities);
        let length = u8::try_from(request.len()).expect("it has 32 bytes");
        socket.write_all(&[&[length, 0, 0, 1], request.as_slice()].concat())?;
        let text = match connector.connect(host, socket) {
            Ok(stream) => return Ok(Stream::Tls(Box::new(stream))),
            Err(HandshakeError::Failure(error)) => error.to_string(),
            Err(HandshakeError::WouldBlock(_)) => "no answer in time".to_owned(),
        };
        Err(Failure::Login(Encryption::refused(host, text)))
    }

    /// The TLS to use, if any.
    fn connector(&self) -> Result<Option<TlsConnector>, Failure> {
        match self.address {
            Address::Unix(_) => Ok(None),
            Address::Tcp(..) => self.encryption.connector().map_err(Failure::Login),
        }
    }

    /// The login packet.
    fn introduction(
        &self,
        capabilities: u32,
        method: Method,
        hash: &[u8],
        database: Option<&str>,
    ) -> Vec<u8> {
        let mut packet = start(capabilities);
        packet.extend_from_slice(self.user.as_bytes());
        packet.push(0);
        packet.push(u8::try_from(hash.len()).expect("a hash has 32 bytes at most"));
        packet.extend_from_slice(hash);
        if let Some(database) = database {
            packet.extend_from_slice(database.as_bytes());
            packet.push(0);
        }
        if capabilities & METHODS != 0 {
            packet.extend_from_slice(method.name().as_bytes());
            packet.push(0);
        }
        packet
    }

    /// The hashed password; empty without a password.
    fn hash(&self, method: Method, nonce: &[u8]) -> Vec<u8> {
        let password = self.password.as_ref().map(Password::secret);
        let plugin = match method {
            Method::Native => AuthPlugin::MysqlNativePassword,
            Method::Sha2 => AuthPlugin::CachingSha2Password,
        };
        let hash = plugin.gen_data(password, nonce);
        hash.map_or_else(Vec::new, |hash| hash.to_vec())
    }

    /// Answers the server's requests until it accepts the login.
    fn authenticate(
        &self,
        connection: &mut Connection,
        method: Method,
        nonce: Vec<u8>,
    ) -> Result<(), Failure> {
        let (mut method, mut nonce) = (method, nonce);
        loop {
            let (first, packet) = connection.read_whole()?;
            match (first, method, packet.get(1)) {
                (OK, ..) => return Ok(()),
                (END, ..) => {
                    let mut rest = Bytes(&packet[1..]);
                    let asked = rest.until_zero();
                    let asked = String::from_utf8_lossy(asked);
                    method = Method::of(&asked).ok_or_else(unknown_login)?;
                    nonce = rest.0.to_vec();
                    nonce.resize(NONCE_BYTES, 0);
                    connection.send(&self.hash(method, &nonce))?;
                }
                // The server has cached the password's hash, and sends the final packet next.
                (MORE, Method::Sha2, Some(&3)) => {}
                (MORE, Method::Sha2, Some(&4)) => self.send_password(connection, &nonce)?,
                _ => return Err(malformed().into()),
            }
        }
    }

    /// Sends the password itself: over a secure connection, or encrypted with the server's key.
    fn send_password(&self, connection: &mut Connection, nonce: &[u8]) -> Result<(), Failure> {
        let password = self.password.as_ref().map_or("", Password::secret);
        let mut password = [password.as_bytes(), &[0]].concat();
        let is_private = connection.is_encrypted() || matches!(self.address, Address::Unix(_));
        if !is_private {
            connection.send(&[2])?;
            let (_, key) = connection.read_whole()?;
            for (byte, other) in password.iter_mut().zip(nonce.iter().cycle()) {
                *byte ^= other;
            }
            // The library panics on an invalid key.
            let key = &key[1..];
            let encrypted = caught(|| crypto::encrypt(&password, key));
            password = encrypted.ok_or_else(malformed)?;
        }
        Ok(connection.send(&password)?)
    }

    /// Opens a connection to an external server, which may be of any kind.
    ///
    /// # Errors
    /// When it rejects the login or does not answer.
    pub(crate) fn open_given(&self) -> Result<Connection, EngineError> {
        self.open(None).map_err(|error| {
            EngineError::failed(
                format!("connect to MariaDB or MySQL at {}", self.address),
                self.why(error),
            )
        })
    }

    /// Whether its connections are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        matches!(self.address, Address::Tcp(..)) && !self.encryption.is_off()
    }

    /// Why the connection failed, with the remedy if there is one.
    fn why(&self, failure: Failure) -> String {
        match failure {
            Failure::Refused {
                code: DENIED,
                message,
            } => {
                format!("{message}{}", self.remedy_where_denied())
            }
            Failure::Refused {
                code: ENCRYPTED_ONLY,
                message,
            } => {
                format!("{message}; use ssl-mode=REQUIRED in the URL")
            }
            other => other.to_string(),
        }
    }
}

/// Maximum size of the server's first packet: its version and some numbers.
const GREETING_MAX: usize = 4 << 10;

/// Reads the server's greeting. Not a byte more is read: data injected by a man in the middle must not pass as encrypted data of
/// the server.
fn greeting(socket: &mut Socket) -> Result<Greeting, Failure> {
    let ended = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the server closed it"),
        _ => error,
    };
    let mut header = [0; 4];
    socket.read_exact(&mut header).map_err(ended)?;
    let [a, b, c, _] = header;
    let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
    if length > GREETING_MAX {
        return Err(malformed().into());
    }
    let mut packet = vec![0; length];
    socket.read_exact(&mut packet).map_err(ended)?;
    match packet.first() {
        Some(&ERROR) => Err(refusal(&packet).ok_or_else(malformed)?),
        Some(_) | None => Ok(Greeting::of(&packet).ok_or_else(malformed)?),
    }
}

/// Common start of the client's first two packets.
fn start(capabilities: u32) -> Vec<u8> {
    let mut packet = Vec::new();
    packet.extend_from_slice(&capabilities.to_le_bytes());
    packet.extend_from_slice(&PACKET_MAX.to_le_bytes());
    packet.push(COLLATION);
    packet.extend_from_slice(&[0; 23]);
    packet
}

/// Method of password authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Native,
    Sha2,
}

impl Method {
    fn of(name: &str) -> Option<Method> {
        match name {
            NATIVE => Some(Method::Native),
            SHA2 => Some(Method::Sha2),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Method::Native => NATIVE,
            Method::Sha2 => SHA2,
        }
    }
}

impl Target {
    fn remedy_where_denied(&self) -> String {
        let of_password = match self.password {
            Some(_) => "",
            None => "; give the login's password in MYSQL_PWD or in ~/.my.cnf",
        };
        let is_plain = matches!(self.address, Address::Tcp(..)) && self.encryption.is_off();
        // The server does not report which of the two applies.
        let of_encryption = match is_plain {
            true => {
                "; where it lets this login in with TLS alone, use ssl-mode=REQUIRED in the URL"
            }
            false => "",
        };
        format!("{of_password}{of_encryption}")
    }
}

fn unknown_login() -> Failure {
    Failure::Login(
        "the server asks for a way to log in that dbstow does not know; use a login with mysql_native_password, \
         caching_sha2_password or unix_socket"
            .to_owned(),
    )
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
