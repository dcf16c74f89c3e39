//! A volume whose requests come over rings keeps what fio writes: the tests of `fuse_fio.rs`.
//! Needs what they need, and `scripts/with-uring`.
#![cfg(target_os = "linux")]

#[path = "fuse_fio.rs"]
mod fuse_fio;
