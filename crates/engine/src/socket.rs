//! A connected socket whose waits end: by the limit of an answer, by the user, or by the end of a run.
//!
//! Everything sent to or received from a server passes through here, below TLS as well, so that a handshake ends in the
//! same ways as an answer.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::{thread, time};

use host::clock::Clock;
use model::Duration;
use native_tls::TlsStream;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::patience::Patience;
use crate::wait::{LOOK_EVERY, Task, Wait};

/// A connected socket.
///
/// It waits in `poll`, even where it could block in `recv`: Linux wakes a thread that is blocked there twice per
/// request, when the other end takes the request, because there is room to write again, and when the answer comes. A
/// thread in `poll` registers only for the answer, and is woken once, like clients with the servers' own libraries
/// (`scripts/bench-client` compares: a point select took 1.39 times sysbench's processor time when blocked in `recv`, 0.65
/// times in `poll`).
/// Source: `unix_write_space` and `unix_stream_data_wait`,
/// <https://github.com/torvalds/linux/blob/v6.12/net/unix/af_unix.c>, read 2026-11-26.
#[derive(Debug)]
pub struct Socket {
    stream: Plain,
    clock: Clock,
    patience: Patience,
    wait: Wait,
}

#[derive(Debug)]
enum Plain {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Connects to a socket file.
    ///
    /// # Errors
    /// When nothing listens there, or the wait is over.
    pub fn unix(path: &Path, patience: &Patience) -> io::Result<Socket> {
        let path = path.to_owned();
        // Connecting to a server with a full queue blocks.
        let stream = apart(patience, move || UnixStream::connect(path))?;
        stream.set_nonblocking(true)?;
        Ok(Socket::new(Plain::Unix(stream), patience))
    }

