//! tempdb: the number of files, and their volume. Sizes are in [`super::tempdb_sizes`].

use std::collections::BTreeSet;

use crate::capture::Capture;
use crate::tsql::question;

use super::locations::{
    by_mount, databases, is_azure, is_linux, machine_missing, missing, mount_of, moves, place,
    places, refusal, tempdb_data, tempdb_missing, user_files, volumes_missing,
};
use super::sources::{
    DBATOOLS_TEMPDB, FRK_MANY_FILES, MOVE, RULESET, TEMPDB_CONTENTION, TEMPDB_PAGE, TRACE_FLAGS,
};
use super::{Applies, Rule};
use rules::shown::{count, list};
use rules::{Change, Finding, Location, Outcome, Severity};

/// Processors up to which one file each is advised.
pub(super) const FILES_START: usize = 8;
/// Files that are added at once where there are more.
const FILES_STEP: usize = 4;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tempdb-file-count",
        title: "tempdb has too few or too many data files",
        severity: Severity::Medium,
        why: "medium, as in Microsoft's ruleset: it costs speed where sessions make many temporary tables, and nothing elsewhere",
        says: "As many data files as logical processors, up to 8. More than 8 are for contention that stays, added 4 at a time; \
               more than 8 and more than half of the processors are too many. More files than processors, up to 8, do no harm.",
        sources: &[
            TEMPDB_PAGE,
            TEMPDB_CONTENTION,
            RULESET,
            DBATOOLS_TEMPDB,
            FRK_MANY_FILES,
        ],
        applies: Applies::BOXED,
        judge: file_count,
    },
    Rule {
        id: "tempdb-shares-volume",
        title: "tempdb shares a volume with users' databases",
        severity: Severity::Medium,
        why: "medium, as in Microsoft's ruleset: spills and row versions take IOPS from data, and growth takes its space",
        says: "tempdb is on other disks than users' databases. Not for virtual machines of Azure, whose disks share one limit; \
               there azure-tempdb-local-disk speaks.",
        sources: &[TEMPDB_PAGE, RULESET],
        applies: Applies::BOXED,
        judge: shares_volume,
    },
    Rule {
        id: "tempdb-files-own-disks",
        title: "each tempdb file has a disk of its own",
        severity: Severity::Note,
        why: "note: nothing is wrong, but disks may be idle that were bought for it",
        says: "Several data files may share one volume. Disks of their own help only where tempdb waits for the disk; \
               allocation contention goes away on one disk as well.",
        sources: &[TEMPDB_PAGE, TEMPDB_CONTENTION],
        applies: Applies::BOXED,
        judge: own_disks,
    },
    Rule {
        id: "tempdb-pending-restart",
        title: "tempdb will be different after the next start",
        severity: Severity::Medium,
        why: "medium: what was changed is not in force, and a folder that is missing then keeps the server from starting",
        says: "The files in use are the ones that the next start will make.",
        sources: &[MOVE],
        applies: Applies::BOXED,
        judge: pending,
    },
    Rule {
        id: "tempdb-trace-flags",
        title: "trace flags 1117 and 1118 do not go with this version",
        severity: Severity::Low,
        why: "low, as in Microsoft's ruleset: from 2016 on the flags do nothing; before, they are a part of having several files",
        says: "1117 and 1118 are on up to 2014, and off from 2016 on, where tempdb grows evenly and uses whole extents by itself.",
        sources: &[TRACE_FLAGS, RULESET],
        applies: Applies::BOXED,
        judge: trace_flags,
    },
];

/// Recommended minimum number of tempdb data files for this many logical processors: one each, up to 8.
///
/// Source: Microsoft, "tempdb database" (read 2026-11).
pub fn tempdb_files_advised(processors: i64) -> usize {
    // More than fit are as many as it takes, and fewer than none are none.
    let known = processors.clamp(1, i64::from(u16::MAX));
    usize::try_from(known).map_or(1, |known| known.min(FILES_START))
}

