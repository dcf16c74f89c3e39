//! File descriptors that another library holds.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Another descriptor of what `holder` has open, for a holder that only gives the number of its own.
///
/// # Errors
/// When this process cannot open any more files.
pub fn duplicate(holder: &impl AsRawFd) -> io::Result<OwnedFd> {
    // SAFETY: it stays open while its holder is borrowed, longer than its number is used.
    #[allow(unsafe_code)]
    let held = unsafe { BorrowedFd::borrow_raw(holder.as_raw_fd()) };
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
}
