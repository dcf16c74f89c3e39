//! The signal sent when a terminal closes, which `nohup` makes a program ignore.

/// Whether this process was started with SIGHUP ignored. Always false on systems other than Linux.
pub fn is_ignored() -> bool {
    #[cfg(target_os = "linux")]
    {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action the call only fills in the old one, which has room for it.
        let result =
            unsafe { libc::sigaction(libc::SIGHUP, std::ptr::null(), action.as_mut_ptr()) };
        // SAFETY: it was zeroed, which is a valid action, and filled in if the call succeeded.
        let action = unsafe { action.assume_init() };
        result == 0 && action.sa_sigaction == libc::SIG_IGN
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Ignores SIGHUP from now on, replacing any handler. Does nothing on systems other than Linux.
pub fn ignore() {
    #[cfg(target_os = "linux")]
    // SAFETY: ignoring a signal sets no handler, so no code runs in signal context.
    unsafe {
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn what_was_ignored_is_seen_to_be() {
        super::ignore();
        assert!(super::is_ignored());
    }
}
