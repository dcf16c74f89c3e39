//! Executes prepared statements on a local connection's socket, without the client library.
//!
//! The library logs in, prepares and executes text. Its reads block in `recv`, which costs a second wake-up per
//! statement ([`UnixSocket`]).

use std::io;
use std::os::unix::net::UnixStream;

use bytes::BytesMut;
use mysql::prelude::Queryable;
use mysql::{Conn, DriverError, Error, Params, Result, Statement, Value};
use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    ComStmtExecuteRequestBuilder, CommonOkPacket, ErrPacket, OkPacketDeserializer, OkPacketKind,
    OldEofPacket,
};
use mysql_common::proto::MySerialize;
use mysql_common::proto::codec::PacketCodec;
use mysql_common::proto::sync_framed::MySyncFramed;
use volume::descriptor::duplicate;

use super::login::PACKET_MAX;
use crate::engine::unix_socket::UnixSocket;

/// The capabilities that the form of these packets depends on. A connection of the library's always has this one, and has
/// neither `CLIENT_DEPRECATE_EOF` nor `CLIENT_SESSION_TRACK`.
const CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41;

// How packets begin, and how long the one at an end can be.
// Source: <https://mariadb.com/docs/server/reference/clientserver-protocol/4-server-response-packets/result-set-packets>, read 2026-11-26.
const OK: u8 = 0x00;
const LOCAL_FILE: u8 = 0xFB;
const END: u8 = 0xFE;
const ERROR: u8 = 0xFF;
const END_LENGTH_MAX: usize = 8;

/// Bytes that are read or written at once; larger packets make the buffers grow.
const BUFFER_BYTES: usize = 64 << 10;

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
    /// When the process is out of file descriptors.
    pub(super) fn of(connection: &Conn) -> io::Result<LocalSocket> {
        let stream = UnixStream::from(duplicate(connection)?);
        let mut codec = PacketCodec::default();
        codec.max_allowed_packet = PACKET_MAX;
        let buffer = || BytesMut::with_capacity(BUFFER_BYTES);
        let socket = UnixSocket::new(stream);
        Ok(LocalSocket {
            packets: MySyncFramed::construct(buffer(), buffer(), codec, socket),
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
        let fits = arguments.len() == usize::from(statement.num_params());
        let (request, is_long) =
            ComStmtExecuteRequestBuilder::new(statement.id()).build(&arguments);
        if is_long || !fits {
            // The library sends long arguments in pieces, and reports a wrong number of them.
            drop(request);
            return connection.exec_drop(statement, Params::Positional(arguments));
        }
        self.request.clear();
        request.serialize(&mut self.request);
        self.packets.codec_mut().reset_seq_id();
        self.packets.send(&mut &self.request[..])?;
        // A procedure returns several results.
        while self
            .read_result()?
            .contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS)
        {}
        Ok(())
    }

    /// Reads a result to its end, and drops its rows.
    fn read_result(&mut self) -> Result<StatusFlags> {
        match self.read_packet()? {
            OK => self.status::<CommonOkPacket>(),
            LOCAL_FILE => {
                // Never send a file of this machine: answer with an empty one.
                self.packets.send(&mut &[][..])?;
                self.read_result()
            }
            // The number of columns. Their definitions and the rows each end with a packet.
            _ => {
                self.skip_to_end()?;
                self.skip_to_end()
            }
        }
    }

    fn skip_to_end(&mut self) -> Result<StatusFlags> {
        while self.read_packet()? != END || self.packet.len() > END_LENGTH_MAX {}
        self.status::<OldEofPacket>()
    }

    fn status<T: OkPacketKind>(&self) -> Result<StatusFlags> {
        let packet: OkPacketDeserializer<'_, T> = ParseBuf(&self.packet).parse(CAPABILITIES)?;
        Ok(packet.into_inner().status_flags())
    }

    /// Gives the next packet's first byte.
    fn read_packet(&mut self) -> Result<u8> {
        self.packet.clear();
        if !self.packets.next_packet(&mut self.packet)? {
            return Err(Error::server_disconnected());
        }
        match self.packet.first() {
            None => Err(DriverError::UnexpectedPacket.into()),
            Some(&ERROR) => match ParseBuf(&self.packet).parse(CAPABILITIES)? {
                ErrPacket::Error(refused) => Err(Error::MySqlError(refused.into())),
                // It comes only where a client asks for it.
                ErrPacket::Progress(_) => Err(DriverError::UnexpectedPacket.into()),
            },
            Some(&first) => Ok(first),
        }
    }
}
