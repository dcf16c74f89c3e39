//! For tests: a fake product, and settings of an experiment.

use model::Bytes;
use nix::sys::signal::Signal;

use super::product::Product;
use experiment::spec::{EngineName, Mode, Settings, Spec, Variant};

pub(crate) static STAND_IN: Product = Product {
    name: "Server",
    process: "server",
    users: ["server", "nobody"],
    shut_down: Signal::SIGTERM,
    quit: Signal::SIGKILL,
    memory: Bytes::mib(64),
    cause: |line| line.strip_prefix("FATAL: ").map(str::to_owned),
    tells_of_crash: |line| line.contains("PANIC"),
    has_statement: |line| line.starts_with("statement: "),
};

/// Settings of a trial with this `engine.memory`.
pub(crate) fn settings(memory: &str) -> Settings {
    let set = [("engine.memory".to_owned(), memory.to_owned())];
    let variant = Variant {
        mode: Mode::Emulate,
        engine: EngineName::new("postgres"),
        quick: true,
    };
    let spec = Spec::builtin("tempdb-ssd-vs-premium", &set, variant);
    spec.expect("it is built in").arms.remove(0).settings
}
