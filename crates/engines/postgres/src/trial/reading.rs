//! PostgreSQL's read settings from an experiment: what a server is started with, and which servers support it.
//!
//! Source: <https://www.postgresql.org/docs/18/runtime-config-resource.html>, and the same pages of 13 to 17, read
//! 2026-11-25. `io_method`, `io_workers` and `io_max_combine_limit` came with 18, `io_combine_limit` with 17.

use host::child;
use model::Bytes;

use crate::trial::find::Binaries;
use engine::EngineError;
use experiment::spec::{Arm, Engine};

/// PostgreSQL among products.
const NAME: &str = "postgres";

/// Largest combined read of version 17.
const COMBINE_MAX_17: Bytes = Bytes::kib(256);

/// Settings that a private server must be started with; the user's own server is not changed.
pub(crate) fn of_server(engine: &Engine) -> Vec<(&'static str, String)> {
    let asked = &engine.own;
    let mut values = Vec::new();
    if let Some(method) = asked.name(NAME, "io_method") {
        values.push(("io_method", method.to_owned()));
    }
    if let Some(workers) = asked.number(NAME, "io_workers") {
        values.push(("io_workers", workers.to_string()));
    }
    values
}

/// Largest read of neighbouring pages, if specified.
fn combine_limit(engine: &Engine) -> Option<Bytes> {
    engine.own.number(NAME, "io_combine_limit").map(Bytes)
}

/// The server-wide cap of `io_combine_limit`, from 18 on.
pub(crate) fn cap(engine: &Engine, major: u32) -> Option<(&'static str, String)> {
    let limit = combine_limit(engine).filter(|_| major >= 18)?;
    Some(("io_max_combine_limit", pages(limit)))
}

/// Settings for every connection to the run's database.
pub(crate) fn of_database(engine: &Engine) -> Vec<(&'static str, String)> {
    let asked = &engine.own;
    let concurrency = ["effective_io_concurrency", "maintenance_io_concurrency"];
    let concurrency = concurrency
        .into_iter()
        .filter_map(|name| Some((name, asked.number(NAME, name)?.to_string())));
    let combined = combine_limit(engine).map(|limit| ("io_combine_limit", pages(limit)));
    concurrency.chain(combined).collect()
}

fn pages(limit: Bytes) -> String {
    format!("{}kB", limit.0 >> 10)
}

/// Rejects settings that a server of this major version lacks; `server` names it in the error, and `remedy` is appended.
pub(crate) fn check_version(
    arms: &[Arm],
    major: u32,
    server: &str,
    remedy: &str,
) -> Result<(), String> {
    for arm in arms {
        let engine = &arm.settings.engine;
        let asked = &engine.own;
        let since = |key: &str, value: String, version: u32| match major < version {
            true => Err(format!(
                "arm \"{}\" sets engine.postgres.{key} to {value}, which PostgreSQL has since version {version}, and \
                 {server}; {remedy}",
                arm.name
            )),
            false => Ok(()),
        };
        if let Some(method) = asked.name(NAME, "io_method") {
            since("io_method", format!("\"{method}\""), 18)?;
        }
        if let Some(workers) = asked.number(NAME, "io_workers") {
            since("io_workers", workers.to_string(), 18)?;
        }
        if let Some(limit) = combine_limit(engine) {
            let version = if limit > COMBINE_MAX_17 { 18 } else { 17 };
            since("io_combine_limit", format!("\"{limit}\""), version)?;
        }
    }
    Ok(())
}

