//! `README.md`: the order, what can go wrong, and the way back.

use super::super::quote::line;
use super::super::{README, Script};
use super::Kit;
use experiment::spec::Role;

/// The whole text.
pub(super) fn script(kit: &Kit<'_>) -> Script {
    let mut text = format!("# PostgreSQL: {}\n\n", line(&kit.wish.title));
    text +=
        "## Order\n\n0. `0-folders.sh`, as root: folders that belong to the server's user alone.\n";
    if kit.tablespaces().next().is_some() {
        text += "1. `psql -f 1-check.sql`: stops with a text where something is in the way. Changes nothing.\n\
                 2. `psql -f 2-apply.sql`: makes tablespaces and has them used. No restart.\n\
                 3. `psql -f 3-verify.sql`: shows what there is now.\n";
    }
    if kit.log.is_some() {
        text += "4. `4-move-wal.sh`, as root: stops the server, moves the write-ahead log, starts it.\n";
    }
    text += "\nThe way back: ";
    let back = [
        kit.tablespaces().next().map(|_| "`psql -f undo.sql`"),
        kit.log.as_ref().map(|_| "`undo-wal.sh`"),
    ];
    text += &back.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    text += ".\n\n## What to know\n\n\
             - psql connects as a superuser, most often `sudo -u postgres psql`; `-v ON_ERROR_STOP=1` is set inside.\n";
    text += &notes(kit);
    Script::new(README, text)
}

fn notes(kit: &Kit<'_>) -> String {
    let mut text = String::new();
    let several = Role::ALL.iter().any(|role| {
        let files = kit.wish.files(*role);
        let volumes: std::collections::BTreeSet<_> =
            files.iter().map(|file| &file.volume).collect();
        kit.wish.has(*role) && files.len() > volumes.len()
    });
    if several {
        text += "- PostgreSQL has no number of files to choose: each volume has one tablespace, however many files the\n  \
                 placement has there.\n";
    }
    if !kit.temp.is_empty() {
        text += "- `temp_tablespaces` is set for the whole server and holds for new sessions and, after the reload, for old\n  \
                 ones; a transaction takes one of them at random and goes on in turn.\n\
                 - **A tablespace belongs to the cluster.** PostgreSQL's manual warns of one on a disk that can vanish: if it is\n  \
                 lost, the server may not start, or the cluster may be unreadable. With a disk that is empty after a restart,\n  \
                 make the folders again *before* the server starts (folder, owner, and the folder `PG_..` in it), and try it\n  \
                 out first. Source: <https://www.postgresql.org/docs/current/manage-ag-tablespaces.html>, read 2026-11.\n";
    }
    let roles = [Role::Data, Role::Log]
        .into_iter()
        .filter(|role| kit.wish.has(*role));
    let mut kept = roles
        .flat_map(|role| kit.wish.files(role))
        .map(|file| &file.volume);
    if let Some(volume) = kept.find(|volume| kit.wish.ephemeral.contains(*volume)) {
        text += &format!(
            "- **WARNING**: volume \"{}\" is empty after the machine was stopped or moved, and data or log are to live there:\n  \
             **THE WHOLE CLUSTER IS LOST THEN**. It is for tests only.\n",
            line(volume)
        );
    }
    if kit.data.len() > 1 {
        text += "- A table lives in one tablespace: the database goes to the first one. Others take tables by hand\n  \
                 (`ALTER TABLE .. SET TABLESPACE`).\n";
    }
    if !kit.data.is_empty() && kit.wish.database.is_none() {
        text += "- No `--database` was given: tablespaces for data are made, and nothing is moved into them.\n";
    }
    if kit.log.is_some() {
        text += "- The log must never be on a disk that loses its content: without it the cluster does not start.\n";
    }
    text
}
