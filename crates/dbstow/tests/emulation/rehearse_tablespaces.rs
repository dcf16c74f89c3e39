//! `dbstow rehearse` of a PostgreSQL with a tablespace. Needs root, loop devices and PostgreSQL.
#![cfg(all(target_os = "linux", feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;

use testing::folder::{Folder, contains};
use testing::server::binaries;
use testing::theirs::Theirs;

use super::rehearse::{arguments, back_up, content, document, layout};

#[test]
fn tablespaces_of_a_backup_are_copied_from_where_the_user_says_and_from_archives() {
    let Some(binaries) = binaries() else {
        return;
    };
    let theirs = Theirs::start(&binaries);
    let apart = theirs.path("apart");
    fs::create_dir(&apart).unwrap();
    theirs.hand_over(&apart);
    theirs.sql(&format!(
        "CREATE TABLESPACE apart LOCATION '{}'",
        apart.display()
    ));
    theirs
        .sql("CREATE TABLE notes TABLESPACE apart AS SELECT n FROM generate_series(1, 1000) AS n");
    let oid = theirs.sql("SELECT oid FROM pg_tablespace WHERE spcname = 'apart'");
    let mapped = theirs.path("mapped");
    let mapping = format!(
        "--tablespace-mapping={}={}",
        apart.display(),
        mapped.display()
    );
    back_up(&theirs, "base", &[&mapping]);
    back_up(&theirs, "packed", &["--format=tar"]);
    // What is in the running server's own directory is not what is read.
    theirs.sql("DROP TABLE notes");
    theirs.sql("CHECKPOINT");

    let stamp = "2026-11-28 09:00:00.000 UTC [812] LOG:  duration: 1.0 ms  statement: ";
    let statements = [
        "INSERT INTO notes VALUES (0)",
        "SELECT 1 / (count(*) - 1000) FROM notes",
    ];
    let log = statements.map(|statement| format!("{stamp}{statement}\n"));
    let today = layout(3_000).replace(
        "log = {",
        "log = { volumes = \"log\" }\n[volume.log]\ndisk = \"aws.gp3\"\nsize = \"20 GiB\"\n#",
    );
    let folder = Folder::with(&[("today.toml", today), ("server.log", log.concat())]);
    let rehearse = |backup: &str, out: &str, more: &[&str]| {
        let backup = theirs.path(backup).display().to_string();
        let of_log = [
            "--database",
            "postgres",
            "--user",
            "boss",
            "--out",
            out,
            "--full",
        ];
        folder.printed(&arguments(&backup, "server.log", &[&of_log, more].concat()))
    };

    let refused = rehearse("base", "unnamed", &[]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    let named = format!("{oid}={}", mapped.display());
    contains(&refused.stderr, &[&format!("--tablespace {named}")]);
    let before = content(&mapped);
    for (backup, more) in [("base", &["--tablespace", &named][..]), ("packed", &[])] {
        let printed = rehearse(backup, backup, more);
        assert_eq!(printed.code, 0, "{}", printed.stderr);
        contains(
            &printed.stdout,
            &["tablespaces are on the placement's data volumes"],
        );
        let whole = document(&folder, backup);
        // The table has its rows, and room for one more: otherwise the second would divide by zero.
        assert_eq!(whole["layouts"][0]["fidelity"], 1.0, "{whole}");
        assert_eq!(whole["objects"][0]["name"], "public.notes", "{whole}");
    }
    assert_eq!(content(&mapped), before);
}
