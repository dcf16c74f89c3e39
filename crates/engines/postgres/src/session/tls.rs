//! Encrypted connections: `sslmode`, `sslrootcert`, `sslcert`, `sslkey` and `sslcertmode` of a server's URL, as in libpq.
//!
//! Source: <https://www.postgresql.org/docs/18/libpq-ssl.html>, "SSL Support", read 2026-11-23. Where libpq verifies
//! a certificate and goes on without encryption when that fails (`prefer` with a root certificate), the URL is
//! refused. Lists of revoked certificates, keys with a passphrase, and TLS from the first byte are not supported.

use std::env;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bytes::BytesMut;
use files::input;
use native_tls::{HandshakeError, Identity, Protocol, TlsConnector};
use postgres_protocol::message::frontend;

use crate::session::address::Address;
use crate::session::failure::{Failure, TlsError};
use crate::session::sslmode::Mode;
use engine::certificates::{self, Refusal};
use engine::socket::{Socket, Stream};

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Mode, String> {
        MODES
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| {
                let known = MODES.map(Mode::name).join(", ");
                format!("its sslmode is unknown (known: {known})")
            })
    }
}

const MODES: [Mode; 6] = [
    Mode::Disable,
    Mode::Allow,
    Mode::Prefer,
    Mode::Require,
    Mode::VerifyCa,
    Mode::VerifyFull,
];

/// Encryption options of a URL; missing ones come from the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsOptions {
    pub(crate) mode: Option<Mode>,
    pub(crate) root: Option<String>,
    pub(crate) own: OwnCertificate,
}

/// How connections to a server are encrypted.
#[derive(Clone)]
pub(crate) struct Encryption {
    mode: Mode,
    /// `None` if connections are never encrypted.
    connector: Option<TlsConnector>,
}

/// One way to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Plain,
    /// Encrypted if the server supports it.
    Offered,
    Encrypted,
}

impl Encryption {
    /// No encryption, which suffices for a local socket.
    pub(crate) fn off() -> Encryption {
        Encryption {
            mode: Mode::Disable,
            connector: None,
        }
    }

    /// From the URL, or else the environment, or libpq's defaults.
    ///
    /// # Errors
    /// Conflicting options, or a file without a certificate.
    pub(crate) fn of(address: &Address, asked: TlsOptions) -> Result<Encryption, String> {
        let TlsOptions { mode, root, own } = asked;
        match address {
            Address::Unix(_) => match mode {
                Some(Mode::Require | Mode::VerifyCa | Mode::VerifyFull) => Err(
                    "a socket of this machine has no TLS; leave sslmode out, or give a host to connect to".to_owned(),
                ),
                Some(Mode::Disable | Mode::Allow | Mode::Prefer) | None => Ok(Encryption::off()),
            },
            Address::Tcp(..) => {
                let (mode, roots) = resolved(mode, root)?;
                if mode == Mode::Disable && own.certificate.is_some() {
                    return Err("sslcert has no effect with sslmode=disable; leave one of them out".to_owned());
                }
                Ok(Encryption {
                    mode,
                    connector: connector(mode, roots.as_ref(), own)?,
                })
            }
        }
    }

    /// How to connect, and the fallback if the server rejects that.
    pub(crate) fn attempts(&self) -> (Attempt, Option<Attempt>) {
        match self.mode {
            Mode::Disable => (Attempt::Plain, None),
            Mode::Allow => (Attempt::Plain, Some(Attempt::Offered)),
            Mode::Prefer => (Attempt::Offered, Some(Attempt::Plain)),
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => (Attempt::Encrypted, None),
        }
    }

    /// Whether the user disabled encryption.
    pub(crate) fn is_off(&self) -> bool {
        self.connector.is_none()
    }

