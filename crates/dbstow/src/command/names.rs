//! Names that a shell completes: built-in ones, each with a description, and files where an argument also accepts them.

use std::ffi::OsStr;
use std::path::Path;

use catalogue::Catalogue;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use experiment::spec::{Spec, Variant, builtin_names};
use workload::{Dialect, Workload};

/// Built-in experiments.
pub(super) fn of_experiments() -> ArgValueCandidates {
    ArgValueCandidates::new(experiments)
}

/// Disks of the catalogue.
pub(super) fn of_disks() -> ArgValueCandidates {
    ArgValueCandidates::new(disks)
}

/// Machines of the catalogue.
pub(super) fn of_machines() -> ArgValueCandidates {
    ArgValueCandidates::new(machines)
}

/// Managed services of the catalogue.
pub(super) fn of_services() -> ArgValueCandidates {
    ArgValueCandidates::new(services)
}

/// A built-in experiment, or a file of one.
pub(super) fn experiment_or_file() -> ArgValueCompleter {
    names_or_paths(experiments, is_toml)
}

/// A built-in drill or experiment, or a file of one.
#[cfg(all(target_os = "linux", feature = "emulator"))]
pub(super) fn drill_or_file() -> ArgValueCompleter {
    let all = || {
        let drills = experiment::spec::drill_names().into_iter();
        let drills = drills.map(CompletionCandidate::new);
        drills.chain(experiments()).collect()
    };
    names_or_paths(all, is_toml)
}

/// A built-in workload, or a folder or file of one.
pub(super) fn workload_or_path() -> ArgValueCompleter {
    let is_file = |path: &Path| {
        path.extension()
            .is_some_and(|end| end == "sql" || end == "json")
    };
    names_or_paths(workloads, move |path| path.is_dir() || is_file(path))
}

/// A disk of the catalogue, or a file with volumes.
#[cfg(all(target_os = "linux", feature = "emulator"))]
pub(super) fn disk_or_file() -> ArgValueCompleter {
    names_or_paths(disks, is_toml)
}

/// The path in `VOLUME=PATH`.
pub(super) fn path_of_volume() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let parts = current.to_str().and_then(|text| text.split_once('='));
        let Some((volume, path)) = parts else {
            return Vec::new();
        };
        let paths = PathCompleter::any().complete(OsStr::new(path));
        let with_volume = |path: CompletionCandidate| path.add_prefix(format!("{volume}="));
        paths.into_iter().map(with_volume).collect()
    })
}

/// Names that begin with `current`, then matching paths that are wanted, with the folders leading to them.
fn names_or_paths(
    names: fn() -> Vec<CompletionCandidate>,
    is_wanted: impl Fn(&Path) -> bool + Copy + Send + Sync + 'static,
) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        let start = current.as_encoded_bytes();
        let begins = |name: &CompletionCandidate| {
            let name = name.get_value().as_encoded_bytes();
            name.starts_with(start)
        };
        let mut found: Vec<_> = names().into_iter().filter(begins).collect();
        found.extend(PathCompleter::any().filter(is_wanted).complete(current));
        found
    })
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}

fn experiments() -> Vec<CompletionCandidate> {
    let about = |name| {
        let spec = Spec::builtin(name, &[], Variant::default());
        spec.map_or_else(|_| String::new(), |spec| spec.question)
    };
    builtin_names()
        .into_iter()
        .map(|name| candidate(name, &about(name)))
        .collect()
}

fn workloads() -> Vec<CompletionCandidate> {
    let about = |name| {
        let workload = Workload::builtin(name, Dialect::SQLITE);
        workload.map_or_else(|_| String::new(), |workload| workload.about)
    };
    Workload::builtin_names()
        .into_iter()
        .map(|name| candidate(name, &about(name)))
        .collect()
}

fn disks() -> Vec<CompletionCandidate> {
    Catalogue::builtin()
        .disks()
        .map(|disk| candidate(&disk.name, &disk.title))
        .collect()
}

fn machines() -> Vec<CompletionCandidate> {
    Catalogue::builtin()
        .machines()
        .map(|machine| candidate(&machine.name, &machine.title))
        .collect()
}

fn services() -> Vec<CompletionCandidate> {
    Catalogue::builtin()
        .services()
        .map(|service| candidate(&service.name, &service.title))
        .collect()
}

/// A name with the first sentence of its description: shells show one line.
fn candidate(name: &str, about: &str) -> CompletionCandidate {
    let first = about.split(". ").next().unwrap_or_default();
    let help = (!first.is_empty()).then(|| first.to_owned().into());
    CompletionCandidate::new(name).help(help)
}
