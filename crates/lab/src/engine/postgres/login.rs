//! Logging in: the start of a connection.

use std::io;

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{self, ChannelBinding, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use super::target::Target;
use super::wire::{self, Connection, Failure};
use crate::engine::EngineError;

/// The name that the sessions of a run go by in the server.
pub(super) const SESSION: &str = "dbstow session";

/// The name of dbstow's other connections.
pub(super) const OBSERVER: &str = "dbstow";

impl Connection {
    /// Connects and logs in; `application` is the name that the server shows for it.
    pub(super) fn open(target: &Target, application: &str) -> Result<Connection, Failure> {
        let mut connection = Connection::connect(target)?;
        log_in(&mut connection, target, application)?;
        Ok(connection)
    }
}

/// Connects and logs in; an error names the server's address.
pub(super) fn open(target: &Target, application: &str) -> Result<Connection, EngineError> {
    Connection::open(target, application).map_err(|error| {
        EngineError::failed(
            format!("connect to PostgreSQL at {}", target.address),
            error,
        )
    })
}

/// Introduces a new connection, answers what the server asks, and waits until it is ready.
fn log_in(connection: &mut Connection, target: &Target, application: &str) -> Result<(), Failure> {
    let parameters = [
        ("user", target.user.as_str()),
        ("database", target.database.as_str()),
        ("application_name", application),
        ("client_encoding", "UTF8"),
    ];
    frontend::startup_message(parameters, connection.outgoing())?;
    connection.send()?;
    authenticate(connection, target)?;
    connection.until_ready(&mut |_| Ok(()))
}

fn authenticate(connection: &mut Connection, target: &Target) -> Result<(), Failure> {
    loop {
        let password = || target.password.as_ref().ok_or_else(no_password);
        match connection.message()? {
            Message::AuthenticationOk => return Ok(()),
            Message::AuthenticationCleartextPassword => {
                let password = password()?.bytes();
                frontend::password_message(password, connection.outgoing())?;
            }
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(target.user.as_bytes(), password()?.bytes(), body.salt());
                frontend::password_message(hash.as_bytes(), connection.outgoing())?;
            }
            Message::AuthenticationSasl(body) => scram(connection, &body, password()?.bytes())?,
            Message::ErrorResponse(body) => return Err(wire::refusal(&body)?),
            _ => return Err(unknown_method()),
        }
        connection.send()?;
    }
}

/// SCRAM-SHA-256: the password itself does not leave this process.
fn scram(
    connection: &mut Connection,
    body: &AuthenticationSaslBody,
    password: &[u8],
) -> Result<(), Failure> {
    let mut mechanisms = body.mechanisms();
    if !mechanisms.any(|name| Ok(name == sasl::SCRAM_SHA_256))? {
        return Err(unknown_method());
    }
    let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
    frontend::sasl_initial_response(sasl::SCRAM_SHA_256, scram.message(), connection.outgoing())?;
    connection.send()?;
    loop {
        match connection.message()? {
            Message::AuthenticationSaslContinue(body) => {
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
