//! The report on a rehearsal.

use experiment::plan::counted;
use model::Bytes;

use super::document::{Layout, Rehearsal, Statement};
use super::objects::objects_table;
use crate::findings::Findings;
use crate::report::run;
use crate::report::section::{Body, Item, Kind, Place, Report};
use table::quantity::count;
use table::{Column, Table};

/// Kinds of statements on a screen.
const STATEMENTS_SHOWN: usize = 6;

/// Kinds of statements that ended otherwise, at most.
const DIFFERING_SHOWN: usize = 10;

/// The report on a rehearsal, whose records have `findings`. Where too little ended as recorded, it has no verdict.
pub fn report(rehearsal: &Rehearsal, findings: &Findings) -> Report {
    let unfaithful = rehearsal.unfaithful();
    let mut report = match unfaithful.is_empty() {
        true => run::report(findings),
        false => Report {
            answer: Item::all(Kind::Caution, [no_verdict(rehearsal, &unfaithful)]),
            is_doubtful: true,
            ..Report::default()
        },
    };
    report.title = "Your statements on these layouts".to_owned();
    report.facts.extend(facts(rehearsal));
    // How far to trust the rest is read first.
    let findings_sections = std::mem::take(&mut report.sections);
    let screen = Place::Screen;
    let list = |kind, texts: Vec<String>| Body::List(Item::all(kind, texts));
    report.add(
        "fidelity",
        "As recorded",
        screen(4),
        list(
            Kind::Point,
            rehearsal.layouts.iter().map(fidelity).collect(),
        ),
    );
    report.add(
        "left-out",
        "Not replayed",
        screen(3),
        list(Kind::Warning, left_out(rehearsal)),
    );
    report.sections.extend(findings_sections);
    report.add(
        "assumed",
        "Before relying on it",
        screen(3),
        list(Kind::Warning, rehearsal.assumed.clone()),
    );
    let differing = rehearsal.differing.iter().take(DIFFERING_SHOWN);
    let differing = differing.map(|differing| {
        let form = differing.form.as_deref().unwrap_or_default();
        format!(
            "{} {}x: {} {form}",
            differing.id, differing.count, differing.first
        )
    });
    report.add(
        "differing",
        "Ended otherwise than in the log",
        match unfaithful.is_empty() {
            true => Place::Full,
            false => screen(DIFFERING_SHOWN),
        },
        list(Kind::Point, differing.collect()),
    );
    let table = |statements: &[Statement]| Body::Table(statements_table(rehearsal, statements));
    let first = &rehearsal.statements[..rehearsal.statements.len().min(STATEMENTS_SHOWN)];
    report.add(
        "statements",
        "By statement",
        Place::Short(STATEMENTS_SHOWN),
        table(first),
    );
    report.add(
        "statements",
        "By statement",
        Place::Full,
        table(&rehearsal.statements),
    );
    report.add(
        "slower",
        "Slower statements",
        screen(3),
        list(Kind::Point, slower(rehearsal)),
    );
    report.add(
        "objects",
        "By object",
        Place::Full,
        Body::Table(objects_table(rehearsal)),
    );
    report.add(
        "changed",
        "What the private server changes",
        Place::Full,
        list(Kind::Point, rehearsal.backup.changed.clone()),
    );
    let settings = rehearsal.backup.settings.iter();
    let settings = settings.map(|(name, value)| format!("{name} = {value}"));
    report.add(
        "settings",
        "Settings of the backup",
        Place::Full,
        list(Kind::Point, settings.collect()),
    );
    report
}

fn no_verdict(rehearsal: &Rehearsal, unfaithful: &[&Layout]) -> String {
    let shares = unfaithful.iter();
    let shares = shares.map(|layout| format!("{} on {}", percent(layout.fidelity), layout.name));
    format!(
        "No verdict: too few statements ended as in the log ({}; {} are asked for, --fidelity). See which differ, and why.",
        shares.collect::<Vec<_>>().join(", "),
        percent(rehearsal.fidelity_min)
    )
}

fn percent(share: f64) -> String {
    // Not rounded up to all of it.
    format!("{:.1} %", (share * 1000.0).floor() / 10.0)
}

