//! PostgreSQL as a trial's engine, for real, on plain directories.

#![cfg(unix)]

#[path = "support/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use dbstow::engine::postgres::{Binaries, Postgres};
use dbstow::engine::{Engine, WaitKind};
use dbstow::spec::{EngineKind, Temperature};
use dbstow::workload::{Database, Dialect, Workload};
use server::{Folders, RUN, Seat, experiment, load, load_in, run, start};
use volume::clock::Clock;

/// Every workload, loaded and run as a trial does it.
#[test]
fn every_builtin_workload_runs_on_postgresql() {
    for name in Workload::builtin_names() {
        let (settings, workload) = experiment(name, EngineKind::Postgres, 2, 2);
        let site = Folders::new(2);
        let Some(mut engine) = start(&site, &settings, &workload) else {
            return;
        };
        let sessions = 2;
        if !workload.load.measured {
            load(&engine, &workload, sessions);
            engine.quiesce().expect("a checkpoint");
        }
        for session in 0..sessions {
            let mut seat = Seat(engine.connect(session).expect("a connection"));
            if workload.load.measured {
                load_in(&engine, &workload, &mut seat, (session, sessions));
            }
            let errors = run(&mut seat, &workload, (session, sessions), 60);
            assert_eq!(errors, [""; 0], "{name}");
            assert!(seat.0.statements() >= 60, "{name}");
        }
        engine.stop().expect("nothing left");
        assert_eq!(site.content(), [""; 0], "{name}");
    }
}