fn file_count(capture: &Capture) -> Vec<Outcome> {
    let files = tempdb_data(capture);
    let Some(processors) = capture.machine.processors else {
        return vec![machine_missing(capture, "the number of processors")];
    };
    if files.is_empty() {
        return vec![tempdb_missing(capture)];
    }
    let wanted = tempdb_files_advised(processors);
    let processors = usize::try_from(processors).unwrap_or(0);
    let have = count(files.len(), "data file");
    let for_these = format!("for {}", count(processors, "logical processor"));
    let finding = |severity, message: String| {
        Finding::new(severity, message)
            .with("data files at the next start", files.len())
            .with("logical processors", processors)
            .at(places(capture, files.iter().copied()))
    };
    let outcome = if files.len() < wanted {
        let by_setup = if is_linux(capture) {
            "; setup on Linux makes one file by default"
        } else {
            ""
        };
        finding(
            Severity::Medium,
            format!("tempdb has {have} {for_these}{by_setup}"),
        )
        .advises(Change::MoreTempFiles)
        .remedy(format!(
            "add files until there are {wanted}, all with one size and one growth (ALTER DATABASE tempdb ADD FILE); \
             they fill evenly from the next start on"
        ))
    } else if files.len() > FILES_START && 2 * files.len() > processors {
        let message =
            format!("tempdb has {have} {for_these}: more than 8, and more than half of them");
        finding(Severity::Low, message).advises(Change::FewerTempFiles).remedy(
            "go back to 8 unless contention on allocation pages was seen with fewer: large sorts and hashes are spread over all files",
        )
    } else if files.len() > FILES_START && !(files.len() - FILES_START).is_multiple_of(FILES_STEP) {
        let message = format!("tempdb has {have} {for_these}, which is not 8 and some groups of 4");
        finding(Severity::Note, message)
            .remedy("nothing has to be done; the next files are better added in fours")
    } else {
        Outcome::fine(format!("{have} {for_these}"))
    };
    vec![outcome]
}

fn shares_volume(capture: &Capture) -> Vec<Outcome> {
    let tempdb = by_mount(capture, capture.tempdb());
    if tempdb.is_empty() {
        return vec![volumes_missing(capture)];
    }
    let users = by_mount(capture, user_files(capture));
    let shared: Vec<&str> = tempdb
        .keys()
        .filter(|mount| users.contains_key(*mount))
        .copied()
        .collect();
    if shared.is_empty() {
        let mounts: Vec<&str> = tempdb.into_keys().collect();
        return vec![Outcome::fine(format!(
            "tempdb has {} to itself",
            list(&mounts)
        ))];
    }
    if is_azure(capture) == Some(true) {
        let why = format!(
            "tempdb and users' databases share {}; Microsoft does not ask this of virtual machines of Azure",
            list(&shared)
        );
        return vec![Outcome::exempt("azure-vm", why)];
    }
    let finding = |mount: &str| {
        let (theirs, ours) = (&users[mount], &tempdb[mount]);
        let names = databases(capture, theirs.iter().copied());
        let if_azure = match is_azure(capture) {
            Some(_) => "",
            None => {
                "; if this is a virtual machine of Azure, say so with --host: the rule is not for those"
            }
        };
        Finding::new(
            Severity::Medium,
            format!("tempdb shares {mount} with {}", list(&names)),
        )
        .advises(Change::TempApart)
        .with(format!("files of tempdb on {mount}"), ours.len())
        .with(
            format!("files of users' databases on {mount}"),
            theirs.len(),
        )
        .at(places(capture, ours.iter().copied()))
        .remedy(format!(
            "try tempdb on a volume of its own, and move it if that is faster here{if_azure}"
        ))
    };
    shared.into_iter().map(finding).collect()
}

fn own_disks(capture: &Capture) -> Vec<Outcome> {
    let files = tempdb_data(capture);
    let mounts: Vec<&str> = files
        .iter()
        .filter_map(|file| mount_of(capture, file))
        .collect();
    if files.is_empty() || mounts.len() < files.len() {
        return vec![volumes_missing(capture)];
    }
    let volumes: BTreeSet<&str> = mounts.iter().copied().collect();
    if files.len() > 1 && volumes.len() == files.len() {
        let mounts: Vec<&str> = volumes.into_iter().collect();
        let message = format!(
            "each of the {} of tempdb is on a volume of its own ({})",
            count(files.len(), "data file"),
            list(&mounts)
        );
        return vec![
            Finding::new(Severity::Note, message)
                .with("volumes", mounts.len())
                .at(places(capture, files))
                .remedy("nothing has to be done; several files on one volume do as well unless that volume is the bottleneck"),
        ];
    }
    vec![Outcome::fine(format!(
        "{} on {}: no disk of its own is needed for each",
        count(files.len(), "data file"),
        count(volumes.len(), "volume")
    ))]
}