    /// Requests TLS from the server; the socket is unchanged if the server lacks it and it is not required.
    pub(crate) fn over(
        &self,
        mut socket: Socket,
        host: &str,
        attempt: Attempt,
    ) -> Result<Stream, Failure> {
        let Some(connector) = self
            .connector
            .as_ref()
            .filter(|_| attempt != Attempt::Plain)
        else {
            return Ok(Stream::Plain(socket));
        };
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        socket.write_all(&request)?;
        // One byte and no more: data injected by a man in the middle must not pass as encrypted data of the server.
        let mut answer = [0];
        socket.read_exact(&mut answer)?;
        match (&answer, attempt) {
            (b"S", _) => connector
                .connect(host, socket)
                .map(|stream| Stream::Tls(Box::new(stream)))
                .map_err(|error| refused(error, host).into()),
            (b"N", Attempt::Encrypted) => Err(TlsError::NotOffered(self.mode).into()),
            (b"N", Attempt::Offered | Attempt::Plain) => Ok(Stream::Plain(socket)),
            _ => Err(TlsError::Handshake(
                "the server did not answer the request for TLS".to_owned(),
            )
            .into()),
        }
    }
}

/// Trusted authorities.
#[derive(Debug, PartialEq, Eq)]
enum Roots {
    System,
    File(PathBuf),
}

/// The effective mode, and the trusted authorities if it verifies.
fn resolved(mode: Option<Mode>, root: Option<String>) -> Result<(Mode, Option<Roots>), String> {
    let of_environment = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let is_asked = root.is_some();
    let root = root.or_else(|| of_environment("PGSSLROOTCERT"));
    let mode = match mode {
        None => of_environment("PGSSLMODE")
            .map(|mode| mode.parse())
            .transpose()?,
        mode => mode,
    };
    if root.as_deref() == Some("system") {
        // Anyone can obtain a certificate of a public authority for their own name.
        return match mode {
            None | Some(Mode::VerifyFull) => Ok((Mode::VerifyFull, Some(Roots::System))),
            Some(_) if is_asked => {
                Err("sslrootcert=system requires sslmode=verify-full".to_owned())
            }
            Some(mode) if mode.is_verifying() => {
                Err("PGSSLROOTCERT=system requires sslmode=verify-full".to_owned())
            }
            Some(mode) => Ok((mode, None)),
        };
    }
    let mode = mode.unwrap_or_default();
    if is_asked && matches!(mode, Mode::Disable | Mode::Allow | Mode::Prefer) {
        return Err(format!(
            "sslrootcert has no effect with sslmode={}; give sslmode=verify-full too",
            mode.name()
        ));
    }
    let file = root.map(PathBuf::from).or_else(|| {
        let home = PathBuf::from(env::var_os("HOME")?);
        Some(home.join(".postgresql/root.crt")).filter(|file| file.exists())
    });
    match (mode, file) {
        (Mode::Disable | Mode::Allow | Mode::Prefer, _) | (Mode::Require, None) => Ok((mode, None)),
        // As in libpq: a user with such a file expects it to be used.
        (Mode::Require, Some(file)) => Ok((Mode::VerifyCa, Some(Roots::File(file)))),
        (Mode::VerifyFull, None) => Ok((mode, Some(Roots::System))),
        (Mode::VerifyCa, None) => Err(
            "sslmode=verify-ca requires the certificate of the server's authority; give sslrootcert=FILE, or \
             sslmode=verify-full to trust this machine's authorities"
                .to_owned(),
        ),
        (Mode::VerifyCa | Mode::VerifyFull, Some(file)) => Ok((mode, Some(Roots::File(file)))),
    }
}

