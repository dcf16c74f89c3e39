//! A connection to a PostgreSQL server: a blocking socket, and messages that `postgres-protocol` encodes.
//!
//! One statement is one write and, mostly, one read: no event loop stands in between, which is what keeps a
//! session as cheap as pgbench's. TLS lies between the two where the server's URL says so ([`super::tls`]).

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::time;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use model::Duration;
use native_tls::TlsStream;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Header, Message};
use postgres_protocol::message::frontend;

use super::target::{Address, Target};
use super::tls::{Attempt, TlsError};
use crate::engine::unix_socket::UnixSocket;

/// Bytes a connection reads at once; larger rows make its buffer grow.
const BUFFER_BYTES: usize = 64 << 10;

/// A row of a query that asks the server about itself: columns as text.
pub(super) type Row = Vec<Option<String>>;

/// Why the server did not do as asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// It said no.
    #[error("SQLSTATE {code}: {message}")]
    Refused {
        /// The SQLSTATE.
        code: String,
        /// Its words.
        message: String,
    },
    /// It is not encrypted as asked.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The connection broke.
    #[error("the connection to the server is lost: {0}")]
    Lost(#[from] io::Error),
}

/// An open connection.
pub(super) struct Connection {
    stream: Stream,
    outgoing: BytesMut,
    incoming: Vec<u8>,
    /// What of `incoming` holds bytes that are not looked at yet.
    unread: Range<usize>,
    /// `I` without a transaction, `T` within one, `E` within one that failed.
    status: u8,
}

enum Stream {
    Unix(UnixSocket),
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.write_all(bytes),
            Stream::Tcp(stream) => stream.write_all(bytes),
            Stream::Tls(stream) => stream.write_all(bytes),
        }
    }

    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(room),
            Stream::Tcp(stream) => stream.read(room),
            Stream::Tls(stream) => stream.read(room),
        }
    }
}

