//! Placement of tables: a directory represents a file of a role.
//!
//! A table without parts has one file, `DATA DIRECTORY/<database>/<table>.ibd`; one that is declared `PARTITION BY HASH` has one
//! for each part. The first data file's directory is the data directory, the default location of tables.

use std::path::PathBuf;

use crate::session::failure::Failure;
use crate::session::wire::Connection;
use engine::row::{Row, Unexpected};

/// Gives each table of `database` that is partitioned one part in each directory, and distributes the others to the directories
/// in turn, beginning with number `first`. The tables are empty, so recreating them moves no data. Returns their number.
///
/// `directories[0]` is the data directory if `in_data_directory`.
pub(crate) fn distribute(
    connection: &mut Connection,
    database: &str,
    first: usize,
    directories: &[PathBuf],
    in_data_directory: bool,
) -> Result<usize, Failure> {
    let rows = connection.query(&format!(
        "SELECT t.table_name, p.partition_expression FROM information_schema.tables AS t \
         LEFT JOIN information_schema.partitions AS p ON p.table_schema = t.table_schema \
           AND p.table_name = t.table_name AND p.partition_method = 'HASH' AND p.partition_ordinal_position = 1 \
         WHERE t.table_schema = {} AND t.table_type = 'BASE TABLE' ORDER BY t.create_time, t.table_name",
        text(database)
    ))?;
    let table = |row: &Row| Ok((row.word(0)?.to_owned(), row.text(1)?.map(str::to_owned)));
    let tables: Result<Vec<(String, Option<String>)>, Unexpected> =
        rows.iter().map(table).collect();
    let tables = tables?;
    let mut place = first;
    for (table, hash) in &tables {
        let table = identifier(table);
        match hash {
            Some(expression) => connection.work(&format!(
                "ALTER TABLE {table} PARTITION BY HASH ({expression}) ({})",
                parts(directories)
            ))?,
            None => {
                let number = place % directories.len();
                place += 1;
                if number > 0 || !in_data_directory {
                    make_again(connection, &table, &directories[number])?;
                }
            }
        }
    }
    Ok(tables.len())
}

/// Recreates an empty table with its file in `directory`: MariaDB cannot move it by ALTER TABLE.
fn make_again(
    connection: &mut Connection,
    table: &str,
    directory: &std::path::Path,
) -> Result<(), Failure> {
    let definition = definition(connection, table)?;
    connection.work(&format!("DROP TABLE {table}"))?;
    connection.work(&format!(
        "{definition} DATA DIRECTORY={}",
        literal(directory)
    ))
}

fn definition(connection: &mut Connection, table: &str) -> Result<String, Failure> {
    let row = connection.first(&format!("SHOW CREATE TABLE {table}"))?;
    Ok(row.word(1)?.to_owned())
}

fn parts(directories: &[PathBuf]) -> String {
    let parts: Vec<String> = (1..)
        .zip(directories)
        .map(|(number, directory)| {
            format!(
                "PARTITION p{number} DATA DIRECTORY = {}",
                literal(directory)
            )
        })
        .collect();
    parts.join(", ")
}

fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A path as an SQL string; backslashes are escapes in the server's mode.
fn literal(path: &std::path::Path) -> String {
    text(&path.display().to_string())
}

/// A text as an SQL string.
pub(crate) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_and_paths_are_quoted() {
        assert_eq!(identifier("a`b"), "`a``b`");
        assert_eq!(literal(Path::new("/it's\\here")), "'/it''s\\\\here'");
    }

    #[test]
    fn each_directory_gets_a_part() {
        assert_eq!(
            parts(&[PathBuf::from("/a/data_1"), PathBuf::from("/b/data_2")]),
            "PARTITION p1 DATA DIRECTORY = '/a/data_1', PARTITION p2 DATA DIRECTORY = '/b/data_2'"
        );
    }
}
