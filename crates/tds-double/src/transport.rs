//! A client's socket, plain or through TLS.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[cfg(target_os = "linux")]
use crate::tls::{Certificate, Secured};

/// How long to wait for bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    Forever,
    AtMost(Duration),
    Never,
}

/// The result of a read.
pub(crate) enum Received {
    Bytes(Vec<u8>),
    Nothing,
    Closed,
}

/// Where packets are read and written.
pub(crate) enum Transport {
    Plain(TcpStream),
    #[cfg(target_os = "linux")]
    Tls(Secured),
}

impl Transport {
    /// Switches to TLS, whose handshake is wrapped in PreLogin packets.
    #[cfg(target_os = "linux")]
    pub(crate) fn secure(self, certificate: &Certificate) -> io::Result<Transport> {
        match self {
            Transport::Plain(socket) => certificate.accept(socket).map(Transport::Tls),
            Transport::Tls(_) => Err(io::Error::other("TLS within TLS")),
        }
    }

    pub(crate) fn receive(&mut self, wait: Wait) -> io::Result<Received> {
        let socket = self.socket();
        match wait {
            Wait::Forever => socket.set_read_timeout(None)?,
            // A timeout of zero would mean none.
            Wait::AtMost(time) => {
                socket.set_read_timeout(Some(time.max(Duration::from_millis(1))))?
            }
            Wait::Never => socket.set_nonblocking(true)?,
        }
        let mut buffer = vec![0; 16 * 1024];
        let read = self.stream().read(&mut buffer);
        if let Wait::Never = wait {
            self.socket().set_nonblocking(false)?;
        }
        match read {
            Ok(0) => Ok(Received::Closed),
            Ok(length) => {
                buffer.truncate(length);
                Ok(Received::Bytes(buffer))
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                    Ok(Received::Nothing)
                }
                ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof => Ok(Received::Closed),
                _ => Err(error),
            },
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream().write_all(bytes)?;
        self.stream().flush()
    }

    /// Ends both directions at once.
    pub(crate) fn cut(&mut self) {
        // The peer may have done so before.
        let _ = self.socket().shutdown(std::net::Shutdown::Both);
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Transport::Plain(socket) => socket,
            #[cfg(target_os = "linux")]
            Transport::Tls(secured) => secured.get_ref().socket(),
        }
    }

    fn stream(&mut self) -> &mut dyn Stream {
        match self {
            Transport::Plain(socket) => socket,
            #[cfg(target_os = "linux")]
            Transport::Tls(secured) => secured,
        }
    }
}

trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}
