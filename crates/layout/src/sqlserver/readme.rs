//! `README.md` of a move: the order, what can go wrong, and the way back.

use model::Bytes;
use sqlserver::tsql::{FilePath, FileSpec};

use super::super::quote::line;
use super::super::{Platform, README, Script};
use super::kit::Kit;

/// The whole text.
pub(super) fn tempdb(kit: &Kit<'_>) -> Script {
    let mut text = format!(
        "# tempdb: {}\n\n\
         None of these scripts has run on a SQL Server yet; their T-SQL is parsed by Microsoft's own parser. Read them\n\
         before you run them, and try them where it does not matter.\n\n",
        line(&kit.wish.title)
    );
    text += &files(kit);
    text += &grounds(kit);
    text += &order(kit);
    text += &wrong(kit);
    text += &back(kit);
    Script::new(README, text)
}

/// What there is to be, as a table.
fn files(kit: &Kit<'_>) -> String {
    let mut text = String::from("| file | now | then | size now | then |\n|---|---|---|---|---|\n");
    let shown = |path: Option<&FilePath>| path.map_or("-".to_owned(), |path| cell(path.text()));
    for file in kit.to() {
        let now = kit
            .moved
            .from
            .iter()
            .find(|present| present.name == file.name);
        text += &format!(
            "| {} | {} | {} | {} | {} |\n",
            cell(file.name.text()),
            now.map_or("-".to_owned(), |now| shown(now.path.as_ref())),
            shown(file.path.as_ref()),
            now.map_or("-".to_owned(), |now| now.size.to_string()),
            size(file),
        );
    }
    for gone in kit
        .moved
        .from
        .iter()
        .filter(|from| kit.to().all(|to| to.name != from.name))
    {
        let name = cell(gone.name.text());
        text += &format!(
            "| {name} | {} | goes | {} | - |\n",
            shown(gone.path.as_ref()),
            gone.size
        );
    }
    text + "\n"
}

fn size(file: &FileSpec) -> String {
    file.size
        .map_or("as made".to_owned(), |size| size.to_string())
}

/// A text in a table: a bar would end the cell.
fn cell(text: &str) -> String {
    format!("`{}`", line(text).replace('|', "\\|").replace('`', "'"))
}

/// What is known and what was taken for granted.
fn grounds(kit: &Kit<'_>) -> String {
    let mut notes: Vec<String> = Vec::new();
    match &kit.target.capture {
        Some(capture) => {
            notes.push(format!(
                "Written for the server as captured on {}: {} {}, {}.",
                line(&capture.taken),
                line(&capture.identity.edition),
                line(&capture.identity.version),
                kit.target.on
            ));
            let unknown = kit.needs.keys().filter(|folder| kit.target.free(folder).is_none());
            for folder in unknown {
                notes.push(format!(
                    "What is free under `{folder}` is not in the capture (no database has a file there); `1-check.sql` \
                     asks the server."
                ));
            }
            if is_pending(kit) {
                notes.push(
                    "tempdb's files in use differ from those of the next start: somebody changed something and has not \
                     restarted yet. `undo.sql` goes back to those of the next start."
                        .to_owned(),
                );
            }
            if capture.identity.clustered == Some(true) {
                notes.push(
                    "A failover cluster instance: the folders and rights have to be there on every node."
                        .to_owned(),
                );
            }
        }
        None => notes.push(
            "**No capture was given.** It is assumed that tempdb has `tempdev` and `templog` only, of 8 MB each, in the \
             default folder of SQL Server 2022. `1-check.sql` stops where that is not so; then let `dbstow doctor` take \
             a capture, and write the scripts again with `--capture`. The way back is right only with it."
                .to_owned(),
        ),
    }
    let sizes = || kit.moved.data.iter().map(|file| file.size);
    if sizes().any(|size| size != sizes().next().flatten()) {
        notes.push(
            "The data files are of unequal size. SQL Server fills files in proportion to their free space, so that the \
             larger ones take more of the requests; equal sizes are usual."
                .to_owned(),
        );
    }
    if kit.wish.temp.iter().all(|file| file.size.is_none()) {
        notes.push(
            "No size was asked for: every data file gets the size of the largest one there is. tempdb grows while it \
             works, and each step costs; give it the size it needs with `--size`."
                .to_owned(),
        );
    }
    let list: String = notes.iter().map(|note| format!("- {note}\n")).collect();
    format!("{list}\n")
}

