//! Whether SQLite was compiled with the settings that simulated results depend on.
//!
//! A checkout's `.cargo/config.toml` passes them to SQLite's build. Cargo ignores that file in `cargo install dbstow`
//! and when dbstow's crates are dependencies; the build then only has them if `LIBSQLITE3_FLAGS` is in its environment.

use std::sync::OnceLock;

use rusqlite::Connection;

/// SQLite's compile options, as named by `PRAGMA compile_options`: the temporary files of sorts and grouping have pages
/// of a database server's size, no global lock counts memory, and a placement may have more than 10 files.
pub const SETTINGS: [&str; 4] = [
    "DEFAULT_CACHE_SIZE=-2000",
    "DEFAULT_MEMSTATUS=0",
    "DEFAULT_PAGE_SIZE=8192",
    "MAX_ATTACHED=125",
];

/// Those of [`SETTINGS`] that this program's SQLite lacks; empty in a build from a checkout.
pub fn missing() -> &'static [&'static str] {
    static MISSING: OnceLock<Vec<&'static str>> = OnceLock::new();
    MISSING.get_or_init(|| {
        // If the options cannot be queried, statements cannot run either.
        let options = compile_options().unwrap_or_default();
        let lacks = |setting: &&str| !options.iter().any(|option| option == setting);
        SETTINGS.into_iter().filter(lacks).collect()
    })
}

fn compile_options() -> rusqlite::Result<Vec<String>> {
    let connection = Connection::open_in_memory()?;
    let mut statement = connection.prepare("PRAGMA compile_options")?;
    let options = statement.query_map([], |row| row.get(0))?;
    options.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_from_the_checkout_has_every_setting() {
        assert_eq!(missing(), [""; 0]);
    }

    #[test]
    fn sqlite_names_the_settings_as_the_list_does() {
        let options = compile_options().expect("SQLite answers");
        assert!(
            options.iter().any(|option| option == SETTINGS[2]),
            "{options:?}"
        );
    }
}