fn connector(
    mode: Mode,
    roots: Option<&Roots>,
    own: OwnCertificate,
) -> Result<Option<TlsConnector>, String> {
    if mode == Mode::Disable {
        return Ok(None);
    }
    let mut builder = TlsConnector::builder();
    builder.min_protocol_version(Some(Protocol::Tlsv12));
    match roots {
        None => {
            builder.danger_accept_invalid_certs(true);
        }
        Some(Roots::System) => {}
        Some(Roots::File(file)) => {
            builder.disable_built_in_roots(true);
            for certificate in certificates::in_file("sslrootcert", file)? {
                builder.add_root_certificate(certificate);
            }
        }
    }
    builder.danger_accept_invalid_hostnames(mode != Mode::VerifyFull);
    if let Some(identity) = own.identity()? {
        builder.identity(identity);
    }
    let connector = builder.build();
    connector.map(Some).map_err(|error| {
        let error = error.to_string();
        // OpenSSL's message, which checks both only here.
        match error.contains("key values mismatch") {
            true => format!(
                "sslcert and sslkey do not match: {error}; give the key of that certificate"
            ),
            false => format!("TLS cannot be set up: {error}"),
        }
    })
}

/// The client certificate for authentication.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnCertificate {
    /// `sslcert`
    pub(crate) certificate: Option<String>,
    /// `sslkey`
    pub(crate) key: Option<String>,
    /// `sslcertmode`
    pub(crate) mode: Option<CertificateMode>,
}

/// Whether the client certificate is sent to the server; the default is libpq's. Its third, `require`, is not supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CertificateMode {
    Disable,
    #[default]
    Allow,
}

impl FromStr for CertificateMode {
    type Err = String;

    fn from_str(text: &str) -> Result<CertificateMode, String> {
        match text {
            "disable" => Ok(CertificateMode::Disable),
            "allow" => Ok(CertificateMode::Allow),
            // Not repeated: it may be a part of a password.
            _ => Err("its sslcertmode is unknown (known: disable, allow)".to_owned()),
        }
    }
}

impl OwnCertificate {
    /// Certificate and key from the files that the URL names, or `PGSSLCERT` and `PGSSLKEY`, or those in `~/.postgresql` if the
    /// certificate exists; none with `sslcertmode=disable`.
    fn identity(self) -> Result<Option<Identity>, String> {
        let of_environment = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let of_home = |name: &str| {
            let home = PathBuf::from(env::var_os("HOME")?);
            Some(home.join(".postgresql").join(name))
        };
        let mode = match (self.mode, of_environment("PGSSLCERTMODE")) {
            (Some(mode), _) => mode,
            (None, Some(mode)) => mode
                .parse()
                .map_err(|why| format!("PGSSLCERTMODE: {why}"))?,
            (None, None) => CertificateMode::default(),
        };
        match (mode, &self.certificate) {
            (CertificateMode::Allow, _) => {}
            (CertificateMode::Disable, None) => return Ok(None),
            (CertificateMode::Disable, Some(_)) => {
                return Err(
                    "sslcert has no effect with sslcertmode=disable; leave one of them out"
                        .to_owned(),
                );
            }
        }
        let certificate = self.certificate.or_else(|| of_environment("PGSSLCERT"));
        let is_default = certificate.is_none();
        let default = || of_home("postgresql.crt").filter(|file| file.exists());
        let Some(certificate) = certificate.map(PathBuf::from).or_else(default) else {
            return Ok(None);
        };
        let key = self.key.or_else(|| of_environment("PGSSLKEY"));
        let key = key.map(PathBuf::from).or_else(|| of_home("postgresql.key"));
        let key = key.ok_or("sslcert needs the certificate's key; give it with sslkey=FILE")?;
        identity(&certificate, &key).map(Some).map_err(|why| match is_default {
            true => format!(
                "{why}; or connect without {}, which is used because it exists, with sslcertmode=disable",
                certificate.display()
            ),
            false => why,
        })
    }
}

