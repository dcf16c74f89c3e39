//! What sessions wait for, as SQL Server tells it.

use sqlserver::capture;
use sqlserver::session::Driver;
use sqlserver::tsql::question;

use crate::engine::{EngineError, WaitKind, WaitSampler, Waiting};

/// Asks the server what this run's sessions do, on a connection of its own.
pub(super) struct Sampler {
    session: Driver,
}

impl Sampler {
    pub(super) fn new(session: Driver) -> Sampler {
        Sampler { session }
    }
}

impl WaitSampler for Sampler {
    fn sample(&mut self) -> Result<Vec<Waiting>, EngineError> {
        let rows = capture::read(&mut self.session, &question::WAITING, |row| {
            let (status, wait) = (row.text("status")?, row.text("wait_type")?);
            let resource = row.word("wait_resource")?;
            Ok(waiting(status, wait.unwrap_or_default(), &resource))
        });
        rows.map_err(|error| EngineError::failed("look at what the sessions do", error))
    }
}

/// `status` is that of a request; without one the session waits for its client.
///
/// Source: Microsoft, `sys.dm_os_wait_stats` (read 2026-11).
fn waiting(status: Option<&str>, wait: &str, resource: &str) -> Waiting {
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
        "WRITELOG" | "LOGBUFFER" | "LOGMGR" => WaitKind::Log,
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
    let event = match allocation_page(wait, resource) {
        true => format!("{wait} of an allocation page in tempdb"),
        false => wait.to_owned(),
    };
    Waiting { kind, event }
}

/// Whether a latch is of a page that says what is free in a file of tempdb: PFS (page 1, and every 8,088th),
/// GAM and SGAM (2 and 3, then the first two of every 511,232). More files spread these.
///
/// Source: Microsoft, "Recommendations to reduce allocation contention in SQL Server tempdb database"
/// (KB2154845, read 2026-11).
fn allocation_page(wait: &str, resource: &str) -> bool {
    if !wait.starts_with("PAGELATCH_") {
        return false;
    }
    let mut parts = resource
        .trim()
        .split(':')
        .map(|part| part.trim().parse::<u64>().ok());
    let (Some(Some(2)), Some(Some(_)), Some(Some(page))) =
        (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let map = page == 2 || page == 3 || (page > 3 && page % 511_232 <= 1);
    page == 1 || page % 8_088 == 0 || map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_fall_to_their_kinds() {
        for (status, wait, kind) in [
            (None, "", WaitKind::Client),
            (Some("running"), "", WaitKind::Cpu),
            (Some("runnable"), "PAGEIOLATCH_SH", WaitKind::Cpu),
            (Some("suspended"), "PAGEIOLATCH_EX", WaitKind::Read),
            (Some("suspended"), "IO_COMPLETION", WaitKind::Write),
            (Some("suspended"), "WRITELOG", WaitKind::Log),
            (Some("suspended"), "LCK_M_X", WaitKind::Lock),
            (Some("suspended"), "PAGELATCH_UP", WaitKind::Lock),
            (Some("suspended"), "ASYNC_NETWORK_IO", WaitKind::Client),
            (Some("suspended"), "RESOURCE_SEMAPHORE", WaitKind::Other),
        ] {
            assert_eq!(waiting(status, wait, "").kind, kind, "{status:?} {wait}");
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
            ("5:1:1", false),
            ("", false),
        ] {
            assert_eq!(allocation_page("PAGELATCH_UP", resource), is, "{resource}");
        }
        assert!(!allocation_page("PAGEIOLATCH_UP", "2:1:1"));
    }
}
