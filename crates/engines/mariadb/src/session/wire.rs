//! A connection to a MariaDB or MySQL server: a socket with timeouts, and packets.
//!
//! The client library `mysql` limits neither the size of a result nor its columns, and panics on unexpected input; its parts that
//! encode packets and passwords (`mysql_common`) are used here. A session skips its rows without storing them.
//!
//! Source: <https://mariadb.com/docs/server/reference/clientserver-protocol>, "Result Set Packets", "COM_STMT_PREPARE" and
//! "COM_STMT_EXECUTE", read 2026-11-26.

use std::io;
use std::ops::Range;

use mysql_common::packets::{ComStmtExecuteRequestBuilder, ComStmtSendLongData};
use mysql_common::proto::MySerialize;
use mysql_common::value::Value;

use engine::Patience;
use engine::row::{Budget, Row, TooLarge};
use engine::socket::Stream;
use engine::wait::Task;

use crate::session::column::Column;
use crate::session::failure::Failure;
use crate::session::parse::{Bytes, refusal};

/// Number of bytes read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Maximum size of a packet's part; a part of this size is followed by another one.
const PART_BYTES: usize = 0xFF_FFFF;

/// Number of bytes stored of a packet that is not read whole: an error's text has at most 512.
const START_BYTES: usize = 4 << 10;

/// First bytes of packets, and the maximum length of an end packet.
/// Source: <https://mariadb.com/docs/server/reference/clientserver-protocol/4-server-response-packets/result-set-packets>, read 2026-11-26.
pub(crate) const OK: u8 = 0x00;
pub(crate) const MORE: u8 = 0x01;
const LOCAL_FILE: u8 = 0xFB;
pub(crate) const END: u8 = 0xFE;
pub(crate) const ERROR: u8 = 0xFF;
const END_LENGTH_MAX: usize = 8;

/// `SERVER_MORE_RESULTS_EXISTS`
const MORE_RESULTS: u16 = 0x0008;

/// Commands.
const QUIT: u8 = 0x01;
const USE: u8 = 0x02;
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const CLOSE: u8 = 0x19;

/// A statement that the server has prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prepared {
    number: u32,
    arguments: u16,
}

/// How much of a packet is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    /// All of it, within the limit of a response.
    All,
    /// Its start.
    Start,
}

/// An open connection.
pub(crate) struct Connection {
    stream: Stream,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    /// The range of `incoming` with unprocessed bytes.
    unread: Range<usize>,
    /// Number of the next part of a packet, either way.
    part: u8,
    /// The last packet received, or its start.
    packet: Vec<u8>,
    /// Its full length.
    length: usize,
    /// Size limit for the current response.
    budget: Budget,
    /// The server's connection id.
    pub(crate) number: u32,
    /// Rows of the current response so far.
    pub(crate) rows: u64,
}

impl Connection {
    /// A connection on a stream after `part` parts of packets were exchanged; `number` is the server's id for it.
    pub(crate) fn new(stream: Stream, part: u8, number: u32) -> Connection {
        Connection {
            stream,
            outgoing: Vec::with_capacity(1024),
            incoming: vec![0; BUFFER_BYTES],
            unread: 0..0,
            part,
            packet: Vec::new(),
            length: 0,
            budget: Budget::default(),
            number,
            rows: 0,
        }
    }

    /// Sets the time limits for the server's responses.
    pub(crate) fn set_patience(&mut self, patience: Patience) {
        self.stream.socket().set_patience(patience);
    }

