//! A connection to a PostgreSQL server: a blocking socket, and messages that `postgres-protocol` encodes.
//!
//! One statement is one write and, mostly, one read: there is no event loop, which keeps a session as cheap as pgbench's. TLS is
//! in between if the server's URL requests it ([`crate::session::tls`]).

use std::error::Error;
use std::io;
use std::ops::Range;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use native_tls::TlsStream;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use rules::said;

use crate::session::address::Address;
use crate::session::failure::Failure;
use crate::session::target::Target;
use crate::session::tls::Attempt;
use engine::Patience;
use engine::row::{ANSWER_BYTES_MAX, Budget, Row, TooLarge};
use engine::socket::{Socket, Stream};
use engine::wait::Task;

/// Bytes a connection reads at once; larger messages make its buffer grow.
const BUFFER_BYTES: usize = 64 << 10;

/// An open connection.
pub(crate) struct Connection {
    stream: Stream,
    outgoing: BytesMut,
    incoming: Vec<u8>,
    /// The range of `incoming` with unprocessed bytes.
    unread: Range<usize>,
    /// Size limit for the current response.
    budget: Budget,
    /// `I` without a transaction, `T` within one, `E` within one that failed.
    status: u8,
}

impl Connection {
    /// Connects to the server of `target`, without logging in.
    pub(crate) fn connect(target: &Target, attempt: Attempt) -> Result<Connection, Failure> {
        let patience = &target.patience;
        let stream = match &target.address {
            Address::Unix(path) => Stream::Plain(Socket::unix(path, patience)?),
            Address::Tcp(host, port) => {
                let socket = Socket::tcp(host, *port, patience)?;
                target.encryption.over(socket, host, attempt)?
            }
        };
        Ok(Connection {
            stream,
            outgoing: BytesMut::with_capacity(1024),
            incoming: vec![0; BUFFER_BYTES],
            unread: 0..0,
            budget: Budget::default(),
            status: b'I',
        })
    }

    /// Sets the time limits for the server's responses.
    pub(crate) fn set_patience(&mut self, patience: Patience) {
        self.stream.socket().set_patience(patience);
    }

    /// The underlying TLS stream, if any.
    pub(crate) fn encrypted(&self) -> Option<&TlsStream<Socket>> {
        self.stream.encrypted()
    }

    /// Whether a transaction is open, failed or not.
    pub(crate) fn in_transaction(&self) -> bool {
        self.status != b'I'
    }

    /// Runs one of our own queries, without parameters, and returns all rows. The response is limited in time and size.
    pub(crate) fn query(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        self.stream.socket().begin(Task::Question);
        self.rows(sql)
    }

    /// Executes statements that may take long, without parameters; returns the rows of all of them.
    pub(crate) fn work(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        self.stream.socket().begin(Task::Statement);
        self.rows(sql)
    }

