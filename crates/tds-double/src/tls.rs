//! TLS as in TDS 7.4: the handshake in PreLogin packets, everything after it without packets around it.
//!
//! The certificate is created when the double starts, is self-signed, and valid for `localhost` and 127.0.0.1. TLS 1.2 is
//! the highest version: in 1.3 the server's last messages come after the handshake, when a 7.4 client no longer unwraps
//! packets.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslAcceptor, SslMethod, SslOptions, SslStream, SslVersion};
use openssl::x509::extension::{BasicConstraints, SubjectAlternativeName};
use openssl::x509::{X509, X509NameBuilder};

use crate::packet::{self, HEADER, PRELOGIN, SIZE_FIRST};

/// A connection after its handshake.
pub(crate) type Secured = SslStream<Wrapped>;

/// The server's key and certificate.
pub(crate) struct Certificate {
    acceptor: SslAcceptor,
    pem: String,
}

impl Certificate {
    pub(crate) fn new() -> Result<Certificate, ErrorStack> {
        let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
        let key = PKey::from_ec_key(EcKey::generate(&group)?)?;
        let certificate = signed_by_itself(&key)?;
        let mut acceptor = SslAcceptor::mozilla_intermediate(SslMethod::tls_server())?;
        acceptor.set_min_proto_version(Some(SslVersion::TLS1_2))?;
        acceptor.set_max_proto_version(Some(SslVersion::TLS1_2))?;
        acceptor.set_options(SslOptions::NO_TICKET);
        acceptor.set_private_key(&key)?;
        acceptor.set_certificate(&certificate)?;
        let pem = String::from_utf8_lossy(&certificate.to_pem()?).into_owned();
        Ok(Certificate {
            acceptor: acceptor.build(),
            pem,
        })
    }

    /// For clients that verify the server.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn accept(&self, socket: TcpStream) -> io::Result<Secured> {
        let wrapped = Wrapped {
            socket,
            handshake: true,
            received: Vec::new(),
            pending: Vec::new(),
        };
        let mut secured = self.acceptor.accept(wrapped).map_err(io::Error::other)?;
        let wrapped = secured.get_mut();
        wrapped.flush()?;
        wrapped.handshake = false;
        if !wrapped.received.is_empty() {
            return Err(io::Error::other(
                "bytes after the handshake in its last packet",
            ));
        }
        Ok(secured)
    }
}

fn signed_by_itself(key: &PKey<Private>) -> Result<X509, ErrorStack> {
    let mut name = X509NameBuilder::new()?;
    name.append_entry_by_nid(Nid::COMMONNAME, "localhost")?;
    let name = name.build();
    let mut builder = X509::builder()?;
    builder.set_version(2)?; // which is called 3
    let serial = BigNum::from_u32(1)?.to_asn1_integer()?;
    builder.set_serial_number(&serial)?;
    builder.set_subject_name(&name)?;
    builder.set_issuer_name(&name)?;
    builder.set_pubkey(key)?;
    let (from, until) = (Asn1Time::days_from_now(0)?, Asn1Time::days_from_now(1)?);
    builder.set_not_before(&from)?;
    builder.set_not_after(&until)?;
    builder.append_extension(BasicConstraints::new().critical().ca().build()?)?;
    let context = builder.x509v3_context(None, None);
    let names = SubjectAlternativeName::new()
        .dns("localhost")
        .ip("127.0.0.1")
        .build(&context)?;
    builder.append_extension(names)?;
    builder.sign(key, MessageDigest::sha256())?;
    Ok(builder.build())
}

/// A socket that wraps TLS in packets during the handshake.
#[derive(Debug)]
pub(crate) struct Wrapped {
    socket: TcpStream,
    handshake: bool,
    /// Rest of a packet, not yet read.
    received: Vec<u8>,
    /// Written, but not yet sent in a packet.
    pending: Vec<u8>,
}

impl Wrapped {
    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }
}

impl Read for Wrapped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.handshake {
            return self.socket.read(buffer);
        }
        self.flush()?;
        while self.received.is_empty() {
            let mut header = [0; HEADER];
            self.socket.read_exact(&mut header)?;
            let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
            if header[0] != PRELOGIN || !(HEADER..=SIZE_FIRST).contains(&length) {
                let text = format!("{header:?} heads no packet of a TLS handshake");
                return Err(io::Error::other(text));
            }
            self.received = vec![0; length - HEADER];
            self.socket.read_exact(&mut self.received)?;
        }
        let length = buffer.len().min(self.received.len());
        buffer[..length].copy_from_slice(&self.received[..length]);
        self.received.drain(..length);
        Ok(length)
    }
}

impl Write for Wrapped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.handshake {
            return self.socket.write(bytes);
        }
        self.pending.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let pieces = pending.chunks(SIZE_FIRST - HEADER);
        let last = pieces.len();
        for (place, piece) in pieces.enumerate() {
            let number = place as u8 + 1;
            let packet = packet::packet(PRELOGIN, number, place + 1 == last, piece);
            self.socket.write_all(&packet)?;
        }
        self.socket.flush()
    }
}
