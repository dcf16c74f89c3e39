//! The content shown for advice, independent of the output format.

use std::path::Path;

use model::Bytes;
use reading::Role;

use super::decision::Kind;
use super::document::{Advice, Capacity, Change, Figure, Layout, Line, Part, Volume};
use super::money::Currency;
use crate::findings::Survived;
use table::quantity::{count, number, percent, percent_signed, percent_with_error};
use table::{Column, Table};

/// Number of limits named per layout.
const LIMITS_SHOWN: usize = 2;

/// The used share from which on a limit counts as limiting.
const BINDS_FROM: f64 = 0.7;

/// What stands beside an answer whose model does not reproduce today's layout.
const UNTESTED: &str = "UNTESTED: the model does not reproduce what was recorded on today's layout. These figures are of a model that is \
                        off, and may be wrong by more than they differ. Find out why before relying on them.";

/// The content shown for advice.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The answer, in a sentence.
    pub answer: String,
    /// How far to trust it, and why.
    pub trust: String,
    /// Why no figure here may be relied on; `None` where the model reproduces today's layout.
    pub untested: Option<String>,
    /// What to read beside the answer; sentences.
    pub notes: Vec<String>,
    /// Whether its own layout, the cheapest, and the fastest.
    pub cards: Vec<Card>,
    /// The request.
    pub facts: Vec<(&'static str, String)>,
    /// Today's layout, and what to buy instead.
    pub answers: Table,
    /// The price of the chosen layout, item by item.
    pub prices: Table,
    /// What else to know of the answer; sentences.
    pub reasons: Vec<String>,
    /// Recorded beside simulated.
    pub backtest: Table,
    /// The smallest changes from today's layout.
    pub changes: Table,
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
            trust: advice.trust.sentence(),
            untested: (!advice.backtest.fits).then(|| UNTESTED.to_owned()),
            notes: advice.notes.clone(),
            cards: cards(advice),
            facts: facts(advice),
            answers: answers(advice),
            prices: advice
                .chosen()
                .map(|chosen| prices(chosen, &advice.asked.currency))
                .unwrap_or_default(),
            reasons: reasons(advice),
            backtest: backtest(advice),
            changes: changes(advice),
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
                ", for at most {} a month",
                asked.currency.shown(usd)
            ))
    );
    // An answer is forwarded: the folders of this machine are of no use to others.
    let file = Path::new(&asked.profile).file_name();
    let file = file.map_or_else(
        || asked.profile.clone(),
        |name| name.to_string_lossy().into_owned(),
    );
    let mut facts = vec![("profile", file)];
    facts.extend(advice.server.clone().map(|server| ("server", server)));
    facts.extend([
        ("goal", goal),
        ("capacity", capacity.join("; ")),
        (
            "prices",
            format!("{prices}; {}, {}, 730 hours", asked.term(), asked.system),
        ),
    ]);
    facts.extend(asked.currency.rate().map(|rate| ("currency", rate)));
    facts
}

fn capacity(capacity: &Capacity) -> String {
    format!("{} {}", roles(&capacity.roles), Bytes(capacity.bytes))
}

fn roles(roles: &[Role]) -> String {
    let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    names.join(", ")
}

/// The answers; a layout that is several is listed once, with all its names.
pub(super) fn named(advice: &Advice) -> Vec<(String, &Layout)> {
    let mut rows: Vec<(String, &Layout)> = Vec::new();
    for (name, layout) in advice.answers() {
        match rows.iter_mut().find(|(_, known)| known.is_same_as(layout)) {
            Some((names, _)) => *names = format!("{names}, {name}"),
            None => rows.push((name.to_owned(), layout)),
        }
    }
    rows
}

