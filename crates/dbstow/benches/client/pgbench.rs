//! Beside pgbench: its own `-S`, and its default.

use std::path::Path;
use std::process::Command;

use engine::Engine;
use testing::server::{Folders, binaries, experiment, start_with};
use workload::Dialect;

use crate::beside::{Peer, SESSIONS_MAX, Transaction, compare, finish};

const TRANSACTIONS: [Transaction; 2] = [
    Transaction {
        name: "select",
        count: 20_000,
        text: "\\set aid random(1, 100000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
    },
    Transaction {
        name: "tpc-b",
        count: 3_000,
        text: "\\set aid random(1, 100000)\n\\set bid random(1, 1)\n\\set tid random(1, 10)\n\
             \\set delta random(-5000, 5000)\nBEGIN;\n\
             UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
             SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
             UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n\
             UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n\
             INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
             END;\n",
    },
];

pub(crate) fn run() {
    let Some(binaries) = binaries() else { return };
    let (settings, workload) = experiment("cold-lookup", "postgres", 2, SESSIONS_MAX);
    let site = Folders::new(2);
    let mut engine = start_with(&binaries, &site, &settings, &workload);
    // In the schema where dbstow's sessions look.
    let url = format!("{}&options=-csearch_path%3Dworkload", engine.url());
    let pgbench = |arguments: &[&str]| {
        let mut command = Command::new(binaries.program("pgbench"));
        command.args(arguments).arg(&url);
        command
    };
    finish(pgbench(&["--initialize", "--scale=1"]));
    let peer = Peer {
        name: "pgbench",
        command: &|file: &Path, sessions, count| {
            let mut command = pgbench(&[
                "--no-vacuum",
                "--protocol=prepared",
                &format!("--client={sessions}"),
                &format!("--jobs={sessions}"),
                &format!("--transactions={count}"),
            ]);
            command.arg("--file").arg(file);
            command
        },
    };
    let asked = (&TRANSACTIONS[..], site.parent());
    compare(&engine, Dialect::POSTGRES, &peer, asked);
    engine.stop().expect("nothing left");
}
