//! What a running request waits for.

use crate::capture::TEMPDB;
use profile::Wait;

use crate::trial::waits::Page;

/// Waits of idle requests: they sleep, or wait for an event.
const IDLE: [&str; 4] = [
    "BROKER_RECEIVE_WAITFOR",
    "SP_SERVER_DIAGNOSTICS_SLEEP",
    "WAITFOR",
    "XE_LIVE_TARGET_TVF",
];

/// What it waits for: `Some(None)` if it is running or runnable; `None` if it is idle.
///
/// Source: Microsoft, `sys.dm_exec_requests` and `sys.dm_os_wait_stats` (read 2026-11).
pub(super) fn under_way(status: &str, wait: &str, resource: &str) -> Option<Option<Wait>> {
    if matches!(status, "background" | "sleeping") || IDLE.contains(&wait) {
        return None;
    }
    // An operating system call has a wait type, but the status of a running request.
    let waits = status == "suspended" || wait.starts_with("PREEMPTIVE_");
    Some(if waits { kind(wait, resource) } else { None })
}

/// `None`: for a processor.
fn kind(wait: &str, resource: &str) -> Option<Wait> {
    Some(match wait {
        "" | "SOS_SCHEDULER_YIELD" => return None,
        // If workers wait, their waits are queried instead: these compute.
        _ if wait.starts_with("CX") => return None,
        _ if wait.starts_with("PAGEIOLATCH_") => match Page::of(resource) {
            Some(page) if page.database() == TEMPDB => Wait::Temp,
            Some(_) | None => Wait::DataRead,
        },
        "WRITELOG" | "LOGBUFFER" | "LOGMGR" => Wait::Log,
        // The log rate is limited, on a managed instance.
        _ if wait.ends_with("LOG_RATE_GOVERNOR") => Wait::Log,
        // Sorts and hashes that spill write first and read later, both under this name.
        "IO_COMPLETION" => Wait::Temp,
        // Backups and restores, and files that are made or grow.
        "ASYNC_IO_COMPLETION" | "WRITE_COMPLETION" | "PREEMPTIVE_OS_WRITEFILEGATHER" => {
            Wait::DataWrite
        }
        _ if ["LCK_", "PAGELATCH_", "LATCH_"]
            .iter()
            .any(|start| wait.starts_with(start)) =>
        {
            Wait::Lock
        }
        // ASYNC_NETWORK_IO too: it waits for its client.
        _ => Wait::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_fall_to_their_kinds() {
        for (status, wait, resource, expected) in [
            ("running", "", "", None),
            ("runnable", "PAGEIOLATCH_SH", "7:1:104", None),
            ("suspended", "SOS_SCHEDULER_YIELD", "", None),
            ("suspended", "CXSYNC_PORT", "", None),
            (
                "suspended",
                "PAGEIOLATCH_SH",
                "7:1:104",
                Some(Wait::DataRead),
            ),
            ("suspended", "PAGEIOLATCH_EX", "2:3:8", Some(Wait::Temp)),
            ("suspended", "PAGEIOLATCH_EX", "", Some(Wait::DataRead)),
            ("suspended", "WRITELOG", "", Some(Wait::Log)),
            ("suspended", "POOL_LOG_RATE_GOVERNOR", "", Some(Wait::Log)),
            ("suspended", "IO_COMPLETION", "", Some(Wait::Temp)),
            (
                "running",
                "PREEMPTIVE_OS_WRITEFILEGATHER",
                "",
                Some(Wait::DataWrite),
            ),
            ("suspended", "LCK_M_X", "KEY: 7:72057", Some(Wait::Lock)),
            ("suspended", "PAGELATCH_UP", "2:1:1", Some(Wait::Lock)),
            ("suspended", "ASYNC_NETWORK_IO", "", Some(Wait::Other)),
            ("suspended", "RESOURCE_SEMAPHORE", "", Some(Wait::Other)),
        ] {
            assert_eq!(
                under_way(status, wait, resource),
                Some(expected),
                "{status} {wait}"
            );
        }
    }

    #[test]
    fn what_sleeps_is_not_under_way() {
        for (status, wait) in [
            ("background", "LAZYWRITER_SLEEP"),
            ("sleeping", ""),
            ("suspended", "WAITFOR"),
            ("suspended", "BROKER_RECEIVE_WAITFOR"),
        ] {
            assert_eq!(under_way(status, wait, ""), None, "{status} {wait}");
        }
    }
}
