//! The server's own settings that affect the load on its files.

use crate::capture::{Capture, instant_file_initialization};
use crate::tsql::question;

use super::locations::{is_linux, machine_missing, missing};
use super::sources::{IFI, LINUX_MEMORY, MEMORY, RULESET};
use super::{Applies, Rule};
use rules::shown::{bytes, list, percent};
use rules::{Finding, Outcome, Severity};

/// Default of `max server memory (MB)`.
const MEMORY_DEFAULT: i64 = 2_147_483_647;
/// Share of the machine's memory from which too little is left for others. Microsoft advises 75 %; the difference is our choice,
/// since large machines work well with more than that.
const MEMORY_MAX: f64 = 0.95;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "instant-file-initialization",
        title: "instant file initialization is off",
        severity: Severity::High,
        why: "high, as in Microsoft's ruleset: every growth of a data file, every restore and each start of tempdb writes zeroes first",
        says: "The service's account may make files without zeroing them (\"Perform volume maintenance tasks\"). \
               Encrypted databases are zeroed all the same.",
        sources: &[RULESET, IFI],
        applies: Applies::WINDOWS,
        judge: instant,
    },
    Rule {
        id: "max-server-memory",
        title: "max server memory is not set, or leaves nothing",
        severity: Severity::Medium,
        why: "medium: a system that pages is slow in ways that look like slow disks",
        says: "max server memory is set; Microsoft advises 75 % of what other programs leave. From 95 % of the machine's memory on it is \
               a finding (ours). On Linux the server keeps to 80 % by itself.",
        sources: &[MEMORY, LINUX_MEMORY],
        applies: Applies::BOXED,
        judge: memory,
    },
];

fn instant(capture: &Capture) -> Vec<Outcome> {
    let outcome = match instant_file_initialization(&capture.services) {
        Some(true) => Outcome::fine("it is on"),
        Some(false) => {
            let account = capture
                .services
                .iter()
                .find(|service| service.instant_file_initialization.is_some())
                .map_or("", |service| &*service.account);
            let encrypted: Vec<&str> = capture
                .databases
                .iter()
                .filter(|database| database.encrypted)
                .map(|database| &*database.name)
                .collect();
            let mut finding = Finding::new(
                Severity::High,
                "data files are zeroed when they are made and when they grow: instant file initialization is off",
            )
            .with("the service runs as", account);
            if !encrypted.is_empty() {
                finding = finding.with("encrypted, and zeroed in any case", list(&encrypted));
            }
            finding.remedy(
                "grant the account \"Perform volume maintenance tasks\" and restart the service; deleted data can then show up in new files",
            )
        }
        None => missing(
            capture,
            &question::SERVICES,
            "whether instant file initialization is on",
            "capture again as a login that may read sys.dm_server_services (VIEW SERVER STATE); before 2012 SP4 and 2014 no view tells",
        ),
    };
    vec![outcome]
}

fn memory(capture: &Capture) -> Vec<Outcome> {
    let Some(&setting) = capture.settings.get("max server memory (MB)") else {
        return vec![missing(
            capture,
            &question::SETTINGS,
            "max server memory",
            "capture again as a login that may read sys.configurations",
        )];
    };
    let memory = capture.machine.memory_bytes;
    let shown = memory.map_or_else(|| "not known".to_owned(), bytes);
    if setting >= MEMORY_DEFAULT {
        if is_linux(capture) {
            let why = "not set, but on Linux the server keeps to memory.memorylimitmb, 80 % of memory by default";
            return vec![Outcome::exempt("linux-memory-limit", why)];
        }
        return vec![
            Finding::new(
                Severity::Medium,
                "max server memory was never set: the server takes what it can get",
            )
            .with("max server memory", "2147483647 MB, the default")
            .with("memory of the machine", shown)
            .remedy("set it; 75 % of what other programs leave is where Microsoft starts"),
        ];
    }
    let limit = setting.saturating_mul(1 << 20);
    let Some(total) = memory else {
        let what = format!("the machine's memory, to hold {} against", bytes(limit));
        return vec![machine_missing(capture, &what)];
    };
    let share = limit as f64 / total.max(1) as f64;
    let outcome = if share > MEMORY_MAX {
        let message = format!(
            "max server memory is {} of the machine's memory",
            percent(share)
        );
        Finding::new(Severity::Low, message)
            .with("max server memory", bytes(limit))
            .with("memory of the machine", shown)
            .remedy("leave some to the system and to what the server takes outside this limit")
    } else {
        Outcome::fine(format!(
            "{} of {} ({})",
            bytes(limit),
            bytes(total),
            percent(share)
        ))
    };
    vec![outcome]
}
