//! The text format of a profile: TOML, with a column of numbers for each figure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use model::Duration;
use reading::Role;
use serde::{Deserialize, Serialize};

use super::check::{ProfileError, check};
use super::columns::{self, Column, FIGURES, SECONDS_MAX, WHOLE};
use super::definition::{
    Interruption, Interval, Lost, Machine, Origin, Profile, ServerVolume, WAITING,
};

/// The name and version of the format.
pub const FORMAT: &str = "dbstow.profile/1";

/// Figures are rounded to a millionth: a microsecond for times.
const DECIMALS: i32 = 6;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    /// `dbstow.profile/1`.
    ///
    /// Required.
    format: String,
    /// When the first interval begins, with its offset from UTC, as text.
    ///
    /// Required.
    start: Timestamp,
    /// What was assumed when the file was made: sentences.
    ///
    /// Absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    assumptions: Vec<String>,
    origin: Origin,
    #[serde(default)]
    machine: Machine,
    #[serde(default, rename = "volume", skip_serializing_if = "Vec::is_empty")]
    volumes: Vec<ServerVolume>,
    #[serde(
        default,
        rename = "interruption",
        skip_serializing_if = "Vec::is_empty"
    )]
    interruptions: Vec<WireInterruption>,
    intervals: WireIntervals,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireInterruption {
    /// Of a gap: when the last figures before it were taken, from the start.
    ///
    /// Required.
    at_s: f64,
    /// Why there is one: `restart`, `reset`, `gap` or `clock`.
    ///
    /// Required.
    cause: Lost,
}

/// Columns by name. Names are checked afterwards: serde cannot do both.
type Columns = BTreeMap<String, Vec<f64>>;

#[derive(Serialize, Deserialize)]
struct WireIntervals {
    at_s: Vec<f64>,
    length_s: Vec<f64>,
    #[serde(flatten)]
    whole: Columns,
    #[serde(default, skip_serializing_if = "Columns::is_empty")]
    waiting: Columns,
    #[serde(default, skip_serializing_if = "Columns::is_empty")]
    data: Columns,
    #[serde(default, skip_serializing_if = "Columns::is_empty")]
    temp: Columns,
    #[serde(default, skip_serializing_if = "Columns::is_empty")]
    log: Columns,
    #[serde(default, skip_serializing_if = "Columns::is_empty")]
    binlog: Columns,
    #[serde(default, skip_serializing_if = "Columns::is_empty")]
    undo: Columns,
    #[serde(default, skip_serializing_if = "Columns::is_empty")]
    doublewrite: Columns,
}

impl WireIntervals {
    fn of_role(&self, role: Role) -> &Columns {
        match role {
            Role::Data => &self.data,
            Role::Temp => &self.temp,
            Role::Log => &self.log,
            Role::Binlog => &self.binlog,
            Role::Undo => &self.undo,
            Role::Doublewrite => &self.doublewrite,
        }
    }
}

/// Reads a profile; `file` is its name in errors.
///
/// # Errors
/// When it is not a profile of this format, or its figures contradict each other.
pub fn read(file: &str, text: &str) -> Result<Profile, ProfileError> {
    let wire: Wire = toml::from_str(text).map_err(|error| ProfileError::Text {
        file: file.to_owned(),
        line: line(text, error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let profile = meaning(wire).and_then(|profile| check(&profile).map(|()| profile));
    profile.map_err(|message| ProfileError::Figures {
        file: file.to_owned(),
        message,
    })
}

/// The text of a profile; the same profile gives the same text.
///
/// # Errors
/// When its figures contradict each other; `file` is its name in the error.
pub fn write(file: &str, profile: &Profile) -> Result<String, ProfileError> {
    check(profile).map_err(|message| ProfileError::Figures {
        file: file.to_owned(),
        message,
    })?;
    Ok(toml::to_string(&wire(profile)).expect("numbers, texts and lists of them are TOML"))
}

fn line(text: &str, offset: usize) -> usize {
    text[..offset.min(text.len())].matches('\n').count() + 1
}

fn meaning(wire: Wire) -> Result<Profile, String> {
    if wire.format != FORMAT {
        return Err(format!(
            "its format is `{}`, not `{FORMAT}`: write it again with this dbstow",
            wire.format
        ));
    }
    Ok(Profile {
        origin: wire.origin,
        start: wire.start,
        machine: wire.machine,
        volumes: wire.volumes,
        intervals: intervals(wire.intervals)?,
        left_out: Vec::new(),
        interruptions: wire
            .interruptions
            .into_iter()
            .map(interruption)
            .collect::<Result<_, String>>()?,
        assumptions: wire.assumptions,
    })
}

fn intervals(wire: WireIntervals) -> Result<Vec<Interval>, String> {
    let place = |(at, length): (&f64, &f64)| {
        Ok(Interval {
            at: time("at_s", *at)?,
            length: time("length_s", *length)?,
            ..Interval::default()
        })
    };
    let rows = wire.at_s.len();
    same_length("length_s", wire.length_s.len(), rows)?;
    let mut intervals: Vec<Interval> = wire
        .at_s
        .iter()
        .zip(&wire.length_s)
        .map(place)
        .collect::<Result<_, String>>()?;
    let whole = named(&wire.whole, "", &WHOLE, Column::Whole);
    let waiting = named(&wire.waiting, "waiting.", &WAITING, Column::Waiting);
    let mut columns: Vec<(Column, &Vec<f64>)> = whole?;
    columns.extend(waiting?);
    for role in Role::ALL {
        let prefix = format!("{role}.");
        columns.extend(named(wire.of_role(role), &prefix, &FIGURES, |figure| {
            Column::Io(role, figure)
        })?);
    }
    for (column, values) in columns {
        same_length(&column.to_string(), values.len(), rows)?;
        for (interval, value) in intervals.iter_mut().zip(values) {
            let wrong = |why| format!("`{column}` holds {why}");
            column.check(*value).map_err(wrong)?;
            column.set(interval, *value);
        }
    }
    Ok(intervals)
}

/// The time that `seconds` of a column are.
fn time(column: &str, seconds: f64) -> Result<Duration, String> {
    let wrong = |why| format!("`{column}` holds {why}");
    columns::within(seconds, SECONDS_MAX).map_err(wrong)?;
    Ok(Duration::from_secs_f64(seconds))
}

fn same_length(name: &str, found: usize, wanted: usize) -> Result<(), String> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!(
            "`{name}` has {found} values, `at_s` has {wanted}: every column has one for each interval"
        )),
    }
}