fn identity(certificate: &Path, key: &Path) -> Result<Identity, String> {
    let (shown, key_shown) = (certificate.display(), key.display());
    let chain = input::named(certificate).map_err(|error| format!("sslcert {shown}: {error}"))?;
    certificates::in_file("sslcert", certificate)?;
    let text = input::secret(key).map_err(|error| format!("sslkey {key_shown}: {error}"))?;
    if text.contains("ENCRYPTED") {
        return Err(format!(
            "sslkey {key_shown} has a passphrase, which dbstow does not ask for; write it without one to a file that only \
             you can read (openssl pkey -in KEY -out NEW)"
        ));
    }
    // The format that the library accepts; older tools write other formats.
    let Some(start) = text.find(PKCS8) else {
        return Err(format!(
            "sslkey {key_shown} holds no private key in PKCS #8 form ({PKCS8}); convert it with openssl pkcs8 -topk8 \
             -nocrypt -in KEY -out NEW"
        ));
    };
    Identity::from_pkcs8(chain.as_bytes(), &text.as_bytes()[start..])
        .map_err(|error| format!("sslcert {shown} and sslkey {key_shown} do not match: {error}"))
}

const PKCS8: &str = "-----BEGIN PRIVATE KEY-----";

/// Classifies the library's error by its remedy.
fn refused(error: HandshakeError<Socket>, host: &str) -> TlsError {
    let text = match error {
        HandshakeError::Failure(error) => error.to_string(),
        HandshakeError::WouldBlock(_) => "no answer in time".to_owned(),
    };
    match Refusal::of(text) {
        Refusal::OtherName(why) => TlsError::OtherName {
            host: host.to_owned(),
            why,
        },
        Refusal::Expired(why) => TlsError::Expired(why),
        Refusal::Untrusted(why) => TlsError::Untrusted(why),
        Refusal::Handshake(text) => TlsError::Handshake(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp() -> Address {
        Address::Tcp("db1".to_owned(), 5432)
    }

    #[test]
    fn nothing_falls_back_to_plain_where_encryption_is_required() {
        for mode in MODES {
            let encryption = Encryption {
                mode,
                connector: None,
            };
            let (first, second) = encryption.attempts();
            let is_required = matches!(mode, Mode::Require | Mode::VerifyCa | Mode::VerifyFull);
            assert_eq!(first == Attempt::Encrypted, is_required, "{mode:?}");
            assert_eq!(second.is_none(), is_required || mode == Mode::Disable);
        }
    }

    #[test]
    fn a_certificate_is_verified_where_authorities_are_named() {
        let file = || Some("/etc/ca.pem".to_owned());
        let roots = Some(Roots::File("/etc/ca.pem".into()));
        assert_eq!(
            resolved(Some(Mode::Require), file()),
            Ok((Mode::VerifyCa, roots))
        );
        let system = || Some("system".to_owned());
        let roots = Some(Roots::System);
        assert_eq!(resolved(None, system()), Ok((Mode::VerifyFull, roots)));
        for mode in [Mode::Prefer, Mode::Require, Mode::VerifyCa] {
            let error = resolved(Some(mode), system()).expect_err("weak");
            assert!(error.contains("verify-full"), "{error}");
        }
        for mode in [Mode::Disable, Mode::Allow, Mode::Prefer] {
            let error = resolved(Some(mode), file()).expect_err("without effect");
            assert!(error.contains(mode.name()), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_before_connecting() {
        let of = |mode, root: &str| {
            let asked = TlsOptions {
                mode: Some(mode),
                root: Some(root.to_owned()),
                ..TlsOptions::default()
            };
            let refused = Encryption::of(&tcp(), asked).err();
            refused.expect("a file that cannot be used")
        };
        let error = of(Mode::VerifyCa, "/nowhere/ca.pem");
        assert!(error.contains("/nowhere/ca.pem"), "{error}");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, "no certificate").expect("a file");
        let error = of(Mode::VerifyFull, &file.display().to_string());
        assert!(error.contains("holds no certificate"), "{error}");
        let socket = Address::Unix("/tmp/.s.PGSQL.5432".into());
        let required = TlsOptions {
            mode: Some(Mode::Require),
            ..TlsOptions::default()
        };
        let error = Encryption::of(&socket, required).err();
        assert!(error.expect("no TLS").contains("socket"));
        let plain = Encryption::of(&socket, TlsOptions::default());
        assert!(plain.expect("plain").is_off());
    }
}
