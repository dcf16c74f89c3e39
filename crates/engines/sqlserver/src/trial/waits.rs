//! What sessions wait for, as reported by SQL Server.

use crate::capture::{self, TEMPDB};
use crate::tsql::question;

use crate::trial::run::Files;
use crate::trial::sampler::Sampler;
use engine::{EngineError, WaitKind, WaitSampler, Waiting};
use experiment::record::{WaitEvent, WaitsOn};
use products::ALLOCATION_PAGE;

impl WaitSampler for Sampler<'_> {
    fn sample(&mut self) -> Result<Vec<Waiting>, EngineError> {
        let files = self.run.files();
        let rows = capture::read(&mut self.session, &question::WAITING, |row| {
            let (status, wait) = (row.text("status")?, row.text("wait_type")?);
            let page = Page::of(&row.word("wait_resource")?);
            Ok(waiting(status, wait.unwrap_or_default(), page, &files))
        });
        rows.map_err(|error| EngineError::failed("sample the sessions", error))
    }
}

/// `status` is that of a request; without a request the session waits for its client.
///
/// Source: Microsoft, `sys.dm_os_wait_stats` (read 2026-11).
fn waiting(status: Option<&str>, wait: &str, page: Option<Page>, files: &Files) -> Waiting {
    let Some(status) = status else {
        return Waiting {
            kind: WaitKind::Client,
            event: "no request".to_owned(),
        };
    };
    if status != "suspended" || wait.is_empty() {
        // Running, or ready to run.
        return Waiting {
            kind: WaitKind::Cpu,
            event: String::new(),
        };
    }
    let kind = match wait {
        "SOS_SCHEDULER_YIELD" => WaitKind::Cpu,
        // If workers wait, their waits are queried instead: these compute.
        _ if wait.starts_with("CX") => WaitKind::Cpu,
        "WRITELOG" | "LOGBUFFER" | "LOGMGR" => WaitKind::Log,
        // The log rate is limited, on a managed instance and on Azure SQL Database.
        _ if wait.ends_with("LOG_RATE_GOVERNOR") => WaitKind::Log,
        // Sorts and hashes that spill write first and read later; both are under this one name.
        "IO_COMPLETION" | "ASYNC_IO_COMPLETION" | "PREEMPTIVE_OS_WRITEFILEGATHER" => {
            WaitKind::Write
        }
        "ASYNC_NETWORK_IO" => WaitKind::Client,
        _ if wait.starts_with("PAGEIOLATCH_") => WaitKind::Read,
        _ if wait.starts_with("LCK_")
            || wait.starts_with("PAGELATCH_")
            || wait.starts_with("LATCH_") =>
        {
            WaitKind::Lock
        }
        _ => WaitKind::Other,
    };
    let on = match page {
        Some(page) if wait.starts_with("PAGELATCH_") && page.is_of_allocation() => {
            Some(WaitsOn::Object(ALLOCATION_PAGE))
        }
        Some(page) if wait.starts_with("PAGEIOLATCH_") => {
            let filed = files.get(&page.file);
            filed.map(|filed| WaitsOn::Files(filed.role))
        }
        Some(_) | None => None,
    };
    let event = WaitEvent { name: wait, on }.to_string();
    Waiting { kind, event }
}

/// A page that a session waits for, in memory or on its way there: `database:file:page`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Database and file.
    file: (i64, i64),
    number: u64,
}

impl Page {
    pub(crate) fn of(resource: &str) -> Option<Page> {
        let mut parts = resource.trim().split(':').map(str::trim);
        let database = parts.next()?.parse().ok()?;
        let file = parts.next()?.parse().ok()?;
        Some(Page {
            file: (database, file),
            number: parts.next()?.parse().ok()?,
        })
    }

    /// Number of its database.
    pub(crate) fn database(self) -> i64 {
        self.file.0
    }

    /// Whether it is an allocation page of a tempdb file: PFS (page 1, and every 8,088th), GAM and SGAM (2 and 3,
    /// then the first two of every 511,232). More files spread these.
    ///
    /// Source: Microsoft, "Recommendations to reduce allocation contention in SQL Server tempdb database"
    /// (KB2154845, read 2026-11).
    fn is_of_allocation(self) -> bool {
        let page = self.number;
        let map = page == 2 || page == 3 || (page > 3 && page % 511_232 <= 1);
        let space = page == 1 || (page > 0 && page.is_multiple_of(8_088));
        self.database() == TEMPDB && (space || map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::run::Filed;
    use experiment::spec::Role;

    #[test]
    fn waits_fall_to_their_kinds() {
        for (status, wait, kind) in [
            (None, "", WaitKind::Client),
            (Some("running"), "", WaitKind::Cpu),
            (Some("runnable"), "PAGEIOLATCH_SH", WaitKind::Cpu),
            (Some("suspended"), "PAGEIOLATCH_EX", WaitKind::Read),
            (Some("suspended"), "IO_COMPLETION", WaitKind::Write),
            (Some("suspended"), "WRITELOG", WaitKind::Log),
            (Some("suspended"), "POOL_LOG_RATE_GOVERNOR", WaitKind::Log),
            (Some("suspended"), "CXSYNC_PORT", WaitKind::Cpu),
            (Some("suspended"), "LCK_M_X", WaitKind::Lock),
            (Some("suspended"), "PAGELATCH_UP", WaitKind::Lock),
            (Some("suspended"), "ASYNC_NETWORK_IO", WaitKind::Client),
            (Some("suspended"), "RESOURCE_SEMAPHORE", WaitKind::Other),
        ] {
            let waiting = waiting(status, wait, None, &Files::new());
            assert_eq!(waiting.kind, kind, "{status:?} {wait}");
        }
    }

    #[test]
    fn allocation_pages_of_tempdb_are_told_from_others() {
        for (resource, is) in [
            ("2:1:1", true),
            ("2:3:8088", true),
            ("2:1:2", true),
            ("2:4:511233", true),
            ("2:1:104", false),
            ("2:1:0", false),
            ("5:1:1", false),
        ] {
            let page = Page::of(resource).expect("a page");
            assert_eq!(page.is_of_allocation(), is, "{resource}");
        }
        for resource in ["", "KEY: 5:72057594043105280 (8194443284a0)", "2:1"] {
            assert_eq!(Page::of(resource), None, "{resource}");
        }
    }

    #[test]
    fn a_read_is_told_with_the_files_it_is_of() {
        let filed = |role| Filed {
            role,
            volume: 0,
            is_log: false,
        };
        let files = Files::from([((2, 1), filed(Role::Temp)), ((7, 1), filed(Role::Data))]);
        let event = |wait, resource| {
            let page = Page::of(resource);
            waiting(Some("suspended"), wait, page, &files).event
        };
        assert_eq!(
            event("PAGEIOLATCH_SH", "2:1:1"),
            "PAGEIOLATCH_SH of temp files"
        );
        assert_eq!(
            event("PAGEIOLATCH_EX", "7:1:99"),
            "PAGEIOLATCH_EX of data files"
        );
        assert_eq!(event("PAGEIOLATCH_SH", "5:1:99"), "PAGEIOLATCH_SH");
        assert_eq!(
            event("PAGELATCH_UP", "2:1:1"),
            "PAGELATCH_UP of an allocation page in tempdb"
        );
        assert_eq!(event("PAGELATCH_UP", "7:1:99"), "PAGELATCH_UP");
    }
}
