//! dbstow's client beside another of the same server: same transactions, same sessions, in turns.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use engine::Engine;
use host::clock::Clock;
use model::random::stream;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use testing::server::SessionContext;
use workload::{Dialect, Names, Script, Variables};

const SESSIONS: [u32; 2] = [1, 8];

/// The most sessions of a comparison.
pub(crate) const SESSIONS_MAX: u32 = SESSIONS[SESSIONS.len() - 1];

/// Rounds of each; the middle one counts.
pub(crate) const ROUNDS: usize = 7;

/// A transaction in pgbench's language, a statement a line, and how often a session executes it in a round.
pub(crate) struct Transaction {
    pub(crate) name: &'static str,
    pub(crate) count: u64,
    pub(crate) text: &'static str,
}

/// Another program that executes transactions.
pub(crate) struct Peer<'a> {
    pub(crate) name: &'static str,
    /// Its command: the file with the transaction's text, sessions, and transactions of each.
    pub(crate) command: &'a dyn Fn(&Path, u32, u64) -> Command,
}

/// What a round took: processor time and elapsed time per transaction, in microseconds.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Cost {
    cpu_us: f64,
    elapsed_us: f64,
}

/// Prints the time of both clients for each of `transactions`, whose texts are written to `folder`.
pub(crate) fn compare(
    engine: &dyn Engine,
    dialect: Dialect,
    peer: &Peer<'_>,
    (transactions, folder): (&[Transaction], &Path),
) {
    let about = engine.describe();
    println!(
        "{} {}, {}, median of {ROUNDS} rounds in turns",
        about.name, about.version, peer.name
    );
    println!(
        "script  sessions {:>9} us/transaction (elapsed)   dbstow us/transaction (elapsed)   ratio",
        peer.name
    );
    for transaction in transactions {
        let file = folder.join(transaction.name);
        std::fs::write(&file, transaction.text).expect("a script");
        for sessions in SESSIONS {
            let all = transaction.count * u64::from(sessions);
            let (mut theirs, mut ours) = (Vec::new(), Vec::new());
            for round in 0..ROUNDS {
                let mut their_turn = || {
                    theirs.push(cost(UsageWho::RUSAGE_CHILDREN, all, || {
                        let command = (peer.command)(&file, sessions, transaction.count);
                        finish(command);
                    }));
                };
                let mut our_turn = || {
                    ours.push(cost(UsageWho::RUSAGE_SELF, all, || {
                        execute(engine, dialect, transaction, sessions);
                    }));
                };
                // Whoever comes second finds the server as the first one left it.
                if round % 2 == 0 {
                    their_turn();
                    our_turn();
                } else {
                    our_turn();
                    their_turn();
                }
            }
            let (theirs, ours) = (middle(theirs), middle(ours));
            println!(
                "{:7} {sessions:8} {:16.2} ({:9.2}) {:26.2} ({:9.2}) {:12.2}",
                transaction.name,
                theirs.cpu_us,
                theirs.elapsed_us,
                ours.cpu_us,
                ours.elapsed_us,
                ours.cpu_us / theirs.cpu_us
            );
        }
    }
}

/// Runs a program that must succeed.
pub(crate) fn finish(mut command: Command) {
    let output = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Executes a transaction in all sessions, as often as it asks for.
pub(crate) fn execute(
    engine: &dyn Engine,
    dialect: Dialect,
    transaction: &Transaction,
    sessions: u32,
) {
    let mut names = Names::new();
    let script = Script::parse("bench.sql", transaction.text, dialect, &mut names)
        .unwrap_or_else(|error| panic!("{error}"));
    let names = Arc::new(names);
    std::thread::scope(|scope| {
        for session in 0..sessions {
            let (script, names) = (&script, Arc::clone(&names));
            scope.spawn(move || {
                let mut seat = SessionContext(engine.connect(session).expect("a connection"));
                let mut variables = Variables::new(names, session, sessions);
                let mut random = stream(u64::from(session), "keys");
                for _ in 0..transaction.count {
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
