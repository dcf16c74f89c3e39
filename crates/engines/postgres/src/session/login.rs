//! Logging in: the start of a connection.

use std::io;

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{self, ChannelBinding, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use crate::session::failure::Failure;
use crate::session::target::Target;
use crate::session::tls::Attempt;
use crate::session::wire::{self, Connection};
use engine::EngineError;

/// Application name of a run's sessions.
pub(crate) const SESSION: &str = "dbstow session";

/// Application name of dbstow's other connections.
pub(crate) const OBSERVER: &str = "dbstow";

impl Connection {
    /// Connects and logs in; `application` is the name that the server shows for it.
    pub(crate) fn open(target: &Target, application: &str) -> Result<Connection, Failure> {
        let (first, otherwise) = target.encryption.attempts();
        let opened = Connection::attempt(target, application, first);
        match (opened, otherwise) {
            (Err(failure), Some(otherwise)) if is_about_encryption(&failure) => {
                Connection::attempt(target, application, otherwise)
            }
            (Err(Failure::Refused { code, message }), None)
                if target.encryption.is_off()
                    && code == NO_ENTRY
                    && is_for_encrypted_only(&message) =>
            {
                Err(Failure::Refused {
                    code,
                    message: format!(
                        "{message}; where it lets this login in with TLS, use sslmode=require"
                    ),
                })
            }
            (Err(Failure::Refused { code, message }), _) if wants_certificate(&code, &message) => {
                Err(Failure::Refused {
                    code,
                    message: format!(
                        "{message}; give yours with sslcert=FILE and sslkey=FILE in the URL, and with sslmode=require or better"
                    ),
                })
            }
            (Err(Failure::Refused { code, message }), _) if is_by_peer(&code, &message) => {
                let message = format!("{message}; {}", by_peer(&target.user));
                Err(Failure::Refused { code, message })
            }
            (opened, _) => opened,
        }
    }

    fn attempt(
        target: &Target,
        application: &str,
        attempt: Attempt,
    ) -> Result<Connection, Failure> {
        let mut connection = Connection::connect(target, attempt)?;
        log_in(&mut connection, target, application)?;
        Ok(connection)
    }
}

/// SQLSTATE of a login that no line of `pg_hba.conf` permits.
const NO_ENTRY: &str = "28000";

/// Whether a retry with or without encryption could succeed. A wrong password is not such a failure.
fn is_about_encryption(failure: &Failure) -> bool {
    match failure {
        Failure::Refused { code, .. } => code == NO_ENTRY,
        Failure::Tls(_) => true,
        Failure::Unexpected(_) | Failure::Lost(_) => false,
    }
}

/// Whether a login was rejected for lack of a client certificate.
fn wants_certificate(code: &str, message: &str) -> bool {
    code == NO_ENTRY && message.contains("client certificate")
}

/// Whether a login was rejected by peer authentication. The word is in the message in all of PostgreSQL's languages.
fn is_by_peer(code: &str, message: &str) -> bool {
    code == NO_ENTRY && message.to_lowercase().contains("peer")
}

/// How `user` can log in with peer authentication, as on Debian.
fn by_peer(user: &str) -> String {
    format!(
        "it lets in the user \"{user}\" of this machine alone: run `sudo -u {user} dbstow ..` with files that this user may \
         write, or log in with a password by TCP (postgresql://{user}@localhost/)"
    )
}

/// Whether a message, of versions before or since 14, refers to a missing entry for connections without TLS.
fn is_for_encrypted_only(message: &str) -> bool {
    message.contains("no encryption") || message.contains("SSL off")
}

/// Connects and logs in; an error names the server's address.
pub(crate) fn open(target: &Target, application: &str) -> Result<Connection, EngineError> {
    Connection::open(target, application).map_err(|error| {
        EngineError::failed(
            format!("connect to PostgreSQL at {}", target.address),
            error,
        )
    })
}

/// Starts a new connection, answers the server's authentication requests, and waits until it is ready.
fn log_in(connection: &mut Connection, target: &Target, application: &str) -> Result<(), Failure> {
    let parameters = [
        ("user", target.user.as_str()),
        ("database", target.database.as_str()),
        ("application_name", application),
        ("client_encoding", "UTF8"),
    ];
    let parameters = parameters
        .into_iter()
        .chain(target.settings.iter().copied());
    frontend::startup_message(parameters, connection.outgoing())?;
    connection.send()?;
    authenticate(connection, target)?;
    connection.until_ready(&mut |_, _| Ok(()))
}

fn authenticate(connection: &mut Connection, target: &Target) -> Result<(), Failure> {
    loop {
        let password = || target.password.as_ref().ok_or_else(no_password);
        match connection.message()? {
            Message::AuthenticationOk => return Ok(()),
            Message::AuthenticationCleartextPassword => {
                let password = password()?.secret().as_bytes();
                frontend::password_message(password, connection.outgoing())?;
            }
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(
                    target.user.as_bytes(),
                    password()?.secret().as_bytes(),
                    body.salt(),
                );
                frontend::password_message(hash.as_bytes(), connection.outgoing())?;
            }
            Message::AuthenticationSasl(body) => {
                scram(connection, &body, password()?.secret().as_bytes())?
            }
            Message::ErrorResponse(body) => return Err(wire::refusal(&body)?),
            _ => return Err(unknown_method()),
        }
        connection.send()?;
    }
}