/// Rejects settings that the programs of a private server lack: by their version, and `io_uring` by how they were built.
pub(crate) fn check_programs(binaries: &Binaries, arms: &[Arm]) -> Result<(), EngineError> {
    let folder = binaries.folder.display();
    let server = format!("{folder} has {}", binaries.version);
    let remedy = "name another with --postgres-bin, or leave the key out";
    check_version(arms, binaries.major, &server, remedy).map_err(EngineError::Missing)?;
    let with_io_uring = |arm: &&Arm| {
        let own = &arm.settings.engine.own;
        own.name(NAME, "io_method") == Some("io_uring")
    };
    match arms.iter().find(with_io_uring) {
        Some(arm) if !has_io_uring(binaries)? => Err(EngineError::Missing(format!(
            "arm \"{}\" sets engine.postgres.io_method to \"io_uring\", and the PostgreSQL {} in {folder} was built \
             without it (--with-liburing); name one that was built with it with --postgres-bin, or use \"worker\" or \"sync\"",
            arm.name, binaries.version
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Whether the server supports the method: with an empty configuration it prints the value, or rejects it.
fn has_io_uring(binaries: &Binaries) -> Result<bool, EngineError> {
    let asked = "ask PostgreSQL for its I/O methods";
    let output = child::command(binaries.program("postgres"))
        // Only as the first argument does this work as root too; it does not start a server.
        .args([
            "-C",
            "io_method",
            "-c",
            "io_method=io_uring",
            "-c",
            "config_file=/dev/null",
            "-D",
            "/dev",
        ])
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| EngineError::failed(asked, error))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(true),
        false if said.contains("invalid value for parameter \"io_method\"") => Ok(false),
        false => Err(EngineError::failed(asked, said.trim())),
    }
}

/// Rejects reads larger than `allowed`, the `io_max_combine_limit` of a server from 18 on, which would silently shorten them;
/// `server` names it in the error.
pub(crate) fn check_combined(arms: &[Arm], allowed: Bytes, server: &str) -> Result<(), String> {
    for arm in arms {
        if let Some(limit) = combine_limit(&arm.settings.engine)
            && limit > allowed
        {
            return Err(format!(
                "arm \"{}\" sets engine.postgres.io_combine_limit to \"{limit}\", and {server}, whose io_max_combine_limit \
                 allows \"{allowed}\"; set at most that, raise io_max_combine_limit in its postgresql.conf and restart it, \
                 or leave --server out for a private server",
                arm.name
            ));
        }
    }
    Ok(())
}

/// Rejects what only the owner of a server can set.
pub(crate) fn check_given(arms: &[Arm]) -> Result<(), String> {
    for arm in arms {
        let of_server = of_server(&arm.settings.engine);
        if let Some((key, value)) = of_server.first() {
            return Err(format!(
                "arm \"{}\" sets engine.postgres.{key} to {value}, and a server that is given with --server keeps its own; \
                 set it there and leave the key out, or leave --server out for a private server",
                arm.name
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::spec::{Spec, Variant};

    fn arms(settings: &str) -> Vec<Arm> {
        let text = format!(
            "name = \"x\"\nquestion = \"?\"\n[machine]\ncores = 1\nmemory = \"1 GiB\"\n[volume.d]\ndisk = \"unlimited\"\n\
             [placement.a]\ndata = {{ volumes = \"d\" }}\ntemp = {{ volumes = \"d\" }}\nlog = {{ volumes = \"d\" }}\n\
             [workload]\nname = \"spill\"\noperations = 1\n[engine]\nmemory = \"64 MiB\"\n[engine.postgres]\n{settings}\n"
        );
        Spec::parse("x.toml", &text, &[], Variant::default())
            .unwrap_or_else(|error| panic!("{error}"))
            .arms
    }

    fn refused(settings: &str, major: u32) -> Option<String> {
        check_version(&arms(settings), major, "S", "R").err()
    }

    #[test]
    fn a_server_gets_what_is_asked_and_nothing_else() {
        let asked = |text: &str| arms(text)[0].settings.engine.clone();
        let all = asked(
            "io_method = \"worker\"\nio_workers = 5\neffective_io_concurrency = 32\n\
             maintenance_io_concurrency = 8\nio_combine_limit = \"256 KiB\"",
        );
        let text = |pairs: Vec<(&str, String)>| -> Vec<String> {
            let pairs = pairs.into_iter();
            pairs
                .map(|(name, value)| format!("{name}={value}"))
                .collect()
        };
        assert_eq!(text(of_server(&all)), ["io_method=worker", "io_workers=5"]);
        assert_eq!(
            text(of_database(&all)),
            [
                "effective_io_concurrency=32",
                "maintenance_io_concurrency=8",
                "io_combine_limit=256kB"
            ]
        );
        // Without the cap, 18 would be limited to its 128 kB.
        assert_eq!(
            text(cap(&all, 18).into_iter().collect()),
            ["io_max_combine_limit=256kB"]
        );
        assert_eq!(cap(&all, 17), None);
        let none = asked("");
        assert!(of_server(&none).is_empty() && of_database(&none).is_empty());
    }

    #[test]
    fn what_a_version_does_not_have_is_refused_with_its_number() {
        for (settings, since) in [
            ("io_method = \"sync\"", 18),
            ("io_workers = 3", 18),
            ("io_combine_limit = \"256 KiB\"", 17),
            ("io_combine_limit = \"512 KiB\"", 18),
            ("effective_io_concurrency = 16", 13),
            ("maintenance_io_concurrency = 16", 13),
        ] {
            for major in 13..=18 {
                let refused = refused(settings, major);
                assert_eq!(refused.is_some(), major < since, "{settings} on {major}");
                if let Some(said) = refused {
                    assert!(
                        said.contains(&format!("since version {since}, and S; R")),
                        "{said}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_read_larger_than_a_given_server_allows_is_refused_with_both_sizes() {
        let asked = arms("io_combine_limit = \"256 KiB\"");
        let said = check_combined(&asked, Bytes::kib(128), "S").unwrap_err();
        for part in [
            "arm \"a\"",
            "\"256 KiB\"",
            "S, whose",
            "\"128 KiB\"",
            "restart",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(check_combined(&asked, Bytes::kib(256), "S"), Ok(()));
        assert_eq!(check_combined(&arms(""), Bytes::kib(8), "S"), Ok(()));
    }

    #[test]
    fn a_given_server_keeps_what_belongs_to_all_of_it() {
        let said = check_given(&arms("io_method = \"worker\"")).unwrap_err();
        assert!(said.contains("leave --server out"), "{said}");
        assert_eq!(check_given(&arms("effective_io_concurrency = 4")), Ok(()));
    }
}