fn facts(rehearsal: &Rehearsal) -> Vec<(&'static str, String)> {
    let (backup, log) = (&rehearsal.backup, &rehearsal.log);
    vec![
        (
            "backup",
            format!(
                "{}, {}, {}",
                backup.server,
                backup.kind,
                Bytes(backup.bytes)
            ),
        ),
        (
            "log",
            format!(
                "{}: {} statements in {} transactions of {} sessions ({} at a time), {:.1} s",
                log.form,
                count(log.statements),
                count(log.transactions),
                count(log.sessions),
                log.sessions_at_a_time,
                log.lasted_s
            ),
        ),
        ("pace", log.pace.clone()),
    ]
}

fn fidelity(layout: &Layout) -> String {
    let mut text = format!(
        "{}: {} of {} statements ended as in the log; sent {:.2} ms late on average by the player (at most {:.0} ms)",
        layout.name,
        percent(layout.fidelity),
        count(layout.played + layout.not_played),
        layout.player_late_ms,
        layout.player_late_max_ms
    );
    if let (Some(mean), Some(most)) = (layout.server_late_ms, layout.server_late_max_ms) {
        text += &format!(", {mean:.2} ms by the server (at most {most:.0} ms)");
    }
    let waited = layout.order_ms + layout.pauses_ms;
    let share = |ms: f64| percent(ms / (layout.total_ms + waited).max(f64::MIN_POSITIVE));
    text + &format!(
        "; of their time, sessions waited {} for the log's order and {} for its pauses",
        share(layout.order_ms),
        share(layout.pauses_ms)
    )
}

fn left_out(rehearsal: &Rehearsal) -> Vec<String> {
    let log = &rehearsal.log;
    let left_out = log.left_out.iter();
    let mut all: Vec<String> = left_out
        .map(|(why, statements)| {
            let statements = counted(count(*statements), "statement");
            format!("not replayed: {statements} {why}")
        })
        .collect();
    if log.began_before > 0 {
        all.push(format!(
            "{} began before the log or the window: what had been set or prepared until then is not there",
            counted(count(log.began_before), "session")
        ));
    }
    if log.half_line {
        all.push("the last line of the log is incomplete, and is left out".to_owned());
    }
    if !log.has_durations {
        all.push(
            "the log does not say how long statements took: pauses between them are not known, and are left out"
                .to_owned(),
        );
    }
    if !log.has_errors {
        all.push(
            "the log does not say which statements failed: those that fail here count as having ended otherwise"
                .to_owned(),
        );
    }
    all
}

/// A row for each kind, with columns for each layout.
fn statements_table(rehearsal: &Rehearsal, statements: &[Statement]) -> Table {
    let mut columns: Vec<Column<Statement>> =
        vec![Column::text("statement", |statement: &Statement| {
            statement.id.clone()
        })];
    for (place, layout) in rehearsal.layouts.iter().enumerate() {
        let of =
            move |statement: &Statement| statement.layouts.get(place).copied().unwrap_or_default();
        let name = layout.name.clone();
        if place == 0 {
            columns.push(Column::text("calls", move |statement: &Statement| {
                count(of(statement).count)
            }));
        }
        columns.push(Column::text(
            format!("{name}: p50, p99 ms"),
            move |statement: &Statement| {
                let durations = of(statement);
                format!("{}, {}", ms(durations.p50_ms), ms(durations.p99_ms))
            },
        ));
        columns.push(Column::text("all s", move |statement: &Statement| {
            ms(of(statement).total_ms / 1e3)
        }));
    }
    if statements.iter().any(|statement| statement.form.is_some()) {
        columns.push(Column::text("text", |statement: &Statement| {
            statement.form.clone().unwrap_or_default()
        }));
    }
    Table::of(statements.to_vec(), columns)
}

fn ms(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// Kinds that became slower, also where all together is faster.
fn slower(rehearsal: &Rehearsal) -> Vec<String> {
    let Some(first) = rehearsal.layouts.first() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for (place, layout) in rehearsal.layouts.iter().enumerate().skip(1) {
        let slower = rehearsal.statements.iter();
        let slower = slower.filter(|statement| statement.is_slower(place, first.total_ms));
        all.extend(slower.map(|statement| {
            format!(
                "slower: {} takes {} ms on average on {}, and {} ms on {}",
                statement.id,
                ms(statement.layouts[place].mean_ms()),
                layout.name,
                ms(statement.layouts[0].mean_ms()),
                first.name
            )
        }));
    }
    all
}
