//! Whether real time was kept: the emulator on time, the client out of the way, processors free.

use super::disks::{measured_s, ratio};
use super::environment::lateness;
use super::metrics::value;
use super::trials::Trials;
use super::warnings::{list, warning};
use super::{Findings, Lateness, Warning};
use experiment::record::{Cause, ClientRecord, Record};
use experiment::spec::Mode;
use table::quantity::{number, percent};

/// Share of requests that may be late.
const LATE_MAX: f64 = 0.01;
/// How far off replies may be on average, as a share of the disks' mean latency: sessions that issue one request after
/// another are off by as much.
const ERROR_MAX: f64 = 0.05;
/// The tolerated mean timing error, however fast the disks are: no emulation through this kernel does better.
const ERROR_MIN_MS: f64 = 0.040;
/// Share of the sessions' time in operations that the engine may spend waiting for its client.
const BETWEEN_MAX: f64 = 0.10;
/// Share of the machine's processors that the client may take from the engine.
const CLIENT_MAX: f64 = 0.25;
/// Share of the machine's processors that may be busy where an emulator needs them too.
const BUSY_MAX: f64 = 0.80;

/// Warns of everything that took time it should not have taken.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Vec<Warning> {
    let all = [
        late(trials, findings),
        client_bound(trials, findings),
        machine_shared(trials, findings),
    ];
    all.into_iter().flatten().collect()
}

fn late(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let arms = list(findings.arms.iter().filter_map(|arm| {
        let lateness = lateness(trials.finished(&arm.name))?;
        is_late(&lateness).then(|| format!("{} ({})", arm.name, how_late(&lateness)))
    }))?;
    Some(warning(
        "late",
        format!(
            "the emulator could not keep modelled time: {arms}. The disks were slower than they should \
             have been: do not trust these figures. Put --backing on a faster disk or into memory, give \
             the machine more cores, or lower the load."
        ),
    ))
}

fn is_late(lateness: &Lateness) -> bool {
    let mean = lateness.latency_mean_ms;
    let allowed = |mean: f64| ERROR_MIN_MS.max(ERROR_MAX * mean);
    lateness.late > LATE_MAX || mean.is_some_and(|mean| lateness.error_mean_ms > allowed(mean))
}

fn how_late(lateness: &Lateness) -> String {
    let mean = lateness.latency_mean_ms.map_or_else(String::new, |mean| {
        format!(", where a request takes {} ms on average", number(mean))
    });
    format!(
        "{} of requests late, the others off by {} ms on average and {} ms at p99{mean}",
        percent(lateness.late),
        number(lateness.error_mean_ms),
        number(lateness.error_p99_ms)
    )
}

fn client_bound(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let arms = list(findings.arms.iter().filter_map(|arm| {
        let finished = trials.finished(&arm.name);
        let (between, cpu) = (between(finished), client_cpu(finished));
        let mut seen = Vec::new();
        if between > BETWEEN_MAX {
            seen.push(format!(
                "the engine waited for it {} of the sessions' time",
                percent(between)
            ));
        }
        if cpu > CLIENT_MAX {
            seen.push(format!("it took {} of all processor time", percent(cpu)));
        }
        (!seen.is_empty()).then(|| format!("{} ({})", arm.name, seen.join(", ")))
    }))?;
    Some(warning(
        "client-bound",
        format!(
            "dbstow itself slowed the run: {arms}. Differences between placements look smaller than they \
             are; give the machine more cores, run the server elsewhere, or lower the rate."
        ),
    ))
}

/// Share of the sessions' time in operations in which the engine waited for its client.
fn between(trials: &[&Record]) -> f64 {
    let in_operations = |record: &Record| {
        let causes = record.time_split_ns.iter();
        let spent = causes.filter(|(cause, _)| **cause != Cause::Think);
        spent.map(|(_, ns)| *ns as f64).sum::<f64>()
    };
    let whole: f64 = trials.iter().map(|record| in_operations(record)).sum();
    let waited = clients(trials).map(|(_, client)| client.between_ns as f64);
    ratio(waited.sum(), whole)
}

/// Share of the machine's processor time that the client took; 0 where the engine runs in the client's process.
fn client_cpu(trials: &[&Record]) -> f64 {
    let embedded = |record: &Record| {
        let engine = record.engine.as_ref();
        engine.is_none_or(|engine| engine.name == "sqlite")
    };
    let apart: Vec<_> = clients(trials)
        .filter(|(record, _)| !embedded(record))
        .collect();
    let all = apart
        .iter()
        .map(|(record, client)| measured_s(record) * 1e9 * f64::from(client.cores));
    let own = apart.iter().map(|(_, client)| client.cpu_ns as f64);
    ratio(own.sum(), all.sum())
}

