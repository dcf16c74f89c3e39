//! The content shown for advice, independent of the output format.

use model::Bytes;
use reading::Role;

use super::document::{Advice, Capacity, Figure, Layout, Part, Volume};
use crate::findings::Survived;
use table::quantity::{self, count, number, percent, percent_signed};
use table::{Column, Table};

/// Number of limits named per layout.
const LIMITS_SHOWN: usize = 2;

/// The used share from which on a limit counts as limiting.
const BINDS_FROM: f64 = 0.7;

/// The content shown for advice.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The answer, in a sentence.
    pub answer: String,
    /// The request.
    pub facts: Vec<(&'static str, String)>,
    /// Today's layout, and what to buy instead.
    pub answers: Table,
    /// The price of the chosen layout, item by item.
    pub prices: Table,
    /// Why; sentences.
    pub reasons: Vec<String>,
    /// Recorded beside simulated.
    pub backtest: Table,
    /// The time of an operation by what its session waits for, recorded beside simulated.
    pub parts: Table,
    /// Layouts that are faster than every cheaper one.
    pub frontier: Table,
    /// Statistics of the search; sentences.
    pub search: Vec<String>,
    /// Assumptions; sentences.
    pub assumptions: Vec<String>,
    /// Next steps: purpose and command.
    pub next: Vec<(String, String)>,
}

impl View {
    /// The content for `advice`.
    pub fn of(advice: &Advice) -> View {
        View {
            answer: advice.answer.clone(),
            facts: facts(advice),
            answers: answers(advice),
            prices: advice.chosen().map(prices).unwrap_or_default(),
            reasons: reasons(advice),
            backtest: backtest(advice),
            parts: parts(advice),
            frontier: frontier(advice),
            search: search(advice),
            assumptions: advice.assumptions.clone(),
            next: advice
                .next
                .iter()
                .map(|next| (next.what.clone(), next.command.clone()))
                .collect(),
        }
    }
}

fn facts(advice: &Advice) -> Vec<(&'static str, String)> {
    let asked = &advice.asked;
    let capacity: Vec<String> = asked.capacity.iter().map(capacity).collect();
    let prices = match advice.price_lists.is_empty() {
        true => "not known".to_owned(),
        false => advice.price_lists.join("; "),
    };
    let goal = format!(
        "operations at most {} slower than today{}{}",
        percent(asked.slower_max),
        match asked.growth {
            1.0 => String::new(),
            growth => format!(", with {growth} times the sessions and the data"),
        },
        asked
            .budget_usd_per_month
            .map_or_else(String::new, |usd| format!(
                ", for at most ${} a month",
                quantity::usd(usd)
            ))
    );
    let mut facts = vec![("profile", asked.profile.clone())];
    facts.extend(advice.server.clone().map(|server| ("server", server)));
    facts.extend([
        ("goal", goal),
        ("capacity", capacity.join("; ")),
        (
            "prices",
            format!("{prices}; on demand, {}, 730 hours", asked.system),
        ),
    ]);
    facts
}

fn capacity(capacity: &Capacity) -> String {
    format!("{} {}", roles(&capacity.roles), Bytes(capacity.bytes))
}

fn roles(roles: &[Role]) -> String {
    let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    names.join(", ")
}

