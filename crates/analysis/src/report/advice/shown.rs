//! A layout as text: its name, its price and time, and what holds it back.

use super::document::{Advice, Layout, Line, Used, Volume};
use super::facts::reads;
use super::money::Currency;
use reading::Role;
use table::quantity::{number, percent, percent_with_error, percent_within};
use table::{Column, Table};

/// The used share from which on a limit counts as limiting.
const BINDS_FROM: f64 = 0.7;

/// The used share from which on a limit holds operations up, where these wait for one: sessions issue the next request as soon as the
/// last is done, so that they fill it.
const AT_LIMIT_FROM: f64 = 0.95;

/// The share of an operation's time that waits for limits from which on these count: a hundredth changes no decision.
const THROTTLED_FROM: f64 = 0.01;

/// A layout, by what it is.
pub(super) type Named<'a> = (String, &'a Layout);

/// The answers; a layout that is several is listed once, with all its names.
pub(super) fn named(advice: &Advice) -> Vec<Named<'_>> {
    let mut rows: Vec<Named<'_>> = Vec::new();
    for (name, layout) in advice.answers() {
        match rows.iter_mut().find(|(_, known)| known.is_same_as(layout)) {
            Some((names, _)) => *names = format!("{names}, {name}"),
            None => rows.push((name.to_owned(), layout)),
        }
    }
    rows
}

pub(super) fn machine(layout: &Layout) -> String {
    layout
        .machine_shown()
        .unwrap_or_else(|| "not known".to_owned())
}

pub(super) fn usd(usd: Option<f64>, currency: &Currency) -> String {
    usd.map_or_else(|| "unknown".to_owned(), |usd| currency.bare(usd))
}

/// As a share of today's time, with its interval: that of chance, or the wider one of a detail that is off.
pub(super) fn time(layout: &Layout) -> String {
    match layout.time_range {
        Some([low, high]) => percent_within([layout.time, low, high]),
        None => at_least(layout, percent_with_error(layout.time, layout.time_half)),
    }
}

/// The mean time of an operation.
pub(super) fn milliseconds(layout: &Layout) -> String {
    at_least(layout, number(layout.operation_ms))
}

/// A time, and that it is a bound where it is one.
fn at_least(layout: &Layout, time: String) -> String {
    match layout.time_is_least {
        true => format!("at least {time}"),
        false => time,
    }
}

pub(super) fn volumes(layout: &Layout) -> String {
    let lines: Vec<String> = layout.volumes.iter().map(volume).collect();
    lines.join("\n")
}

/// `data, log: 2 x azure.premium_v2, 64 GiB, 6000 IOPS, 200 MB/s`.
pub(super) fn volume(volume: &Volume) -> String {
    format!("{}: {}", Role::joined(&volume.roles, ", "), volume.disks())
}

pub(super) fn used(layout: &Layout, limits: usize) -> String {
    let lines: Vec<String> = most_used(layout).take(limits).collect();
    lines.join("; ")
}

/// The most used limits, and how much of each is used.
pub(super) fn most_used(layout: &Layout) -> impl Iterator<Item = String> {
    layout
        .used
        .iter()
        .map(|used| match is_at_limit(layout, used) {
            true => format!("{} at limit", brief(used)),
            false => format!("{} {}", brief(used), percent(used.share)),
        })
}

/// A limit in a column of them: `IOPS of data`, `machine IOPS (ebs)`.
fn brief(used: &Used) -> String {
    match used.limit.split_once(" of the machine ") {
        Some((measure, name)) => format!("machine {measure} {name}"),
        None => used.limit.replace(" of volume ", " of "),
    }
}

/// The limit that is used up at the busiest time, whether or not operations wait for it.
pub(super) fn fullest(layout: &Layout) -> Option<&Used> {
    let first = layout.used.first();
    first.filter(|used| used.share >= AT_LIMIT_FROM)
}

/// Whether a limit is used up while operations wait for limits.
fn is_at_limit(layout: &Layout, used: &Used) -> bool {
    let throttled = layout
        .spent
        .iter()
        .filter(|(on, _)| on.contains("throttled"));
    let throttled: f64 = throttled.map(|(_, share)| share).sum();
    used.share >= AT_LIMIT_FROM && throttled >= THROTTLED_FROM
}

/// The bill of a layout: a row for each line, and their sum.
pub(super) fn prices(layout: &Layout, currency: &Currency) -> Table {
    let price = |line: &Line| match &line.included_in {
        Some(other) => format!("with the {other}"),
        None => usd(line.usd_per_month, currency),
    };
    let row = |line: &Line| (line.what.clone(), line.detail.clone(), price(line));
    let mut rows: Vec<Row> = layout.bill.iter().map(row).collect();
    rows.push((
        "in all".to_owned(),
        String::new(),
        usd(layout.usd_per_month, currency),
    ));
    type Row = (String, String, String);
    Table::of(
        rows,
        [
            Column::text("", |(name, _, _): &Row| name.clone()),
            Column::text("", |(_, what, _): &Row| what.clone()),
            Column::figure(currency.per_month(), |(_, _, usd): &Row| usd.clone()),
        ],
    )
}

/// What operations wait for, and the limit that is used most, on a line of a screen.
pub(super) fn why_in_short(layout: &Layout) -> String {
    if layout.time_is_least {
        return "not simulated: it may take longer".to_owned();
    }
    let spent = layout.spent.iter().max_by(|a, b| a.1.total_cmp(b.1));
    let spent = spent.map(|(on, share)| format!("{} of the time is {on}", percent(*share)));
    let limit = layout.used.first().filter(|used| used.share >= BINDS_FROM);
    let limit = match limit {
        Some(used) if is_at_limit(layout, used) => format!("{} at limit", brief(used)),
        Some(used) => format!("{} of {} used", percent(used.share), brief(used)),
        None => format!("no limit used by more than {}", percent(BINDS_FROM)),
    };
    let parts = spent.into_iter().chain([limit]);
    parts.collect::<Vec<_>>().join("; ")
}

/// What operations wait for, and the limit that is used most.
pub(super) fn why(layout: &Layout) -> String {
    if layout.time_is_least {
        return "not simulated: no operation can take less, and it may take longer".to_owned();
    }
    let spent = layout.spent.iter().max_by(|a, b| a.1.total_cmp(b.1));
    let spent =
        spent.map(|(on, share)| format!("{} of an operation's time is {on}", percent(*share)));
    let limit = layout.used.first().filter(|used| used.share >= BINDS_FROM);
    let limit = match limit {
        Some(used) if is_at_limit(layout, used) => {
            format!("at the busiest time {} are at their limit", used.limit)
        }
        Some(used) => format!(
            "at the busiest time {} of the limit on {} is used",
            percent(used.share),
            used.limit
        ),
        None => format!("no limit is used by more than {}", percent(BINDS_FROM)),
    };
    let reads = reads(layout).unwrap_or_default();
    format!("{}; {limit}{reads}", spent.unwrap_or_default())
}
