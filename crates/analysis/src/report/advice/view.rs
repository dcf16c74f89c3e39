//! The report on advice.

use reading::Role;

use super::document::{Advice, Change, Figure, Layout, Part};
use super::facts::facts;
use super::money::Currency;
use super::points::frontier;
use super::shown::{
    Named, fullest, machine, milliseconds, named, prices, time, usd, used, volumes, why,
    why_in_short,
};
use crate::findings::Survived;
use crate::report::backtest::hardly_waited_for;
use crate::report::section::{Body, Item, Kind, Place, Report};
use table::quantity::{count, number, percent, percent_signed};
use table::{Column, Table};

/// Dollars a month by which prices may differ that a sentence calls the same.
const SAME_USD: f64 = 0.5;

/// Number of limits named per layout.
const LIMITS_SHOWN: usize = 2;

/// What stands beside an answer whose model does not reproduce today's layout.
const UNTESTED: &str = "the model does not reproduce what was recorded on today's layout. These figures are of a model that is \
                        off, and may be wrong by more than they differ. Find out why before relying on them.";

/// What the columns of layouts are, in one line of a screen.
const NOTE: &str = "time: % of today's (for 95 of 100 such disks); ms: of an operation; at limit: sessions wait for it";

/// Layouts of the screen, beside that which is chosen.
const ON_SCREEN: [&str; 4] = ["today", "cheapest", "best value", "above budget"];

/// Number of columns on a screen: six, and volumes, which stand below a row.
const COLUMNS_MAX: usize = 7;

/// Number of notes, and of commands, on a screen.
const NOTES_MAX: usize = 3;
const COMMANDS_MAX: usize = 1;

/// The report on `advice`; with `minimal`, its screen has the smallest changes from today's layout too.
pub fn report(advice: &Advice, minimal: bool) -> Report {
    let title = "Where the files should live";
    let answer = [advice.answer.clone(), advice.trust.sentence()];
    let mut answer = Item::all(Kind::Answer, answer);
    if !advice.backtest.fits {
        answer.push(Item::new(Kind::Caution, "UNTESTED", UNTESTED));
    }
    let mut report = Report {
        title: match &advice.server {
            Some(server) => format!("{title}: {server}"),
            None => title.to_owned(),
        },
        answer,
        is_doubtful: !advice.backtest.fits,
        facts: facts(advice),
        ..Report::default()
    };
    let named = named(advice);
    let is_on_screen =
        |(name, _): &&Named<'_>| name.split(", ").any(|name| ON_SCREEN.contains(&name));
    let on_screen: Vec<&Named<'_>> = named.iter().filter(is_on_screen).collect();
    let reasons_of = |said: fn(&Layout) -> String| {
        let why = on_screen.iter();
        let why = why.map(|(name, layout)| Item::new(Kind::Point, name.as_str(), said(layout)));
        Body::List(why.collect())
    };
    let list = |kind, texts: Vec<String>| Body::List(Item::all(kind, texts));
    let full = Place::Full;
    let of_changes = if minimal { Place::Screen(0) } else { full };
    let currency = &advice.asked.currency;
    let price = advice
        .chosen()
        .map(|chosen| prices(chosen, currency))
        .unwrap_or_default();
    let mut brief = layouts(advice, &on_screen, 1);
    brief.keep_columns(COLUMNS_MAX);
    report.add(
        "trust",
        "Trust: the other reasons",
        full,
        list(
            Kind::Point,
            advice.trust.because.iter().skip(1).cloned().collect(),
        ),
    );
    report.add(
        "layouts",
        "",
        Place::Short(ON_SCREEN.len()),
        Body::Table(brief),
    );
    let all: Vec<&Named<'_>> = named.iter().collect();
    report.add(
        "layouts",
        "",
        full,
        Body::Table(layouts(advice, &all, LIMITS_SHOWN)),
    );
    report.add(
        "changes",
        "The smallest changes from today",
        of_changes,
        Body::Table(changes(advice)),
    );
    let short = Place::Short(ON_SCREEN.len());
    report.add("why", "", short, reasons_of(why_in_short));
    report.add("why", "Why", full, reasons_of(why));
    report.add(
        "notes",
        "Read first",
        Place::Screen(NOTES_MAX),
        list(Kind::Warning, advice.notes.clone()),
    );
    report.add(
        "reasons",
        "The answer",
        full,
        list(Kind::Point, reasons(advice)),
    );
    report.add(
        "prices",
        "What the chosen layout costs",
        full,
        Body::Table(price),
    );
    report.add(
        "backtest",
        "How well the model reproduces today's layout",
        full,
        Body::Table(backtest(advice)),
    );
    report.add("parts", "", full, Body::Table(parts(advice)));
    report.add(
        "frontier",
        "Layouts that are faster than every cheaper one",
        full,
        Body::Table(frontier(advice)),
    );
    report.add(
        "search",
        "What the search did",
        full,
        list(Kind::Point, search(advice)),
    );
    report.add(
        "assumptions",
        "Assumptions",
        full,
        list(Kind::Point, advice.assumptions.clone()),
    );
    let next = advice
        .next
        .iter()
        .map(|next| (next.what.clone(), next.command.clone()));
    report.add(
        "next",
        "Next",
        Place::Screen(COMMANDS_MAX),
        Body::Commands(next.collect()),
    );
    report
}

