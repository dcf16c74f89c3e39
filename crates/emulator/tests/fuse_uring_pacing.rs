//! A volume whose requests come over rings is as slow as its model says: the tests of `fuse_pacing.rs`.
//! Needs what they need, and `scripts/with-uring`.
#![cfg(target_os = "linux")]

#[path = "fuse_pacing.rs"]
mod fuse_pacing;
