//! The doublewrite area, and disks' guarantees for writes.

use rules::{Finding, Outcome, Severity};

use super::known::{at, atomic_write, bytes, data, disk_missing, is_on_zfs, variable_missing};
use super::sources::{AWS_TORN_WRITES, EXT4_ATOMIC, MARIADB_DOUBLEWRITE, OPENZFS};
use super::{Applies, Rule};
use crate::capture::Capture;

/// InnoDB's page size if a capture lacks it.
const PAGE: u64 = 16 << 10;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "doublewrite-off",
        title: "pages are not protected against torn writes",
        severity: Severity::High,
        why: "high where the disk is known not to write a page whole or not at all: a power cut destroys the page, and the redo \
              log cannot restore it; medium where it is not known",
        says: "innodb_doublewrite is off only where disk and file system write a page of InnoDB whole or not at all. Exempt: a disk \
               that promises it; ZFS, which never overwrites in place. Tables with a DATA DIRECTORY elsewhere are not looked at.",
        sources: &[MARIADB_DOUBLEWRITE, AWS_TORN_WRITES, EXT4_ATOMIC, OPENZFS],
        applies: Applies::BOTH,
        judge: off,
    },
    Rule {
        id: "doublewrite-not-needed",
        title: "pages are written twice on a disk that does not tear them",
        severity: Severity::Note,
        why: "note: it is safe, and what it costs depends on the load; the file system has to keep pages aligned as well",
        says: "Where the disk promises to write a page whole or not at all, the doublewrite area can be off, with O_DIRECT and a \
               file system that allocates in units of the page (ext4 with bigalloc and clusters of 16 KiB). ZFS never overwrites in \
               place, whatever the disk promises, and needs none either.",
        sources: &[AWS_TORN_WRITES, MARIADB_DOUBLEWRITE, EXT4_ATOMIC, OPENZFS],
        applies: Applies::BOTH,
        judge: not_needed,
    },
];

/// Whether pages are written to a doublewrite area. With MySQL's `DETECT_ONLY` they are not.
fn is_on(capture: &Capture) -> Result<bool, Outcome> {
    match capture.variable("innodb_doublewrite") {
        None => Err(variable_missing("innodb_doublewrite")),
        Some("OFF" | "0" | "DETECT_ONLY") => Ok(false),
        Some(_) => Ok(true),
    }
}

fn page(capture: &Capture) -> u64 {
    capture.number("innodb_page_size").unwrap_or(PAGE)
}

fn off(capture: &Capture) -> Vec<Outcome> {
    vec![unprotected(capture).unwrap_or_else(|unknown| unknown)]
}

fn unprotected(capture: &Capture) -> Result<Outcome, Outcome> {
    if is_on(capture)? {
        return Ok(Outcome::fine("the doublewrite area is on"));
    }
    let path = data(capture)?;
    if is_on_zfs(capture, &path) {
        let why = "the data is on ZFS, which never overwrites in place";
        return Ok(Outcome::exempt("copy-on-write", why));
    }
    let page = page(capture);
    let promised = atomic_write(capture, &path);
    if let Some(promised) = promised.filter(|promised| *promised >= page) {
        let why = format!(
            "the disk promises writes of {} whole or not at all; the file system has to keep pages aligned as well",
            bytes(promised)
        );
        return Ok(Outcome::exempt("atomic-writes", why));
    }
    let (severity, message, promise) = match promised {
        Some(0) => (
            Severity::High,
            "the doublewrite area is off, and the disk promises no write of a page whole or not at all",
            "none".to_owned(),
        ),
        Some(less) => (
            Severity::High,
            "the doublewrite area is off, and the disk's promise is smaller than a page",
            bytes(less),
        ),
        None => (
            Severity::Medium,
            "the doublewrite area is off, and nothing says that the disk writes a page whole or not at all",
            "not known".to_owned(),
        ),
    };
    Ok(Finding::new(severity, message)
        .with(
            "innodb_doublewrite",
            capture.variable("innodb_doublewrite").unwrap_or_default(),
        )
        .with("page", bytes(page))
        .with("promise of the disk", promise)
        .at([at(capture, &path)])
        .remedy("set innodb_doublewrite to ON; if the disk does promise it, give atomic_write_bytes with --host FILE"))
}

fn not_needed(capture: &Capture) -> Vec<Outcome> {
    vec![needless(capture).unwrap_or_else(|unknown| unknown)]
}

fn needless(capture: &Capture) -> Result<Outcome, Outcome> {
    if !is_on(capture)? {
        return Ok(Outcome::fine("the doublewrite area is off"));
    }
    let path = data(capture)?;
    let page = page(capture);
    if is_on_zfs(capture, &path) {
        // A page in two records may be in two transaction groups, of which the later may be lost: our own caution.
        let remedy = format!(
            "measure what it costs; it may be off where each record holds a whole page (recordsize of {} or more)",
            bytes(page)
        );
        return Ok(Finding::new(
            Severity::Note,
            "the doublewrite area is on, and the data is on ZFS, which never overwrites in place",
        )
        .with("page", bytes(page))
        .at([at(capture, &path)])
        .remedy(remedy));
    }
    let Some(promised) = atomic_write(capture, &path) else {
        let what = format!(
            "whether the disk writes {} whole or not at all",
            bytes(page)
        );
        return Err(disk_missing(&what, "atomic_write_bytes"));
    };
    if promised < page {
        return Ok(Outcome::fine("it is on, and the disk needs it"));
    }
    Ok(Finding::new(
        Severity::Note,
        "the doublewrite area is on, and the disk promises to write a page whole or not at all",
    )
    .with("promise of the disk", bytes(promised))
    .with("page", bytes(page))
    .at([at(capture, &path)])
    .remedy(
        "measure what it costs; it may be off where the file system keeps pages aligned too, as its vendor describes",
    ))
}
