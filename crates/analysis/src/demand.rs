//! A profile from records: what one trial asked of its disks.

use std::collections::{BTreeMap, BTreeSet};

use experiment::record::{Cause, Outcome, Phase, Record};
use experiment::results::Results;
use experiment::spec::remedy;
use model::Duration;
use profile::{Interval, Machine, Origin, Profile, Requests, ServerVolume, Timestamp, Wait};
use reading::Role;
use reading::cause::Io;

/// Why there is no profile of a results folder.
#[derive(Debug, thiserror::Error)]
pub enum NoDemand {
    /// Which arm is not said.
    #[error("{folder} has several arms ({arms}); choose one with --arm")]
    SeveralArms {
        /// The results folder.
        folder: String,
        /// Names of the arms.
        arms: String,
    },
    /// The arm has no trial that completed.
    #[error("{folder} has no completed trial of \"{arm}\"{remedy}")]
    NoTrial {
        /// The results folder.
        folder: String,
        /// Name of the arm.
        arm: String,
        /// What is near, or what there is.
        remedy: String,
    },
    /// The trial is too short.
    #[error(
        "{folder}: the trial of \"{arm}\" has no two whole intervals of {interval} in which sessions ran; run it for longer"
    )]
    TooShort {
        /// The results folder.
        folder: String,
        /// Name of the arm.
        arm: String,
        /// Length of an interval.
        interval: Duration,
    },
}

/// The profile of the first trial of `arm` that completed, from the `records` of `results`; of the only arm, where none is named.
/// Its time begins at `start`, or else in 1970.
///
/// # Errors
/// When there are several arms and none is named, or the trial has too few intervals.
pub fn demand_of(
    results: &Results,
    records: &[Record],
    arm: Option<&str>,
    start: Option<Timestamp>,
) -> Result<Profile, NoDemand> {
    let folder = results.folder().display().to_string();
    let arms: BTreeSet<&str> = records.iter().map(|record| record.arm.as_str()).collect();
    let arm = match (arm, arms.len()) {
        (Some(arm), _) => arm,
        (None, 1) => arms.first().copied().unwrap_or_default(),
        (None, _) => {
            let arms: Vec<&str> = arms.into_iter().collect();
            let arms = arms.join(", ");
            return Err(NoDemand::SeveralArms { folder, arms });
        }
    };
    let is_wanted = |record: &&Record| record.arm == arm && record.outcome == Outcome::Finished;
    let completed = records.iter().filter(is_wanted).count();
    let Some(record) = records.iter().find(is_wanted) else {
        return Err(NoDemand::NoTrial {
            folder,
            arm: arm.to_owned(),
            remedy: remedy(arm, "arms with trials", arms.iter().copied()),
        });
    };
    let settings = results.plan.all_arms().find(|known| known.name == arm);
    let mut intervals = intervals(record);
    if let Some(arm) = settings {
        add_sessions(record, arm.settings.workload.sessions, &mut intervals);
    }
    if intervals.len() < 2 {
        return Err(NoDemand::TooShort {
            folder,
            arm: arm.to_owned(),
            interval: Duration::from_nanos(record.series.interval_ns),
        });
    }
    let machine = settings.map(|arm| &arm.settings.machine);
    Ok(Profile {
        origin: Origin {
            tool: format!("dbstow run ({})", record.mode),
            product: record.engine.as_ref().map(|engine| engine.name.clone()),
            version: record.engine.as_ref().map(|engine| engine.version.clone()),
            edition: None,
        },
        start: start.unwrap_or(Timestamp::UNIX_EPOCH),
        machine: Machine {
            name: machine.and_then(|machine| machine.kind.clone()),
            processors: machine.and_then(|machine| machine.cores),
            memory: machine.and_then(|machine| machine.memory),
            cache: None,
            burst_balance: None,
        },
        volumes: volumes(record),
        intervals,
        left_out: Vec::new(),
        interruptions: Vec::new(),
        assumptions: assumptions(record, completed, start),
    })
}

/// The name of the phase in which sessions run.
const RUN: &str = "run";

/// Whole intervals of the time in which sessions ran; the load, which may be measured too, is not part of their demand.
fn intervals(record: &Record) -> Vec<Interval> {
    let length = record.series.interval_ns;
    let points = record.series.values.values().map(Vec::len).max();
    let is_measured = |number: u64| {
        let (from, until) = (
            number.saturating_mul(length),
            (number + 1).saturating_mul(length),
        );
        let holds =
            |phase: &Phase| phase.name == RUN && phase.start_ns <= from && until <= phase.end_ns;
        record.phases.iter().any(holds)
    };
    let numbers =
        (0..points.unwrap_or(0) as u64).filter(|number| length > 0 && is_measured(*number));
    let numbers: Vec<u64> = numbers.collect();
    let first = numbers.first().copied().unwrap_or(0);
    numbers
        .into_iter()
        .map(|number| Interval {
            at: Duration::from_nanos((number - first) * length),
            length: Duration::from_nanos(length),
            operations: value(record, "operations", number),
            roles: roles(record, number),
            ..Interval::default()
        })
        .collect()
}

/// A value of a series; 0 after the end of an existing one.
fn value(record: &Record, name: &str, number: u64) -> Option<f64> {
    let values = record.series.values.get(name)?;
    let value = usize::try_from(number)
        .ok()
        .and_then(|number| values.get(number));
    Some(value.copied().unwrap_or(0) as f64)
}

