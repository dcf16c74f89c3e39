//! Starting processes that have no network.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

/// The network of the calling thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// Runs `work` while the calling thread has a network of its own without any interface, not even `lo`, which every process that
/// is started meanwhile keeps. Sockets in the file system work as before. Only root may do that.
///
/// # Errors
/// When the kernel refuses.
pub fn without_network<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    let before = File::open(OWN)?;
    leave_network()?;
    let done = work();
    move_into_link_name_space(before.as_fd(), Some(LinkNameSpaceType::Network))?;
    Ok(done)
}

#[allow(unsafe_code)]
fn leave_network() -> io::Result<()> {
    // SAFETY: other flags take open files away from code that holds them; this one changes the network of new sockets alone.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_has_no_network_and_the_thread_has_its_own_again() {
        if !rustix::process::geteuid().is_root() {
            // Only root may leave its network.
            assert!(without_network(|| ()).is_err());
            return;
        }
        let before = std::fs::read_link(OWN).unwrap();
        let of_child = "readlink /proc/self/ns/net; cat /proc/self/net/route | tail -n +2";
        let output = without_network(|| Command::new("sh").args(["-c", of_child]).output());
        let output = String::from_utf8(output.unwrap().unwrap().stdout).unwrap();
        // Another network, and not a single route in it.
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(lines.len(), 1, "{output}");
        assert_ne!(lines[0], before.to_str().unwrap());
        assert_eq!(std::fs::read_link(OWN).unwrap(), before);
    }
}
