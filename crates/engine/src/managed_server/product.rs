//! What differs between the servers that dbstow starts.

use model::Bytes;
use nix::sys::signal::Signal;

/// A product, as its servers are run.
pub struct Product {
    /// Its name in messages, such as `PostgreSQL`.
    pub name: &'static str,
    /// Its server's program, for messages about processes that a killed dbstow has left: `ended postgres (..)`.
    pub process: &'static str,
    /// As whom a server runs where dbstow is root: the first of these users that there is.
    pub users: [&'static str; 2],
    /// Has it end with all that it holds in memory written.
    pub shut_down: Signal,
    /// Has it end at once, and is what the kernel sends it when dbstow is gone (on Linux): `SIGQUIT` where it then takes
    /// its other processes along, `SIGKILL` otherwise.
    pub quit: Signal,
    /// What a server needs besides buffers and sessions, and the least page cache that it can do with.
    pub memory: Bytes,
    /// Why the server cannot go on, where a line of its log says so.
    pub cause: fn(&str) -> Option<String>,
    /// Whether a line of its log tells of a crash: it is kept, since many lines may follow it.
    pub tells_of_crash: fn(&str) -> bool,
}
