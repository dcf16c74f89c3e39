//! Placement of tables: one tablespace represents one file of a role.

use std::path::PathBuf;

use host::site::Site;

use crate::session::failure::Failure;
use crate::session::wire::Connection;
use engine::home;
use engine::row::Row;
use experiment::spec::{Role, Settings};
use workload::Tables;

/// A tablespace, which represents a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tablespace {
    /// Its name, which does not require quotes.
    pub(crate) name: String,
    /// Its directory.
    pub(crate) directory: PathBuf,
}

/// The tablespaces of the roles that have some; neither list is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tablespaces {
    pub(crate) data: Vec<Tablespace>,
    pub(crate) temp: Vec<Tablespace>,
}

impl Tablespaces {
    /// One tablespace for each data file and each temp file, in the placement's order; names begin with `prefix`.
    pub(crate) fn of_placement(prefix: &str, site: &dyn Site, settings: &Settings) -> Tablespaces {
        let of = |role: Role| {
            let files = (1..).zip(settings.placement.files(role));
            files
                .map(|(number, file)| {
                    let name = format!("{role}_{number}");
                    Tablespace {
                        directory: home(site, settings, file).join(&name),
                        name: format!("{prefix}{name}"),
                    }
                })
                .collect()
        };
        Tablespaces {
            data: of(Role::Data),
            temp: of(Role::Temp),
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Tablespace> {
        self.data.iter().chain(&self.temp)
    }

    /// Those that tables of `kind` go to.
    fn of(&self, kind: Tables) -> &[Tablespace] {
        match kind {
            Tables::Data => &self.data,
            Tables::Temp => &self.temp,
        }
    }
}

/// Creates the tablespaces; their directories exist and belong to the server.
pub(crate) fn create(connection: &mut Connection, all: &Tablespaces) -> Result<(), Failure> {
    for Tablespace { name, directory } in all.all() {
        let directory = directory.display().to_string().replace('\'', "''");
        connection.work(&format!("CREATE TABLESPACE {name} LOCATION '{directory}'"))?;
    }
    Ok(())
}

/// Tables to place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'a> {
    /// Those of a schema; placing begins at the number of its session.
    Schema(&'a str, u32),
    /// The temporary ones of the connection itself, if partitioned.
    Temporary,
}

/// Gives each table that is declared `PARTITION BY HASH` one part in each tablespace, and distributes the others
/// to the tablespaces in turn. The tables are empty, so this moves no data. Returns their number.
pub(crate) fn distribute(
    connection: &mut Connection,
    tablespaces: &Tablespaces,
    kind: Tables,
    which: Which<'_>,
) -> Result<usize, Failure> {
    let (schema, first, kind) = match which {
        Which::Schema(schema, session) => {
            (format!("'{schema}'::regnamespace"), session as usize, kind)
        }
        Which::Temporary => ("pg_my_temp_schema()".to_owned(), 0, Tables::Temp),
    };
    let homes = tablespaces.of(kind);
    let making = match (which, kind) {
        (Which::Temporary, _) => "TEMP TABLE",
        (Which::Schema(..), Tables::Temp) => "UNLOGGED TABLE",
        (Which::Schema(..), Tables::Data) => "TABLE",
    };
    let parted = connection.work(&format!(
        "SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_partitioned_table AS p ON p.partrelid = c.oid \
         WHERE c.relnamespace = {schema} AND p.partstrat = 'h' \
           AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) ORDER BY c.oid"
    ))?;
    for name in parted.iter().flat_map(first_column) {
        part(connection, name, making, homes)?;
    }
    if matches!(which, Which::Temporary) {
        return Ok(parted.len());
    }
    let whole = connection.work(&format!(
        "SELECT c.oid::regclass::text FROM pg_class AS c \
         WHERE c.relnamespace = {schema} AND c.relkind = 'r' AND NOT c.relispartition ORDER BY c.oid"
    ))?;
    for (place, name) in (first..).zip(whole.iter().flat_map(first_column)) {
        if kind == Tables::Temp {
            connection.work(&format!("ALTER TABLE {name} SET UNLOGGED"))?;
        }
        let home = &homes[place % homes.len()].name;
        connection.work(&format!("ALTER TABLE {name} SET TABLESPACE {home}"))?;
        move_indexes(connection, name, home)?;
    }
    Ok(parted.len() + whole.len())
}

/// Creates the parts of one table.
fn part(
    connection: &mut Connection,
    name: &str,
    making: &str,
    homes: &[Tablespace],
) -> Result<(), Failure> {
    for (number, home) in homes.iter().enumerate() {
        let part = part_name(name, number + 1);
        connection.work(&format!(
            "CREATE {making} {part} PARTITION OF {name} \
             FOR VALUES WITH (MODULUS {}, REMAINDER {number}) TABLESPACE {}",
            homes.len(),
            home.name
        ))?;
        // An index goes where its parent's is, not where its table is.
        move_indexes(connection, &part, &home.name)?;
    }
    Ok(())
}

/// `schema.table` to `schema.table_<number>`, also where the table's name is quoted.
fn part_name(name: &str, number: usize) -> String {
    match name.strip_suffix('"') {
        Some(open) => format!("{open}_{number}\""),
        None => format!("{name}_{number}"),
    }
}

fn move_indexes(connection: &mut Connection, table: &str, home: &str) -> Result<(), Failure> {
    let table = table.replace('\'', "''");
    let indexes = connection.work(&format!(
        "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = '{table}'::regclass"
    ))?;
    for index in indexes.iter().flat_map(first_column) {
        connection.work(&format!("ALTER INDEX {index} SET TABLESPACE {home}"))?;
    }
    Ok(())
}

fn first_column(row: &Row) -> Option<&str> {
    row.columns().first().and_then(|column| column.as_deref())
}
