//! Requests that a server counted between two snapshots, by role of the files. Pure.
//!
//! | role | with `performance_schema` | without |
//! |---|---|---|
//! | data | data files, less undo, temporary and doublewrite's | `Innodb_data_reads`, `Innodb_pages_written` |
//! | temp | `ibtmp1`, InnoDB's temporary files, sorts, joins | not known |
//! | log | `ib_logfile`, `#ib_redo`; MariaDB from 10.8 on: status | `Innodb_log_writes`, `Innodb_os_log_written` |
//! | binlog | `sql/binlog` | not known |
//! | undo | `undo001` .. | not known |
//! | doublewrite | `.dblwr`; MariaDB: status | `Innodb_dblwr_writes`, `Innodb_dblwr_pages_written` |
//!
//! Writes of data files are handed to the kernel asynchronously, so the server's times for them are not latencies.

use std::collections::BTreeMap;

use model::Duration;
use profile::{Io, Requests};
use reading::Role;

use super::files::{Counted, Sums};
use super::host::{has_doublewrite, has_undo};
use super::snapshot::Snapshot;

/// Write unit of a flushed log: a page of Linux's cache, and MariaDB's assumed disk block size.
/// Source: 10,534 writes and 42.4 MB of MariaDB 10.11's redo log are 85 MB of its process (`/proc/PID/io`, 2026-11-25).
const LOG_PAGE: f64 = 4096.0;

/// Two snapshots of one server.
pub(super) struct Grown<'a> {
    pub(super) before: &'a Snapshot,
    pub(super) after: &'a Snapshot,
}

impl Grown<'_> {
    /// Growth of a status variable; `None` if the server lacks it.
    pub(super) fn status(&self, name: &str) -> Option<f64> {
        let of = |snapshot: &Snapshot| snapshot.status.get(name).copied();
        Some(of(self.after)? - of(self.before)?)
    }

    /// Bytes of the pages that were asked of the buffer pool.
    pub(super) fn logical_read_bytes(&self) -> Option<f64> {
        let pages = self.status("innodb_buffer_pool_read_requests")?;
        Some(pages.max(0.0) * self.page())
    }

    fn page(&self) -> f64 {
        self.after.server.page()
    }

    /// Requests by role of the files.
    pub(super) fn roles(&self) -> BTreeMap<Role, Io> {
        let files = self.before.files.as_ref().zip(self.after.files.as_ref());
        match files {
            Some((before, after)) => self.of_files(&Files::between(before, after)),
            None => self.of_status(),
        }
    }

    fn of_files(&self, files: &Files) -> BTreeMap<Role, Io> {
        let is_timed = self.after.server.counts.times;
        let server = &self.after.server;
        let copies = self.copies();
        let mut data = files.data.without(files.undo).without(files.data_temp);
        if files.doublewrite.is_none() {
            data = data.without(copies);
        }
        let ahead = self.status("innodb_buffer_pool_read_ahead").unwrap_or(0.0);
        let kept = files.tables_kept;
        let mut roles = BTreeMap::from([
            (Role::Data, paged(data, ahead, is_timed, Some(kept))),
            (
                Role::Temp,
                paged(
                    files.data_temp,
                    0.0,
                    is_timed,
                    Some(files.temp.with(files.tables.without(kept))),
                ),
            ),
            (
                Role::Log,
                match files.log {
                    Some(log) => log_of(log, is_timed),
                    None => self.log(Some(files.data.0[6])),
                },
            ),
        ]);
        if server.is_on("log_bin") {
            roles.insert(Role::Binlog, log_of(files.binlog, is_timed));
        }
        if has_undo(server) {
            roles.insert(Role::Undo, paged(files.undo, 0.0, is_timed, None));
        }
        if has_doublewrite(server) {
            let io = match files.doublewrite {
                Some(area) => written(area, is_timed),
                None => written(copies, false),
            };
            roles.insert(Role::Doublewrite, io);
        }
        roles
    }

    fn of_status(&self) -> BTreeMap<Role, Io> {
        let log = self.log(None);
        let syncs = self.status("innodb_data_fsyncs");
        let pages = self.status("innodb_pages_written");
        let data = Io {
            reads: Requests {
                count: self.status("innodb_data_reads"),
                bytes: self.status("innodb_data_read"),
                waited: None,
            },
            writes: Requests {
                count: pages,
                bytes: pages.map(|pages| pages * self.page()),
                waited: None,
            },
            flushes: Requests {
                count: syncs
                    .zip(log.flushes.count)
                    .map(|(all, log)| (all - log).max(0.0)),
                ..Requests::default()
            },
            session_writes: None,
        };
        let mut roles = BTreeMap::from([(Role::Data, data), (Role::Log, log)]);
        if has_doublewrite(&self.after.server) {
            roles.insert(Role::Doublewrite, written(self.copies(), false));
        }
        roles
    }

    /// Doublewrite writes of page copies.
    fn copies(&self) -> Sums {
        let writes = self.status("innodb_dblwr_writes").unwrap_or(0.0);
        let pages = self.status("innodb_dblwr_pages_written").unwrap_or(0.0);
        Sums([0.0, 0.0, 0.0, writes, pages * self.page(), 0.0, 0.0, 0.0])
    }

    /// The redo log by status; `data_syncs`: how often data files were flushed, if known. MariaDB from 10.8 on counts
    /// all flushes of InnoDB in one.
    fn log(&self, data_syncs: Option<f64>) -> Io {
        let writes = self.status("innodb_log_writes");
        let all = self.status("innodb_data_fsyncs");
        let syncs = self.status("innodb_os_log_fsyncs").or_else(|| {
            let others = all.zip(data_syncs).map(|(all, data)| (all - data).max(0.0));
            others.or(writes)
        });
        let (writes, syncs) = (writes.unwrap_or(0.0), syncs.unwrap_or(0.0));
        let bytes = self.status("innodb_os_log_written").unwrap_or(0.0);
        log_of(Sums([0.0, 0.0, 0.0, writes, bytes, 0.0, syncs, 0.0]), false)
    }
}

