//! Packets and the messages they carry, without sockets.
//!
//! Layout: [MS-TDS 2.2.3](https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/e5ea8520-1ea3-4a75-a2a9-c17e63e9ee19).

use crate::wire::Violation;

/// Bytes of the header before each packet's content.
pub(crate) const HEADER: usize = 8;

/// Packet size until the login has negotiated it.
pub(crate) const SIZE_FIRST: usize = 4096;

pub(crate) const BATCH: u8 = 1;
pub(crate) const RPC: u8 = 3;
pub(crate) const REPLY: u8 = 4;
pub(crate) const ATTENTION: u8 = 6;
pub(crate) const TRANSACTION: u8 = 14;
pub(crate) const LOGIN: u8 = 16;
pub(crate) const PRELOGIN: u8 = 18;

const END: u8 = 0x01;
const IGNORE: u8 = 0x02;
const RESET: u8 = 0x08;
const RESET_KEEPING_TRANSACTION: u8 = 0x10;

/// A client's message, from as many packets as it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) kind: u8,
    /// The connection comes from a pool: reset the last user's session first.
    pub(crate) reset: Option<Reset>,
    pub(crate) body: Vec<u8>,
}

/// How a session is reset before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    All,
    KeepTransaction,
}

/// Assembles messages from the bytes as they arrive.
#[derive(Debug)]
pub(crate) struct Inbox {
    received: Vec<u8>,
    partial: Option<Message>,
    size_max: usize,
}

impl Inbox {
    pub(crate) fn new() -> Inbox {
        Inbox {
            received: Vec::new(),
            partial: None,
            size_max: SIZE_FIRST,
        }
    }

    /// The negotiated size; a larger packet is a violation from here on.
    pub(crate) fn set_size(&mut self, size: usize) {
        self.size_max = size;
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.received.extend(bytes);
    }

    /// Whether no bytes are left over: nothing may precede a TLS handshake.
    #[cfg(any(test, target_os = "linux"))]
    pub(crate) fn is_empty(&self) -> bool {
        self.received.is_empty() && self.partial.is_none()
    }

    /// The next complete message, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<Message>, Violation> {
        while let Some((kind, status, body)) = self.packet()? {
            if kind == ATTENTION {
                // A client may cancel in the middle of its own request.
                self.partial = None;
                return Ok(Some(Message {
                    kind,
                    reset: None,
                    body,
                }));
            }
            let reset = match (status & RESET, status & RESET_KEEPING_TRANSACTION) {
                (0, 0) => None,
                (0, _) => Some(Reset::KeepTransaction),
                (_, _) => Some(Reset::All),
            };
            let message = self.partial.get_or_insert(Message {
                kind,
                reset,
                body: Vec::new(),
            });
            if message.kind != kind {
                let text = format!(
                    "a packet of type {kind} within a message of type {}",
                    message.kind
                );
                return Err(Violation::new(text));
            }
            message.body.extend(body);
            if status & END != 0 {
                let message = self.partial.take();
                if status & IGNORE == 0 {
                    return Ok(message);
                }
            }
        }
        Ok(None)
    }

    fn packet(&mut self) -> Result<Option<(u8, u8, Vec<u8>)>, Violation> {
        let &[kind, status, high, low, ..] = self.received.as_slice() else {
            return Ok(None);
        };
        if !matches!(
            kind,
            BATCH | RPC | ATTENTION | TRANSACTION | LOGIN | PRELOGIN
        ) {
            return Err(Violation::new(format!("a packet of type {kind:#04x}")));
        }
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length < HEADER || length > self.size_max {
            let size = self.size_max;
            return Err(Violation::new(format!(
                "a packet of {length} bytes, agreed are at most {size}"
            )));
        }
        if self.received.len() < length {
            return Ok(None);
        }
        let body = self.received[HEADER..length].to_vec();
        self.received.drain(..length);
        Ok(Some((kind, status, body)))
    }
}

/// One packet. `number` counts the packets of a message from 1 and wraps.
pub(crate) fn packet(kind: u8, number: u8, last: bool, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(HEADER + body.len()).expect("a packet of at most 65,535 bytes");
    let mut packet = Vec::with_capacity(HEADER + body.len());
    packet.extend([kind, if last { END } else { 0 }]);
    packet.extend(length.to_be_bytes());
    packet.extend([0, 0, number, 0]); // of process 0, window 0
    packet.extend(body);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(status: u8, kind: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = packet(kind, 1, false, body);
        bytes[1] = status;
        bytes
    }

    #[test]
    fn a_message_of_several_packets_is_joined_whichever_way_its_bytes_arrive() {
        let bytes = [
            request(RESET, BATCH, b"one "),
            request(0, BATCH, b"two "),
            request(END, BATCH, b"three"),
        ]
        .concat();
        for piece in [1, 7, 9, 1000] {
            let mut inbox = Inbox::new();
            let mut messages = Vec::new();
            for bytes in bytes.chunks(piece) {
                inbox.push(bytes);
                messages.extend(inbox.next().expect("whole packets"));
            }
            let expected = Message {
                kind: BATCH,
                reset: Some(Reset::All),
                body: b"one two three".to_vec(),
            };
            assert_eq!(messages, [expected]);
            assert!(inbox.is_empty());
        }
    }

    #[test]
    fn an_attention_ends_an_unfinished_request() {
        let mut inbox = Inbox::new();
        inbox.push(&request(0, BATCH, b"half"));
        inbox.push(&request(END, ATTENTION, b""));
        inbox.push(&request(END, BATCH, b"next"));
        let kinds = |inbox: &mut Inbox| {
            inbox
                .next()
                .expect("valid")
                .map(|message| (message.kind, message.body))
        };
        assert_eq!(kinds(&mut inbox), Some((ATTENTION, Vec::new())));
        assert_eq!(kinds(&mut inbox), Some((BATCH, b"next".to_vec())));
    }

    #[test]
    fn a_message_that_its_sender_takes_back_is_not_answered() {
        let mut inbox = Inbox::new();
        inbox.push(&request(0, BATCH, b"half"));
        inbox.push(&request(END | IGNORE, BATCH, b""));
        assert_eq!(inbox.next(), Ok(None));
        assert!(inbox.is_empty());
    }

    #[test]
    fn packets_larger_than_agreed_of_unknown_type_or_mixed_are_refused() {
        let refused = |bytes: Vec<u8>| {
            let mut inbox = Inbox::new();
            inbox.push(&bytes);
            inbox.next().expect_err("refused").to_string()
        };
        assert!(refused(request(END, BATCH, &[0; 4089])).contains("4097"));
        assert!(refused(request(END, 0x16, b"")).contains("0x16"));
        let mixed = [request(0, BATCH, b"a"), request(END, RPC, b"b")].concat();
        assert!(refused(mixed).contains("within a message"));
    }
}
