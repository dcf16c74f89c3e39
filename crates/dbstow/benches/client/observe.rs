//! What observing costs a MariaDB: its performance schema, the instruments that a trial turns on, and samples of its waits.
//!
//! The same transactions on servers that differ in this alone, in turns. A server that a trial would not start so comes
//! from a program that adds options to what dbstow passes; of two values of an option the last one counts.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Engine, SAMPLE_EVERY};
use host::clock::Clock;
use mariadb::{self, MariaDb, Programs};
use model::Duration;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};
use testing::server::Folders;
use workload::Dialect;

use crate::beside::{ROUNDS, SESSIONS_MAX, Transaction, execute};
use crate::sysbench::{TRANSACTIONS, asked, load};

/// A trial reads the counters once a second.
const COUNTERS_EVERY: Duration = Duration::from_secs(1);

/// Rounds are this much shorter than beside another client: what else the machine does changes meanwhile, and short turns
/// share it.
const SHORTER: u64 = 10;

/// How a server is started and observed.
struct Arm {
    name: &'static str,
    /// Options after those of a trial.
    options: &'static str,
    is_sampled: bool,
}

/// The first is what the others are compared with.
const ARMS: [Arm; 4] = [
    Arm {
        name: "performance_schema off",
        options: "--performance-schema=OFF",
        is_sampled: false,
    },
    Arm {
        name: "on, without instruments",
        options: "--performance-schema-instrument='%=OFF'",
        is_sampled: false,
    },
    Arm {
        name: "as in a trial, not sampled",
        options: "",
        is_sampled: false,
    },
    Arm {
        name: "as in a trial",
        options: "",
        is_sampled: true,
    },
];

/// What a round showed.
#[derive(Clone, Copy)]
struct Seen {
    per_s: f64,
    server_us: f64,
}

pub(crate) fn run() {
    let Some(programs) = testing::mariadb::programs() else {
        return;
    };
    let (settings, workload) = asked();
    let sites: Vec<Folders> = ARMS.iter().map(|_| Folders::new(2)).collect();
    let owner = mariadb::owner().expect("a user for MariaDB");
    let start = |programs: &Programs, site: &Folders| {
        let engine = MariaDb::private(
            programs,
            owner,
            &site.registration,
            (site, &settings, &workload),
        );
        let engine = engine.unwrap_or_else(|error| panic!("{error}"));
        load(&engine);
        engine
    };
    let plain = Folders::new(2);
    let mut first = start(&programs, &plain);
    let program = program_of(&first);
    first.stop().expect("nothing left");
    let mut engines: Vec<MariaDb> = ARMS
        .iter()
        .zip(&sites)
        .map(|(arm, site)| start(&with_options(&program, arm.options, site.parent()), site))
        .collect();
    println!(
        "MariaDB {}, {SESSIONS_MAX} sessions, medians of {ROUNDS} rounds in turns; against the first line, in brackets, the \
         median of the rounds' differences",
        engines[0].describe().version
    );
    println!(
        "script  observed                     transactions/s            server us/transaction"
    );
    for transaction in TRANSACTIONS {
        let count = transaction.count / SHORTER;
        let transaction = &Transaction {
            count,
            ..transaction
        };
        let mut rounds: Vec<Vec<Seen>> = ARMS.iter().map(|_| Vec::new()).collect();
        for round in 0..ROUNDS {
            for turn in 0..ARMS.len() {
                let place = (round + turn) % ARMS.len();
                rounds[place].push(measure(&engines[place], &ARMS[place], transaction));
            }
        }
        for (arm, seen) in ARMS.iter().zip(&rounds) {
            let shown = |of: fn(&Seen) -> f64| {
                let change = seen.iter().zip(&rounds[0]);
                let change = change.map(|(one, base)| (of(one) / of(base) - 1.0) * 100.0);
                (median(seen.iter().map(of)), median(change))
            };
            let (rate, cpu) = (shown(|seen| seen.per_s), shown(|seen| seen.server_us));
            println!(
                "{:7} {:27} {:9.0} ({:+5.1} %) {:18.1} ({:+5.1} %)",
                transaction.name, arm.name, rate.0, rate.1, cpu.0, cpu.1
            );
        }
    }
    for engine in &mut engines {
        engine.stop().expect("nothing left");
    }
}

/// Runs the transactions once, observed as in `arm`.
fn measure(engine: &MariaDb, arm: &Arm, transaction: &Transaction) -> Seen {
    let ended = AtomicBool::new(false);
    let before = server_ms(engine);
    let clock = Clock::start();
    let seconds = std::thread::scope(|scope| {
        if arm.is_sampled {
            scope.spawn(|| {
                let mut waits = engine.waits().expect("it has them").expect("it has them");
                let mut counters = engine.counter_sampler().expect("it has them");
                let counters = counters.as_mut().expect("it has them");
                let each = COUNTERS_EVERY.as_nanos() / SAMPLE_EVERY.as_nanos();
                for look in 0.. {
                    if ended.load(Ordering::Relaxed) {
                        break;
                    }
                    waits.sample().expect("the server answers");
                    if look % each == 0 {
                        counters.sample().expect("the server answers");
                    }
                    Clock::sleep(SAMPLE_EVERY);
                }
            });
        }
        execute(engine, Dialect::MARIADB, transaction, SESSIONS_MAX);
        ended.store(true, Ordering::Relaxed);
        clock.now().as_secs_f64()
    });
    let all = (transaction.count * u64::from(SESSIONS_MAX)) as f64;
    Seen {
        per_s: all / seconds,
        server_us: (server_ms(engine) - before) as f64 * 1_000.0 / all,
    }
}

/// The program that a server runs.
fn program_of(engine: &MariaDb) -> PathBuf {
    let process = engine.process().expect("it runs");
    fs::read_link(format!("/proc/{process}/exe")).expect("Linux says what runs")
}

/// Programs whose server starts with `options` after those that it is given; they lie in `folder`.
fn with_options(program: &Path, options: &str, folder: &Path) -> Programs {
    let programs = folder.join("bin");
    fs::create_dir(&programs).expect("a folder");
    // Where scripts are looked for, as seen from the program.
    let share = program
        .parent()
        .and_then(Path::parent)
        .map(|above| above.join("share"));
    symlink(
        share.expect("a program lies in a folder"),
        folder.join("share"),
    )
    .expect("a link");
    let text = format!("#!/bin/sh\nexec {} \"$@\" {options}\n", program.display());
    let wrapper = programs.join("mariadbd");
    fs::write(&wrapper, text).expect("a file");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("its owner");
    Programs::find(Some(&programs)).unwrap_or_else(|error| panic!("{error}"))
}

/// Processor time of the server so far, in milliseconds.
fn server_ms(engine: &MariaDb) -> u64 {
    let process = Pid::from_u32(engine.process().expect("it runs"));
    let mut system = System::new().expect("processes can be listed");
    system.refresh_processes_specifics(
        ProcessesToUpdate::Some(&[process]),
        false,
        ProcessRefreshKind::nothing().with_cpu(),
    );
    let found = system.process(process).expect("it runs");
    found.accumulated_cpu_time()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
