//! What MariaDB read and wrote of the files of single tables: `performance_schema.file_summary_by_instance`, which a trial has on.
//!
//! An InnoDB table has its indexes in its file. Reads by index are in `table_io_waits_summary_by_index_usage` alone: there they are
//! accesses to rows, wherever the row was, and counting them costs each access some time, so that it stays off.

use std::collections::BTreeMap;

use crate::session::failure::Failure;
use crate::session::wire::Connection;
use reading::object::{ObjectKind, ObjectUse, Used};

/// Bytes read and written by file; names are paths.
const FILES: &str = "SELECT file_name, sum_number_of_bytes_read, sum_number_of_bytes_write FROM performance_schema.file_summary_by_instance \
     WHERE count_read + count_write > 0 AND (event_name = 'wait/io/file/innodb/innodb_data_file' \
           OR event_name LIKE 'wait/io/file/aria/%' OR event_name LIKE 'wait/io/file/myisam/%')";

/// Databases of the server's own.
const OWN: [&str; 3] = ["mysql", "sys", "performance_schema"];

/// Endings of the files of tables, and of those with the indexes of a table.
const OF_TABLES: [&str; 3] = ["ibd", "MYD", "MAD"];
const OF_INDEXES: [&str; 2] = ["MYI", "MAI"];

/// What was read and written since the server started.
///
/// # Errors
/// When the server does not answer.
pub(crate) fn read(connection: &mut Connection) -> Result<Vec<ObjectUse>, Failure> {
    let mut all: BTreeMap<(ObjectKind, String), Used> = BTreeMap::new();
    for row in connection.query(FILES)? {
        let Some((kind, name)) = object(row.word(0)?) else {
            continue;
        };
        // Parts of a table are one.
        let sum = all.entry((kind, name)).or_default();
        *sum = sum.and(Used {
            read_bytes: row.count(1)?,
            written_bytes: Some(row.count(2)?),
            ..Used::default()
        });
    }
    let all = all.into_iter();
    Ok(all
        .map(|((kind, name), used)| ObjectUse { kind, name, used })
        .collect())
}

/// The table of a file, such as `/data/shop/orders#P#p0.ibd`: `shop.orders`.
fn object(path: &str) -> Option<(ObjectKind, String)> {
    let mut parts = path.rsplit('/');
    let (file, database) = (parts.next()?, parts.next()?);
    let (table, ending) = file.rsplit_once('.')?;
    // Temporary tables, and those that an ALTER is making.
    if OWN.contains(&database) || table.starts_with('#') {
        return None;
    }
    let kind = match ending {
        _ if OF_TABLES.contains(&ending) => ObjectKind::Table,
        _ if OF_INDEXES.contains(&ending) => ObjectKind::Index,
        _ => return None,
    };
    let table = table.split("#P#").next().unwrap_or_default();
    let name = format!("{}.{}", decoded(database), decoded(table));
    Some((
        kind,
        match kind {
            ObjectKind::Table => name,
            ObjectKind::Index => format!("{name} (indexes)"),
        },
    ))
}

/// A name as it was before it became a file's, where characters are `@0024` and the like; what cannot be shown stays escaped.
fn decoded(name: &str) -> String {
    let mut parts = name.split('@');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let character = part
            .get(..4)
            .and_then(|code| u32::from_str_radix(code, 16).ok())
            .and_then(char::from_u32);
        match character {
            Some(character) => {
                text.push(character);
                text += &part[4..];
            }
            None => {
                text.push('@');
                text += part;
            }
        }
    }
    text.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_that_of_its_table_and_its_name_is_shown_as_it_was_given() {
        let named = object;
        let table = |name: &str| Some((ObjectKind::Table, name.to_owned()));
        assert_eq!(named("/v/data/shop/orders.ibd"), table("shop.orders"));
        assert_eq!(named("./shop/o@002d1#P#p0.ibd"), table("shop.o-1"));
        assert_eq!(named("./shop/a@0007b.MAD"), table("shop.a\\u{7}b"));
        assert_eq!(named("./shop/a@b.MAD"), table("shop.a@b"));
        let index = (ObjectKind::Index, "shop.notes (indexes)".to_owned());
        assert_eq!(named("./shop/notes.MYI"), Some(index));
        for other in [
            "./mysql/innodb_table_stats.ibd",
            "./ibdata1",
            "./shop/#sql-1.ibd",
            "x",
        ] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
