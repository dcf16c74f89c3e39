//! Prepared statements over the socket of a local connection, past the client library's own reads.
//!
//! The library logs in, prepares and executes text; its reads block in `recv`, which [`UnixSocket`] says the price of.

use std::io;
use std::os::unix::net::UnixStream;

use mysql::prelude::Queryable;
use mysql::{Conn, Error, Params, Result, Statement, Value};
use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    ComStmtExecuteRequestBuilder, CommonOkPacket, ErrPacket, OkPacketDeserializer, OkPacketKind,
    OldEofPacket,
};
use mysql_common::proto::MySerialize;
use mysql_common::proto::sync_framed::MySyncFramed;
use volume::descriptor::duplicate;

use crate::engine::unix_socket::UnixSocket;

/// Of what a connection of the library's agreed on with the server: what the packets' form depends on.
const AGREED: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41;

// How packets begin, and how long the one at an end can be.
// Source: <https://mariadb.com/docs/server/reference/clientserver-protocol/4-server-response-packets/result-set-packets>, read 2026-11-26.
const OK: u8 = 0x00;
const LOCAL_FILE: u8 = 0xFB;
const END: u8 = 0xFE;
const ERROR: u8 = 0xFF;
const END_LENGTH_MAX: usize = 8;

/// The socket of an open connection, between two of its commands.
pub(super) struct LocalSocket {
    packets: MySyncFramed<UnixSocket>,
    request: Vec<u8>,
    /// The packet that came last.
    packet: Vec<u8>,
}

impl LocalSocket {
    /// The socket of `connection`, which is to a socket file, and without compression.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub(super) fn of(connection: &Conn) -> io::Result<LocalSocket> {
        let stream = UnixStream::from(duplicate(connection)?);
        let mut packets = MySyncFramed::new(UnixSocket::new(stream));
        // What it sends is not larger than the server lets it be, nor are the server's rows.
        packets.codec_mut().max_allowed_packet = usize::MAX;
        Ok(LocalSocket {
            packets,
            request: Vec::new(),
            packet: Vec::new(),
        })
    }

    /// Executes a statement that `connection` prepared, and drops its rows.
    ///
    /// # Errors
    /// When the server refuses, or the connection breaks.
    pub(super) fn execute(
        &mut self,
        connection: &mut Conn,
        statement: &Statement,
        arguments: Vec<Value>,
    ) -> Result<()> {
        let (request, is_too_large) =
            ComStmtExecuteRequestBuilder::new(statement.id()).build(&arguments);
        if is_too_large || arguments.len() != usize::from(statement.num_params()) {
            drop(request);
            return connection.exec_drop(statement, Params::Positional(arguments));
        }
        self.request.clear();
        request.serialize(&mut self.request);
        self.packets.codec_mut().reset_seq_id();
        self.packets.send(&mut &self.request[..])?;
        // A procedure gives several.
        while self
            .result()?
            .contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS)
        {}
        Ok(())
    }

    /// Reads a result to its end.
    fn result(&mut self) -> Result<StatusFlags> {
        match self.next()? {
            OK => self.status::<CommonOkPacket>(),
            LOCAL_FILE => {
                // Nothing of this machine is handed out: an empty file.
                self.packets.send(&mut &[][..])?;
                self.result()
            }
            // The number of columns; what they are, and the rows, have an end each.
            _ => {
                self.end()?;
                self.end()
            }
        }
    }

    fn end(&mut self) -> Result<StatusFlags> {
        while self.next()? != END || self.packet.len() > END_LENGTH_MAX {}
        self.status::<OldEofPacket>()
    }
    fn status<T: OkPacketKind>(&self) -> Result<StatusFlags> {
        let packet: OkPacketDeserializer<'_, T> = ParseBuf(&self.packet).parse(AGREED)?;
        Ok(packet.into_inner().status_flags())
    }

    /// How the next packet begins.
    fn next(&mut self) -> Result<u8> {
        self.packet.clear();
        if !self.packets.next_packet(&mut self.packet)? {
            return Err(Error::server_disconnected());
        }
        let first = self.packet.first().copied();
        let first = first.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        if first != ERROR {
            return Ok(first);
        }
        match ParseBuf(&self.packet).parse(AGREED)? {
            ErrPacket::Error(refused) => Err(Error::MySqlError(refused.into())),
            // It comes only where a client asks for it.
            ErrPacket::Progress(_) => Err(io::Error::from(io::ErrorKind::InvalidData).into()),
        }
    }
}
