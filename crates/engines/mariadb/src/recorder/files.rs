//! Requests to files as counted by `performance_schema`, by role of the files.
//!
//! Sums by kind of file only grow. There are also sums by single file, which distinguish files of one kind; the counts of a
//! deleted file disappear.
//! Source: <https://dev.mysql.com/doc/refman/8.4/en/performance-schema-file-summary-tables.html>, read 2026-11-25; which
//! files are of which kind: what MariaDB 10.11 and MySQL 9.7 showed that day.

use std::path::{Path, PathBuf};

/// The columns of both summary tables, in the order of [`Sums`]. Times are in picoseconds.
pub(super) const COLUMNS: &str = "count_read + 0e0, sum_number_of_bytes_read + 0e0, sum_timer_read + 0e0, \
     count_write + 0e0, sum_number_of_bytes_write + 0e0, sum_timer_write + 0e0, count_misc + 0e0, sum_timer_misc + 0e0";

/// The kinds of files that are also distinguished by name.
pub(super) const BY_NAME: &str = "event_name LIKE 'wait/io/file/aria/%' OR event_name LIKE 'wait/io/file/myisam/%' \
     OR (event_name = 'wait/io/file/innodb/innodb_data_file' \
         AND (file_name LIKE '%undo%' OR file_name LIKE '%.ibu' OR file_name LIKE '%ibtmp%'))";

/// Reads, writes, and everything else: count, bytes, picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums(pub(super) [f64; 8]);

/// A server's files, by role.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counted {
    /// InnoDB's data files, all of them.
    pub(super) data: Sums,
    /// Of these, undo tablespaces.
    pub(super) undo: Sums,
    /// Of these, the tablespace of temporary tables.
    pub(super) data_temp: Sums,
    /// InnoDB's other temporary files, sorts, joins, caches of the binary log.
    pub(super) temp: Sums,
    /// Files of Aria and MyISAM, all of them.
    pub(super) tables: Sums,
    /// Of these, permanent tables.
    pub(super) tables_kept: Sums,
    /// The redo log; `None` if it has no instrument: MariaDB from 10.8 on.
    pub(super) log: Option<Sums>,
    /// Files of the doublewrite area; `None` if it is in the system tablespace: MariaDB, MySQL before 8.0.20.
    pub(super) doublewrite: Option<Sums>,
    /// The binary log, and a replica's relay log.
    pub(super) binlog: Sums,
}

impl Counted {
    /// Adds a kind of file.
    pub(super) fn note_kind(&mut self, event: &str, sums: Sums) {
        let Some(kind) = event.strip_prefix("wait/io/file/") else {
            return;
        };
        let to = match kind {
            "innodb/innodb_data_file" => &mut self.data,
            "innodb/innodb_temp_file"
            | "sql/io_cache"
            | "sql/hash_join"
            | "sql/binlog_cache"
            | "sql/relaylog_cache" => &mut self.temp,
            "innodb/innodb_log_file" => self.log.get_or_insert_default(),
            "innodb/innodb_dblwr_file" => self.doublewrite.get_or_insert_default(),
            "sql/binlog" | "sql/relaylog" => &mut self.binlog,
            _ if kind.starts_with("aria/") || kind.starts_with("myisam/") => &mut self.tables,
            // Table definitions, messages, text logs: not part of the load.
            _ => return,
        };
        to.add(sums);
    }

    /// Adds a single file of [`BY_NAME`]; those in directories of `temp` are temporary.
    pub(super) fn note_file(&mut self, event: &str, file: &str, sums: Sums, temp: &[PathBuf]) {
        let path = Path::new(file);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_undo = || {
            let number = name.strip_prefix("undo").unwrap_or_default();
            let number = number.trim_start_matches('_');
            name.ends_with(".ibu")
                || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if event.ends_with("/innodb_data_file") {
            match () {
                () if name.starts_with("ibtmp") => self.data_temp.add(sums),
                () if is_undo() => self.undo.add(sums),
                () => {}
            }
        } else if !name.starts_with("#sql") && !temp.iter().any(|place| path.starts_with(place)) {
            self.tables_kept.add(sums);
        }
    }

    /// Sums that only grow, unless they are reset.
    pub(super) fn growing(&self) -> [Sums; 6] {
        [
            self.data,
            self.temp,
            self.tables,
            self.log.unwrap_or_default(),
            self.doublewrite.unwrap_or_default(),
            self.binlog,
        ]
    }
}

impl Sums {
    fn add(&mut self, more: Sums) {
        for (sum, more) in self.0.iter_mut().zip(more.0) {
            *sum += more;
        }
    }

