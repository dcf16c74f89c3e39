//! An external server: databases are created in it for a run, and removed. The server's own settings and data are not changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::capture::{Product, is_here, process_of};

use super::{rights, settings};
use crate::session::failure::Failure;
use crate::session::login::Target;
use crate::session::url::ServerUrl;
use crate::session::wire::Connection;
use crate::trial::find::{RELEASES, RELEASES_MYSQL, release_of};
use engine::EngineError;
use engine::managed_server::{Owner, owner_of_files};
use engine::mark::mark;
use engine::row::{pairs, words};
use experiment::record::Note;
use experiment::spec::Settings;

/// Prefix of our databases' names.
const OURS: &str = "dbstow_";

/// Maximum number of leftover databases named in a note.
const NAMED_MAX: usize = 3;

/// How long a statement waits for a table used by another session: the default is a day.
const LOCK_WAIT_S: u32 = 60;

/// A server owned by others.
pub(crate) struct External {
    target: Target,
    /// Prefix of the names of this trial's databases.
    prefix: String,
    owner: Option<Owner>,
    /// Settings of each session.
    session: Vec<String>,
    product: Product,
    /// Directories where the server allows tables; `None`: anywhere.
    known_directories: Option<Vec<PathBuf>>,
    pub(crate) has_performance_schema: bool,
    pub(crate) notes: Vec<Note>,
}

impl External {
    /// Logs in and checks whether the server is suitable for `settings`. It creates nothing.
    ///
    /// # Errors
    /// When the server rejects the login, is not supported, or privileges are missing.
    pub(crate) fn open(url: &ServerUrl, settings: &Settings) -> Result<External, EngineError> {
        let mut connection = url.connect()?;
        let look = |error: Failure| EngineError::failed(format!("look at {url}"), error);
        let variables: BTreeMap<String, String> = connection
            .query("SHOW GLOBAL VARIABLES")
            .and_then(|rows| Ok(pairs(&rows)?))
            .map_err(look)?;
        let value = |name: &str| variables.get(name).map_or("", String::as_str);
        let product = Product::of(value("version"), value("version_comment"));
        check_release(url, product, value("version"))?;
        if !is_here(&process_of(url, &mut connection)?) {
            return Err(EngineError::Missing(format!(
                "{url} runs on another machine or in a container, or its pid_file ({}) cannot be seen by this user; a run needs \
                 the server on this machine, since it makes directories for it and reads the counters of its disks; run dbstow \
                 there, or watch it from here with `dbstow record`",
                value("pid_file")
            )));
        }
        let has_performance_schema = value("performance_schema") == "ON";
        check_rights(url, &mut connection, has_performance_schema)?;
        // MySQL places tables of InnoDB without symbolic links.
        let needed: &[(&str, &str)] = match product {
            Product::MariaDb => &[("innodb_file_per_table", "ON"), ("have_symlink", "YES")],
            Product::MySql => &[("innodb_file_per_table", "ON")],
        };
        let mut needed = needed.iter();
        if let Some((name, needed)) = needed.find(|(name, needed)| value(name) != *needed) {
            return Err(EngineError::Missing(format!(
                "{url} has {name} = {}, so that it ignores DATA DIRECTORY of tables; set it to {needed} (for have_symlink: \
                 start the server without skip-symbolic-links), or leave --server out for a private server",
                value(name)
            )));
        }
        let mut notes = notes(url, settings, product, &variables);
        notes.extend(note_of_waits(&mut connection, has_performance_schema).map_err(look)?);
        let databases = connection.query("SHOW DATABASES");
        let databases = databases.and_then(|rows| Ok(words(&rows)?)).map_err(look)?;
        notes.extend(left_by_others(&databases));
        Ok(External {
            target: url.target().clone(),
            prefix: format!("{OURS}{}_", mark()),
            owner: owner_of_files(value("datadir"), "run dbstow as a user who can see them")?,
            session: settings::of_session(settings, product),
            product,
            known_directories: known_directories(product, &variables),
            has_performance_schema,
            notes,
        })
    }

    pub(crate) fn product(&self) -> Product {
        self.product
    }

