//! How InnoDB writes pages back, and for which kind of disk it is configured.

use rules::{Finding, Outcome, Severity};

use super::known::{at, data, disk_missing, solid_state, variable_missing};
use super::sources::{MARIADB_NEIGHBORS, MARIADB_VARIABLES, MYSQL_CAPACITY, MYSQL_NEIGHBORS};
use super::{Applies, Rule};
use crate::capture::{Capture, Product};

/// The default of MariaDB, and of MySQL before 8.4: a single hard disk's.
const CAPACITY_DEFAULT: u64 = 200;
/// A disk that serves this many times as much is far from the default. Our choice.
const CAPACITY_FAR: u64 = 20;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "innodb-io-capacity",
        title: "InnoDB writes pages back for another disk than it has",
        severity: Severity::Medium,
        why: "medium where it is more than the disk serves, because reads then wait for write-back; low where it is a hard disk's \
              or less than 1/20 (ours) of what the disk serves, because pages pile up until they are flushed in a hurry",
        says: "innodb_io_capacity is about what the disk serves, as low as practical but not so low that write-back falls behind. \
               200, the default of MariaDB and of MySQL before 8.4, is a single hard disk's.",
        sources: &[MYSQL_CAPACITY, MARIADB_VARIABLES],
        applies: Applies::BOTH,
        judge: capacity,
    },
    Rule {
        id: "innodb-flush-neighbors",
        title: "neighbours of dirty pages are written too, on a disk without moving parts",
        severity: Severity::Low,
        why: "low: it writes more than is needed, and only a hard disk gains by it",
        says: "innodb_flush_neighbors is 0 on solid-state disks, as by default in MySQL from 8.0 on. Exempt: MariaDB ignores it where \
               the kernel says that the disk has no moving parts.",
        sources: &[MYSQL_NEIGHBORS, MARIADB_NEIGHBORS],
        applies: Applies::BOTH,
        judge: neighbours,
    },
];

fn capacity(capture: &Capture) -> Vec<Outcome> {
    vec![fitting(capture).unwrap_or_else(|unknown| unknown)]
}

fn fitting(capture: &Capture) -> Result<Outcome, Outcome> {
    let set = capture.number("innodb_io_capacity");
    let set = set.ok_or_else(|| variable_missing("innodb_io_capacity"))?;
    let path = data(capture)?;
    let found = |severity, message: String| {
        let finding = Finding::new(severity, message).with("innodb_io_capacity", set);
        match capture.variable("innodb_io_capacity_max") {
            Some(max) => finding.with("innodb_io_capacity_max", max),
            None => finding,
        }
        .at([at(capture, &path)])
    };
    if let Some(served) = capture.supplied(&path).and_then(|volume| volume.iops) {
        if set > served {
            let message = format!("innodb_io_capacity is {set}, and the disk serves {served} IOPS");
            return Ok(found(Severity::Medium, message).with("IOPS of the disk", served).remedy(
                "set it below what the disk serves, and leave room for reads and logs; it takes no restart",
            ));
        }
        if set.saturating_mul(CAPACITY_FAR) < served {
            let message = format!("innodb_io_capacity is {set}, and the disk serves {served} IOPS");
            return Ok(found(Severity::Low, message)
                .with("IOPS of the disk", served)
                .remedy("raise it until write-back keeps up with the load; it takes no restart"));
        }
        return Ok(Outcome::fine(format!("{set} on a disk of {served} IOPS")));
    }
    match solid_state(capture, &path) {
        Some(true) if set <= CAPACITY_DEFAULT => {
            let message = format!(
                "innodb_io_capacity is {set}, a hard disk's, on a disk without moving parts"
            );
            Ok(found(Severity::Low, message).remedy(
                "raise it until write-back keeps up with the load; it takes no restart. --host FILE with the volume's disk \
                 says what that serves",
            ))
        }
        Some(true) => Ok(Outcome::fine(format!("{set} on a solid-state disk"))),
        Some(false) => Ok(Outcome::fine(format!("{set} on a hard disk"))),
        None => Err(disk_missing(
            &format!("what the disk serves, to hold innodb_io_capacity = {set} against"),
            "iops",
        )),
    }
}

fn neighbours(capture: &Capture) -> Vec<Outcome> {
    vec![beside(capture).unwrap_or_else(|unknown| unknown)]
}

fn beside(capture: &Capture) -> Result<Outcome, Outcome> {
    let set = capture.number("innodb_flush_neighbors");
    let set = set.ok_or_else(|| variable_missing("innodb_flush_neighbors"))?;
    if set == 0 {
        return Ok(Outcome::fine("neighbours are not flushed"));
    }
    let path = data(capture)?;
    let seen = capture.volume(&path).and_then(|volume| volume.solid_state);
    let known = solid_state(capture, &path).ok_or_else(|| {
        disk_missing(
            "whether the disk has moving parts",
            "solid_state = true or false",
        )
    })?;
    if !known {
        return Ok(Outcome::fine(format!("{set} on a hard disk")));
    }
    let detects = capture.product == Product::MariaDb && capture.release() >= (10, 4);
    let message = match (detects, seen) {
        (true, Some(true)) => {
            let why =
                "the kernel says that the disk has no moving parts, and MariaDB then ignores it";
            return Ok(Outcome::exempt("detected", why));
        }
        (true, None) => {
            let why = "MariaDB ignores it where the kernel says that the disk has no moving parts";
            return Ok(Outcome::exempt("detected", why));
        }
        (true, Some(false)) => {
            "neighbours are flushed, because the kernel takes this solid-state disk for a hard disk"
        }
        (false, _) => "neighbours are flushed on a disk without moving parts",
    };
    Ok(Finding::new(Severity::Low, message)
        .with("innodb_flush_neighbors", set)
        .at([at(capture, &path)])
        .remedy("set innodb_flush_neighbors to 0, which takes no restart"))
}
