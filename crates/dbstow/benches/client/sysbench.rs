//! Beside Debian's sysbench: pgbench's transactions, in MariaDB's words, as prepared statements.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use engine::Engine;
use experiment::spec::{Commit, Settings};
use model::random::stream;
use nix::unistd::{User, getuid};
use testing::mariadb::start;
use testing::server::{Folders, SessionContext, experiment};
use workload::{Dialect, Names, Script, Variables, Workload};

use crate::beside::{Peer, SESSIONS_MAX, Transaction, compare};

pub(crate) const TRANSACTIONS: [Transaction; 2] = [
    Transaction {
        name: "select",
        count: 20_000,
        text: "\\set aid random(1, 100000)\nSELECT abalance FROM accounts WHERE aid = :aid;\n",
    },
    Transaction {
        name: "tpc-b",
        count: 3_000,
        text: "\\set aid random(1, 100000)\n\\set bid random(1, 1)\n\\set tid random(1, 10)\n\
             \\set delta random(-5000, 5000)\nBEGIN;\n\
             UPDATE accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
             SELECT abalance FROM accounts WHERE aid = :aid;\n\
             UPDATE tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n\
             UPDATE branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n\
             INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
             COMMIT;\n",
    },
];

/// pgbench's tables at scale 1.
const LOAD: &str = "\
CREATE TABLE accounts (aid INT PRIMARY KEY, bid INT, abalance INT, filler CHAR(84));
CREATE TABLE tellers (tid INT PRIMARY KEY, bid INT, tbalance INT, filler CHAR(84));
CREATE TABLE branches (bid INT PRIMARY KEY, bbalance INT, filler CHAR(88));
CREATE TABLE history (tid INT, bid INT, aid INT, delta INT, mtime TIMESTAMP, filler CHAR(22));
INSERT INTO accounts SELECT seq, 1, 0, '' FROM seq_1_to_100000;
INSERT INTO tellers SELECT seq, 1, 0, '' FROM seq_1_to_10;
INSERT INTO branches VALUES (1, 0, '');
";

pub(crate) fn run() {
    let (settings, workload) = asked();
    let site = Folders::new(2);
    let Some(mut engine) = start(&site, &settings, &workload) else {
        return;
    };
    load(&engine);
    let user = User::from_uid(getuid()).expect("users are known");
    let user = user.expect("this one is").name;
    let lua = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/client/sysbench.lua");
    let socket = engine.socket();
    let peer = Peer {
        name: "sysbench",
        command: &|file: &Path, sessions, count| {
            let mut command = Command::new("sysbench");
            command
                .args(["--db-driver=mysql", "--mysql-db=workload", "--time=0"])
                .arg(format!("--mysql-socket={}", socket.display()))
                .arg(format!("--mysql-user={user}"))
                .arg(format!("--threads={sessions}"))
                .arg(format!("--events={}", count * u64::from(sessions)))
                .arg(&lua)
                .arg(format!("--transaction={}", file.display()))
                .arg("run");
            command
        },
    };
    let asked = (&TRANSACTIONS[..], site.parent());
    compare(&engine, Dialect::MARIADB, &peer, asked);
    engine.stop().expect("nothing left");
}

/// A server whose commits do not wait for the disk, as that would dominate the time and says nothing about a client.
pub(crate) fn asked() -> (Settings, Workload) {
    let (mut settings, workload) = experiment("cold-lookup", "mariadb", 2, SESSIONS_MAX);
    settings.engine.commit = Commit::Relaxed;
    (settings, workload)
}

/// Makes and fills the tables.
pub(crate) fn load(engine: &dyn Engine) {
    let mut names = Names::new();
    let script = Script::parse("load.sql", LOAD, Dialect::MARIADB, &mut names);
    let script = script.unwrap_or_else(|error| panic!("{error}"));
    let mut seat = SessionContext(engine.connect(0).expect("a connection"));
    let mut variables = Variables::new(Arc::new(names), 0, 1);
    script
        .execute(&mut variables, &mut stream(0, "load"), &mut seat)
        .expect("tables");
}
