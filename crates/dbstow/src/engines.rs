//! The engines of this build.

use engine::Engines;
#[cfg(not(all(unix, feature = "postgres", feature = "mariadb", feature = "sqlserver")))]
use engine::LeftOut;
use layout::LayoutProvider;
use rules::{CapturedProduct, RuleInfo};

/// The engines of this build: one line per product.
pub const ENGINES: Engines = Engines {
    built: &[
        &sqlite::Provider,
        #[cfg(all(unix, feature = "postgres"))]
        &postgres::Provider,
        #[cfg(feature = "sqlserver")]
        &sqlserver::Provider,
        #[cfg(all(unix, feature = "mariadb"))]
        &mariadb::Provider,
        &raw::Provider,
    ],
    left_out: &[
        #[cfg(not(unix))]
        LeftOut {
            name: "postgres",
            schemes: &["postgresql", "postgres"],
            why: "dbstow drives PostgreSQL on Unix only",
        },
        #[cfg(all(unix, not(feature = "postgres")))]
        LeftOut {
            name: "postgres",
            schemes: &["postgresql", "postgres"],
            why: "this dbstow was built without PostgreSQL (cargo feature `postgres`)",
        },
        #[cfg(not(unix))]
        LeftOut {
            name: "mariadb",
            schemes: &["mysql", "mariadb"],
            why: "dbstow drives MariaDB on Unix only",
        },
        #[cfg(all(unix, not(feature = "mariadb")))]
        LeftOut {
            name: "mariadb",
            schemes: &["mysql", "mariadb"],
            why: "this dbstow was built without MariaDB (cargo feature `mariadb`)",
        },
        #[cfg(not(feature = "sqlserver"))]
        LeftOut {
            name: "sqlserver",
            schemes: &["sqlserver", "mssql"],
            why: "this dbstow was built without SQL Server (cargo feature `sqlserver`)",
        },
    ],
};

/// The products that `layout` generates scripts for, whatever this build drives; the first one is the default.
pub const LAYOUTS: &[&dyn LayoutProvider] = &[
    &sqlserver::layout::Layout,
    &postgres::layout::Layout,
    &mariadb::layout::Layout,
];

/// The product whose scripts are for servers that a profile calls `product`.
pub fn scripts_for(product: &str) -> Option<&'static dyn LayoutProvider> {
    layout::meant(LAYOUTS, product)
}

/// The products whose captures are read, shown and checked, in every build.
pub const CAPTURED: [&dyn CapturedProduct; 2] =
    [&sqlserver::capture::Captures, &mariadb::capture::Captures];

/// The product of a server, by its URL's scheme. Names without one are of SQL Server, which refuses what is not.
pub fn product_of_server(server: &str) -> &'static dyn CapturedProduct {
    match server.split_once("://") {
        Some(("mysql" | "mariadb", _)) => &mariadb::capture::Captures,
        Some(_) | None => &sqlserver::capture::Captures,
    }
}

/// The product of a capture, by what its file declares. Those of SQL Server declare none; MariaDB refuses what is not known.
pub fn product_of_capture(declared: Option<&str>) -> &'static dyn CapturedProduct {
    match declared {
        None => &sqlserver::capture::Captures,
        Some(_) => &mariadb::capture::Captures,
    }
}

/// The rules of `lint`, product by product.
pub fn rules() -> Vec<RuleInfo> {
    let of_products = CAPTURED.map(CapturedProduct::rules).concat();
    [of_products, layout::lint::listed()].concat()
}