    /// Whether it is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.stream.encrypted().is_some()
    }

    /// Runs one of our own queries and returns all rows. The response is limited in time and size.
    pub(crate) fn query(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        self.begin(Task::Question);
        self.command(QUERY, sql.as_bytes())?;
        let mut rows = Vec::new();
        while self.result(Keep::All, &mut |_| {}, &mut |row| rows.push(row))? & MORE_RESULTS != 0 {}
        Ok(rows)
    }

    /// The first row of the result of one of our own queries.
    pub(crate) fn first(&mut self, sql: &str) -> Result<Row, Failure> {
        let rows = self.query(sql)?;
        Ok(engine::row::first(&rows)?.clone())
    }

    /// Executes a statement that may take long, and discards its rows.
    pub(crate) fn work(&mut self, sql: &str) -> Result<(), Failure> {
        self.begin(Task::Statement);
        self.command(QUERY, sql.as_bytes())?;
        self.drop_results()
    }

    /// Executes a query of the workload; returns the columns and rows of its first result that has any.
    pub(crate) fn table(&mut self, sql: &str) -> Result<(Vec<Column>, Vec<Row>), Failure> {
        self.begin(Task::Statement);
        self.command(QUERY, sql.as_bytes())?;
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        loop {
            let is_first = columns.is_empty();
            let define = &mut |packet: &[u8]| columns.push(Column::of(packet));
            let keep_row = &mut |row| rows.push(row);
            let state = match is_first {
                true => self.result(Keep::All, define, keep_row)?,
                false => self.result(Keep::Start, &mut |_| {}, &mut |_| {})?,
            };
            if state & MORE_RESULTS == 0 {
                break;
            }
        }
        let columns: Option<Vec<Column>> = columns.into_iter().collect();
        Ok((columns.ok_or_else(malformed)?, rows))
    }

    /// Selects a database.
    pub(crate) fn enter(&mut self, database: &str) -> Result<(), Failure> {
        self.begin(Task::Question);
        self.command(USE, database.as_bytes())?;
        self.drop_results()
    }

    /// Prepares a statement.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Prepared, Failure> {
        self.begin(Task::Statement);
        self.command(PREPARE, sql.as_bytes())?;
        self.read(Keep::Start)?;
        let mut fields = Bytes(&self.packet);
        let parts = (|| {
            Some((
                fields.u8().filter(|first| *first == OK)?,
                fields.u32()?,
                fields.u16()?,
                fields.u16()?,
            ))
        })();
        let (_, number, columns, arguments) = parts.ok_or_else(malformed)?;
        for definitions in [arguments, columns] {
            if definitions > 0 {
                self.skip_to_end()?;
            }
        }
        Ok(Prepared { number, arguments })
    }

    /// Executes a prepared statement, and discards its rows.
    pub(crate) fn execute(
        &mut self,
        statement: Prepared,
        arguments: &[Value],
    ) -> Result<(), Failure> {
        if arguments.len() != usize::from(statement.arguments) {
            return Err(Failure::Lost(io::Error::other(format!(
                "the statement takes {} arguments, and has {}",
                statement.arguments,
                arguments.len()
            ))));
        }
        self.begin(Task::Statement);
        let (request, is_long) =
            ComStmtExecuteRequestBuilder::new(statement.number).build(arguments);
        if is_long {
            self.send_long(statement, arguments)?;
        }
        let mut packet = Vec::new();
        request.serialize(&mut packet);
        self.part = 0;
        self.send(&packet)?;
        self.drop_results()
    }

    /// Sends arguments that do not fit into one packet in advance.
    fn send_long(&mut self, statement: Prepared, arguments: &[Value]) -> io::Result<()> {
        for (place, argument) in (0..).zip(arguments) {
            let Value::Bytes(bytes) = argument else {
                continue;
            };
            let mut pieces: Vec<&[u8]> = bytes.chunks(PART_BYTES - 7).collect();
            if pieces.is_empty() {
                pieces.push(&[]);
            }
            for piece in pieces {
                let mut packet = Vec::new();
                ComStmtSendLongData::new(statement.number, place, piece).serialize(&mut packet);
                self.part = 0;
                self.send(&packet)?;
            }
        }
        Ok(())
    }

    /// Closes a prepared statement. The server does not respond.
    pub(crate) fn close(&mut self, statement: Prepared) -> Result<(), Failure> {
        self.begin(Task::Statement);
        Ok(self.command(CLOSE, &statement.number.to_le_bytes())?)
    }

    fn begin(&mut self, task: Task) {
        self.stream.socket().begin(task);
        self.budget = Budget::default();
        self.rows = 0;
    }

    fn command(&mut self, command: u8, what: &[u8]) -> io::Result<()> {
        self.part = 0;
        let mut packet = Vec::with_capacity(1 + what.len());
        packet.push(command);
        packet.extend_from_slice(what);
        self.send(&packet)
    }

    /// Sends a packet.
    pub(crate) fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.outgoing.clear();
        let mut rest = packet;
        loop {
            let (here, later) = rest.split_at(rest.len().min(PART_BYTES));
            let length = u32::try_from(here.len()).expect("it has 24 bits");
            let [a, b, c, _] = length.to_le_bytes();
            self.outgoing.extend_from_slice(&[a, b, c, self.part]);
            self.outgoing.extend_from_slice(here);
            self.part = self.part.wrapping_add(1);
            rest = later;
            if here.len() < PART_BYTES {
                break;
            }
        }
        self.stream.write_all(&self.outgoing)
    }

    fn drop_results(&mut self) -> Result<(), Failure> {
        while self.result(Keep::Start, &mut |_| {}, &mut |_| {})? & MORE_RESULTS != 0 {}
        Ok(())
    }

    /// Reads a result to its end; returns the server's status flags. The definition of each column is passed to `define`.
    fn result(
        &mut self,
        keep: Keep,
        define: &mut dyn FnMut(&[u8]),
        each: &mut dyn FnMut(Row),
    ) -> Result<u16, Failure> {
        match self.read(keep)? {
            OK => {
                let mut fields = Bytes(&self.packet[1..]);
                let status = (|| {
                    fields.number()?;
                    fields.number()?;
                    fields.u16()
                })();
                Ok(status.ok_or_else(malformed)?)
            }
            // Local files are never sent, as announced to the server.
            LOCAL_FILE => Err(malformed().into()),
            // The number of columns. Their definitions and the rows are each terminated by a packet.
            _ => {
                self.definitions(keep, define)?;
                loop {
                    if self.read(keep)? == END && self.length <= END_LENGTH_MAX {
                        return Ok(self.end()?);
                    }
                    self.rows += 1;
                    if keep == Keep::All {
                        each(self.row()?);
                    }
                }
            }
        }
    }

    /// The row in the last packet.
    fn row(&mut self) -> io::Result<Row> {
        self.budget.take_row().map_err(too_large)?;
        let mut rest = Bytes(&self.packet);
        let mut columns = Vec::new();
        while !rest.0.is_empty() {
            self.budget.take_column().map_err(too_large)?;
            columns.push(match rest.0[0] {
                LOCAL_FILE => {
                    rest.u8();
                    None
                }
                _ => {
                    let bytes = rest.text().ok_or_else(malformed)?;
                    Some(String::from_utf8_lossy(bytes).into_owned())
                }
            });
        }
        Ok(Row::new(columns))
    }

    fn skip_to_end(&mut self) -> Result<u16, Failure> {
        self.definitions(Keep::Start, &mut |_| {})
    }

    fn definitions(&mut self, keep: Keep, define: &mut dyn FnMut(&[u8])) -> Result<u16, Failure> {
        while self.read(keep)? != END || self.length > END_LENGTH_MAX {
            define(&self.packet);
        }
        Ok(self.end()?)
    }

    /// The server's status flags in an end packet.
    fn end(&self) -> io::Result<u16> {
        let mut fields = Bytes(&self.packet[1..]);
        let status = (|| {
            fields.u16()?;
            fields.u16()
        })();
        status.ok_or_else(malformed)
    }

    /// Reads a whole packet; returns its first byte and its content, valid until the next one is read.
    pub(crate) fn read_whole(&mut self) -> Result<(u8, &[u8]), Failure> {
        let first = self.read(Keep::All)?;
        Ok((first, &self.packet))
    }

    /// Reads a packet; returns its first byte.
    fn read(&mut self, keep: Keep) -> Result<u8, Failure> {
        self.packet.clear();
        self.length = 0;
        loop {
            while self.unread.len() < 4 {
                self.receive()?;
            }
            let header = &self.incoming[self.unread.start..];
            let (length, number) = ([header[0], header[1], header[2], 0], header[3]);
            let length = u32::from_le_bytes(length) as usize;
            self.unread.start += 4;
            self.part = number.wrapping_add(1);
            match keep {
                // All packets of a response, of any kind, share its limit.
                Keep::All => self.budget.take(4 + length).map_err(too_large)?,
                Keep::Start => {}
            }
            self.read_part(length, keep)?;
            if length < PART_BYTES {
                break;
            }
        }
        match self.packet.first() {
            None => Err(malformed().into()),
            Some(&ERROR) => Err(refusal(&self.packet).ok_or_else(malformed)?),
            Some(&first) => Ok(first),
        }
    }

    /// Reads a part of a packet. The buffer grows by the received bytes, not by the announced length.
    fn read_part(&mut self, length: usize, keep: Keep) -> io::Result<()> {
        let mut left = length;
        while left > 0 {
            if self.unread.is_empty() {
                self.receive()?;
            }
            let here = left.min(self.unread.len());
            let kept = match keep {
                Keep::All => here,
                Keep::Start => here.min(START_BYTES.saturating_sub(self.packet.len())),
            };
            let start = self.unread.start;
            self.packet
                .extend_from_slice(&self.incoming[start..start + kept]);
            self.unread.start += here;
            left -= here;
        }
        self.length = self.length.saturating_add(length);
        Ok(())
    }

    /// Reads more bytes.
    fn receive(&mut self) -> io::Result<()> {
        self.incoming.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        let room = &mut self.incoming[self.unread.end..];
        self.unread.end += self.stream.read(room)?;
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stream.socket().begin(Task::Question);
        // The server notices a closed socket too.
        let _ = self.command(QUIT, &[]);
    }
}

pub(crate) fn malformed() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the server sent a packet that MariaDB and MySQL do not have here; check what answers at that address",
    )
}

fn too_large(error: TooLarge) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
