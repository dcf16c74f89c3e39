//! What the private server of every product keeps, on plain directories: a product's tests call these, and add what it alone does.

use std::fs;

use engine::{Client, Engine, EngineError, WaitSampler, Waiting};
use experiment::spec::{Settings, Temperature};
use host::clock::Clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workload::{Dialect, Tables, Workload};

use crate::server::{Folders, SessionContext, execute, experiment, load, load_in, run};

/// Longest wait for something that a working server does at once.
const PATIENCE_S: f64 = 60.0;

/// A product whose private server a test starts.
pub trait Private {
    /// Name of its engine.
    const ENGINE: &'static str;
    /// Name of the product, as errors have it.
    const PRODUCT: &'static str;
    /// What its log says once it is ready.
    const READY: &'static str;
    /// Its SQL.
    const DIALECT: Dialect;

    /// Its server.
    type Server: Engine;

    /// A server for an experiment on the volumes of `site`; `None`, with a message, where its programs are not installed.
    fn start(
        site: &Folders,
        settings: &Settings,
        workload: &Workload,
    ) -> Option<Result<Self::Server, EngineError>>;

    /// Its process, while it runs.
    fn process(server: &Self::Server) -> Option<u32>;
}

/// A server that runs, on two volumes.
fn started<P: Private>(settings: &Settings, workload: &Workload) -> Option<(Folders, P::Server)> {
    let site = Folders::new(2);
    let server = P::start(&site, settings, workload)?;
    Some((site, server.unwrap_or_else(|error| panic!("{error}"))))
}

fn connected<E: Engine>(server: &E, session: u32) -> SessionContext<'_> {
    let client: Box<dyn Client + '_> = server.connect(session).expect("a connection");
    SessionContext(client)
}

/// Sessions run a workload at the same time, whatever its tables are.
pub fn sessions_run_at_once<P: Private>() {
    for name in ["version-store", "cold-lookup", "tempdb-oltp"] {
        let (settings, workload) = experiment(name, P::ENGINE, 2, 3);
        let Some((_site, server)) = started::<P>(&settings, &workload) else {
            return;
        };
        if !workload.load.measured {
            load(&server, &workload, 3);
        }
        let (server, workload) = (&server, &workload);
        std::thread::scope(|scope| {
            for session in 0..3 {
                scope.spawn(move || {
                    let mut seat = connected(server, session);
                    if workload.load.measured {
                        load_in(server, workload, &mut seat, (session, 3));
                    }
                    let errors = run(&mut seat, workload, (session, 3), 30);
                    assert_eq!(errors, [""; 0], "{name}");
                });
            }
        });
    }
}

/// In a cold start the caches are dropped while no server runs, and what was loaded stays. `then` gets the server and how much a
/// counter grew since.
pub fn a_cold_start_keeps_what_was_loaded<P: Private>(
    then: impl FnOnce(&P::Server, &dyn Fn(&str) -> f64),
) {
    let (settings, workload) = experiment("read-only", P::ENGINE, 2, 1);
    let Some((_site, server)) = started::<P>(&settings, &workload) else {
        return;
    };
    load(&server, &workload, 1);
    server.quiesce().expect("a checkpoint");
    let before = P::process(&server).expect("a server");
    let mut down = 0;
    let mut forget = || {
        down += usize::from(P::process(&server).is_none());
        Ok(vec!["the host cache stays".to_owned()])
    };
    let notes = server.start(Temperature::Cold, &mut forget);
    assert_eq!(
        (down, notes.expect("a server")),
        (1, vec!["the host cache stays".to_owned()])
    );
    assert_ne!(P::process(&server).expect("a server"), before);
    let mut forget = || panic!("nothing is forgotten in a warm start");
    let notes = server.start(Temperature::Warm, &mut forget);
    assert_eq!(notes.expect("a server"), [""; 0]);

    let earlier = server.counters().expect("counters");
    let mut seat = connected(&server, 0);
    assert_eq!(run(&mut seat, &workload, (0, 1), 60), [""; 0]);
    // A session's counts are sure to have arrived once it is over, or soon after.
    drop(seat);
    let grown = |name: &str| {
        let later = server.counters().expect("counters");
        later[name] - earlier.get(name).copied().unwrap_or(0.0)
    };
    until("something is read from a cold start", || {
        grown("physical_reads") > 0.0 && grown("logical_reads") >= grown("physical_reads")
    });
    then(&server, &grown);
}