/// The profiles that rules can be selected by, and what each is.
pub fn rule_profiles() -> impl Iterator<Item = (&'static str, &'static str)> {
    CAPTURED.into_iter().flat_map(CapturedProduct::profiles)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use engine::{FrontKind, Options, OptionsError, check};
    use experiment::spec::{Arm, EngineName, Mode, Spec, Variant};

    use super::*;

    fn refused(name: &'static str) -> String {
        let error = ENGINES.find(&EngineName::new(name)).err();
        error.expect("there is no such engine").to_string()
    }

    #[test]
    fn an_engine_is_found_by_its_name_alone() {
        for name in ENGINES.names() {
            let found = ENGINES.find(&EngineName::new(name)).expect("it is listed");
            assert_eq!(found.name(), name);
        }
        let mut names: Vec<&str> = ENGINES.names().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ENGINES.built.len());
    }

    #[test]
    fn an_unknown_engine_is_refused_with_the_near_one_or_all() {
        assert_eq!(
            refused("sqlit"),
            "there is no engine \"sqlit\"; did you mean \"sqlite\"?"
        );
        assert!(refused("oracle").contains("there are: sqlite, "));
    }

    #[test]
    fn the_scheme_of_a_url_is_the_product() {
        for (url, engine) in [
            ("postgresql://me@db1/shop", "postgres"),
            ("postgres://db1", "postgres"),
            ("mysql://me@db1/", "mariadb"),
            ("mariadb://db1", "mariadb"),
            ("sqlserver://sa@db1", "sqlserver"),
            ("mssql://db1", "sqlserver"),
        ] {
            let found = ENGINES.of_url(url).map(|found| found.name());
            assert_eq!(found, Ok(engine), "{url}");
        }
        for url in ["", "db1,1433", "oracle://me:hunter2@db1", "://db1"] {
            let error = ENGINES.of_url(url).err().expect(url).to_string();
            assert!(error.contains("give postgresql://") && !error.contains("hunter2"));
        }
    }

    #[test]
    fn the_tables_of_products_agree_with_the_engines() {
        for engine in ENGINES.built {
            let name = engine.name();
            let dialect = engine.dialect();
            assert!([name, "sqlite"].contains(&dialect.engine), "{name}");
            #[cfg(target_os = "linux")]
            assert_eq!(
                engine.drilled().is_some(),
                products::DRILLED.contains(&name),
                "{name}"
            );
            assert!(name != products::EXAMPLE_SERVER || engine.takes_server());
            let layout = LAYOUTS.iter().find(|layout| layout.name() == name);
            let needs_server =
                engine.takes_server() && engine.check(&Options::default(), &[]).is_err();
            assert!(layout.is_none_or(|layout| layout.moves().needs_server == needs_server));
        }
    }

    fn checked(options: &Options, mode: Mode, engine: &'static str) -> Result<(), OptionsError> {
        let engine = ENGINES
            .find(&EngineName::new(engine))
            .expect("this build has it");
        check(&ENGINES, options, engine, mode, &arms())
    }

    fn arms() -> Vec<Arm> {
        let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::default());
        spec.expect("it is built in").arms
    }

    fn options_refused(options: &Options, mode: Mode, engine: &'static str) -> String {
        let error = checked(options, mode, engine);
        error.expect_err("it makes no sense").to_string()
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_the_remedy() {
        let server = Options {
            server: Some("postgresql://localhost".to_owned()),
            ..Options::default()
        };
        let password = Options {
            server: Some("postgresql://me:s3cr3t@localhost".to_owned()),
            ..Options::default()
        };
        let front = Options {
            front: Some(FrontKind::File),
            ..Options::default()
        };
        let volume = Options {
            volumes: BTreeMap::from([("d".to_owned(), PathBuf::from("/mnt"))]),
            ..Options::default()
        };
        let none = Options::default();
        for (options, mode, engine, parts) in [
            (
                &none,
                Mode::Simulate,
                "postgres",
                ["--engine", "--mode emulate"],
            ),
            (
                &server,
                Mode::Measure,
                "sqlite",
                ["--server", "--engine postgres"],
            ),
            (
                &password,
                Mode::Measure,
                "postgres",
                ["--server holds a password", "PGPASSWORD"],
            ),
            (
                &front,
                Mode::Measure,
                "postgres",
                ["--front", "--mode emulate"],
            ),
            (&front, Mode::Emulate, "sqlite", ["--front", "leave"]),
            (
                &volume,
                Mode::Emulate,
                "sqlite",
                ["--volume", "--mode measure"],
            ),
            (&volume, Mode::Measure, "sqlite", ["f", "--volume f=/mnt/f"]),
        ] {
            let error = options_refused(options, mode, engine);
            for part in parts {
                assert!(error.contains(part), "no {part:?} in: {error}");
            }
            assert!(!error.contains("s3cr3t"), "{error}");
        }
        assert_eq!(checked(&none, Mode::Simulate, "sqlite"), Ok(()));
    }

    #[test]
    fn a_volume_that_no_arm_has_is_refused() {
        let names = ["d", "f", "g"].map(|name| (name.to_owned(), PathBuf::from("/mnt")));
        let options = Options {
            volumes: names.into(),
            ..Options::default()
        };
        let error = options_refused(&options, Mode::Measure, "sqlite");
        assert!(error.contains("\"g\"") && error.contains("d, f"), "{error}");
    }
}