/// Growth of the sums of files.
struct Files {
    data: Sums,
    undo: Sums,
    data_temp: Sums,
    temp: Sums,
    tables: Sums,
    tables_kept: Sums,
    log: Option<Sums>,
    doublewrite: Option<Sums>,
    binlog: Sums,
}

impl Files {
    fn between(before: &Counted, after: &Counted) -> Files {
        let both = |before: Option<Sums>, after: Option<Sums>| {
            after.map(|after| after.since(before.unwrap_or_default()))
        };
        Files {
            data: after.data.since(before.data),
            undo: after.undo.of_files_since(before.undo),
            data_temp: after.data_temp.of_files_since(before.data_temp),
            temp: after.temp.since(before.temp),
            tables: after.tables.since(before.tables),
            tables_kept: after.tables_kept.of_files_since(before.tables_kept),
            log: both(before.log, after.log),
            doublewrite: both(before.doublewrite, after.doublewrite),
            binlog: after.binlog.since(before.binlog),
        }
    }
}

fn seconds(picoseconds: f64) -> Duration {
    Duration::from_secs_f64(picoseconds.max(0.0) / 1e12)
}

/// Pages of InnoDB, `ahead` of which were read ahead; with requests to `more` files, which are synchronous.
///
/// Read-ahead is not timed by the server: it is assigned the mean latency of the other reads.
fn paged(pages: Sums, ahead: f64, is_timed: bool, more: Option<Sums>) -> Io {
    let more = more.unwrap_or_default();
    let [reads, read_bytes, read_ps, ..] = pages.0;
    let waited_for = (reads - ahead).max(0.0);
    let read_ps = match waited_for > 0.0 {
        true => read_ps * reads / waited_for,
        false => read_ps,
    };
    let all = pages.with(more).0;
    Io {
        reads: Requests {
            count: Some(all[0]),
            bytes: Some(read_bytes + more.0[1]),
            waited: is_timed.then(|| seconds(read_ps + more.0[2])),
        },
        writes: Requests {
            count: Some(all[3]),
            bytes: Some(all[4]),
            waited: None,
        },
        flushes: Requests {
            count: Some(all[6]),
            bytes: None,
            waited: is_timed.then(|| seconds(all[7])),
        },
        session_writes: None,
    }
}

/// A file that is only written.
fn written(sums: Sums, is_timed: bool) -> Io {
    Io {
        writes: Requests {
            count: Some(sums.0[3]),
            bytes: Some(sums.0[4]),
            waited: is_timed.then(|| seconds(sums.0[5])),
        },
        ..Io::default()
    }
}

/// A log: writes between two flushes reach the disk as one write of whole pages.
fn log_of(log: Sums, is_timed: bool) -> Io {
    let [_, _, _, writes, bytes, write_ps, flushes, flush_ps] = log.0;
    let writes = match flushes > 0.0 {
        true => writes.min(flushes),
        false => writes,
    };
    Io {
        writes: Requests {
            count: Some(writes),
            bytes: Some(bytes + writes * LOG_PAGE),
            waited: is_timed.then(|| seconds(write_ps)),
        },
        flushes: Requests {
            count: Some(flushes),
            bytes: None,
            waited: is_timed.then(|| seconds(flush_ps)),
        },
        ..Io::default()
    }
}