impl Connection {
    /// Connects to the server of `target`, which has not been told who is there.
    pub(super) fn connect(target: &Target, attempt: Attempt) -> Result<Connection, Failure> {
        let stream = match &target.address {
            Address::Unix(path) => Stream::Unix(UnixSocket::new(UnixStream::connect(path)?)),
            Address::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port))?;
                stream.set_nodelay(true)?;
                match target.encryption.over(stream, host, attempt)? {
                    Ok(stream) => Stream::Tls(Box::new(stream)),
                    Err(stream) => Stream::Tcp(stream),
                }
            }
        };
        Ok(Connection {
            stream,
            outgoing: BytesMut::with_capacity(1024),
            incoming: vec![0; BUFFER_BYTES],
            unread: 0..0,
            status: b'I',
        })
    }

    /// An answer that takes longer is a lost connection.
    pub(super) fn limit_waits(&mut self, limit: Duration) -> io::Result<()> {
        let limit = time::Duration::from_nanos(limit.as_nanos());
        let socket = match &mut self.stream {
            Stream::Unix(socket) => return socket.limit_waits(limit),
            Stream::Tcp(stream) => &*stream,
            Stream::Tls(stream) => stream.get_ref(),
        };
        socket.set_read_timeout(Some(limit))?;
        socket.set_write_timeout(Some(limit))
    }

    /// The TLS below it, if there is any.
    pub(super) fn encrypted(&self) -> Option<&TlsStream<TcpStream>> {
        match &self.stream {
            Stream::Tls(stream) => Some(stream),
            Stream::Unix(_) | Stream::Tcp(_) => None,
        }
    }

    /// Whether a transaction is open, failed or not.
    pub(super) fn in_transaction(&self) -> bool {
        self.status != b'I'
    }

    /// Executes statements without parameters; gives the rows of all of them.
    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        frontend::query(sql, &mut self.outgoing)?;
        self.send()?;
        let mut rows = Vec::new();
        self.until_ready(&mut |message| {
            if let Message::DataRow(body) = message {
                rows.push(row(&body)?);
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// Prepares a statement under `name`, which replaces what had that name.
    pub(super) fn prepare(&mut self, name: &str, sql: &str) -> Result<(), Failure> {
        frontend::close(b'S', name, &mut self.outgoing)?;
        frontend::parse(name, sql, [], &mut self.outgoing)?;
        frontend::sync(&mut self.outgoing);
        self.send()?;
        self.until_ready(&mut |_| Ok(()))
    }

    /// Executes a prepared statement, and drops its rows. `write` puts an argument down as text.
    /// Gives whether it made a table.
    pub(super) fn execute<T>(
        &mut self,
        name: &str,
        arguments: &[T],
        write: impl FnMut(&T, &mut BytesMut) -> Result<IsNull, Box<dyn Error + Send + Sync>>,
    ) -> Result<bool, Failure> {
        let mut write = write;
        frontend::bind(
            "",
            name,
            [],
            arguments,
            |a, b| write(a, b),
            [],
            &mut self.outgoing,
        )
        .map_err(|error| match error {
            frontend::BindError::Conversion(error) => io::Error::other(error),
            frontend::BindError::Serialization(error) => error,
        })?;
        frontend::execute("", 0, &mut self.outgoing)?;
        frontend::sync(&mut self.outgoing);
        self.send()?;
        let mut made_table = false;
        let mut refused = None;
        loop {
            let (tag, body) = self.next()?;
            match tag {
                READY => {
                    self.status = self.incoming[body.start];
                    return refused.map_or(Ok(made_table), Err);
                }
                COMPLETE => made_table = self.incoming[body].starts_with(b"CREATE TABLE"),
                ERROR => refused = refused.or(Some(self.refusal(body)?)),
                // Rows, and word that the statement was bound.
                _ => {}
            }
        }
    }

    /// Sends what stands in the buffer.
    pub(super) fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.outgoing)?;
        self.outgoing.clear();
        Ok(())
    }

    /// What the next message is made in.
    pub(super) fn outgoing(&mut self) -> &mut BytesMut {
        &mut self.outgoing
    }

    /// Hands every message on until the server is ready for the next one. Its refusal comes after that.
    pub(super) fn until_ready(
        &mut self,
        each: &mut dyn FnMut(Message) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut refused = None;
        loop {
            match self.message()? {
                Message::ReadyForQuery(body) => {
                    self.status = body.status();
                    return refused.map_or(Ok(()), Err);
                }
                Message::ErrorResponse(body) => refused = refused.or(Some(refusal(&body)?)),
                other => each(other)?,
            }
        }
    }

    /// The next message, decoded.
    pub(super) fn message(&mut self) -> io::Result<Message> {
        let (_, body) = self.next()?;
        self.decoded(body)
    }

    fn refusal(&self, body: Range<usize>) -> io::Result<Failure> {
        match self.decoded(body)? {
            Message::ErrorResponse(body) => refusal(&body),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn decoded(&self, body: Range<usize>) -> io::Result<Message> {
        let whole = &self.incoming[body.start - HEADER_BYTES..body.end];
        Message::parse(&mut BytesMut::from(whole))?
            .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// Kind and body of the next message; the body is good until this is called again.
    fn next(&mut self) -> io::Result<(u8, Range<usize>)> {
        loop {
            let here = &self.incoming[self.unread.clone()];
            let mut wanted = HEADER_BYTES;
            if let Some(header) = Header::parse(here)? {
                // The length counts itself, and not the kind before it.
                wanted = usize::try_from(header.len()).expect("checked to be 4 or more") + 1;
                if here.len() >= wanted {
                    let start = self.unread.start;
                    self.unread.start += wanted;
                    return Ok((header.tag(), start + HEADER_BYTES..start + wanted));
                }
            }
            self.receive(wanted)?;
        }
    }

    /// Reads on, with room for a message of `wanted` bytes.
    fn receive(&mut self, wanted: usize) -> io::Result<()> {
        self.incoming.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        if self.incoming.len() < wanted {
            self.incoming.resize(wanted, 0);
        }
        let room = &mut self.incoming[self.unread.end..];
        let length = self.stream.read(room)?;
        if length == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the server closed it",
            ));
        }
        self.unread.end += length;
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.outgoing.clear();
        frontend::terminate(&mut self.outgoing);
        // The server notices a closed socket too.
        let _ = self.send();
    }
}

/// Kind and length in front of each message's body.
const HEADER_BYTES: usize = 5;

// Kinds of messages that matter while a statement is executed.
// Source: <https://www.postgresql.org/docs/18/protocol-message-formats.html>, read 2026-11-21.
const READY: u8 = b'Z';
const COMPLETE: u8 = b'C';
const ERROR: u8 = b'E';

fn row(body: &DataRowBody) -> io::Result<Row> {
    let text = |range: Option<Range<usize>>| {
        range.map(|range| String::from_utf8_lossy(&body.buffer()[range]).into_owned())
    };
    body.ranges().map(|range| Ok(text(range))).collect()
}

pub(super) fn refusal(body: &ErrorResponseBody) -> io::Result<Failure> {
    let (mut code, mut message) = (String::new(), String::new());
    let mut fields = body.fields();
    while let Some(field) = fields.next()? {
        let value = String::from_utf8_lossy(field.value_bytes());
        match field.type_() {
            b'C' => code = value.into_owned(),
            b'M' => message = value.into_owned(),
            b'D' => message = format!("{message} ({value})"),
            _ => {}
        }
    }
    Ok(Failure::Refused { code, message })
}
