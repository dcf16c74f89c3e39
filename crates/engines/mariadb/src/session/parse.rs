//! Parses parts of untrusted packets.

use rules::said;

use crate::session::failure::Failure;

/// The rest of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (here, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(here)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A length-encoded integer of one to nine bytes.
    pub(crate) fn number(&mut self) -> Option<u64> {
        match self.u8()? {
            small @ 0..=0xFA => Some(small.into()),
            0xFC => self.u16().map(u64::from),
            0xFD => self
                .array()
                .map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]).into()),
            0xFE => self.array().map(u64::from_le_bytes),
            0xFB | 0xFF => None,
        }
    }

    /// A length-prefixed text.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(usize::try_from(length).ok()?)
    }

    /// A text terminated by a zero or the end of the packet.
    pub(crate) fn until_zero(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0);
        let here = &self.0[..end.unwrap_or(self.0.len())];
        self.0 = &self.0[end.map_or(self.0.len(), |end| end + 1)..];
        here
    }
}

/// An error packet: its number, and the text after its SQLSTATE.
pub(crate) fn refusal(packet: &[u8]) -> Option<Failure> {
    let mut rest = Bytes(packet.get(1..)?);
    let code = rest.u16()?;
    if rest.0.first() == Some(&b'#') {
        rest.take(6)?;
    }
    Some(Failure::Refused {
        code,
        message: said(&String::from_utf8_lossy(rest.0)),
    })
}

/// A server's greeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// Its number for the connection.
    pub(crate) number: u32,
    pub(crate) capabilities: u32,
    /// The nonce for password hashes.
    pub(crate) nonce: Vec<u8>,
    /// Its default authentication method.
    pub(crate) method: String,
}

impl Greeting {
    /// Parses it; `None` if it is not a greeting of protocol version 10.
    ///
    /// Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html>,
    /// read 2026-11-26.
    pub(crate) fn of(packet: &[u8]) -> Option<Greeting> {
        let mut rest = Bytes(packet);
        rest.u8().filter(|version| *version == 10)?;
        let _version = rest.until_zero();
        let number = rest.u32()?;
        let mut nonce = rest.take(8)?.to_vec();
        rest.u8()?;
        let low = rest.u16()?;
        // Collation, and state.
        rest.take(3)?;
        let high = rest.u16()?;
        let length = usize::from(rest.u8()?);
        rest.take(10)?;
        nonce.extend_from_slice(
            rest.take(length.saturating_sub(8).max(13))
                .unwrap_or_default(),
        );
        let method = rest.until_zero();
        Some(Greeting {
            number,
            capabilities: u32::from(low) | u32::from(high) << 16,
            nonce,
            method: String::from_utf8_lossy(method).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_is_no_part() {
        assert_eq!(Bytes(&[0xFC, 1]).number(), None);
        assert_eq!(Bytes(&[0xFD, 1, 2, 3]).number(), Some(0x03_02_01));
        assert_eq!(
            Bytes(&[0xFE, 255, 255, 255, 255, 255, 255, 255, 255, 1]).text(),
            None
        );
        assert_eq!(Bytes(&[3, b'a', b'b']).text(), None);
        assert_eq!(Bytes(b"ab\0c").until_zero(), b"ab");
        for length in 0..30 {
            assert_eq!(Greeting::of(&[10; 30][..length]), None);
        }
        assert!(refusal(&[0xFF, 1]).is_none() && refusal(b"\xFF\x01\x00#28").is_none());
    }

    #[test]
    fn an_error_has_its_number_and_its_words() {
        let refused = refusal(b"\xFF\x15\x04#28000Access denied");
        let refused = refused.expect("it is one").to_string();
        assert_eq!(refused, "Access denied (error 1045)");
    }
}