fn roles(record: &Record, number: u64) -> BTreeMap<Role, profile::Io> {
    let mut roles: BTreeMap<Role, profile::Io> = BTreeMap::new();
    for volume in record
        .volumes
        .iter()
        .filter(|volume| !volume.files.is_empty())
    {
        let io = roles.entry(role(volume.files.keys())).or_default();
        for disk in &volume.disks {
            let of =
                |what: &str| value(record, &format!("{}.{what}", disk.name), number).unwrap_or(0.0);
            add(
                &mut io.reads,
                [of("reads"), of("read_bytes"), of("read_ns")],
            );
            add(
                &mut io.writes,
                [of("writes"), of("write_bytes"), of("write_ns")],
            );
        }
    }
    roles
}

/// Adds the sessions' activity, which a record only has for the run as a whole.
fn add_sessions(record: &Record, sessions: u32, intervals: &mut [Interval]) {
    let all: u64 = record.time_split_ns.values().sum();
    let is_of_run = |phase: &Phase| !phase.measured || phase.name == RUN;
    if all == 0 || !record.phases.iter().all(is_of_run) {
        // Where the load is measured too, the times cover both.
        return;
    }
    let share = |of: &dyn Fn(&Cause) -> bool| {
        let spent = record.time_split_ns.iter().filter(|(cause, _)| of(cause));
        let spent: u64 = spent.map(|(_, ns)| *ns).sum();
        spent as f64 / all as f64
    };
    // A session waits for reads or writes of data or of temp; the split follows the time of these requests.
    let took = |role: Role, requests: fn(&profile::Io) -> &Requests| {
        let io = intervals
            .iter()
            .filter_map(|interval| interval.roles.get(&role));
        let waited = io.filter_map(|io| requests(io).waited);
        waited.map(Duration::as_secs_f64).sum::<f64>()
    };
    let of_temp = |requests: fn(&profile::Io) -> &Requests| {
        let (temp, data) = (took(Role::Temp, requests), took(Role::Data, requests));
        if temp > 0.0 {
            temp / (temp + data)
        } else {
            0.0
        }
    };
    let io = |wanted: Io| share(&|cause| cause.io() == Some(wanted));
    let (reads, writes) = (io(Io::Read), io(Io::Write));
    let temp = [of_temp(|io| &io.reads), of_temp(|io| &io.writes)];
    let waiting = BTreeMap::from([
        (Wait::DataRead, reads * (1.0 - temp[0])),
        (Wait::DataWrite, writes * (1.0 - temp[1])),
        (Wait::Temp, reads * temp[0] + writes * temp[1]),
        (Wait::Log, io(Io::Log)),
        (Wait::Lock, share(&|cause| *cause == Cause::Lock)),
        (Wait::Other, share(&|cause| *cause == Cause::Other)),
    ]);
    let (processor, idle) = (
        share(&|cause| *cause == Cause::Cpu),
        share(&|cause| *cause == Cause::Think),
    );
    let count = f64::from(sessions);
    for interval in intervals {
        interval.sessions = Some(count);
        interval.running = Some(count * (1.0 - idle));
        let seconds = interval.length.as_secs_f64() * count * processor;
        interval.processor = Some(Duration::from_secs_f64(seconds));
        let waiting = waiting.iter();
        interval.waiting = waiting
            .map(|(wait, share)| (*wait, count * share))
            .collect();
    }
}

/// The role of a volume's requests.
fn role<'a>(roles: impl ExactSizeIterator<Item = &'a Role> + Clone) -> Role {
    let only = roles.clone().next().filter(|_| roles.len() == 1);
    only.copied().unwrap_or(Role::Data)
}

fn add(to: &mut Requests, [count, bytes, ns]: [f64; 3]) {
    *to.count.get_or_insert(0.0) += count;
    *to.bytes.get_or_insert(0.0) += bytes;
    *to.waited.get_or_insert(Duration::ZERO) += Duration::from_secs_f64(ns / 1e9);
}

/// One for each disk: a stripe is several.
fn volumes(record: &Record) -> Vec<ServerVolume> {
    let used = record
        .volumes
        .iter()
        .filter(|volume| !volume.files.is_empty());
    let disks = used.flat_map(|volume| {
        let one = ServerVolume {
            roles: volume.files.keys().copied().collect(),
            disk: Some(volume.disk.clone()),
            size: None,
        };
        std::iter::repeat_n(one, volume.disks.len().max(1))
    });
    disks.collect()
}

fn assumptions(record: &Record, completed: usize, start: Option<Timestamp>) -> Vec<String> {
    let mut assumptions = vec![
        format!(
            "It is one trial, the first of {completed} that completed; flushes are not in a record's series, and unknown."
        ),
        "Intervals in which the run of the sessions began or ended are left out.".to_owned(),
        "What sessions waited for and computed is known of the run as a whole: every interval has its mean.".to_owned(),
    ];
    for volume in record
        .volumes
        .iter()
        .filter(|volume| volume.files.len() > 1)
    {
        assumptions.push(format!(
            "Files for {} share a volume, whose requests cannot be distinguished; all of them count as data.",
            Role::joined(volume.files.keys(), " and ")
        ));
    }
    if start.is_none() {
        assumptions.push("A record has no date: its time starts in 1970.".to_owned());
    }
    assumptions
}
