//! Processor time per transaction of dbstow's client and of pgbench: same script, same server, same
//! sessions, in turns. `scripts/bench-client` runs it.

#[cfg(unix)]
#[path = "../tests/support/server.rs"]
mod server;

#[cfg(unix)]
mod bench {
    use std::process::{Command, Stdio};
    use std::sync::Arc;

    use lab::engine::Engine;
    use lab::engine::postgres::Postgres;
    use model::random::stream;
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::{TimeVal, TimeValLike};
    use volume::clock::Clock;
    use workload::{Dialect, Names, Script, Variables};

    use super::server::{Folders, SessionContext, binaries, experiment, start};

    /// pgbench's own `-S`, and its default.
    const SCRIPTS: [(&str, u64, &str); 2] = [
        (
            "select",
            20_000,
            "\\set aid random(1, 100000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
        ),
        (
            "tpc-b",
            3_000,
            "\\set aid random(1, 100000)\n\\set bid random(1, 1)\n\\set tid random(1, 10)\n\
             \\set delta random(-5000, 5000)\nBEGIN;\n\
             UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
             SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
             UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n\
             UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n\
             INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
             END;\n",
        ),
    ];

    const SESSIONS: [u32; 2] = [1, 8];

    /// Rounds of each; the middle one counts.
    const ROUNDS: usize = 7;

    /// What a round took: processor time and elapsed time per transaction, in microseconds.
    #[derive(Clone, Copy, PartialEq, PartialOrd)]
    struct Cost {
        cpu_us: f64,
        elapsed_us: f64,
    }

    pub(super) fn run() {
        let Some(binaries) = binaries() else { return };
        let most = SESSIONS[SESSIONS.len() - 1];
        let (settings, workload) = experiment("cold-lookup", "postgres", 2, most);
        let site = Folders::new(2);
        let Some(mut engine) = start(&site, &settings, &workload) else {
            return;
        };
        // In the schema where dbstow's sessions look.
        let url = format!("{}&options=-csearch_path%3Dworkload", engine.url());
        let pgbench = |arguments: &[&str]| {
            let status = Command::new(binaries.program("pgbench"))
                .args(arguments)
                .arg(&url)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(status.expect("pgbench starts").success());
        };
        pgbench(&["--initialize", "--scale=1"]);
        println!(
            "PostgreSQL {}, median of {ROUNDS} rounds in turns",
            engine.describe().version
        );
        println!(
            "script  sessions   pgbench us/transaction (elapsed)   dbstow us/transaction (elapsed)   ratio"
        );
        for (name, transactions, text) in SCRIPTS {
            let file = site.parent().join(name);
            std::fs::write(&file, text).expect("a script");
            let file = file.display().to_string();
            for sessions in SESSIONS {
                let (mut theirs, mut ours) = (Vec::new(), Vec::new());
                let all = transactions * u64::from(sessions);
                for _ in 0..ROUNDS {
                    let (count, each) = (sessions.to_string(), transactions.to_string());
                    theirs.push(cost(UsageWho::RUSAGE_CHILDREN, all, || {
                        pgbench(&[
                            "--no-vacuum",
                            "--protocol=prepared",
                            "--file",
                            &file,
                            "--client",
                            &count,
                            "--jobs",
                            &count,
                            "--transactions",
                            &each,
                        ]);
                    }));
                    ours.push(cost(UsageWho::RUSAGE_SELF, all, || {
                        run_transactions(&engine, text, sessions, transactions);
                    }));
                }
                let (theirs, ours) = (middle(theirs), middle(ours));
                println!(
                    "{name:7} {sessions:8} {:16.2} ({:9.2}) {:26.2} ({:9.2}) {:12.2}",
                    theirs.cpu_us,
                    theirs.elapsed_us,
                    ours.cpu_us,
                    ours.elapsed_us,
                    ours.cpu_us / theirs.cpu_us
                );
            }
        }
        engine.stop().expect("nothing left");
    }

    fn run_transactions(engine: &Postgres, text: &str, sessions: u32, transactions: u64) {
        let mut names = Names::new();
        let script = Script::parse("bench.sql", text, Dialect::Postgres, &mut names).expect(text);
        let names = Arc::new(names);
        std::thread::scope(|scope| {
            for session in 0..sessions {
                let (script, names) = (&script, Arc::clone(&names));
                scope.spawn(move || {
                    let mut seat = SessionContext(engine.connect(session).expect("a connection"));
                    let mut variables = Variables::new(names, session, sessions);
                    let mut random = stream(u64::from(session), "keys");
                    for _ in 0..transactions {
                        script
                            .execute(&mut variables, &mut random, &mut seat)
                            .expect("it runs");
                    }
                });
            }
        });
    }

    fn cost(who: UsageWho, transactions: u64, work: impl FnOnce()) -> Cost {
        let cpu = || {
            let usage = getrusage(who).expect("it is always known");
            let us = |time: TimeVal| time.num_microseconds() as f64;
            us(usage.user_time()) + us(usage.system_time())
        };
        let (clock, before) = (Clock::start(), cpu());
        work();
        let each = |us: f64| us / transactions as f64;
        Cost {
            cpu_us: each(cpu() - before),
            elapsed_us: each(clock.now().as_secs_f64() * 1e6),
        }
    }

    fn middle(mut costs: Vec<Cost>) -> Cost {
        costs.sort_by(|one, other| one.cpu_us.total_cmp(&other.cpu_us));
        costs[costs.len() / 2]
    }
}

fn main() {
    #[cfg(unix)]
    bench::run();
}
