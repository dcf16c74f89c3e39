//! Undo tablespaces.

use rules::{Finding, Outcome, Severity};

use super::known::{at, data, variable_missing};
use super::sources::{MARIADB_UNDO, MARIADB_VARIABLES};
use super::{Applies, Rule};
use crate::capture::Capture;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "undo-in-system-tablespace",
    title: "undo records cannot be given back, or not be placed",
    severity: Severity::Low,
    why: "low: one long transaction makes the system tablespace grow for good, and undo cannot have a volume of its own",
    says: "innodb_undo_tablespaces is 2 or more, and innodb_undo_log_truncate is ON. MySQL 8.0 and later always have two.",
    sources: &[MARIADB_UNDO, MARIADB_VARIABLES],
    applies: Applies::MARIADB,
    judge: undo,
}];

fn undo(capture: &Capture) -> Vec<Outcome> {
    let Some(spaces) = capture.number("innodb_undo_tablespaces") else {
        return vec![variable_missing("innodb_undo_tablespaces")];
    };
    let path = data(capture).ok();
    let places = path.iter().map(|path| at(capture, path));
    let outcome = match (spaces, capture.switch("innodb_undo_log_truncate")) {
        (0, _) => Finding::new(
            Severity::Low,
            "undo records are in the system tablespace, which never shrinks",
        )
        .with("innodb_undo_tablespaces", 0)
        .at(places)
        .remedy(match capture.release() < (11, 0) {
            true => "set innodb_undo_tablespaces to 3 when the data directory is made anew: before MariaDB 11.0 it cannot \
                     be changed later",
            false => "set innodb_undo_tablespaces to 3, and restart",
        }),
        (spaces, Some(false)) => Finding::new(
            Severity::Note,
            "undo tablespaces are not truncated when they are empty again",
        )
        .with("innodb_undo_tablespaces", spaces)
        .with("innodb_undo_log_truncate", "OFF")
        .remedy("set innodb_undo_log_truncate to ON, which takes no restart"),
        (spaces, _) => Outcome::fine(format!("{spaces} undo tablespaces")),
    };
    vec![outcome]
}
