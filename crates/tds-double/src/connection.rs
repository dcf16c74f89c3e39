//! A connection: messages in and out, and the attentions between them.

use std::io;
use std::time::Duration;

use crate::encode::{self, Encoded, Event};
use crate::model::Identity;
use crate::packet::{self, ATTENTION, HEADER, Inbox, REPLY, SIZE_FIRST};
use crate::shared::Shared;
use crate::transport::{Received, Transport, Wait};
use crate::wire::Violation;

/// Why a connection ends.
#[derive(Debug)]
pub(crate) enum End {
    /// The client left, or was disconnected.
    Closed,
    /// The socket failed, as it does when the peer is gone.
    Broken,
    Violation(Violation),
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> End {
        End::Broken
    }
}

impl From<Violation> for End {
    fn from(violation: Violation) -> End {
        End::Violation(violation)
    }
}

/// A connection with a client.
pub(crate) struct Connection<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) transport: Transport,
    inbox: Inbox,
    size: usize,
    pub(crate) identity: Identity,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(shared: &'a Shared, transport: Transport) -> Connection<'a> {
        Connection {
            identity: shared.model().identity(),
            shared,
            transport,
            inbox: Inbox::new(),
            size: SIZE_FIRST,
        }
    }

    /// Encrypts everything that follows.
    #[cfg(target_os = "linux")]
    pub(crate) fn secure(&mut self) -> Result<(), End> {
        let certificate = self
            .shared
            .certificate
            .as_ref()
            .expect("agreed to only where there is one");
        if !self.inbox.is_empty() {
            return Err(Violation::new("bytes before the reply to PreLogin").into());
        }
        let nowhere = match &self.transport {
            Transport::Plain(socket) => Transport::Plain(socket.try_clone()?),
            Transport::Tls(_) => return Err(Violation::new("TLS within TLS").into()),
        };
        self.transport = std::mem::replace(&mut self.transport, nowhere).secure(certificate)?;
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn secure(&mut self) -> Result<(), End> {
        Err(Violation::new("TLS is for Linux").into())
    }

    /// Bytes of a packet, including its header.
    pub(crate) fn packet_size(&self) -> usize {
        self.size
    }

    /// Sets the size of packets from here on, in both directions.
    pub(crate) fn set_packet_size(&mut self, size: usize) {
        self.size = size;
        self.inbox.set_size(size);
    }

    /// The next message, however long it takes.
    pub(crate) fn message(&mut self) -> Result<packet::Message, End> {
        loop {
            if let Some(message) = self.inbox.next()? {
                return Ok(message);
            }
            match self.transport.receive(Wait::Forever)? {
                Received::Bytes(bytes) => self.inbox.push(&bytes),
                Received::Nothing => {}
                Received::Closed => return Err(End::Closed),
            }
        }
    }

    /// Whether the client cancels within the time.
    #[expect(
        clippy::disallowed_methods,
        reason = "a delay is real time, and belongs to no trial"
    )]
    fn attention(&mut self, time: Option<Duration>) -> Result<bool, End> {
        let start = std::time::Instant::now();
        loop {
            if let Some(message) = self.inbox.next()? {
                if message.kind == ATTENTION {
                    self.shared.journal().attentions += 1;
                    return Ok(true);
                }
                let text = format!(
                    "a message of type {} while the last one is answered",
                    message.kind
                );
                return Err(Violation::new(text).into());
            }
            let left = time.map(|time| time.checked_sub(start.elapsed()).unwrap_or_default());
            let wait = match left {
                None => Wait::Never,
                Some(Duration::ZERO) => return Ok(false),
                Some(left) => Wait::AtMost(left),
            };
            match (self.transport.receive(wait)?, left) {
                (Received::Bytes(bytes), _) => self.inbox.push(&bytes),
                (Received::Nothing, None) => return Ok(false),
                (Received::Nothing, Some(_)) => {}
                (Received::Closed, _) => return Err(End::Closed),
            }
        }
    }

    /// Sends a reply, with the events within it. An attention ends it after the current token.
    pub(crate) fn send(&mut self, encoded: Encoded) -> Result<(), End> {
        let Encoded { bytes, marks } = encoded;
        let mut sending = Sending { sent: 0, number: 1 };
        let mut given_up = false;
        for mark in marks.iter().filter(|mark| mark.event != Event::Boundary) {
            given_up = sending.until(self, &bytes, mark.at)?;
            match &mark.event {
                _ if given_up => {}
                Event::Delay(delay) => given_up = self.attention(Some(*delay))?,
                Event::Cut => return Err(End::Closed),
                Event::Boundary => {}
            }
            if given_up {
                break;
            }
        }
        if !given_up {
            // The last packet is marked as such: it is sent even when nothing is left for it.
            let body = self.size - HEADER;
            let rest = bytes.len() - sending.sent;
            let whole = rest.saturating_sub(1) / body * body;
            given_up = sending.until(self, &bytes, sending.sent + whole)?;
        }
        if !given_up {
            return sending.last(self, &bytes[sending.sent..]);
        }
        let boundary = marks
            .iter()
            .map(|mark| mark.at)
            .find(|at| *at >= sending.sent);
        let boundary = boundary.unwrap_or(bytes.len());
        let mut rest = bytes[sending.sent..boundary].to_vec();
        rest.extend(encode::attention());
        sending.last(self, &rest)
    }
}

/// An outgoing message.
struct Sending {
    sent: usize,
    number: u8,
}

impl Sending {
    /// Sends everything up to a position, without ending the message. Returns whether the client cancelled meanwhile.
    fn until(
        &mut self,
        connection: &mut Connection<'_>,
        bytes: &[u8],
        place: usize,
    ) -> Result<bool, End> {
        while self.sent < place {
            let end = place.min(self.sent + connection.size - HEADER);
            let packet = packet::packet(REPLY, self.number, false, &bytes[self.sent..end]);
            connection.transport.send(&packet)?;
            self.sent = end;
            self.number = self.number.wrapping_add(1);
            if connection.attention(None)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sends the rest and ends the message, whatever the client sends meanwhile.
    fn last(&mut self, connection: &mut Connection<'_>, rest: &[u8]) -> Result<(), End> {
        let body = connection.size - HEADER;
        let mut pieces = rest.chunks(body).peekable();
        if pieces.peek().is_none() {
            let packet = packet::packet(REPLY, self.number, true, &[]);
            connection.transport.send(&packet)?;
        }
        while let Some(piece) = pieces.next() {
            let packet = packet::packet(REPLY, self.number, pieces.peek().is_none(), piece);
            connection.transport.send(&packet)?;
            self.number = self.number.wrapping_add(1);
        }
        Ok(())
    }
}
