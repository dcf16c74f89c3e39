//! libFuzzer's entry point: passes its inputs to the target that `FUZZ_TARGET` names.
//!
//! One program for all targets, because linking it takes longer than building it.

#![no_main]

use std::env;
use std::sync::LazyLock;

use dbstow_fuzz::{TARGETS, Target};
use libfuzzer_sys::{Corpus, fuzz_target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let asked = env::var("FUZZ_TARGET").unwrap_or_default();
    let names = TARGETS.map(|target| target.name);
    let found = TARGETS.iter().find(|target| target.name == asked);
    found.unwrap_or_else(|| panic!("FUZZ_TARGET is \"{asked}\", and not one of {names:?}"))
});

fuzz_target!(|input: &[u8]| -> Corpus {
    // Every parser takes text; a file that is not text is refused earlier.
    let Ok(text) = std::str::from_utf8(input) else {
        return Corpus::Reject;
    };
    // Parsed or refused: neither is a failure.
    let _ = (TARGET.read)(text);
    Corpus::Keep
});