    /// Rejects table locations that the server would reject, before anything is created.
    ///
    /// # Errors
    /// When there are any.
    pub(crate) fn check_places(&self, places: &[PathBuf]) -> Result<(), EngineError> {
        let Some(known) = &self.known_directories else {
            return Ok(());
        };
        let is_known = |place: &Path| known.iter().any(|directory| place.starts_with(directory));
        let unknown: BTreeSet<&PathBuf> = places.iter().filter(|place| !is_known(place)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let unknown: Vec<String> = unknown
            .into_iter()
            .map(|directory| directory.display().to_string())
            .collect();
        Err(EngineError::Missing(format!(
            "MySQL takes tables only in directories that it was started with; add these to innodb_directories in its option \
             file and restart it: [mysqld] innodb_directories = \"{}\"",
            unknown.join(";")
        )))
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Required owner of the tables' directories: the user that the server runs as.
    pub(crate) fn owner(&self) -> Option<Owner> {
        self.owner
    }

    /// A connection with the settings that a private server would have globally.
    pub(crate) fn connect(&self, database: Option<&str>) -> Result<Connection, Failure> {
        self.connect_to(&self.target, database)
    }

    fn connect_to(&self, target: &Target, database: Option<&str>) -> Result<Connection, Failure> {
        let mut connection = target.open(database)?;
        connection.query(&format!("SET SESSION lock_wait_timeout = {LOCK_WAIT_S}"))?;
        for statement in &self.session {
            connection.query(statement)?;
        }
        Ok(connection)
    }

    /// Removes the created databases; returns an error for those that could not be removed.
    pub(crate) fn remove(&self, databases: &[String]) -> Result<(), String> {
        let statements = || {
            databases
                .iter()
                .map(|name| format!("DROP DATABASE IF EXISTS {name}"))
        };
        if databases.is_empty() {
            return Ok(());
        }
        let target = self.target.with(self.target.patience.for_removal());
        let mut connection = self.connect_to(&target, None).map_err(|error| {
            let statements: Vec<String> = statements().collect();
            format!(
                "databases {}* are left behind ({}); once the server is back: {}",
                self.prefix,
                error,
                statements.join("; ")
            )
        })?;
        let left: Vec<String> = statements()
            .filter_map(|sql| {
                let error = connection.query(&sql).err()?;
                Some(format!("{sql}: {error}"))
            })
            .collect();
        match left.is_empty() {
            true => Ok(()),
            false => Err(left.join("; ")),
        }
    }
}

fn check_release(url: &ServerUrl, product: Product, version: &str) -> Result<(), EngineError> {
    let (oldest, newest) = match product {
        Product::MariaDb => RELEASES,
        Product::MySql => RELEASES_MYSQL,
    };
    if release_of(version).is_some_and(|release| release >= oldest && release <= newest) {
        return Ok(());
    }
    Err(EngineError::Missing(format!(
        "{url} is {} {version}; dbstow runs workloads in releases {oldest} to {newest} of it",
        product.name()
    )))
}

fn check_rights(
    url: &ServerUrl,
    connection: &mut Connection,
    has_performance_schema: bool,
) -> Result<(), EngineError> {
    let failed = |error: Failure| EngineError::failed(format!("look at {url}"), error);
    let grants = connection.query("SHOW GRANTS");
    let grants = grants.and_then(|rows| Ok(words(&rows)?)).map_err(failed)?;
    let missing = rights::missing(&grants, has_performance_schema);
    if missing.is_empty() {
        return Ok(());
    }
    let user = connection.first("SELECT CURRENT_USER()");
    let user = user
        .and_then(|row| Ok(row.word(0)?.to_owned()))
        .map_err(failed)?;
    let user = user.replace('\'', "''");
    let user = user.replacen('@', "'@'", 1);
    let statements: Vec<String> = missing
        .iter()
        .map(|(rights, place)| format!("GRANT {} ON {place} TO '{user}'", rights.join(", ")))
        .collect();
    Err(EngineError::Missing(format!(
        "{url}: the login lacks rights that a run needs; give it them with: {}; or leave --server out for a private server",
        statements.join("; ")
    )))
}

/// The first MySQL that allows tables only in known directories.
const KNOWS_DIRECTORIES: [u32; 3] = [8, 0, 21];

/// Where a server allows tables: in these directories and their subdirectories; `None`: anywhere.
/// Source: <https://dev.mysql.com/doc/refman/8.4/en/innodb-create-table-external.html>, read 2026-11-25; a subdirectory was
/// accepted by 8.0.45.
fn known_directories(
    product: Product,
    variables: &BTreeMap<String, String>,
) -> Option<Vec<PathBuf>> {
    let value = |name: &str| variables.get(name).map_or("", String::as_str);
    let numbers = value("version")
        .split(['.', '-'])
        .map_while(|number| number.parse().ok());
    let numbers: Vec<u32> = numbers.take(3).collect();
    if product == Product::MariaDb || numbers.as_slice() < KNOWS_DIRECTORIES.as_slice() {
        return None;
    }
    let data = Path::new(value("datadir"));
    let named = [
        "innodb_directories",
        "innodb_data_home_dir",
        "innodb_undo_directory",
    ];
    let named = named.iter().flat_map(|name| value(name).split(';'));
    // Relative ones are below the data directory; an empty one is the data directory.
    let known = named.map(|directory| data.join(directory.trim().trim_start_matches("./")));
    Some(known.collect())
}

/// Human-readable notes on settings that differ from the experiment.
fn notes(
    url: &ServerUrl,
    settings: &Settings,
    product: Product,
    variables: &BTreeMap<String, String>,
) -> Vec<Note> {
    let value = |name: &str| variables.get(name).map_or("", String::as_str);
    let differs = settings::of_given(settings, product)
        .into_iter()
        .filter_map(|(name, asked)| {
            // A variable that a release lacks cannot differ.
            let found = variables.get(name)?;
            let is_same = found.eq_ignore_ascii_case(&asked);
            (!is_same).then(|| format!("{name} = {found} instead of {asked}"))
        });
    let differs: Vec<String> = differs.collect();
    let mut notes = Vec::new();
    if !differs.is_empty() {
        notes.push(Note::NotAsAsked(format!(
            "the given server keeps its own settings: {}",
            differs.join(", ")
        )));
    }
    notes.push(Note::NotAsAsked(format!(
        "the given server keeps its own places: temp in {} (tmpdir), redo log in {} and the rest below {}; only tables are on \
         the experiment's data volumes",
        value("tmpdir"),
        value("innodb_log_group_home_dir"),
        value("datadir")
    )));
    let table = settings::temp_table_memory(settings, product);
    if table > settings.engine.sort_memory {
        notes.push(Note::NotAsAsked(format!(
            "temporary tables have {table} of memory, the least that works in {}, instead of {}",
            product.name(),
            settings.engine.sort_memory
        )));
    }
    if value("log_bin") == "ON" {
        notes.push(Note::Other(
            "the given server has a binary log: its replicas execute the trial's statements, too"
                .to_owned(),
        ));
    }
    if url.target().is_encrypted() {
        notes.push(Note::Other(
            "sessions are encrypted (TLS), which takes processor time of both ends; ssl-mode=DISABLED in the URL turns that off"
                .to_owned(),
        ));
    }
    notes
}

/// A note on unknown waits and files, if the server does not count all.
fn note_of_waits(
    connection: &mut Connection,
    has_performance_schema: bool,
) -> Result<Option<Note>, Failure> {
    if !has_performance_schema {
        return Ok(Some(Note::Other(
            "performance_schema of the given server is off: there are no counters by file, and no waits".to_owned(),
        )));
    }
    let rows = connection.query(
        "SELECT enabled FROM performance_schema.setup_consumers WHERE name = 'events_waits_current'",
    )?;
    let enabled = words(&rows)?;
    Ok((enabled.first().map(String::as_str) != Some("YES")).then(|| {
        Note::Other(
            "the given server does not show waits in progress (consumer events_waits_current of performance_schema): waits are \
             recognized by the state of sessions and by locks alone"
                .to_owned(),
        )
    }))
}

/// A note on databases of another dbstow that is running or was killed.
fn left_by_others(databases: &[String]) -> Option<Note> {
    let is_ours = |name: &&String| {
        let rest = name
            .strip_prefix(OURS)
            .and_then(|rest| rest.split_once('_'));
        rest.is_some_and(|(mark, _)| {
            mark.len() == 8 && mark.chars().all(|it| it.is_ascii_hexdigit())
        })
    };
    let names: Vec<&String> = databases.iter().filter(is_ours).collect();
    if names.is_empty() {
        return None;
    }
    let statements: Vec<String> = names
        .iter()
        .take(NAMED_MAX)
        .map(|name| format!("DROP DATABASE {name}"))
        .collect();
    let more = match names.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(Note::Other(format!(
        "the given server has databases of another dbstow; where none runs: {}{more}",
        statements.join("; ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mysql_takes_tables_in_directories_that_it_was_started_with() {
        let known = |version: &str, product: Product| {
            let variables = [
                ("version", version),
                ("datadir", "/var/lib/mysql/"),
                ("innodb_directories", "/v/a; /v/b"),
                ("innodb_undo_directory", "./"),
                ("innodb_data_home_dir", ""),
            ];
            let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
            known_directories(product, &variables.into())
        };
        let paths = ["/v/a", "/v/b", "/var/lib/mysql/", "/var/lib/mysql/"].map(PathBuf::from);
        assert_eq!(known("8.0.21", Product::MySql), Some(paths.into()));
        assert!(known("9.7.4-2", Product::MySql).is_some());
        assert_eq!(known("8.0.15", Product::MySql), None);
        assert_eq!(known("10.11.19-MariaDB", Product::MariaDb), None);
    }

    #[test]
    fn databases_of_a_killed_run_are_named_and_those_of_others_are_not() {
        let names = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        assert!(
            left_by_others(&names(&[
                "dbstow_results",
                "shop",
                "dbstow_zz345678_workload"
            ]))
            .is_none()
        );
        let all = names(&[
            "dbstow_0123abcd_session_0",
            "dbstow_0123abcd_session_1",
            "dbstow_0123abcd_session_2",
            "dbstow_0123abcd_session_3",
            "shop",
        ]);
        let said = left_by_others(&all).expect("they are there").to_string();
        assert!(
            said.contains("DROP DATABASE dbstow_0123abcd_session_0;"),
            "{said}"
        );
        assert!(said.ends_with("session_2 and 1 more"), "{said}");
    }
}