    /// Growth of a sum by kind.
    pub(super) fn since(self, before: Sums) -> Sums {
        let mut grown = self;
        for (grown, before) in grown.0.iter_mut().zip(before.0) {
            *grown -= before;
        }
        grown
    }

    /// Growth of a sum by file: a smaller value means that a file was deleted and counting restarted.
    pub(super) fn of_files_since(self, before: Sums) -> Sums {
        match self.is_less(before) {
            true => self,
            false => self.since(before),
        }
    }

    /// Subtracts those of `part`.
    pub(super) fn without(self, part: Sums) -> Sums {
        let mut left = self;
        for (left, part) in left.0.iter_mut().zip(part.0) {
            *left = (*left - part).max(0.0);
        }
        left
    }

    pub(super) fn with(mut self, more: Sums) -> Sums {
        self.add(more);
        self
    }

    /// Whether any of its values is less than before.
    pub(super) fn is_less(self, before: Sums) -> bool {
        self.0
            .iter()
            .zip(before.0)
            .any(|(now, before)| *now < before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(reads: f64) -> Sums {
        Sums([reads, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    }

    #[test]
    fn files_fall_to_what_they_are_for() {
        let mut counted = Counted::default();
        for (number, event) in [
            "innodb/innodb_data_file",
            "innodb/innodb_temp_file",
            "sql/io_cache",
            "innodb/innodb_log_file",
            "innodb/innodb_dblwr_file",
            "sql/binlog",
            "aria/MAD",
            "sql/FRM",
        ]
        .iter()
        .enumerate()
        {
            counted.note_kind(
                &format!("wait/io/file/{event}"),
                sums(f64::from(1 << number)),
            );
        }
        assert_eq!(counted.data, sums(1.0));
        assert_eq!(counted.temp, sums(6.0));
        assert_eq!(counted.log, Some(sums(8.0)));
        assert_eq!(counted.doublewrite, Some(sums(16.0)));
        assert_eq!(counted.binlog, sums(32.0));
        assert_eq!(counted.tables, sums(64.0));
    }

    #[test]
    fn single_files_are_told_apart_by_name() {
        let temp = [PathBuf::from("/tmp")];
        let data = "wait/io/file/innodb/innodb_data_file";
        let aria = "wait/io/file/aria/MAD";
        for (event, file, undo, data_temp, kept) in [
            (data, "/d/undo001", 1.0, 0.0, 0.0),
            (data, "/d/undo_002", 1.0, 0.0, 0.0),
            (data, "/d/more.ibu", 1.0, 0.0, 0.0),
            (data, "/d/shop/undo_log.ibd", 0.0, 0.0, 0.0),
            (data, "/d/ibtmp1", 0.0, 1.0, 0.0),
            (aria, "/d/mysql/db.MAD", 0.0, 0.0, 1.0),
            (aria, "/tmp/x.MAD", 0.0, 0.0, 0.0),
            (aria, "/d/#sql-temptable-1.MAD", 0.0, 0.0, 0.0),
        ] {
            let mut counted = Counted::default();
            counted.note_file(event, file, sums(1.0), &temp);
            let seen = [counted.undo, counted.data_temp, counted.tables_kept];
            assert_eq!(seen, [undo, data_temp, kept].map(sums), "{file}");
        }
    }

    #[test]
    fn a_file_that_was_deleted_is_no_reset() {
        assert_eq!(sums(7.0).of_files_since(sums(5.0)), sums(2.0));
        assert_eq!(sums(3.0).of_files_since(sums(5.0)), sums(3.0));
    }
}