/// The columns of a table by name.
fn named<'a, T: Copy>(
    table: &'a Columns,
    prefix: &str,
    names: &[(&str, T)],
    column: impl Fn(T) -> Column,
) -> Result<Vec<(Column, &'a Vec<f64>)>, String> {
    let one = |(name, values): (&'a String, &'a Vec<f64>)| {
        let known = names.iter().find(|(known, _)| known == name);
        let (_, figure) = known.ok_or_else(|| {
            let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            format!(
                "there is no column `{prefix}{name}`; there are {}",
                known.join(", ")
            )
        })?;
        Ok((column(*figure), values))
    };
    table.iter().map(one).collect()
}

fn wire(profile: &Profile) -> Wire {
    let seconds = |time: fn(&Interval) -> Duration| {
        profile
            .intervals
            .iter()
            .map(|interval| rounded(time(interval).as_secs_f64()))
            .collect()
    };
    let of_role = |role| {
        table(&profile.intervals, &FIGURES, |figure| {
            Column::Io(role, figure)
        })
    };
    Wire {
        format: FORMAT.to_owned(),
        start: profile.start,
        assumptions: profile.assumptions.clone(),
        origin: profile.origin.clone(),
        machine: profile.machine.clone(),
        volumes: profile.volumes.clone(),
        interruptions: profile
            .interruptions
            .iter()
            .map(WireInterruption::of)
            .collect(),
        intervals: WireIntervals {
            at_s: seconds(|interval| interval.at),
            length_s: profile.intervals.iter().map(length).collect(),
            whole: table(&profile.intervals, &WHOLE, Column::Whole),
            waiting: table(&profile.intervals, &WAITING, Column::Waiting),
            data: of_role(Role::Data),
            temp: of_role(Role::Temp),
            log: of_role(Role::Log),
            binlog: of_role(Role::Binlog),
            undo: of_role(Role::Undo),
            doublewrite: of_role(Role::Doublewrite),
        },
    }
}

/// The columns that were recorded.
fn table<T: Copy>(
    intervals: &[Interval],
    names: &[(&str, T)],
    column: impl Fn(T) -> Column,
) -> Columns {
    let one = |(name, figure): &(&str, T)| {
        let column = column(*figure);
        let values: Option<Vec<f64>> = intervals
            .iter()
            .map(|interval| column.get(interval).map(rounded))
            .collect();
        Some(((*name).to_owned(), values?))
    };
    names.iter().filter_map(one).collect()
}

/// From its rounded start to its rounded end: rounded separately it could reach into the next interval.
fn length(interval: &Interval) -> f64 {
    let end = interval.at + interval.length;
    rounded(rounded(end.as_secs_f64()) - rounded(interval.at.as_secs_f64()))
}

fn rounded(value: f64) -> f64 {
    let factor = 10f64.powi(DECIMALS);
    (value * factor).round() / factor
}

fn interruption(wire: WireInterruption) -> Result<Interruption, String> {
    Ok(Interruption {
        at: time("interruption.at_s", wire.at_s)?,
        cause: wire.cause,
    })
}

impl WireInterruption {
    fn of(interruption: &Interruption) -> WireInterruption {
        WireInterruption {
            at_s: rounded(interruption.at.as_secs_f64()),
            cause: interruption.cause,
        }
    }
}

#[cfg(test)]
mod tests;
