//! The report on a profile.

use model::{Bytes, Duration};
use profile::{
    Interruption, Lost, MeanAndHighest, Profile, Rates, RequestRates, RoleSummary, ServerVolume,
    Summary, Timestamp, Wait, later, summary,
};
use reading::Role;
use replay::{Answer, DemandSeries, answers};
use table::quantity::{duration, number, percent};
use table::{Cell, Column, Table};

use crate::report::section::{Body, Item, Kind, Place, Report};

const MEGABYTE: f64 = 1e6;

/// Intervals may differ from the usual length by up to this share and still count as even, as a snapshot is a moment
/// late. The figure is ours.
const UNEVEN: f64 = 0.05;

/// A shorter recording shows neither peaks nor what recurs by the hour, such as backups. The figure is ours.
const SHORT: Duration = Duration::from_secs(600);

/// Number of notes on a screen.
const NOTES_MAX: usize = 3;

/// The report on `profile`, except charts.
pub fn report(profile: &Profile) -> Report {
    let summary = summary(profile);
    let server = server(profile).unwrap_or_else(|| "a server".to_owned());
    let mut report = Report {
        title: format!("What {server} asked of its disks"),
        answer: Item::all(Kind::Answer, [most(&summary)]),
        facts: facts(profile),
        ..Report::default()
    };
    let list = |kind, texts: Vec<String>| Body::List(Item::all(kind, texts));
    let full = Place::Full;
    let interruptions: Vec<String> = profile.interruptions.iter().map(interruption).collect();
    let assumptions = profile.assumptions.clone();
    let unanswered = answers(profile)
        .into_iter()
        .filter(|answer| !answer.is_known);
    let unanswered =
        unanswered.map(|answer| format!("no answer on {}: {}", answer.question, answer.detail));
    let notes = short(profile)
        .into_iter()
        .chain(interruptions.clone())
        .chain(unanswered);
    let notes = notes.chain(assumptions.clone()).collect();
    report.add(
        "requests",
        "",
        Place::Short(0),
        Body::Table(requests_in_short(&summary)),
    );
    let why = Item::all(Kind::Point, time(&summary));
    report.add("time", "", Place::Short(1), Body::List(why));
    report.add("requests", "", full, Body::Table(requests(&summary)));
    report.add(
        "notes",
        "Read first",
        Place::Short(NOTES_MAX),
        list(Kind::Warning, notes),
    );
    report.add(
        "short",
        "",
        full,
        list(Kind::Warning, short(profile).into_iter().collect()),
    );
    report.add("sessions", "", full, Body::Table(sessions(&summary)));
    report.add("answers", "", full, Body::Table(answered(profile)));
    report.add(
        "interruptions",
        "Interrupted",
        full,
        list(Kind::Point, interruptions),
    );
    report.add(
        "assumptions",
        "Assumed",
        full,
        list(Kind::Point, assumptions),
    );
    report
}

/// The report on a profile that was just written to `file`: where it comes from, what it can answer, what was assumed.
pub fn imported(file: &str, from: &str, profile: &Profile) -> Report {
    let broken = match profile.interruptions.len() {
        0 => String::new(),
        1 => ", with 1 interruption".to_owned(),
        several => format!(", with {several} interruptions"),
    };
    let intervals = intervals(profile);
    let answer = format!("{file}: {intervals} from {from}{broken}");
    let mut answer = Item::all(Kind::Answer, [answer]);
    answer.extend(no_advice(profile));
    let mut report = Report {
        answer,
        ..Report::default()
    };
    let assumed = Item::all(Kind::Point, profile.assumptions.clone());
    report.add("answers", "", Place::Full, Body::Table(answered(profile)));
    report.add("assumptions", "Assumed", Place::Full, Body::List(assumed));
    report
}

/// That advice will be refused, and why: said when the profile is made, as it is only recorded again then without loss.
fn no_advice(profile: &Profile) -> Option<Item> {
    let error = DemandSeries::of(&profile.clone().in_common_roles()).err()?;
    Some(Item::new(
        Kind::Caution,
        "`dbstow advise` refuses this profile",
        error.to_string(),
    ))
}

/// Where most requests go, in a sentence.
fn most(summary: &Summary) -> String {
    let per_second = |rates: &Rates| {
        let counted = [rates.reads.per_second, rates.writes.per_second];
        counted
            .into_iter()
            .flatten()
            .reduce(|reads, writes| reads + writes)
    };
    let roles = summary.roles.iter();
    let roles = roles.filter_map(|role| Some((role, per_second(&role.busiest)?)));
    match roles.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
        None => "Reads and writes were not counted.".to_owned(),
        Some((role, busiest)) => format!(
            "Most requests go to {}: {} per second in its busiest interval, {} on average.",
            role.role.name(),
            number(busiest),
            number(per_second(&role.mean).unwrap_or_default())
        ),
    }
}

