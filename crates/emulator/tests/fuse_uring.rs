//! A volume whose requests come over rings behaves as a filesystem does: the tests of `fuse.rs`.
//! Needs what they need, and `scripts/with-uring`.
#![cfg(target_os = "linux")]

#[path = "fuse.rs"]
mod fuse;