/// A row for each of the `named` layouts, with as many limits.
fn layouts(advice: &Advice, named: &[&Named<'_>], limits: usize) -> Table {
    type Row<'a> = &'a &'a Named<'a>;
    let currency = &advice.asked.currency;
    let columns = [
        Column::text("", |(name, _): &Row<'_>| name.clone()),
        Column::figure(currency.per_month(), |(_, layout): &Row<'_>| {
            usd(layout.usd_per_month, currency)
        }),
        Column::figure("time", |(_, layout): &Row<'_>| time(layout)).unit("%"),
        Column::figure("ms", |(_, layout): &Row<'_>| milliseconds(layout)),
        Column::text("machine", |(_, layout): &Row<'_>| machine(layout)),
        Column::text("volumes", |(_, layout): &Row<'_>| volumes(layout)).below(),
        Column::text("crash states\nsurvived", |(_, layout): &Row<'_>| {
            let survived = layout.survived.as_ref();
            survived.map_or_else(String::new, Survived::brief)
        })
        .optional(),
        Column::text("most used", move |(_, layout): &Row<'_>| {
            used(layout, limits)
        }),
    ];
    Table {
        note: NOTE.to_owned(),
        ..Table::of(named, columns)
    }
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
    for (name, other) in [
        ("runner-up", &advice.runner_up),
        ("best value", &advice.best_value),
    ] {
        let Some((cheapest, other)) = advice.cheapest.as_ref().zip(other.as_ref()) else {
            continue;
        };
        let Some((own, least)) = other.usd_per_month.zip(cheapest.usd_per_month) else {
            continue;
        };
        // That the best value costs no less than the cheapest needs no sentence.
        if name == "runner-up" || own - least <= -SAME_USD {
            let costs = beside_cheapest(own - least, cheapest, other, &advice.asked.currency);
            reasons.push(format!("The {name} costs {costs}."));
        }
    }
    reasons
}

/// What another answer costs beside the cheapest, `more` dollars a month, and what that means.
fn beside_cheapest(more: f64, cheapest: &Layout, other: &Layout, currency: &Currency) -> String {
    if more >= SAME_USD {
        return format!(
            "{} a month more: prices that differ from these by more than that may change the answer",
            currency.shown(more)
        );
    }
    if more > -SAME_USD {
        return "as much".to_owned();
    }
    let less = currency.shown(-more);
    match fullest(other).filter(|_| fullest(cheapest).is_none()) {
        Some(used) => format!(
            "{less} a month less, and has no room: at the busiest time {} are at their limit",
            used.limit
        ),
        None => format!(
            "{less} a month less; the cheapest has fewer disks, fewer kinds of them, today's machine, or one of a later generation"
        ),
    }
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
            Column::text("most used", |change: &&Change| used(&change.layout, 1)),
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
            Column::text("ms of an operation", |part: &&Part| part.part.to_string()),
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
fn more(change: &Change, currency: &Currency) -> String {
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
                true => "sessions wait for it".to_owned(),
                false => hardly_waited_for(figure.waited),
            }),
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
        let only = "No layout was simulated (--quick): a bound ruled out all that are cheaper, and what is faster was not looked for.";
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