fn clients<'a>(trials: &'a [&'a Record]) -> impl Iterator<Item = (&'a Record, &'a ClientRecord)> {
    let clients = trials.iter();
    clients.filter_map(|record| Some((*record, record.client.as_ref()?)))
}

/// An emulator that must wait for a processor delays every disk, and an engine that shares it is slowed down by the
/// number of requests it makes.
fn machine_shared(trials: &Trials, findings: &Findings) -> Option<Warning> {
    if findings.mode() != Some(Mode::Emulate) {
        return None;
    }
    let arms = list(findings.arms.iter().filter_map(|arm| {
        let finished = trials.finished(&arm.name);
        let busy: Vec<f64> = finished
            .iter()
            .filter_map(|record| value(record, "cpu_utilisation"))
            .collect();
        let mean = ratio(busy.iter().sum(), busy.len() as f64);
        let emulator = lateness(finished).map_or(0.0, |lateness| lateness.cores);
        (mean > BUSY_MAX).then(|| {
            format!(
                "{} ({} busy, the emulator on {} of the cores)",
                arm.name,
                percent(mean),
                number(emulator)
            )
        })
    }))?;
    Some(warning(
        "machine-shared",
        format!(
            "the processors of this machine, which emulator and engine share, were nearly used up: {arms}. \
             A verdict may be about processors, not about disks; use more cores, fewer sessions, or \
             simulate."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{emulated, in_mode, measured};

    type Trial = fn(&str, u32, f64) -> Record;

    fn warning_text(mode: &str, trial: Trial, id: &str, change: fn(&mut Record)) -> Option<String> {
        let (question, mut records) = in_mode(mode, trial);
        let p30 = records.iter_mut().filter(|record| record.arm == "p30");
        p30.for_each(change);
        let warnings = make(&question, &records).warnings;
        let warning = warnings.into_iter().find(|warning| warning.id == id);
        warning.map(|warning| warning.text)
    }

    fn late_requests(record: &mut Record) {
        let pacing = record.pacing.as_mut().unwrap();
        pacing.late = pacing.requests / 20;
    }

    #[test]
    fn late_requests_are_reported_with_what_to_do() {
        let text = warning_text("emulate", emulated, "late", late_requests).unwrap();

        assert!(text.contains("p30 (5 % of requests late"), "{text}");
        assert!(!text.contains("local-ssd"), "{text}");
        assert!(text.contains("do not trust"), "{text}");
    }

    #[test]
    fn replies_that_are_off_by_a_good_part_of_the_latency_are_reported() {
        // The disks' mean latency is 3.5 ms or so.
        let off = |record: &mut Record| {
            let error = &mut record.pacing.as_mut().unwrap().error;
            error.record_n(2_000_000, 1_000).unwrap();
        };

        let text = warning_text("emulate", emulated, "late", off).unwrap();

        // 1,000 times 2 ms, 980 times 0.012 ms and 20 times 0.09 ms
        assert!(text.contains("off by 1.01 ms on average and 2"), "{text}");
        assert_eq!(warning_text("emulate", emulated, "late", |_| {}), None);
    }

    #[test]
    fn a_client_that_keeps_the_engine_waiting_is_reported() {
        let slow = |record: &mut Record| {
            // 150 ms of the second that the sessions spent
            record.client.as_mut().unwrap().between_ns = 150_000_000;
        };

        let text = warning_text("measure", measured, "client-bound", slow).unwrap();

        assert!(
            text.contains("p30 (the engine waited for it 15 %"),
            "{text}"
        );
        assert_eq!(
            warning_text("measure", measured, "client-bound", |_| {}),
            None
        );
    }

    #[test]
    fn a_client_that_takes_processors_is_reported_unless_the_engine_runs_inside_it() {
        let hungry = |record: &mut Record| {
            // more than 4 of 8 cores all the time
            record.client.as_mut().unwrap().cpu_ns = 800_000_000_000;
        };
        let embedded = |record: &mut Record| {
            record.client.as_mut().unwrap().cpu_ns = 800_000_000_000;
            record.engine.as_mut().unwrap().name = "sqlite".into();
        };

        let text = warning_text("measure", measured, "client-bound", hungry).unwrap();

        assert!(text.contains("of all processor time"), "{text}");
        assert_eq!(
            warning_text("measure", measured, "client-bound", embedded),
            None
        );
    }

    #[test]
    fn full_processors_are_reported_where_an_emulator_shares_them() {
        let full = |record: &mut Record| {
            record.metrics.insert("cpu_utilisation".into(), 0.96);
        };

        let text = warning_text("emulate", emulated, "machine-shared", full).unwrap();

        assert!(text.contains("p30 (96 % busy"), "{text}");
        assert_eq!(
            warning_text("measure", measured, "machine-shared", full),
            None
        );
        assert_eq!(
            warning_text("emulate", emulated, "machine-shared", |_| {}),
            None
        );
    }
}
