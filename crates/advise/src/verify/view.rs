//! The report on a promise.

use analysis::report::{Body, Item, Kind, Place, Report};
use table::quantity::{number, percent};
use table::{Cell, Column, Table};

use super::{Kept, Requests, Time, Verification};

impl Verification {
    /// The report.
    pub fn report(&self) -> Report {
        let mut report = Report {
            title: "What was promised, and what was recorded".to_owned(),
            answer: Item::all(Kind::Answer, [self.answer()]),
            facts: self.facts(),
            ..Report::default()
        };
        report.add(
            "times",
            "",
            Place::Screen(0),
            Body::Table(self.times_table()),
        );
        report.add(
            "requests",
            "What an operation asks for, before and after",
            Place::Screen(0),
            Body::Table(self.requests_table()),
        );
        report.add(
            "notes",
            "Read first",
            Place::Screen(4),
            Body::List(Item::all(Kind::Warning, self.notes.clone())),
        );
        report
    }

    fn answer(&self) -> String {
        let [low, high] = self.promised.map(percent);
        let promised = match low == high {
            true => low,
            false => format!("{low} to {high}"),
        };
        let kept = match self.kept {
            Kept::Kept => "Kept",
            Kept::Better => "Better than promised",
            Kept::Worse => "Not kept",
        };
        let [least, most] = self.allowed.map(percent);
        format!(
            "{kept}: operations take {} of the time before; promised were {promised}, with the model's error {least} to {most}.",
            percent(self.time)
        )
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let machine = self.machine.clone();
        let volumes = self.volumes.join("; ");
        let server = self.server.clone();
        let facts = [
            ("server", server),
            ("layout", Some(self.layout.clone())),
            ("machine", machine),
            ("volumes", Some(volumes)),
        ];
        let known = facts.into_iter();
        known
            .filter_map(|(name, fact)| Some((name, fact?)))
            .collect()
    }

    fn times_table(&self) -> Table {
        let ms = |value: f64| Cell::Number(value);
        Table::of(
            self.times.iter(),
            [
                Column::text("", |time: &&Time| match time.part {
                    None => "operation".to_owned(),
                    Some(part) => part.to_string(),
                }),
                Column::figure("before", move |time: &&Time| ms(time.before_ms)).unit("ms"),
                Column::figure("promised", move |time: &&Time| {
                    time.promised_ms.map_or(Cell::Missing, ms)
                })
                .unit("ms"),
                Column::figure("recorded", move |time: &&Time| ms(time.after_ms)).unit("ms"),
            ],
        )
    }

    fn requests_table(&self) -> Table {
        let pair = |[before, after]: [f64; 2]| Cell::pair(number(before), number(after));
        Table::of(
            self.requests.iter(),
            [
                Column::text("", |one: &&Requests| {
                    format!("{} {}", one.role.name(), one.kind)
                }),
                Column::figure("an operation", move |one: &&Requests| {
                    pair(one.per_operation)
                }),
                Column::figure("latency", move |one: &&Requests| match one.latency_ms {
                    [Some(before), Some(after)] => pair([before, after]),
                    _ => Cell::Missing,
                })
                .unit("ms"),
            ],
        )
    }
}
