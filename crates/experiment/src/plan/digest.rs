//! A short digest of a plan's content, stable across platforms and builds.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::spec::protocol::is_yes;
use crate::spec::{EngineName, Mode, Settings};

/// What determines the outcome of a trial.
#[derive(Serialize)]
pub(super) struct Decisive<'a> {
    pub(super) version: &'a str,
    pub(super) experiment: &'a str,
    pub(super) mode: Mode,
    pub(super) engine: &'a EngineName,
    pub(super) seed: u64,
    #[serde(skip_serializing_if = "is_yes")]
    pub(super) nominal: bool,
    pub(super) arms: Vec<(&'a str, &'a Settings)>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) place: &'a BTreeMap<String, String>,
}

impl Decisive<'_> {
    /// Its digest: 16 hexadecimal digits.
    pub(super) fn digest(&self) -> String {
        fnv_1a_text(&serde_json::to_vec(self).expect("settings have text keys"))
    }
}

/// The hash of `bytes` as text.
pub fn fnv_1a_text(bytes: &[u8]) -> String {
    format!("{:016x}", fnv_1a(bytes))
}

/// FNV-1a, 64 bit.
///
/// Source: Fowler, Noll, Vo and Eastlake, <http://www.isthe.com/chongo/tech/comp/fnv/>. It
/// guards against mistakes, not against malice; `std`'s hasher may change with any release.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_gives_the_published_test_vectors() {
        // Test vectors of the authors: "", "a", "foobar".
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