/// A layout that is several answers is listed once, with all its names.
fn answers(advice: &Advice) -> Table {
    let mut rows: Vec<(String, &Layout)> = Vec::new();
    for (name, layout) in advice.answers() {
        match rows.iter_mut().find(|(_, known)| known.is_same_as(layout)) {
            Some((names, _)) => *names = format!("{names}, {name}"),
            None => rows.push((name.to_owned(), layout)),
        }
    }
    type Row<'a> = (String, &'a Layout);
    Table::of(
        rows,
        [
            Column::text("", |(name, _): &Row<'_>| name.clone()),
            Column::text("machine", |(_, layout): &Row<'_>| machine(layout)),
            Column::text("volumes", |(_, layout): &Row<'_>| volumes(layout)),
            Column::figure("$/month", |(_, layout): &Row<'_>| usd(layout.usd_per_month)),
            Column::figure("time, %\nof today", |(_, layout): &Row<'_>| time(layout)),
            Column::figure("ms per\noperation", |(_, layout): &Row<'_>| {
                number(layout.operation_ms)
            }),
            Column::text("crash states\nsurvived", |(_, layout): &Row<'_>| {
                let survived = layout.survived.as_ref();
                survived.map_or_else(String::new, Survived::brief)
            })
            .optional(),
            Column::text("most used", |(_, layout): &Row<'_>| used(layout)),
        ],
    )
}

fn machine(layout: &Layout) -> String {
    layout
        .machine
        .clone()
        .unwrap_or_else(|| "not known".to_owned())
}

fn usd(usd: Option<f64>) -> String {
    usd.map_or_else(|| "unknown".to_owned(), quantity::usd)
}

/// As a share of today's time, with its interval.
fn time(layout: &Layout) -> String {
    let time = quantity::percent_with_error(layout.time, layout.time_half);
    match layout.time_range.map(|range| range.map(percent)) {
        Some([low, high]) if low != high => format!("{time} ({low} to {high})"),
        Some(_) | None => time,
    }
}

fn volumes(layout: &Layout) -> String {
    let lines: Vec<String> = layout.volumes.iter().map(volume).collect();
    lines.join("; ")
}

/// `data, log: 2 x azure.premium_v2, 64 GiB, 6000 IOPS, 200 MB/s`.
fn volume(volume: &Volume) -> String {
    format!("{}: {}", roles(&volume.roles), disks(volume))
}

fn disks(volume: &Volume) -> String {
    let count = match volume.count {
        1 => String::new(),
        count => format!("{count} x "),
    };
    let mut text = match volume.forgets {
        true => format!("{count}the machine's own disk"),
        false => format!("{count}{}", volume.disk),
    };
    let size = volume.size.map(|size| Bytes(size).to_string());
    let iops = volume.iops.map(|iops| format!("{iops} IOPS"));
    let throughput = volume
        .throughput
        .map(|rate| model::Throughput(rate).to_string());
    for part in [size, iops, throughput].into_iter().flatten() {
        text.push_str(", ");
        text.push_str(&part);
    }
    text
}

fn used(layout: &Layout) -> String {
    let limits = layout.used.iter().take(LIMITS_SHOWN);
    let lines: Vec<String> = limits
        .map(|used| format!("{} {}", used.limit, percent(used.share)))
        .collect();
    lines.join("; ")
}

fn prices(layout: &Layout) -> Table {
    let mut rows = vec![(
        "machine".to_owned(),
        machine(layout),
        usd(layout.machine_usd_per_month),
    )];
    rows.extend(layout.volumes.iter().map(|volume| {
        let price = match volume.forgets {
            true => "with the machine".to_owned(),
            false => usd(volume.usd_per_month),
        };
        (volume.name.clone(), disks(volume), price)
    }));
    rows.push((
        "in all".to_owned(),
        String::new(),
        usd(layout.usd_per_month),
    ));
    type Row = (String, String, String);
    Table::of(
        rows,
        [
            Column::text("", |(name, _, _): &Row| name.clone()),
            Column::text("", |(_, what, _): &Row| what.clone()),
            Column::figure("$/month", |(_, _, usd): &Row| usd.clone()),
        ],
    )
}

fn reasons(advice: &Advice) -> Vec<String> {
    let mut reasons = advice.backtest.notices.clone();
    let why = |name: &str, layout: &Layout| {
        let spent = layout.spent.iter().max_by(|a, b| a.1.total_cmp(b.1));
        let spent =
            spent.map(|(on, share)| format!("{} of an operation's time is {on}", percent(*share)));
        let limit = layout.used.first().filter(|used| used.share >= BINDS_FROM);
        let limit = match limit {
            Some(used) => format!(
                "at the busiest time {} of the limit on {} is used",
                percent(used.share),
                used.limit
            ),
            None => format!("no limit is used by more than {}", percent(BINDS_FROM)),
        };
        format!("{name}: {}; {limit}.", spent.unwrap_or_default())
    };
    reasons.push(why("Today", &advice.today));
    if let Some(chosen) = advice.chosen() {
        let name = match advice.cheapest {
            Some(_) => "Cheapest",
            None => "Nearest",
        };
        reasons.push(why(name, chosen));
        let load = match advice.asked.growth {
            1.0 => "today's sessions".to_owned(),
            growth => format!("the {growth} times sessions that are asked for"),
        };
        reasons.extend(chosen.headroom.map(|factor| match factor {
            0.0 => format!("It does not take {load} as fast as asked."),
            1.0 => format!("It takes {load}, and not a tenth more, as fast as asked."),
            factor if chosen.headroom_is_least => {
                format!("It takes at least {factor} times {load} as fast as asked.")
            }
            factor => format!("It takes {factor} times {load} as fast as asked."),
        }));
        if chosen.volumes.iter().any(|volume| volume.forgets) {
            reasons.push(
                "The machine's own disks come back empty, and on many machines without a filesystem, after every stop: create \
                 the filesystem and the folder before the server starts."
                    .to_owned(),
            );
        }
    }
    for (name, layout) in advice.answers() {
        let survived = layout.survived.as_ref();
        reasons.extend(survived.map(|survived| survived.sentence(name)));
    }
    if let (Some(cheapest), Some(runner_up)) = (&advice.cheapest, &advice.runner_up)
        && let (Some(own), Some(other)) = (cheapest.usd_per_month, runner_up.usd_per_month)
    {
        reasons.push(match other - own {
            more if more < 0.5 => "The runner-up costs less than $0.50 a month more.".to_owned(),
            more => format!(
                "The runner-up costs ${} a month more: prices that differ from these by more than that may change the answer.",
                quantity::usd(more)
            ),
        });
    }
    reasons
}

fn parts(advice: &Advice) -> Table {
    let all = || advice.backtest.parts.iter();
    let recorded_s: f64 = all().map(|part| part.recorded_s).sum();
    let simulated_s: f64 = all().map(|part| part.simulated_s).sum();
    Table::of(
        all().filter(|part| part.recorded_s + part.simulated_s > 0.0),
        [
            Column::text("ms of an operation", |part: &&Part| part.part.to_owned()),
            Column::figure("recorded", |part: &&Part| number(part.recorded_s * 1e3)),
            Column::figure("", move |part: &&Part| {
                percent(part.recorded_s / recorded_s)
            }),
            Column::figure("simulated", |part: &&Part| number(part.simulated_s * 1e3)),
            Column::figure("", move |part: &&Part| {
                percent(part.simulated_s / simulated_s)
            }),
        ],
    )
}

fn backtest(advice: &Advice) -> Table {
    Table::of(
        &advice.backtest.figures,
        [
            Column::text("", |figure: &&Figure| figure.role.map_or("", Role::name)),
            Column::text("", |figure: &&Figure| figure.figure.clone()),
            Column::figure("recorded", |figure: &&Figure| number(figure.recorded)),
            Column::figure("simulated", |figure: &&Figure| number(figure.simulated)),
            Column::figure("off", |figure: &&Figure| percent_signed(figure.off)),
            Column::text("", |figure: &&Figure| match figure.decides {
                true => "sessions wait for it",
                false => "",
            }),
        ],
    )
}

fn frontier(advice: &Advice) -> Table {
    Table::of(
        &advice.frontier,
        [
            Column::text("machine", |layout: &&Layout| machine(layout)),
            Column::text("volumes", |layout: &&Layout| volumes(layout)),
            Column::figure("$/month", |layout: &&Layout| usd(layout.usd_per_month)),
            Column::figure("time, %\nof today", |layout: &&Layout| time(layout)),
        ],
    )
}

fn machines(number: u64) -> String {
    match number {
        1 => "1 machine".to_owned(),
        several => format!("{} machines", count(several)),
    }
}

fn search(advice: &Advice) -> Vec<String> {
    let counts = &advice.counts;
    let mut sentences = vec![format!(
        "{} layouts on {}: {} are beaten at their own price, {} ruled out by a bound or the budget, {} simulated.",
        count(counts.considered),
        machines(counts.machines),
        count(counts.beaten),
        count(counts.bounded),
        count(counts.simulated)
    )];
    if counts.machines_unpriced > 0 {
        sentences.push(format!(
            "Left out because their price is not known: {}.",
            machines(counts.machines_unpriced)
        ));
    }
    if !counts.complete {
        sentences.push("The search was ended early: there may be better layouts.".to_owned());
    }
    sentences
}
