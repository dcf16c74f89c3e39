//! File descriptors that another library holds.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

/// Another descriptor of what `holder` has open, for a holder that only gives the number of its own.
///
/// # Errors
/// When nothing is open under that number, or the process is out of file descriptors.
pub fn duplicate(holder: &impl AsRawFd) -> io::Result<OwnedFd> {
    let number = holder.as_raw_fd();
    if number < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: it is not -1. That it stays open meanwhile is the holder's promise, which is borrowed; a plain number makes
    // none, and one that is closed is refused by the system.
    #[allow(unsafe_code)]
    let held = unsafe { BorrowedFd::borrow_raw(number) };
    held.try_clone_to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_duplicate_outlives_its_holder() {
        let (holder, mut other) = UnixStream::pair().expect("two ends");
        let mut duplicate = UnixStream::from(duplicate(&holder).expect("one more"));
        drop(holder);
        duplicate.write_all(b"still open").expect("it is sent");
        drop(duplicate);
        let mut received = String::new();
        other.read_to_string(&mut received).expect("it arrives");
        assert_eq!(received, "still open");
    }

    #[test]
    fn a_number_under_which_nothing_is_open_is_refused() {
        for number in [-1, i32::MAX] {
            let error = duplicate(&number).expect_err("nothing is open");
            assert_eq!(error.raw_os_error(), Some(Errno::BADF.raw_os_error()));
        }
    }
}
