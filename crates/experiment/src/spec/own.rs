//! Settings by a product's own names: what they mean for the keys of any engine, and which of them make no sense.
//!
//! Names, kinds and ranges are in the tables of [`products`].

use model::Bytes;
use products::{Meaning, Own, Value};

use super::Mode;
use super::error::Fault;
use super::placement::{File, Placement};
use super::settings::{Commit, Engine};
use super::wire;

/// Whether a commit waits for the log, by `commit` or a product's setting.
pub(super) fn commit(asked: &wire::Engine) -> Commit {
    let by_own = asked.own.all().find_map(|(_, setting, value)| {
        let Meaning::Commit { durable } = setting.meaning else {
            return None;
        };
        Some(meant(durable, value))
    });
    asked.commit.or(by_own).unwrap_or_default()
}

fn meant(durable: Value, value: Value) -> Commit {
    match value == durable {
        true => Commit::Durable,
        false => Commit::Relaxed,
    }
}

/// Pages of a doublewrite batch, by `doublewrite_pages`, or turned off by a product's setting.
pub(super) fn doublewrite_pages(asked: &wire::Engine, by_default: u32) -> Result<u32, Fault> {
    let mut own = asked.own.all();
    let Some((product, setting, value)) =
        own.find(|(_, setting, _)| setting.meaning == Meaning::Doublewrite)
    else {
        return Ok(asked.doublewrite_pages.unwrap_or(by_default));
    };
    match (value, asked.doublewrite_pages) {
        (Value::Switch(true), Some(0)) => {
            let path = ["engine", product.name, setting.key];
            let message = format!(
                "{} is true, and engine.doublewrite_pages is 0; keep one of the two",
                path.join(".")
            );
            Err(Fault::at(&path, message))
        }
        (Value::Switch(true), pages) => Ok(pages.unwrap_or(by_default)),
        (_, pages) => Ok(pages.unwrap_or(0)),
    }
}

/// Size of the log, by `log_capacity` or a product's setting.
pub(super) fn log_capacity(asked: &wire::Engine, by_default: Bytes) -> Bytes {
    let size = asked.own.all().find_map(|(_, setting, value)| match value {
        Value::Number(size) if setting.meaning == Meaning::LogCapacity => Some(Bytes(size)),
        Value::Number(_) | Value::Switch(_) | Value::Name(_) => None,
    });
    asked.log_capacity.or(size).unwrap_or(by_default)
}

/// Places a requested binary log beside the first data file, as servers do by default; or removes one that must not be written.
pub(super) fn place_binlog(placement: &mut Placement, own: &Own) {
    let mut asked = own.all();
    let asked = asked.find(|(_, setting, _)| setting.meaning == Meaning::Binlog);
    let beside_data = || {
        placement.data.first().map(|file| File {
            size: None,
            ..file.clone()
        })
    };
    placement.binlog = match asked.map(|(_, _, value)| value == Value::Switch(true)) {
        Some(false) => None,
        Some(true) => placement.binlog.take().or_else(beside_data),
        None => placement.binlog.take(),
    };
}

/// Rejects values that no server accepts, and contradictions with other settings of the engine.
pub(super) fn check(engine: &Engine) -> Result<(), Fault> {
    for (product, setting, value) in engine.own.all() {
        let path = ["engine", product.name, setting.key];
        let is = format!("{} is {}", path.join("."), setting.kind.shown(value));
        if let Some(contradicted) = contradicted(setting.meaning, value, engine) {
            let message = format!("{is}, {contradicted}; keep one of the two");
            return Err(Fault::at(&path, message));
        }
        if let Some(taken) = setting.kind.refuses(value) {
            let message = format!("{is}; {} takes {taken}", product.title);
            return Err(Fault::at(&path, message));
        }
    }
    Ok(())
}

/// The key of the engine that contradicts the value.
fn contradicted(meaning: Meaning, value: Value, engine: &Engine) -> Option<String> {
    match (meaning, value) {
        (Meaning::Commit { durable }, value) => (meant(durable, value) != engine.commit)
            .then(|| "which engine.commit contradicts".to_owned()),
        (Meaning::Doublewrite, Value::Switch(false)) => {
            let pages = engine.doublewrite_pages;
            (pages > 0).then(|| format!("and engine.doublewrite_pages is {pages}"))
        }
        (Meaning::LogCapacity, Value::Number(size)) => {
            let capacity = engine.log_capacity;
            (Bytes(size) != capacity).then(|| format!("and engine.log_capacity is {capacity}"))
        }
        (
            Meaning::Itself
            | Meaning::Doublewrite
            | Meaning::LogCapacity
            | Meaning::Binlog
            | Meaning::BinlogSync,
            _,
        ) => None,
    }
}

