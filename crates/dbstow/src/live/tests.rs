//! Snapshots of screens.

use std::collections::VecDeque;

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use experiment::examples;
use experiment::plan::{Estimate, Plan};
use experiment::question::Question;
use experiment::record::Record;
use experiment::spec::{Spec, Variant};
use lab::{Event, Observer};

use super::*;

fn drawn(screen: &Screen, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("it is memory");
    terminal
        .draw(|frame| draw(screen, frame))
        .expect("it is memory");
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(width.into());
    let lines = rows.map(|row| {
        let line: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn volume(name: &str, limit: Option<&str>) -> VolumeHistory {
    let point = |number: u32| Now {
        iops: f64::from(number) * 100.0,
        mb_per_s: f64::from(20 - number),
        latency_ms: (number > 0).then_some(1.5),
        limit: limit.map(|limit| (limit.to_owned(), f64::from(number) / 16.0)),
    };
    VolumeHistory {
        name: name.to_owned(),
        points: (0..=16).map(point).collect::<VecDeque<_>>(),
    }
}

fn screen() -> Screen {
    let arm = |name: &str, finished, failed, running| ArmProgress {
        name: name.to_owned(),
        planned: 5,
        finished,
        failed,
        running,
    };
    Screen {
        title: "tempdb-scale-out: emulate, sqlite".to_owned(),
        doing: "block 3, two-disks: run; left: about 2 min".to_owned(),
        done: Some(0.4),
        arms: vec![arm("one-disk", 3, 0, 0), arm("two-disks", 1, 1, 1), arm("four-disks", 2, 0, 0)],
        volumes_of: "block 3, two-disks".to_owned(),
        volumes: vec![
            volume("d", Some("disk.d.1.iops")),
            volume("real", None),
        ],
        verdicts: vec![
            "two-disks: 1.41x the batch requests per second of one-disk (95 % CI 1.20-1.62, 2 blocks), faster.".to_owned(),
        ],
        keys: "q: leave this screen".to_owned(),
    }
}

#[test]
fn a_run_shows_arms_volumes_and_verdicts() {
    insta::assert_snapshot!(drawn(&screen(), (80, 20)), @r"
    tempdb-scale-out: emulate, sqlite
    block 3, two-disks: run; left: about 2 min
    40 % ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━─────────────────────────────────────────────
    one-disk    ████████████░░░░░░░░  3 of 5
    two-disks   ████████░░░░░░░░░░░░  2 of 5, 1 running, 1 failed
    four-disks  ████████░░░░░░░░░░░░  2 of 5

    volumes of block 3, two-disks
    d: most-used limit: disk.d.1.iops, 100 %
    1,600 IOPS           4 MB/s              1.50 ms              % of that limit
      ▁▁▂▂▃▃▄▄▅▅▆▆▇▇█    █▇▇▆▆▆▅▅▄▄▄▃▃▂▂▂▁    ████████████████      ▁▁▂▂▃▃▄▄▅▅▆▆▇▇█

    real: no modelled limit
    1,600 IOPS           4 MB/s              1.50 ms
      ▁▁▂▂▃▃▄▄▅▅▆▆▇▇█    █▇▇▆▆▆▅▅▄▄▄▃▃▂▂▂▁    ████████████████


    two-disks: 1.41x the batch requests per second of one-disk (95 % CI 1.20-1.62, 2
    blocks), faster.
    q: leave this screen
    ");
}

#[test]
fn a_small_terminal_shows_what_fits() {
    insta::assert_snapshot!(drawn(&screen(), (40, 10)), @r"
    tempdb-scale-out: emulate, sqlite
    block 3, two-disks: run; left: about 2 m
    40 % ━━━━━━━━━━━━━━─────────────────────
    one-disk    ████████████░░░░░░░░  3 of 5
    two-disks   ████████░░░░░░░░░░░░  2 of 5
    four-disks  ████████░░░░░░░░░░░░  2 of 5

    two-disks: 1.41x the batch requests per
    second of one-disk (95 % CI 1.20-1.62, 2
    q: leave this screen
    ");
    // The smallest possible size.
    drawn(&screen(), (1, 1));
}

#[test]
fn nothing_yet_is_a_screen_too_and_a_hostile_name_is_shown_not_obeyed() {
    let empty = Screen {
        title: "a\x1b[2Jb".to_owned(),
        ..Screen::default()
    };
    insta::assert_snapshot!(drawn(&empty, (20, 3)), @r"a\x1b[2Jb");
}

#[test]
fn figures_of_an_ended_arm_leave_the_screen_when_the_next_one_begins() {
    let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::default());
    let plan = Plan::new(&spec.expect("it is built in"), false);
    let [first, second] = &plan.trials()[..2] else {
        panic!("the experiment has two arms");
    };
    assert_ne!(first.arm, second.arm);
    let record = Record {
        arm: first.arm.clone(),
        ..examples::of_plan(&plan)
    };
    let live = RunLive::new(&plan, Question::of(&plan), Vec::new());
    let left = || Some(Estimate::default());

    live.on(Event::TrialBegan {
        trial: first,
        left: left(),
    });
    live.on(Event::TrialEnded {
        trial: first,
        record: &record,
        took: None,
    });
    let screen = live.screen();
    assert!(!screen.volumes.is_empty());
    assert_eq!(screen.volumes_of, format!("block 1, {}", first.arm));

    live.on(Event::TrialBegan {
        trial: second,
        left: left(),
    });
    assert_eq!(live.screen().volumes, []);

    // In virtual time nothing is sampled before a trial ends: the screen shows the last finished trial, and labels it so.
    live.on(Event::TrialEnded {
        trial: second,
        record: &record,
        took: None,
    });
    live.on(Event::TrialBegan {
        trial: first,
        left: None,
    });
    let screen = live.screen();
    assert_eq!(screen.volumes_of, format!("block 1, {}", second.arm));
    assert_eq!(screen.volumes[0].points.len(), 1);
}
