//! What differs between managed servers.

use model::Bytes;
use nix::sys::signal::Signal;

/// How servers of a product are run.
pub struct Product {
    /// Its name in messages.
    pub name: &'static str,
    /// Name of its server's program, for messages about processes left by a killed dbstow: `ended NAME (..)`.
    pub process: &'static str,
    /// Users that a server can run as if dbstow is root: the first existing one is taken.
    pub users: [&'static str; 2],
    /// Signal that makes it write everything in memory and end.
    pub shut_down: Signal,
    /// Signal that makes it end at once, also sent by the kernel when dbstow is gone (on Linux): `SIGQUIT` if that also
    /// ends its other processes, `SIGKILL` otherwise.
    pub quit: Signal,
    /// Memory besides buffers and sessions, plus the smallest workable page cache.
    pub memory: Bytes,
    /// Extracts why the server cannot continue from a line of its log.
    pub cause: fn(&str) -> Option<String>,
    /// Whether a line of its log reports a crash: it is kept, since many lines may follow it.
    pub tells_of_crash: fn(&str) -> bool,
    /// Whether a line of its log has a statement of a user's, or a part of one: it is not kept.
    pub has_statement: fn(&str) -> bool,
}
