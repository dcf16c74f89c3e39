//! The end of a server's log, read through a pipe.
//!
//! Not through a file: in a directory of another user, it could be a link to a third user's file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ChildStderr;
use std::sync::Arc;
use std::thread;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use parking_lot::Mutex;

use super::product::Product;

/// Lines kept.
const LINES: usize = 5;

/// Bytes kept per line: a server quotes statements.
const LINE_BYTES: usize = 4 << 10;

/// A server's last output; read by a thread, so that no server blocks on a full pipe.
pub(crate) struct Log(Arc<Mutex<Tail>>);

struct Tail {
    pipe: File,
    words: Words,
}

/// The last lines of a text, and the relevant parts of earlier ones.
struct Words {
    product: &'static Product,
    /// The beginning of an incomplete line.
    begun: Vec<u8>,
    lines: VecDeque<String>,
    /// The last earlier line that reported a crash: the lines after it report its consequences.
    crash: Option<String>,
    /// The first line with the reason why the server cannot continue, starting at that reason.
    cause: Option<String>,
}

impl Log {
    /// Reads `pipe` until its other end is closed.
    pub(crate) fn follow(pipe: ChildStderr, product: &'static Product) -> io::Result<Log> {
        let pipe = File::from(OwnedFd::from(pipe));
        let flags = OFlag::from_bits_retain(fcntl(&pipe, FcntlArg::F_GETFL)?);
        fcntl(&pipe, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        let waiting = pipe.try_clone()?;
        let words = Words::of(product);
        let tail = Arc::new(Mutex::new(Tail { pipe, words }));
        let read = Arc::clone(&tail);
        thread::Builder::new()
            .name("dbstow-log".to_owned())
            .spawn(move || while wait(&waiting) && read.lock().drain() {})?;
        Ok(Log(tail))
    }

    /// The last output, up to now.
    pub(crate) fn last_words(&self) -> String {
        let mut tail = self.0.lock();
        // The thread may not have read it yet.
        tail.drain();
        tail.words.to_string()
    }

    /// Why the server cannot continue, in its own words, if it reported that.
    pub(crate) fn cause(&self) -> Option<String> {
        let mut tail = self.0.lock();
        tail.drain();
        tail.words.cause.clone()
    }
}

/// Waits until there is something to read, or the other end is closed.
fn wait(pipe: &File) -> bool {
    let mut polled = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
    match poll(&mut polled, PollTimeout::NONE) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => true,
        Err(_) => false,
    }
}

impl Tail {
    /// Reads what is available; returns whether more may come.
    fn drain(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match self.pipe.read(&mut buffer) {
                Ok(0) => return false,
                Ok(length) => self.words.take(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }
}

impl Words {
    fn of(product: &'static Product) -> Words {
        Words {
            product,
            begun: Vec::new(),
            lines: VecDeque::new(),
            crash: None,
            cause: None,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match part.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (part, false),
            };
            let room = LINE_BYTES - self.begun.len();
            self.begun.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                let line = String::from_utf8_lossy(&self.begun).into_owned();
                self.begun.clear();
                self.push(line);
            }
        }
    }

    fn push(&mut self, line: String) {
        if (self.product.has_statement)(&line) {
            return;
        }
        if self.cause.is_none() {
            self.cause = (self.product.cause)(&line);
        }
        self.lines.push_back(line);
        if self.lines.len() > LINES
            && let Some(first) = self.lines.pop_front()
            && (self.product.tells_of_crash)(&first)
        {
            self.crash = Some(first);
        }
    }
}

/// On one line.
impl std::fmt::Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let begun = String::from_utf8_lossy(&self.begun);
        let begun = (!begun.is_empty()).then_some(&*begun);
        let lines = self.crash.iter().chain(&self.lines).map(String::as_str);
        let words: Vec<&str> = lines.chain(begun).collect();
        f.write_str(&words.join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::super::stand_in::STAND_IN;
    use super::*;

    fn words(text: &str) -> String {
        let mut words = Words::of(&STAND_IN);
        // However it is split.
        for byte in text.as_bytes().chunks(3) {
            words.take(byte);
        }
        words.to_string()
    }

    #[test]
    fn the_last_lines_are_kept_and_a_crash_before_them() {
        let text = "a\nPANIC: no\nb\n1\n2\n3\n4\n5\nha";
        assert_eq!(words(text), "PANIC: no | 1 | 2 | 3 | 4 | 5 | ha");
        assert_eq!(words("a\nb\n"), "a | b");
        assert_eq!(words(""), "");
    }

    #[test]
    fn the_first_reason_not_to_go_on_is_the_cause() {
        let mut words = Words::of(&STAND_IN);
        let text = "0\nFATAL: no space\nFATAL: gone\n4\n5\n6\n7\n8\n9\n";
        words.take(text.as_bytes());
        assert_eq!(words.cause.as_deref(), Some("no space"));
    }

    #[test]
    fn statements_are_not_kept() {
        assert_eq!(words("a\nstatement: SELECT 'PANIC'\nb\n"), "a | b");
    }

    #[test]
    fn a_long_line_is_cut() {
        let text = format!("{}\nend\n", "x".repeat(LINE_BYTES + 10));
        assert_eq!(words(&text), format!("{} | end", "x".repeat(LINE_BYTES)));
    }

    #[test]
    fn all_that_was_written_before_an_end_is_there_and_more_than_a_pipe_holds_can_be() {
        let mut child = Command::new("sh")
            .args(["-c", "seq 100000 >&2; echo end >&2"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Log::follow(child.stderr.take().unwrap(), &STAND_IN).unwrap();

        child.wait().unwrap();

        let last = "99997 | 99998 | 99999 | 100000 | end";
        assert_eq!(log.last_words(), last);
    }
}
