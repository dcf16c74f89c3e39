//! A Unix socket that wakes its reader for answers alone.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
#[cfg(feature = "postgres")]
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// A connected socket.
///
/// Linux wakes a thread that is blocked in `recv` twice for a request: when the other end takes the request, because
/// there is room to write again, and when the answer comes. A thread in `poll` says that it waits for the answer, and
/// is woken once, as clients with libpq and MariaDB's library are (`scripts/bench-client` compares).
/// Source: `unix_write_space` and `unix_stream_data_wait`,
/// <https://github.com/torvalds/linux/blob/v6.12/net/unix/af_unix.c>, read 2026-11-26.
#[derive(Debug)]
pub(super) struct UnixSocket {
    stream: UnixStream,
    /// How long an answer may take.
    limit: PollTimeout,
}

impl UnixSocket {
    /// Waits for answers without end.
    pub(super) fn new(stream: UnixStream) -> UnixSocket {
        let limit = PollTimeout::NONE;
        UnixSocket { stream, limit }
    }

    /// From now on, an answer or a request that takes longer is an error.
    #[cfg(feature = "postgres")]
    pub(super) fn limit_waits(&mut self, limit: Duration) -> io::Result<()> {
        self.limit = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
        self.stream.set_write_timeout(Some(limit))
    }
}

impl Read for UnixSocket {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut awaited = [PollFd::new(self.stream.as_fd(), PollFlags::POLLIN)];
        loop {
            match poll(&mut awaited, self.limit) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => return self.stream.read(room),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Write for UnixSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_and_an_end_is_noticed() {
        let (ours, mut other) = UnixStream::pair().expect("two ends");
        let mut socket = UnixSocket::new(ours);
        socket.write_all(b"request").expect("it is sent");
        let mut request = [0; 7];
        other.read_exact(&mut request).expect("it arrives");
        assert_eq!(&request, b"request");

        other.write_all(b"answer").expect("it is sent");
        let mut room = [0; 16];
        assert_eq!(socket.read(&mut room).expect("it arrives"), 6);
        assert_eq!(&room[..6], b"answer");

        drop(other);
        assert_eq!(socket.read(&mut room).expect("the end"), 0);
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn an_answer_that_does_not_come_is_an_error() {
        let (ours, _other) = UnixStream::pair().expect("two ends");
        let mut socket = UnixSocket::new(ours);
        let limit = Duration::from_millis(1);
        socket.limit_waits(limit).expect("a limit");
        let late = socket.read(&mut [0]).expect_err("nothing was sent");
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }
}