/// Where the time of running sessions goes, in a sentence; `None` where sessions were not sampled.
fn time(summary: &Summary) -> Option<String> {
    let waits = summary
        .waiting
        .iter()
        .map(|(wait, spread)| (*wait, spread.mean));
    let mut waits: Vec<(Wait, f64)> = waits.filter(|(_, sessions)| *sessions > 0.0).collect();
    let waiting: f64 = waits.iter().map(|(_, sessions)| sessions).sum();
    let running = summary
        .running
        .map_or(waiting, |spread| spread.mean.max(waiting));
    waits.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let parts = waits
        .iter()
        .map(|(wait, sessions)| format!("{} {}", percent(sessions / running), waiting_for(*wait)));
    let parts: Vec<String> = parts.collect();
    let sessions = number(running);
    (!parts.is_empty()).then(|| {
        format!(
            "of {sessions} sessions that run at a time: {}",
            parts.join(", ")
        )
    })
}

/// A sentence about a recording that is too short to stand for a server's load.
pub fn short(profile: &Profile) -> Option<String> {
    let recorded = profile.recorded();
    (recorded < SHORT).then(|| {
        format!(
            "A recording of {}: its busiest moment is not the year's; record a day.",
            duration(recorded)
        )
    })
}

/// A sentence about the part of a recording that is kept, where it is not all of it.
pub fn part(profile: &Profile) -> Option<String> {
    let begin = later(profile.start, profile.intervals.first()?.at);
    (!profile.left_out.is_empty()).then(|| {
        format!(
            "Times are of the busiest {} of {} recorded, from {} UTC (--window for more).",
            duration(profile.covered()),
            duration(profile.recorded()),
            begin.strftime("%F %R")
        )
    })
}

/// The server in a word or two, with its version; `None` where only disks were monitored.
pub(super) fn server(profile: &Profile) -> Option<String> {
    let origin = &profile.origin;
    let product = origin.product.iter().chain(&origin.version);
    let product: Vec<&str> = product.map(String::as_str).collect();
    (!product.is_empty()).then(|| product.join(" "))
}

/// What a session waits for, as text.
pub(super) fn waiting_for(wait: Wait) -> &'static str {
    match wait {
        Wait::DataRead => "waiting for reads of data",
        Wait::DataWrite => "waiting for writes of data",
        Wait::Log => "waiting for the log",
        Wait::Temp => "waiting for temporary files",
        Wait::Lock => "waiting for locks",
        Wait::Other => "waiting for something else",
    }
}

/// The number and length of intervals: one length, or from the shortest to the longest.
fn intervals(profile: &Profile) -> String {
    let count = match profile.intervals.len() {
        1 => "1 interval".to_owned(),
        several => format!("{several} intervals"),
    };
    let lengths = profile.intervals.iter().map(|interval| interval.length);
    let [shortest, longest] = [lengths.clone().min(), lengths.max()].map(Option::unwrap_or_default);
    let usual = summary(profile).interval.as_secs_f64();
    let is_usual = |length: Duration| (length.as_secs_f64() - usual).abs() <= usual * UNEVEN;
    match is_usual(shortest) && is_usual(longest) {
        true => format!("{count} of {}", duration(summary(profile).interval)),
        false => format!("{count} of {} to {}", duration(shortest), duration(longest)),
    }
}

fn facts(profile: &Profile) -> Vec<(&'static str, String)> {
    let known = |text: Option<String>| text.unwrap_or_else(|| "not known".to_owned());
    let time = format!(
        "{}, {}, {} in total",
        instant(profile.start),
        intervals(profile),
        duration(profile.covered())
    );
    let volumes: Vec<String> = profile.volumes.iter().map(volume).collect();
    vec![
        ("recorded by", profile.origin.tool.clone()),
        ("server", known(server(profile))),
        ("machine", known(machine(profile))),
        ("start", time),
        (
            "volumes",
            known((!volumes.is_empty()).then(|| volumes.join("; "))),
        ),
    ]
}

/// A point in time, in seconds: `2026-11-20T21:00:00Z`.
fn instant(time: Timestamp) -> String {
    let whole = Timestamp::from_second(time.as_second());
    whole.unwrap_or(time).to_string()
}