    fn rows(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        frontend::query(sql, &mut self.outgoing)?;
        self.send()?;
        let mut rows = Vec::new();
        self.until_ready(&mut |message, budget| {
            if let Message::DataRow(body) = message {
                rows.push(row(&body, budget)?);
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// Executes a query of the workload; returns the columns and rows of its first statement that has any.
    pub(crate) fn table(&mut self, sql: &str) -> Result<(Vec<String>, Vec<Row>), Failure> {
        self.stream.socket().begin(Task::Statement);
        frontend::query(sql, &mut self.outgoing)?;
        self.send()?;
        let (mut sets, mut columns, mut rows) = (0, Vec::new(), Vec::new());
        self.until_ready(&mut |message, budget| {
            match message {
                Message::RowDescription(body) => {
                    sets += 1;
                    let mut fields = body.fields();
                    while let Some(field) = fields.next()?.filter(|_| sets == 1) {
                        columns.push(field.name().to_owned());
                    }
                }
                Message::DataRow(body) if sets == 1 => rows.push(row(&body, budget)?),
                _ => {}
            }
            Ok(())
        })?;
        Ok((columns, rows))
    }

    /// Prepares a statement under `name`, replacing a previous one of that name.
    pub(crate) fn prepare(&mut self, name: &str, sql: &str) -> Result<(), Failure> {
        self.stream.socket().begin(Task::Statement);
        frontend::close(b'S', name, &mut self.outgoing)?;
        frontend::parse(name, sql, [], &mut self.outgoing)?;
        frontend::sync(&mut self.outgoing);
        self.send()?;
        self.until_ready(&mut |_, _| Ok(()))
    }

    /// Executes a prepared statement, and discards its rows. `write` encodes an argument as text. Returns whether it created a
    /// table.
    pub(crate) fn execute<T>(
        &mut self,
        name: &str,
        arguments: &[T],
        write: impl FnMut(&T, &mut BytesMut) -> Result<IsNull, Box<dyn Error + Send + Sync>>,
    ) -> Result<bool, Failure> {
        self.stream.socket().begin(Task::Statement);
        self.bind_and_send(name, arguments, write)?;
        self.done()
    }

    /// Executes a statement with arguments, without keeping it prepared, and discards its rows.
    #[cfg(target_os = "linux")]
    pub(crate) fn execute_once<T>(
        &mut self,
        sql: &str,
        arguments: &[T],
        write: impl FnMut(&T, &mut BytesMut) -> Result<IsNull, Box<dyn Error + Send + Sync>>,
    ) -> Result<bool, Failure> {
        self.stream.socket().begin(Task::Statement);
        frontend::parse("", sql, [], &mut self.outgoing)?;
        self.bind_and_send("", arguments, write)?;
        self.done()
    }

    /// Executes statements without parameters, and discards their rows.
    #[cfg(target_os = "linux")]
    pub(crate) fn discard(&mut self, sql: &str) -> Result<(), Failure> {
        self.stream.socket().begin(Task::Statement);
        frontend::query(sql, &mut self.outgoing)?;
        self.send()?;
        self.done().map(|_| ())
    }

    fn bind_and_send<T>(
        &mut self,
        name: &str,
        arguments: &[T],
        mut write: impl FnMut(&T, &mut BytesMut) -> Result<IsNull, Box<dyn Error + Send + Sync>>,
    ) -> Result<(), Failure> {
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
        Ok(self.send()?)
    }

    /// Reads what comes until the server is ready, without decoding rows. Returns whether a table was created.
    fn done(&mut self) -> Result<bool, Failure> {
        let mut made_table = false;
        let mut refused = None;
        loop {
            let (tag, length) = self.header()?;
            match tag {
                READY => {
                    let body = self.body(length)?;
                    self.status = *self.incoming[body].first().ok_or_else(malformed)?;
                    return refused.map_or(Ok(made_table), Err);
                }
                COMPLETE => {
                    let body = self.body(length)?;
                    made_table = self.incoming[body].starts_with(b"CREATE TABLE");
                }
                ERROR => {
                    let body = self.body(length)?;
                    refused = refused.or(Some(self.refusal(body)?));
                }
                // It waits for rows, of which there are none.
                COPY_IN => {
                    self.skip(length)?;
                    frontend::copy_fail("no rows come from here", &mut self.outgoing)?;
                    self.stream.write_all(&self.outgoing)?;
                    self.outgoing.clear();
                }
                // Rows, notices, and the confirmation of the bind.
                _ => self.skip(length)?,
            }
        }
    }

    /// Sends the buffer. A new response follows.
    pub(crate) fn send(&mut self) -> io::Result<()> {
        self.budget = Budget::default();
        self.stream.write_all(&self.outgoing)?;
        self.outgoing.clear();
        Ok(())
    }

    /// The buffer for the next message.
    pub(crate) fn outgoing(&mut self) -> &mut BytesMut {
        &mut self.outgoing
    }

    /// Passes on every message until the server is ready for the next request. Errors are returned after that.
    pub(crate) fn until_ready(
        &mut self,
        each: &mut dyn FnMut(Message, &mut Budget) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut refused = None;
        loop {
            match self.message()? {
                Message::ReadyForQuery(body) => {
                    self.status = body.status();
                    return refused.map_or(Ok(()), Err);
                }
                Message::ErrorResponse(body) => refused = refused.or(Some(refusal(&body)?)),
                other => each(other, &mut self.budget)?,
            }
        }
    }

    /// The next message, decoded. All messages of a response, of any kind, share its limit: otherwise notices could be endless.
    pub(crate) fn message(&mut self) -> io::Result<Message> {
        let (_, length) = self.header()?;
        check_announced(length)?;
        self.budget.take(HEADER_BYTES + length).map_err(too_large)?;
        let body = self.body(length)?;
        self.decoded(body)
    }

    fn refusal(&self, body: Range<usize>) -> io::Result<Failure> {
        match self.decoded(body)? {
            Message::ErrorResponse(body) => refusal(&body),
            _ => Err(malformed()),
        }
    }

    fn decoded(&self, body: Range<usize>) -> io::Result<Message> {
        let whole = &self.incoming[body.start - HEADER_BYTES..body.end];
        Message::parse(&mut BytesMut::from(whole))?.ok_or_else(malformed)
    }

    /// Kind of the next message, and length of its body, which must be read or skipped.
    fn header(&mut self) -> io::Result<(u8, usize)> {
        loop {
            if let [tag, a, b, c, d, ..] = self.incoming[self.unread.clone()] {
                // The length includes itself, but not the kind before it.
                let length = i32::from_be_bytes([a, b, c, d]);
                let body = usize::try_from(length)
                    .ok()
                    .and_then(|length| length.checked_sub(4));
                return match body {
                    Some(body) => {
                        self.unread.start += HEADER_BYTES;
                        Ok((tag, body))
                    }
                    None => Err(invalid(format!(
                        "the server sent a message of {length} bytes, which PostgreSQL has none of; check what answers at that \
                         address"
                    ))),
                };
            }
            self.receive(HEADER_BYTES)?;
        }
    }

    /// The body of the message whose header was just read; valid until the next one is read.
    fn body(&mut self, length: usize) -> io::Result<Range<usize>> {
        check_announced(length)?;
        while self.unread.len() < length {
            self.receive(length)?;
        }
        let start = self.unread.start;
        self.unread.start += length;
        Ok(start..start + length)
    }

    /// Skips the body of the message whose header was just read.
    fn skip(&mut self, length: usize) -> io::Result<()> {
        let mut left = length;
        loop {
            let here = left.min(self.unread.len());
            self.unread.start += here;
            left -= here;
            if left == 0 {
                return Ok(());
            }
            self.receive(HEADER_BYTES)?;
        }
    }

    /// Reads more bytes, for a message of `wanted` bytes. The buffer grows by the received bytes, not by the announced length.
    fn receive(&mut self, wanted: usize) -> io::Result<()> {
        // A header stays in front of its body.
        let kept = self.unread.start.min(HEADER_BYTES);
        let from = self.unread.start - kept;
        self.incoming.copy_within(from..self.unread.end, 0);
        self.unread = kept..self.unread.end - from;
        if self.unread.end == self.incoming.len() {
            let room = (2 * self.incoming.len()).min(kept + wanted.max(BUFFER_BYTES));
            self.incoming
                .resize(room.max(self.unread.end + HEADER_BYTES), 0);
        }
        let room = &mut self.incoming[self.unread.end..];
        self.unread.end += self.stream.read(room)?;
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
const COPY_IN: u8 = b'G';

fn row(body: &DataRowBody, budget: &mut Budget) -> io::Result<Row> {
    let mut columns = Vec::new();
    budget.take_row().map_err(too_large)?;
    let mut ranges = body.ranges();
    while let Some(range) = ranges.next()? {
        budget.take_column().map_err(too_large)?;
        columns
            .push(range.map(|range| String::from_utf8_lossy(&body.buffer()[range]).into_owned()));
    }
    Ok(Row::new(columns))
}

fn check_announced(length: usize) -> io::Result<()> {
    match length > ANSWER_BYTES_MAX {
        true => Err(invalid(format!(
            "the server announces a message of {length} bytes, more than {} MiB; check what answers at that address",
            ANSWER_BYTES_MAX >> 20
        ))),
        false => Ok(()),
    }
}

fn malformed() -> io::Error {
    invalid("the server sent a message that PostgreSQL does not have; check what answers at that address".to_owned())
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

fn too_large(error: TooLarge) -> io::Error {
    invalid(error.to_string())
}

pub(crate) fn refusal(body: &ErrorResponseBody) -> io::Result<Failure> {
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
    Ok(Failure::Refused {
        code: said(&code),
        message: said(&message),
    })
}