/// A server that is killed is an error with the end of its log, for everything that is asked of it, and leaves no file.
pub fn a_killed_server_is_an_error<P: Private>() {
    let (settings, workload) = experiment("write-only", P::ENGINE, 2, 1);
    let Some((site, mut server)) = started::<P>(&settings, &workload) else {
        return;
    };
    load(&server, &workload, 1);
    let mut seat = connected(&server, 0);
    assert_eq!(run(&mut seat, &workload, (0, 1), 10), [""; 0]);

    let process = P::process(&server).expect("a server").cast_signed();
    kill(Pid::from_raw(process), Signal::SIGKILL).expect("it is ours");
    let ended = format!("{} has ended", P::PRODUCT);
    let killed = format!("{ended} (signal: 9");
    // A process of the session answers until it notices.
    let mut last = None;
    until("the connection ends", || {
        let errors = run(&mut seat, &workload, (0, 1), 1);
        last = errors.into_iter().find(|error| error.contains(&ended));
        last.is_some()
    });
    let last = last.expect("an error");
    assert!(last.contains(&killed) && last.contains(P::READY), "{last}");
    drop(seat);
    for error in [
        server.counters().map(|_| ()).unwrap_err(),
        server.quiesce().unwrap_err(),
        server.connect(0).map(|_| ()).unwrap_err(),
        server
            .start(Temperature::Cold, &mut || Ok(Vec::new()))
            .unwrap_err(),
    ] {
        assert!(error.to_string().contains(&ended), "{error}");
    }
    server.interrupt();
    server.stop().expect("nothing left");
    assert_eq!(site.content(), [""; 0]);
}

/// A server that is abandoned is gone at once, and leaves no file.
pub fn an_abandoned_server_is_gone<P: Private>() {
    let (settings, workload) = experiment("read-only", P::ENGINE, 2, 2);
    let Some((site, mut server)) = started::<P>(&settings, &workload) else {
        return;
    };

    server.abandon();

    server.quiesce().expect_err("no server answers");
    server.abandon();
    server.stop().expect("nothing left");
    assert_eq!(site.content(), [""; 0]);
}

/// Sessions that run `statement` and that sleep end at once where the engine is interrupted; `runs` recognises the first in a
/// sample of waits, and its error has `error`.
pub fn interrupted_sessions_end<P: Private>(
    statement: &str,
    runs: impl Fn(&[Waiting]) -> bool,
    error: &str,
) {
    let (settings, workload) = experiment("read-only", P::ENGINE, 2, 2);
    let Some((_site, server)) = started::<P>(&settings, &workload) else {
        return;
    };
    let server = &server;
    let sampler = server.waits().expect("a connection");
    let mut sampler: Box<dyn WaitSampler + '_> = sampler.expect("the product reports waits");
    std::thread::scope(|scope| {
        let runner = scope.spawn(|| execute(&mut connected(server, 0), P::DIALECT, statement));
        let sleeper =
            scope.spawn(|| execute(&mut connected(server, 1), P::DIALECT, "\\sleep 600 s"));
        until("both sessions are busy", || {
            let sample = sampler.sample().expect("an answer");
            sample.len() == 2 && runs(&sample)
        });
        let clock = Clock::start();
        server.interrupt();
        for (session, expected) in [(runner, error), (sleeper, "interrupted")] {
            let ended = session.join().unwrap().unwrap_err();
            assert!(ended.contains(expected), "{ended}");
        }
        assert!(clock.now().as_secs_f64() < PATIENCE_S);
    });
}

/// Temporary tables that a load would lose are refused.
pub fn tables_that_would_not_outlive_the_load_are_refused<P: Private>() {
    let (settings, mut workload) = experiment("read-only", P::ENGINE, 2, 1);
    assert_eq!(workload.tables, Tables::Temp);
    workload.load.schema.clear();
    let Some((_site, server)) = started::<P>(&settings, &workload) else {
        return;
    };
    let error = server.distribute_tables(0).unwrap_err().to_string();
    assert!(error.contains("without TEMP"), "{error}");
}

/// A directory in the way of a file's is refused, and stays.
pub fn a_directory_in_the_way_is_left_alone<P: Private>() {
    let (settings, workload) = experiment("read-only", P::ENGINE, 2, 1);
    let site = Folders::new(2);
    let other = site.parent().join("v0/data_1");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("precious"), "data").unwrap();
    let Some(made) = P::start(&site, &settings, &workload) else {
        return;
    };
    let error = made.err().expect("it is in the way").to_string();
    assert!(
        error.contains("data_1") && error.contains("only what it made"),
        "{error}"
    );
    assert_eq!(site.content(), [other.display().to_string()]);
    assert!(other.join("precious").exists());
}

/// A server's memory, with the page cache, is limited to `size` where the machine has control groups, and says so; the group is
/// removed with it.
pub fn the_page_cache_is_limited<P: Private>(size: &str) {
    let (settings, workload) = experiment("read-only", P::ENGINE, 2, 1);
    let Some((_site, mut server)) = started::<P>(&settings, &workload) else {
        return;
    };
    let process = P::process(&server).expect("a server");
    let groups = fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
    let ours = format!("dbstow-{}-", std::process::id());
    let said = &server.describe().settings["page_cache"];
    match groups.contains(&ours) {
        true => assert_eq!(*said, format!("within {size} with the server's own memory")),
        false => assert!(said.starts_with("not limited ("), "{said}"),
    }
    server.stop().expect("nothing left");
    drop(server);
    for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"] {
        let entries = fs::read_dir(root).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left: Vec<String> = names.filter(|name| name.starts_with(&ours)).collect();
        // Other tests of this program have groups of their own meanwhile.
        assert!(left.iter().all(|name| !groups.contains(name)), "{left:?}");
    }
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let clock = Clock::start();
    while !is_so() {
        assert!(clock.now().as_secs_f64() < PATIENCE_S, "not so: {what}");
        Clock::sleep(model::Duration::from_millis(20));
    }
}