/// Rejects, in simulate, settings of a product that the engine is not like.
pub(super) fn check_like(asked: &wire::Engine, mode: Mode) -> Result<(), Fault> {
    for product in products::PRODUCTS {
        let Some(simulated) = product.simulated else {
            continue;
        };
        let is_other = asked.own.has(product.name) && asked.like != Some(simulated);
        if mode == Mode::Simulate && is_other {
            let path = ["engine", product.name];
            let message = format!(
                "{} has settings of {}, and the simulated engine is not like it; add like = \"{}\" to [engine], or leave \
                 them out",
                path.join("."),
                simulated.title,
                simulated.name
            );
            return Err(Fault::at(&path, message));
        }
    }
    Ok(())
}

/// Rejects, in simulate, settings that are not simulated.
pub(super) fn check_simulated(own: &Own, mode: Mode) -> Result<(), Fault> {
    match mode {
        Mode::Simulate => {}
        Mode::Emulate | Mode::Measure => return Ok(()),
    }
    for (product, setting, value) in own.all() {
        if let Some(problem) = (setting.not_simulated)(value) {
            let path = ["engine", product.name, setting.key];
            let message = format!(
                "{} {problem}; set it in [real-time], or add --engine {} with --mode emulate or --mode measure",
                path.join("."),
                product.name
            );
            return Err(Fault::at(&path, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::document::Text;

    fn asked(text: &str) -> Result<wire::Engine, String> {
        let read = Text::read(&format!("[engine]\n{text}"));
        read.map(|(_, asked)| asked.engine)
            .map_err(|(_, error)| error)
    }

    fn read(text: &str) -> Result<Engine, String> {
        let asked = asked(&format!("memory = \"64 MiB\"\n{text}"))?;
        let engine = super::super::resolve::engine(&asked, true);
        engine.map_err(|fault| fault.message)
    }

    fn simulated(text: &str) -> Result<(), String> {
        let asked = asked(text).expect("the shape is right");
        let check = |mode| {
            check_like(&asked, mode)?;
            check_simulated(&asked.own.resolved(), mode)
        };
        assert!(check(Mode::Emulate).is_ok(), "{text}");
        check(Mode::Simulate).map_err(|fault| fault.message)
    }

    #[test]
    fn what_is_absent_leaves_no_trace_in_a_plan() {
        let engine = read("").expect("memory is enough");
        assert_eq!(engine.own, Own::default());
        assert!(engine.binlog_sync());
        let written = serde_json::to_string(&engine).expect("it is plain data");
        assert!(!written.contains("mariadb"), "{written}");
        assert_eq!(serde_json::from_str(&written).ok(), Some(engine));
    }

    #[test]
    fn what_is_asked_for_is_read_back_from_a_plan() {
        let text = "mariadb = { flush_log_at_trx_commit = 0, sync_binlog = 0, doublewrite = false, flush_method = \"fsync\", \
                    log_file_size = \"1 GiB\", io_capacity = 2_000 }";
        let engine = read(text).expect("a server takes them");
        let written = serde_json::to_string(&engine).expect("it is plain data");
        let as_ever = "\"mariadb\":{\"flush_log_at_trx_commit\":0,\"sync_binlog\":0,\"doublewrite\":false,\
                       \"flush_method\":\"fsync\",\"log_file_size\":1073741824,\"io_capacity\":2000}}";
        assert!(written.ends_with(as_ever), "{written}");
        assert_eq!(serde_json::from_str(&written).ok(), Some(engine.clone()));
        assert!(!engine.binlog_sync());
        assert_eq!(engine.log_capacity, Bytes::gib(1));
    }

    #[test]
    fn its_names_say_what_the_keys_of_any_engine_do() {
        let like =
            |text: &str| read(&format!("like = \"innodb\"\n{text}")).expect("it makes sense");
        let relaxed = like("mariadb.flush_log_at_trx_commit = 2");
        assert_eq!(relaxed.commit, Commit::Relaxed);
        assert_eq!(like("").doublewrite_pages, 128);
        assert_eq!(like("mariadb.doublewrite = false").doublewrite_pages, 0);
        assert_eq!(
            like("mariadb.log_file_size = \"8 MiB\"").log_capacity,
            Bytes::mib(8)
        );
    }

    #[test]
    fn values_that_no_server_takes_and_contradictions_are_refused_by_their_key() {
        for (text, said) in [
            ("mariadb.flush_log_at_trx_commit = 3", "give 1 (each commit"),
            ("mariadb.flush_method = \"O_DSYNC\"", "O_DIRECT"),
            ("mariadb.io_capacity = 99", "takes 100 to 4294967295"),
            ("mariadb.log_file_size = \"1 MiB\"", "4 MiB or more"),
            ("mariadb.log_file_size = 5_000_000", "whole blocks of 4 KiB"),
            ("mariadb.sync_binlog = -1", "a whole number"),
            (
                "mariadb.pool = 1",
                "there is no key \"pool\" (known here: \"flush_log_at_trx_commit\", \"sync_binlog\", \"binlog\",",
            ),
            (
                "mariadbs.doublewrite = true",
                "there is no key \"mariadbs\"; did you mean \"mariadb\"?",
            ),
            ("postgres.io_method = \"threads\"", "io_uring"),
            (
                "postgres.io_workers = 33",
                "engine.postgres.io_workers is 33; PostgreSQL takes 1 to 32",
            ),
            ("postgres.io_workers = 0", "1 to 32"),
            (
                "postgres.effective_io_concurrency = 1001",
                "takes 0 to 1000",
            ),
            (
                "postgres.maintenance_io_concurrency = 2000",
                "takes 0 to 1000",
            ),
            (
                "postgres.io_combine_limit = \"2 MiB\"",
                "engine.postgres.io_combine_limit is 2 MiB; PostgreSQL takes whole pages of 8 KiB, from one to 1 MiB",
            ),
            ("postgres.io_combine_limit = 12_000", "whole pages of 8 KiB"),
            (
                "commit = \"relaxed\"\nmariadb.flush_log_at_trx_commit = 1",
                "which engine.commit contradicts; keep one of the two",
            ),
            (
                "doublewrite_pages = 64\nmariadb.doublewrite = false",
                "engine.doublewrite_pages is 64",
            ),
            (
                "doublewrite_pages = 0\nmariadb.doublewrite = true",
                "engine.doublewrite_pages is 0",
            ),
            (
                "log_capacity = \"1 GiB\"\nmariadb.log_file_size = \"2 GiB\"",
                "engine.log_capacity is 1 GiB",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn a_mistake_in_a_section_is_on_its_line() {
        for (text, at) in [
            (
                "[engine]\nlike = \"innodb\"\n[engine.mariadb]\nbinlog = true\npool = 1",
                5,
            ),
            ("[engine]\nmariadb.io_capacity = -1", 2),
            ("[engine]\nmemory = \"1 GiB\"\nmemry = 1", 3),
            ("[engine]\nlike = \"oracle\"", 2),
        ] {
            let error = Text::read(text).map(|_| ()).expect_err(text);
            assert_eq!(error.0, at, "{text}: {}", error.1);
        }
    }

    #[test]
    fn simulate_refuses_what_it_has_no_model_of() {
        for (text, said) in [
            ("mariadb.doublewrite = false", "add like = \"innodb\""),
            ("mariadb.binlog = true", "add like = \"innodb\""),
            (
                "like = \"innodb\"\nmariadb.flush_method = \"fsync\"",
                "has O_DIRECT alone",
            ),
            ("like = \"innodb\"\nmariadb.io_capacity = 200", "no model"),
            (
                "like = \"innodb\"\nmariadb.sync_binlog = 100",
                "0 and 1 alone",
            ),
        ] {
            let error = simulated(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
        for text in [
            "like = \"postgres\"",
            "like = \"postgres\"\nmariadb = {}",
            "like = \"innodb\"\nmariadb = { doublewrite = false, sync_binlog = 0 }",
        ] {
            assert_eq!(simulated(text), Ok(()), "{text}");
        }
    }
}
