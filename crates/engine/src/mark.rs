//! Names on servers that are not ours alone.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Eight hexadecimal digits by chance.
pub fn mark() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{:08x}", random & 0xffff_ffff)
}