fn is_pending(kit: &Kit<'_>) -> bool {
    let in_use = kit
        .target
        .capture
        .iter()
        .flat_map(|capture| &capture.tempdb_in_use);
    let mut differing = in_use.filter(|used| {
        let next = kit.moved.from.iter().find(|file| file.id == used.id);
        next.is_none_or(|next| {
            next.path
                .as_ref()
                .is_some_and(|path| path.text() != used.path)
                || next.name.text() != used.name
        })
    });
    differing.next().is_some()
}

fn order(kit: &Kit<'_>) -> String {
    let end = if kit.is_windows() { "ps1" } else { "sh" };
    let mut text = format!(
        "## Order\n\n\
         0. `0-folders.{end}`: folders and rights, on the machine itself.\n\
         1. `{}`: stops with a text where something is in the way. It changes nothing that stays.\n\
         2. `{}`: new paths, new files. Nothing moves yet; new files are in use at once.\n\
         3. `3-restart.{end}`: the service restarts, and every connection ends.\n\
         4. `{}`: sizes, growth, and files that go. At once after the restart, before there is work.\n\
         5. `{}`: looks whether all is as asked. Then delete the old files by hand.\n\n",
        kit.sqlcmd("1-check.sql"),
        kit.sqlcmd("2-apply.sql"),
        kit.sqlcmd("4-size.sql"),
        kit.sqlcmd("5-verify.sql"),
    );
    text += "Scripts 2 to 5 can be run again. `sqlcmd -x` is needed: without it, `$(..)` in a name would be a variable.\n";
    match (kit.ephemeral.is_empty(), kit.target.on) {
        (true, _) => {}
        (false, Platform::Linux) => {
            text += "\nThe disk is empty after the machine was moved or stopped: install `dbstow-folders.service` before step \
                     3. Without its folders the service does not start.\n";
        }
        (false, Platform::Windows | Platform::ManagedInstance | Platform::AzureSqlDatabase) => {
            text += "\nThe disk is empty after the machine was deallocated or moved: run `start-up-register.ps1` before step 3. \
                     Without its folders the service does not start. Where the SQL Server IaaS Agent extension manages \
                     tempdb, it does this.\n";
        }
    }
    text + "\n"
}

fn wrong(kit: &Kit<'_>) -> String {
    let bytes: u64 = kit
        .to()
        .filter_map(|file| file.size)
        .map(|size| size.get())
        .fold(0, u64::saturating_add);
    let old = kit.moved.from.iter().map(|file| file.size.get());
    let old = old.fold(0, u64::saturating_add);
    format!(
        "## What can go wrong\n\n\
         - **The service does not start**: it cannot make its files in the new place (no folder, no rights, no space, a\n  \
           drive that is missing). See below.\n\
         - The old files stay where they are until the restart, and nobody deletes them after it: {} are needed in the new\n  \
           place, and {} stay taken in the old one.\n\
         - A file shrinks no further than what is in use; `5-verify.sql` says so. Run `4-size.sql` again at a quiet time.\n\
         - A file that is to go is not empty: somebody used tempdb after the restart. Restart, and run `4-size.sql` first.\n\
         - Without instant file initialization every byte is written at every start: large files make starts long. A log\n  \
           is always written.\n\n",
        Bytes(bytes),
        Bytes(old)
    )
}

fn back(kit: &Kit<'_>) -> String {
    let rescue = if kit.is_windows() {
        "rescue.cmd"
    } else {
        "rescue.sh"
    };
    let doubt = if kit.is_windows() {
        ""
    } else {
        " Microsoft describes this way for Windows; on Linux it is not checked."
    };
    format!(
        "## The way back\n\n\
         - While the server runs: `undo.sql`, restart, `undo-after-restart.sql`. The old place needs its space again.\n\
         - When it does not start: `{rescue}` starts it with as little as possible, and `rescue.sql` says that all files are\n  \
           where the old ones were; then as above.{doubt}\n\n\
         Sources: <https://learn.microsoft.com/sql/relational-databases/databases/move-system-databases>,\n\
         <https://learn.microsoft.com/sql/relational-databases/databases/tempdb-database>, read 2026-11.\n"
    )
}
