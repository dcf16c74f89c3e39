//! The engines of this build.

use super::provider::EngineProvider;
use experiment::spec::{EngineName, near};

/// The engines of this build.
pub const PROVIDERS: &[&dyn EngineProvider] = &[
    &super::sqlite::provider::Provider,
    #[cfg(all(unix, feature = "postgres"))]
    &super::postgres::provider::Provider,
    #[cfg(feature = "sqlserver")]
    &super::sqlserver::provider::Provider,
    #[cfg(all(unix, feature = "mariadb"))]
    &super::mariadb::provider::Provider,
    &super::raw::provider::Provider,
];

/// Engines that dbstow has, but not in this build: their names, and why.
pub const LEFT_OUT: &[(&str, &str)] = &[
    #[cfg(not(unix))]
    ("postgres", "dbstow drives PostgreSQL on Unix only"),
    #[cfg(all(unix, not(feature = "postgres")))]
    (
        "postgres",
        "this dbstow was built without PostgreSQL (cargo feature `postgres`)",
    ),
    #[cfg(not(unix))]
    ("mariadb", "dbstow drives MariaDB on Unix only"),
    #[cfg(all(unix, not(feature = "mariadb")))]
    (
        "mariadb",
        "this dbstow was built without MariaDB (cargo feature `mariadb`)",
    ),
    #[cfg(not(feature = "sqlserver"))]
    (
        "sqlserver",
        "this dbstow was built without SQL Server (cargo feature `sqlserver`)",
    ),
];

/// There is no engine of this name in this build; says which there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownEngine(String);

/// The engine of this name.
///
/// # Errors
/// When this build has none.
pub fn provider(name: &EngineName) -> Result<&'static dyn EngineProvider, UnknownEngine> {
    let known = PROVIDERS.iter().find(|known| known.name() == name.as_str());
    known.copied().ok_or_else(|| {
        let names: Vec<&str> = PROVIDERS.iter().map(|known| known.name()).collect();
        let left_out = LEFT_OUT
            .iter()
            .find(|(left_out, _)| *left_out == name.as_str());
        UnknownEngine(
            match (left_out, near(name.as_str(), names.iter().copied())) {
                (Some((_, why)), _) => format!("{why}; it has: {}", names.join(", ")),
                (None, Some(near)) => {
                    format!("there is no engine \"{name}\"; did you mean \"{near}\"?")
                }
                (None, None) => format!(
                    "there is no engine \"{name}\"; there are: {}",
                    names.join(", ")
                ),
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &'static str) -> String {
        let error = provider(&EngineName::new(name)).err();
        error.expect("there is no such engine").to_string()
    }

    #[test]
    fn an_engine_is_found_by_its_name_alone() {
        for known in PROVIDERS {
            let found = provider(&EngineName::new(known.name())).expect("it is listed");
            assert_eq!(found.name(), known.name());
        }
        let mut names: Vec<&str> = PROVIDERS.iter().map(|known| known.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PROVIDERS.len());
    }

    #[test]
    fn an_unknown_engine_is_refused_with_the_near_one_or_all() {
        assert_eq!(
            refused("sqlit"),
            "there is no engine \"sqlit\"; did you mean \"sqlite\"?"
        );
        assert!(refused("oracle").contains("there are: sqlite, "));
    }
}
