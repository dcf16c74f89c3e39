//! A Unix socket whose reads wait in `poll`, so that an answer wakes its thread once.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
#[cfg(any(test, feature = "postgres"))]
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
    /// How long a read may wait.
    limit: PollTimeout,
}

impl UnixSocket {
    /// Without a limit on waits.
    pub(super) fn new(stream: UnixStream) -> UnixSocket {
        let limit = PollTimeout::NONE;
        UnixSocket { stream, limit }
    }

    /// From now on, a read or write that waits longer is an error. Reads count whole milliseconds.
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
    use volume::clock::Clock;

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

    /// How often the calling thread went to sleep.
    #[cfg(target_os = "linux")]
    fn sleeps() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("it is there");
        let mut lines = status.lines();
        let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count
            .expect("Linux counts")
            .trim()
            .parse()
            .expect("a number")
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_reader_sleeps_once_for_each_answer() {
        const REQUESTS: u64 = 200;
        let (ours, mut other) = UnixStream::pair().expect("two ends");
        let server = std::thread::spawn(move || {
            let mut request = [0];
            while other.read(&mut request).expect("it is open") > 0 {
                // Time enough for a reader that was woken to go to sleep again.
                Clock::sleep(model::Duration::from_micros(200));
                other.write_all(&request).expect("it is open");
            }
        });
        let mut socket = UnixSocket::new(ours);
        let before = sleeps();
        for _ in 0..REQUESTS {
            socket.write_all(&[1]).expect("it is sent");
            socket.read_exact(&mut [0]).expect("an answer");
        }
        let slept = sleeps() - before;
        assert!(slept <= REQUESTS + 10, "{slept} for {REQUESTS} answers");
        drop(socket);
        server.join().expect("it ends with the socket");
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