fn machine(profile: &Profile) -> Option<String> {
    let machine = &profile.machine;
    let processors = machine.processors.map(|count| match count {
        1 => "1 processor".to_owned(),
        count => format!("{count} processors"),
    });
    let memory = |memory: Bytes| format!("{memory} of memory");
    let cache = |cache: Bytes| format!("{cache} of cache");
    let parts = [
        machine.name.clone(),
        processors,
        machine.memory.map(memory),
        machine.cache.map(cache),
        profile
            .miss_share()
            .map(|share| format!("{} of the bytes asked of it read", percent(share))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn volume(volume: &ServerVolume) -> String {
    let disk = volume.disk.as_ref().map(|disk| format!(" on {disk}"));
    let size = volume.size.map(|size| format!(" of {size}"));
    format!(
        "{}{}{}",
        Role::joined(&volume.roles, ", "),
        disk.unwrap_or_default(),
        size.unwrap_or_default()
    )
}

/// A role, on average and when it was busiest.
type RequestsRow = (Role, &'static str, Rates);

/// The rows of requests, and the columns that name them.
fn of_roles(
    summary: &Summary,
) -> (
    impl Iterator<Item = RequestsRow> + '_,
    [Column<'static, RequestsRow>; 2],
) {
    let rows = summary.roles.iter().flat_map(|role| {
        [
            (role.role, "mean", role.mean),
            (role.role, "busiest", role.busiest),
        ]
    });
    let columns = [
        Column::text("", |(role, _, _): &RequestsRow| role.name()).once(),
        Column::text("", |(_, what, _): &RequestsRow| *what),
    ];
    (rows, columns)
}

fn requests(summary: &Summary) -> Table {
    let column = |name, figure: fn(&Rates) -> Option<f64>| {
        Column::figure(name, move |(_, _, rates): &RequestsRow| figure(rates))
    };
    let columns = [
        column("reads/s", |rates| rates.reads.per_second),
        column("writes/s", |rates| rates.writes.per_second),
        column("read MB/s", |rates| megabytes(&rates.reads)),
        column("write MB/s", |rates| megabytes(&rates.writes)),
        column("read ms", |rates| milliseconds(&rates.reads)),
        column("write ms", |rates| milliseconds(&rates.writes)),
        column("flushes/s", |rates| rates.flushes.per_second),
        column("flush ms", |rates| milliseconds(&rates.flushes)),
    ];
    let (rows, named) = of_roles(summary);
    Table::of(rows, named.into_iter().chain(columns))
}

/// The same in fewer columns.
fn requests_in_short(summary: &Summary) -> Table {
    let column = |name, figure: fn(&RequestRates) -> Option<f64>| {
        let both = move |(_, _, rates): &RequestsRow| {
            Cell::pair(figure(&rates.reads), figure(&rates.writes))
        };
        Column::figure(name, both).unit("read / write")
    };
    let columns = [
        column("requests/s", |rates| rates.per_second),
        column("MB/s", megabytes),
        column("ms", milliseconds),
    ];
    // Servers that open their log for synchronous writes flush nothing: a column of zeros would read as if nothing were durable.
    let per_second = |role: &RoleSummary| role.mean.flushes.per_second.unwrap_or_default();
    let are_flushes = summary.roles.iter().map(per_second).sum::<f64>() > 0.0;
    let flushes = are_flushes.then(|| {
        Column::figure("flushes/s", |(_, _, rates): &RequestsRow| {
            rates.flushes.per_second
        })
    });
    let (rows, named) = of_roles(summary);
    Table::of(rows, named.into_iter().chain(columns).chain(flushes))
}

fn megabytes(rates: &RequestRates) -> Option<f64> {
    rates.bytes_per_second.map(|bytes| bytes / MEGABYTE)
}

fn milliseconds(rates: &RequestRates) -> Option<f64> {
    rates.latency.map(Duration::as_millis_f64)
}

fn sessions(summary: &Summary) -> Table {
    type Row = (&'static str, MeanAndHighest);
    let whole = [
        ("operations/s", summary.operations),
        ("commits/s", summary.commits),
        ("processors in use", summary.processors),
        ("sessions", summary.sessions),
        ("sessions running", summary.running),
    ];
    let whole = whole
        .into_iter()
        .filter_map(|(name, spread)| Some((name, spread?)));
    let waiting = summary.waiting.iter();
    let waiting = waiting.map(|(wait, spread)| (waiting_for(*wait), *spread));
    let columns = [
        Column::text("", |(name, _): &Row| *name),
        Column::figure("mean", |(_, spread): &Row| spread.mean),
        Column::figure("highest", |(_, spread): &Row| spread.highest),
    ];
    Table::of(whole.chain(waiting), columns)
}

fn answered(profile: &Profile) -> Table {
    let known = |answer: &Answer| if answer.is_known { "yes" } else { "no" };
    let columns = [
        Column::text("can answer", |answer: &Answer| answer.question.to_string()),
        Column::text("", known),
        Column::text("", |answer: &Answer| answer.detail.clone()),
    ];
    Table::of(answers(profile), columns)
}

fn interruption(interruption: &Interruption) -> String {
    let cause = match interruption.cause {
        Lost::Restart => "the server was restarted",
        Lost::Reset => "counters were reset",
        Lost::Gap => "nothing was recorded for a while",
        Lost::Clock => "the clock was set",
    };
    format!("{} after the start {cause}.", duration(interruption.at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_is_shorter_than_the_others_is_shown() {
        let profile = |lengths: &[f64]| {
            let ends = lengths.iter().scan(0.0, |end, length| {
                *end += length;
                Some(*end - length)
            });
            let starts: Vec<f64> = ends.collect();
            let reads = vec![1.0; lengths.len()];
            let text = format!(
                "format = \"dbstow.profile/1\"\nstart = \"1970-01-01T00:01:00Z\"\n[origin]\ntool = \"test\"\n\
                 [intervals]\nat_s = {starts:?}\nlength_s = {lengths:?}\n[intervals.data]\nreads = {reads:?}\n"
            );
            profile::read("test.toml", &text).expect("a profile")
        };
        for (lengths, shown) in [
            (&[8.2, 10.0, 10.0][..], "3 intervals of 8.2 s to 10 s"),
            (&[10.0, 10.0, 2.5], "3 intervals of 2.5 s to 10 s"),
            (&[10.0, 60.0, 60.0], "3 intervals of 10 s to 60 s"),
            // A snapshot that came a moment late.
            (&[10.003, 9.998, 10.0], "3 intervals of 10 s"),
            (&[5.0], "1 interval of 5 s"),
        ] {
            assert_eq!(intervals(&profile(lengths)), shown);
        }
    }

    #[test]
    fn the_start_of_a_recording_has_seconds_and_no_nanoseconds() {
        let text = "format = \"dbstow.profile/1\"\nstart = \"2026-11-20T21:00:00.123456789Z\"\n\
            [origin]\ntool = \"test\"\n[intervals]\nat_s = [0.0]\nlength_s = [10.0]\n\
            [intervals.data]\nreads = [30.0]\n";
        let shown = report(&profile::read("test.toml", text).unwrap());

        let start = shown.facts.iter().find(|(name, _)| *name == "start");
        let expected = "2026-11-20T21:00:00Z, 1 interval of 10 s, 10 s in total";
        assert_eq!(start.map(|(_, time)| time.as_str()), Some(expected));
    }

    #[test]
    fn the_part_of_a_recording_that_is_kept_is_named() {
        let text = "format = \"dbstow.profile/1\"\nstart = \"2026-11-20T21:00:00Z\"\n[origin]\ntool = \"test\"\n[intervals]\n\
            at_s = [0.0, 3600.0, 7200.0]\nlength_s = [3600.0, 3600.0, 3600.0]\n[intervals.data]\nreads = [1.0, 3.0, 2.0]\n";
        let whole = profile::read("test.toml", text).expect("a profile");
        assert_eq!(part(&whole), None);
        let hour = whole.busiest(Duration::from_secs(3600));
        let expected = "Times are of the busiest 60 min of 3 h recorded, from 2026-11-20 22:00 UTC (--window for more).";
        assert_eq!(part(&hour).as_deref(), Some(expected));
        assert_eq!(short(&hour), None);
    }

    #[test]
    fn a_profile_that_gets_no_advice_says_so_when_it_is_made_with_the_option_that_helps() {
        let imported = |counted: &str| {
            let text = format!(
                "format = \"dbstow.profile/1\"\nstart = \"1970-01-01T00:01:00Z\"\n[origin]\ntool = \"test\"\n[intervals]\n\
                 at_s = [0.0]\nlength_s = [10.0]\n{counted}"
            );
            let profile = profile::read("test.toml", &text).expect("a profile");
            let answer = imported("test.toml", "a test", &profile).answer;
            answer.iter().skip(1).map(Item::line).collect::<String>()
        };
        let log = "[intervals.log]\nwrites = [10.0]\nwrite_bytes = [5120.0]\n";
        let data = "[intervals.data]\nreads = [10.0]\nread_bytes = [81920.0]\n";
        let operations = "operations = [1000.0]\n";

        let refused = imported(&format!("{operations}{log}"));
        assert!(
            refused.starts_with("`dbstow advise` refuses this profile: "),
            "{refused}"
        );
        assert!(refused.contains("--device data="), "{refused}");
        let refused = imported(data);
        assert!(refused.contains("operations were not counted"), "{refused}");
        assert_eq!(imported(&format!("{operations}{data}")), "");
    }
}