fn answers(advice: &Advice) -> Table {
    type Row<'a> = (String, &'a Layout);
    let currency = &advice.asked.currency;
    Table::of(
        named(advice),
        [
            Column::text("", |(name, _): &Row<'_>| name.clone()),
            Column::text("machine", |(_, layout): &Row<'_>| machine(layout)),
            Column::text("volumes", |(_, layout): &Row<'_>| volumes(layout)),
            Column::figure(currency.per_month(), |(_, layout): &Row<'_>| {
                usd(layout.usd_per_month, currency)
            }),
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

/// One thing that could be done, on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// What: `Stay`, `Cheapest`.
    pub title: String,
    /// Whether it is the answer.
    pub is_answer: bool,
    /// The machine's name.
    pub machine: String,
    /// Its volumes, one each.
    pub volumes: Vec<String>,
    /// The whole price.
    pub price: String,
    /// The time of an operation.
    pub time: String,
    /// What holds it back.
    pub held_back: String,
}

/// To stay, the cheapest, and the fastest; those that are one layout are one card.
fn cards(advice: &Advice) -> Vec<Card> {
    let currency = &advice.asked.currency;
    let layouts = [
        ("Stay", Some(&advice.today)),
        ("Cheapest", advice.cheapest.as_ref()),
        ("Fastest", advice.fastest.as_ref()),
        ("Above the budget", advice.above_budget.as_ref()),
    ];
    let mut named: Vec<(String, &Layout)> = Vec::new();
    for (title, layout) in layouts {
        let Some(layout) = layout else { continue };
        match named.iter_mut().find(|(_, known)| known.is_same_as(layout)) {
            Some((titles, _)) => *titles = format!("{titles}, {}", title.to_lowercase()),
            None => named.push((title.to_owned(), layout)),
        }
    }
    let answer = match advice.decision.kind {
        Kind::Nothing => None,
        Kind::Stay | Kind::Change | Kind::Move => advice.chosen(),
    };
    let card = |(title, layout): (String, &Layout)| Card {
        title,
        is_answer: answer.is_some_and(|answer| answer.is_same_as(layout)),
        machine: machine(layout),
        volumes: layout.volumes.iter().map(volume).collect(),
        price: match layout.usd_per_month {
            Some(usd) => format!("{} a month", currency.shown(usd)),
            None => "price not known".to_owned(),
        },
        time: format!(
            "{} % of today's time, {} ms per operation",
            time(layout),
            number(layout.operation_ms)
        ),
        held_back: why(layout),
    };
    named.into_iter().map(card).collect()
}

pub(super) fn machine(layout: &Layout) -> String {
    layout
        .machine_shown()
        .unwrap_or_else(|| "not known".to_owned())
}

pub(super) fn usd(usd: Option<f64>, currency: &Currency) -> String {
    usd.map_or_else(|| "unknown".to_owned(), |usd| currency.bare(usd))
}

/// As a share of today's time, with its interval.
pub(super) fn time(layout: &Layout) -> String {
    let time = percent_with_error(layout.time, layout.time_half);
    let bare = |share: f64| percent(share).replace(" %", "");
    match layout.time_range.map(|range| range.map(bare)) {
        Some([low, high]) if low != high => format!("{time} ({low} to {high})"),
        Some(_) | None => time,
    }
}

fn volumes(layout: &Layout) -> String {
    let lines: Vec<String> = layout.volumes.iter().map(volume).collect();
    lines.join("; ")
}

/// `data, log: 2 x azure.premium_v2, 64 GiB, 6000 IOPS, 200 MB/s`.
pub(super) fn volume(volume: &Volume) -> String {
    format!("{}: {}", roles(&volume.roles), volume.disks())
}

fn used(layout: &Layout) -> String {
    let limits = layout.used.iter().take(LIMITS_SHOWN);
    let lines: Vec<String> = limits
        .map(|used| format!("{} {}", used.limit, percent(used.share)))
        .collect();
    lines.join("; ")
}

fn prices(layout: &Layout, currency: &Currency) -> Table {
    let price = |line: &Line| match line.included_in {
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

/// What operations wait for, and the limit that is used most.
fn why(layout: &Layout) -> String {
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
    format!("{}; {limit}", spent.unwrap_or_default())
}

fn reasons(advice: &Advice) -> Vec<String> {
    let mut reasons = advice.backtest.notices.clone();
    if let Some(chosen) = advice.chosen() {
        reasons.extend(headroom(advice, chosen));
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
        let currency = &advice.asked.currency;
        reasons.push(match other - own {
            less if less <= -0.5 => format!(
                "The runner-up costs {} a month less; the cheapest is simpler: fewer disks, fewer kinds of them, or today's machine.",
                currency.shown(-less)
            ),
            more if more < 0.5 => "The runner-up costs as much.".to_owned(),
            more => format!(
                "The runner-up costs {} a month more: prices that differ from these by more than that may change the answer.",
                currency.shown(more)
            ),
        });
    }
    reasons
}

/// How much more load a layout takes.
fn headroom(advice: &Advice, chosen: &Layout) -> Option<String> {
    let load = match advice.asked.growth {
        1.0 => "today's sessions".to_owned(),
        growth => format!("the {growth} times sessions that are asked for"),
    };
    chosen.headroom.map(|factor| match factor {
        0.0 => format!("It does not take {load} as fast as asked."),
        1.0 => format!("It takes {load}, and not a tenth more, as fast as asked."),
        factor if chosen.headroom_is_least => {
            format!("It takes at least {factor} times {load} as fast as asked.")
        }
        factor => format!("It takes {factor} times {load} as fast as asked."),
    })
}

fn changes(advice: &Advice) -> Table {
    let currency = &advice.asked.currency;
    Table::of(
        &advice.changes,
        [
            Column::text("change", |change: &&Change| change.what.clone()),
            Column::figure(
                format!("{}\nmore", currency.per_month()),
                |change: &&Change| more(change, currency),
            ),
            Column::figure(
                format!("{}\nin all", currency.per_month()),
                |change: &&Change| usd(change.layout.usd_per_month, currency),
            ),
            Column::figure("time, %\nof today", |change: &&Change| time(&change.layout)),
            Column::text("most used", |change: &&Change| used(&change.layout)),
        ],
    )
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

/// What a change costs a month: `+31.20`, `-4.80`.
pub(super) fn more(change: &Change, currency: &Currency) -> String {
    let usd = change.usd_more_per_month;
    let sign = if usd < 0.0 { "-" } else { "+" };
    format!("{sign}{}", currency.bare(usd.abs()))
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
    let currency = &advice.asked.currency;
    Table::of(
        &advice.frontier,
        [
            Column::text("machine", |layout: &&Layout| machine(layout)),
            Column::text("volumes", |layout: &&Layout| volumes(layout)),
            Column::figure(currency.per_month(), |layout: &&Layout| {
                usd(layout.usd_per_month, currency)
            }),
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
    if counts.bounds_simulated > 0 {
        sentences.push(format!(
            "{} simulations of what layouts have in common (a machine, a volume) gave bounds.",
            count(counts.bounds_simulated)
        ));
    }
    if advice.asked.quick {
        let only = "Only the cheapest was looked for (--quick): what is faster for more was not.";
        sentences.push(only.to_owned());
    } else if counts.complete && counts.simulated > 0 {
        let shown = |usd| advice.asked.currency.shown(usd);
        let from = shown(counts.simulated_to_usd_per_month);
        let dearer = |usd| format!(" Above {} none was considered (--budget).", shown(usd));
        let to = counts.considered_to_usd_per_month.map(dearer);
        let to = to.unwrap_or_default();
        sentences.push(format!(
            "Above {from} a month nothing was simulated: no layout there can change the answer.{to}"
        ));
    }
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
