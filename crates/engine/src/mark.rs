//! Names on servers that are shared with others.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Eight random hexadecimal digits.
pub fn mark() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{:08x}", random & 0xffff_ffff)
}
