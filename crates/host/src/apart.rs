//! System calls that wait for a request to this process's own FUSE session.
//!
//! Such a call waits in the kernel until the request is answered. If the process is killed meanwhile, no answer
//! comes; the kernel ends the request once `/dev/fuse` is closed, which happens when the last thread that shares
//! the table of open files has ended. A thread that waits in such a call must therefore not share that table:
//! otherwise it waits for ever, and only a reboot or the kernel's `/sys/fs/fuse/connections` helps.

use std::thread;

/// Runs `work` on a thread that has none of this process's files open, and waits for it.
///
/// Nothing captured by `work` may own an open file: it must open what it needs itself.
///
/// # Panics
/// When `work` panics, or no thread can be started.
pub fn without_open_files<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let run = || {
        leave_open_files();
        work()
    };
    let ended = thread::scope(|scope| scope.spawn(run).join());
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Gives the calling thread its own table of open files, with only the standard streams in it. Kernels before 5.9
/// do not support this, and continue with the shared table.
#[allow(unsafe_code)]
fn leave_open_files() {
    // <linux/close_range.h>
    const CLOSE_RANGE_UNSHARE: libc::c_uint = 2;
    let first: libc::c_uint = 3;
    // SAFETY: the call takes three numbers. It closes files of the calling thread's own table, which
    // CLOSE_RANGE_UNSHARE creates: the descriptors of all other threads stay open, and this one holds none.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            libc::c_uint::MAX,
            CLOSE_RANGE_UNSHARE,
        );
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Read;

    use super::*;

    /// Open files of the calling thread.
    fn open_files() -> usize {
        fs::read_dir("/proc/thread-self/fd").unwrap().count()
    }

    #[test]
    fn files_are_not_open_there_and_stay_open_here() {
        let mut file = File::open("/proc/self/cmdline").unwrap();
        let before = open_files();

        let there = without_open_files(open_files);

        // The standard streams, and the directory being read.
        assert!((1..=4).contains(&there), "{there} open, {before} before");
        assert!(before > there);
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert!(!text.is_empty());
    }

    #[test]
    fn what_was_found_is_given_back() {
        let text = String::from("as it was");
        assert_eq!(without_open_files(|| text.len()), 9);
    }
}