fn pending(capture: &Capture) -> Vec<Outcome> {
    let next: Vec<_> = capture.tempdb().collect();
    if next.is_empty() {
        return vec![tempdb_missing(capture)];
    }
    if capture.tempdb_in_use.is_empty() {
        return vec![missing(
            capture,
            &question::TEMPDB_IN_USE,
            "the files of tempdb in use",
            "capture again as a login that may read tempdb.sys.database_files",
        )];
    }
    let used = |id: i64| capture.tempdb_in_use.iter().find(|used| used.id == id);
    let mut evidence: Vec<(String, String)> = Vec::new();
    let mut at: Vec<Location> = Vec::new();
    for file in &next {
        match used(file.id) {
            None => evidence.push((
                file.name.clone(),
                format!("not there now, then {}", file.path),
            )),
            Some(used) if moves(capture, file) => evidence.push((
                file.name.clone(),
                format!("now {}, then {}", used.path, file.path),
            )),
            Some(_) => continue,
        }
        at.push(place(capture, file));
    }
    let gone = |used: &&crate::capture::FileInUse| !next.iter().any(|file| file.id == used.id);
    for used in capture.tempdb_in_use.iter().filter(gone) {
        evidence.push((used.name.clone(), format!("now {}, then gone", used.path)));
    }
    if evidence.is_empty() {
        return vec![Outcome::fine(format!(
            "the next start makes the same {}",
            count(next.len(), "file")
        ))];
    }
    let message = format!(
        "{} of tempdb will be different after the next start",
        count(evidence.len(), "file")
    );
    let mut finding = Finding::new(Severity::Medium, message).at(at);
    finding.evidence = evidence;
    vec![finding.remedy(
        "restart when it suits; before, make sure that each new folder is there and the service's account has full control of it",
    )]
}

/// Version from which tempdb does this by default: 2016.
const EVEN_BY_ITSELF: u32 = 13;

fn trace_flags(capture: &Capture) -> Vec<Outcome> {
    // A flag that is off has no row: a missing result looks like all of them being off.
    if refusal(capture, &question::TRACE_FLAGS).is_some() {
        return vec![missing(
            capture,
            &question::TRACE_FLAGS,
            "which trace flags are on",
            "capture again as a login that may run DBCC TRACESTATUS",
        )];
    }
    let on: Vec<i64> = [1117, 1118]
        .into_iter()
        .filter(|flag| capture.trace_flags.contains(flag))
        .collect();
    let shown = |flags: &[i64]| {
        let flags: Vec<String> = flags.iter().map(i64::to_string).collect();
        flags.join(" and ")
    };
    let major = capture.identity.major();
    let outcome = if major >= EVEN_BY_ITSELF && !on.is_empty() {
        let message = format!(
            "trace flag {} is on, and does nothing from 2016 on",
            shown(&on)
        );
        Finding::new(Severity::Low, message)
            .with("version", &capture.identity.version)
            .with("trace flags", shown(&on))
            .remedy("take it out of the startup parameters")
    } else if major >= EVEN_BY_ITSELF {
        Outcome::fine("neither is on, and neither is needed from 2016 on")
    } else if on.len() == 2 {
        Outcome::fine("both are on")
    } else {
        let off: Vec<i64> = [1117, 1118]
            .into_iter()
            .filter(|flag| !on.contains(flag))
            .collect();
        let message = format!(
            "trace flag {} is off, and this version needs it for even files",
            shown(&off)
        );
        Finding::new(Severity::Low, message)
            .with("version", &capture.identity.version)
            .remedy(
                "add it to the startup parameters; 1117 makes the files of every database grow together, so look at those first",
            )
    };
    vec![outcome]
}