/// SCRAM-SHA-256: the password itself does not leave this process. Over TLS the server also proves that the encrypted
/// connection ends at it (channel binding), as libpq's default `channel_binding=prefer` has it.
fn scram(
    connection: &mut Connection,
    body: &AuthenticationSaslBody,
    password: &[u8],
) -> Result<(), Failure> {
    let offered: Vec<String> = body
        .mechanisms()
        .map(|name| Ok(name.to_owned()))
        .collect()?;
    let is_offered = |mechanism| offered.iter().any(|name| name == mechanism);
    // A certificate without a known hash has no such binding.
    let end = connection
        .encrypted()
        .and_then(|tls| tls.tls_server_end_point().ok()?);
    let (mechanism, binding) = match end {
        Some(end) if is_offered(sasl::SCRAM_SHA_256_PLUS) => (
            sasl::SCRAM_SHA_256_PLUS,
            ChannelBinding::tls_server_end_point(end),
        ),
        // A server that did offer it then detects a man in the middle that removed it.
        Some(_) => (sasl::SCRAM_SHA_256, ChannelBinding::unrequested()),
        None => (sasl::SCRAM_SHA_256, ChannelBinding::unsupported()),
    };
    if !is_offered(mechanism) {
        return Err(unknown_method());
    }
    let mut scram = ScramSha256::new(password, binding);
    frontend::sasl_initial_response(mechanism, scram.message(), connection.outgoing())?;
    connection.send()?;
    loop {
        match connection.message()? {
            Message::AuthenticationSaslContinue(body) => {
                check_iterations(body.data())?;
                scram.update(body.data())?;
                frontend::sasl_response(scram.message(), connection.outgoing())?;
                connection.send()?;
            }
            Message::AuthenticationSaslFinal(body) => return Ok(scram.finish(body.data())?),
            Message::ErrorResponse(body) => return Err(wire::refusal(&body)?),
            _ => return Err(unknown_method()),
        }
    }
}

/// Maximum number of SCRAM hash iterations that a server may request of `postgres-protocol`: each takes about a microsecond on
/// this machine, and they cannot be interrupted. PostgreSQL's default is 4,096.
const ITERATIONS_MAX: u64 = 100_000;

fn check_iterations(message: &[u8]) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(message);
    let mut parts = text.split(',');
    let asked = parts.find_map(|part| part.strip_prefix("i="));
    match asked.map(str::parse::<u64>) {
        Some(Ok(count)) if count > ITERATIONS_MAX => Err(Failure::Lost(io::Error::other(format!(
            "the server asks for {count} iterations of the password's hash; set scram_iterations there to {ITERATIONS_MAX} or \
             less, and the login's password again"
        )))),
        Some(Ok(_) | Err(_)) | None => Ok(()),
    }
}

fn no_password() -> Failure {
    Failure::Lost(io::Error::other(
        "the server asks for a password; give it in the URL, in PGPASSWORD or in ~/.pgpass",
    ))
}

fn unknown_method() -> Failure {
    Failure::Lost(io::Error::other(
        "the server asks for a way to log in that dbstow does not know; allow trust, peer, \
         scram-sha-256, md5 or password in its pg_hba.conf",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_as_another_user_of_the_machine_names_sudo() {
        let refused = "Peer authentication failed for user \"postgres\"";
        assert!(is_by_peer("28000", refused));
        let german = "Peer-Authentifizierung für Benutzer »postgres« fehlgeschlagen";
        assert!(is_by_peer("28000", german));
        assert!(!is_by_peer(
            "28P01",
            "password authentication failed for user \"peer\""
        ));
        assert!(by_peer("postgres").contains("`sudo -u postgres dbstow ..`"));
    }

    #[test]
    fn a_server_may_ask_for_so_many_iterations_and_no_more() {
        for taken in ["r=x,s=eA==,i=4096", "r=x,s=eA==,i=100000", "r=x,s=eA=="] {
            assert!(check_iterations(taken.as_bytes()).is_ok(), "{taken}");
        }
        let Err(Failure::Lost(error)) = check_iterations(b"r=x,s=eA==,i=100001") else {
            panic!("it is too many");
        };
        let said = error.to_string();
        assert!(
            said.contains("100001") && said.contains("scram_iterations"),
            "{said}"
        );
    }
}