    /// Connects to a port of a host.
    ///
    /// # Errors
    /// When nothing listens there, or the wait is over.
    pub fn tcp(host: &str, port: u16, patience: &Patience) -> io::Result<Socket> {
        let host = host.to_owned();
        let stream = apart(patience, move || {
            let mut last = io::Error::other("the host's name has no address");
            for address in (host.as_str(), port).to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, CONNECT_MAX) {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                }
            }
            Err(last)
        })?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Socket::new(Plain::Tcp(stream), patience))
    }

    fn new(stream: Plain, patience: &Patience) -> Socket {
        let clock = Clock::start();
        Socket {
            stream,
            wait: Wait::new(patience, Task::Question, clock.now()),
            clock,
            patience: patience.clone(),
        }
    }

    /// Sets the limits of further waits.
    pub fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// Begins a new task.
    pub fn begin(&mut self, task: Task) {
        self.wait = Wait::new(&self.patience, task, self.clock.now());
    }

    /// Waits until the socket is ready. A wait that is over closes the connection: what arrives later would not be the
    /// answer to the next request.
    fn until(&mut self, ready: PollFlags) -> io::Result<()> {
        loop {
            let clock = self.clock;
            let step = match self.wait.step(move || clock.now()) {
                Ok(step) => step,
                Err(over) => {
                    let _ = match &self.stream {
                        Plain::Unix(stream) => stream.shutdown(Shutdown::Both),
                        Plain::Tcp(stream) => stream.shutdown(Shutdown::Both),
                    };
                    return Err(over);
                }
            };
            let step = step.map_or(PollTimeout::NONE, in_milliseconds);
            match poll(&mut [PollFd::new(self.as_fd(), ready)], step) {
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Longest that the system tries to reach one address, even if the caller no longer waits.
const CONNECT_MAX: time::Duration = time::Duration::from_secs(60);

/// At least one, so that a wait that is nearly over does not spin.
fn in_milliseconds(span: Duration) -> PollTimeout {
    let span = time::Duration::from_nanos(span.as_nanos().max(1_000_000));
    PollTimeout::try_from(span).unwrap_or(PollTimeout::MAX)
}

/// Runs `work`, which cannot be interrupted, on a thread that is abandoned if the wait is over. The system ends it.
fn apart<T: Send + 'static>(
    patience: &Patience,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let clock = Clock::start();
    let mut wait = Wait::new(patience, Task::Question, clock.now());
    let (done, result) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        // The receiver may be gone.
        let _ = done.send(work());
    })?;
    loop {
        let step = wait.step(|| clock.now())?.unwrap_or(LOOK_EVERY);
        match result.recv_timeout(time::Duration::from_nanos(step.as_nanos())) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the attempt to connect ended early"));
            }
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Plain::Unix(stream) => stream.as_fd(),
            Plain::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            self.until(PollFlags::POLLIN)?;
            let read = match &mut self.stream {
                Plain::Unix(stream) => stream.read(room),
                Plain::Tcp(stream) => stream.read(room),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let written = match &mut self.stream {
                Plain::Unix(stream) => stream.write(bytes),
                Plain::Tcp(stream) => stream.write(bytes),
            };
            match written {
                // The other end does not read.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.until(PollFlags::POLLOUT)?;
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket, encrypted or not.
#[derive(Debug)]
pub enum Stream {
    /// Unencrypted.
    Plain(Socket),
    /// Over TLS.
    Tls(Box<TlsStream<Socket>>),
}

impl Stream {
    /// The socket.
    pub fn socket(&mut self) -> &mut Socket {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => stream.get_mut(),
        }
    }

    /// The TLS stream, if encrypted.
    pub fn encrypted(&self) -> Option<&TlsStream<Socket>> {
        match self {
            Stream::Tls(stream) => Some(stream),
            Stream::Plain(_) => None,
        }
    }

    /// # Errors
    /// When the connection breaks, or the wait is over.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Plain(stream) => stream.write_all(bytes),
            Stream::Tls(stream) => stream.write_all(bytes),
        }
    }

    /// Reads at least one byte.
    ///
    /// # Errors
    /// When the connection breaks or was closed, or the wait is over.
    pub fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Stream::Plain(stream) => stream.read(room),
            Stream::Tls(stream) => stream.read(room),
        };
        match read {
            Ok(0) => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the server closed it",
            )),
            read => read,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn pair(patience: &Patience) -> (Socket, UnixStream) {
        let (ours, other) = UnixStream::pair().expect("two ends");
        ours.set_nonblocking(true).expect("it is ours");
        (Socket::new(Plain::Unix(ours), patience), other)
    }

    #[test]
    fn an_answer_is_read_and_an_end_is_noticed() {
        let (mut socket, mut other) = pair(&Patience::endless());
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
        let (mut socket, mut other) = pair(&Patience::endless());
        let server = std::thread::spawn(move || {
            let mut request = [0];
            while other.read(&mut request).expect("it is open") > 0 {
                // Enough time for a reader that was woken to go to sleep again.
                Clock::sleep(Duration::from_micros(200));
                other.write_all(&request).expect("it is open");
            }
        });
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

    #[test]
    fn an_answer_that_does_not_come_is_an_error_and_ends_the_connection() {
        let limit = Duration::from_millis(1);
        let (mut socket, mut other) = pair(&Patience::new(limit, Arc::default()));
        let late = socket.read(&mut [0]).expect_err("nothing was sent");
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        // What arrives later is not an answer to the next request.
        assert!(other.write_all(b"late").is_err());
        socket.begin(Task::Question);
        assert_eq!(socket.read(&mut [0]).expect("the end"), 0);
    }

    #[test]
    fn a_server_that_does_not_read_is_waited_for_no_longer_than_one_that_does_not_answer() {
        let (mut socket, _other) = pair(&Patience::new(Duration::from_millis(1), Arc::default()));
        let late = socket
            .write_all(&vec![0; 16 << 20])
            .expect_err("nobody reads it");
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn what_the_user_has_ended_is_not_waited_for() {
        let stop = Arc::new(AtomicBool::new(false));
        let patience = Patience::new(Duration::from_secs(3600), Arc::clone(&stop));
        let (mut socket, _other) = pair(&patience);
        stop.store(true, Ordering::Relaxed);
        assert!(socket.read(&mut [0]).is_err());
        assert!(apart(&patience, || Ok(())).is_err());
    }
}
