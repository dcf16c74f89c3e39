//! A back-test: a profile beside replays on its server's current disks, with the verdict.

use replay::{BackTest, Detail, Figure, Fit, Measure, OFF_MAX, TimePart};
use serde_json::json;
use table::quantity::{number, percent, percent_signed};
use table::{Cell, Column, Table};

use super::section::{Body, Item, Kind, Place, Report};

/// The report: the verdict, what was unusual, recorded beside simulated figures.
pub fn report(backtest: &BackTest) -> Report {
    let fit = backtest.fit();
    let mut report = Report {
        title: "Back-test: the profile on the disks that the server has".to_owned(),
        answer: Item::all(Kind::Answer, [answer(&fit)]),
        is_doubtful: !fit.allows_advice(),
        ..Report::default()
    };
    let details = match &fit {
        Fit::Fits => Vec::new(),
        Fit::RateFits { details } => details
            .iter()
            .map(|detail| format!("{detail} ({})", backtest.meaning(detail)))
            .collect(),
        Fit::DoesNotFit { reason, .. } => {
            vec![format!("{}; {}", reason.text(), reason.remedy())]
        }
    };
    let list = |kind, texts: &[String]| Body::List(Item::all(kind, texts));
    let full = Place::Full;
    report.add(
        "notices",
        "Read first",
        full,
        list(Kind::Warning, &backtest.notices),
    );
    report.add("figures", "", full, Body::Table(figures(backtest)));
    report.add("parts", "", full, Body::Table(parts(backtest)));
    let title = match fit.allows_advice() {
        true => "Details that are off",
        false => "Likeliest reason",
    };
    report.add("details", title, full, list(Kind::Point, &details));
    report.add(
        "assumptions",
        "Assumed",
        full,
        list(Kind::Point, &backtest.assumptions),
    );
    report
}

fn answer(fit: &Fit) -> String {
    match fit {
        Fit::Fits => format!(
            "The profile fits this layout: no figure that sessions wait for is more than {} off.",
            percent(OFF_MAX)
        ),
        Fit::RateFits { details } => match details.len() {
            1 => "The rate fits this layout; a detail does not.".to_owned(),
            several => format!("The rate fits this layout; {several} details do not."),
        },
        Fit::DoesNotFit { part, .. } => {
            format!("The profile does not fit this layout: {part}.")
        }
    }
}

/// Why no advice follows from it: what is off, and last the likeliest reason with what to do; `None` where advice may follow.
pub fn misfit(backtest: &BackTest) -> Option<Vec<String>> {
    let Fit::DoesNotFit { part, reason } = backtest.fit() else {
        return None;
    };
    let operations = backtest.figures.first();
    let operations = operations
        .filter(|figure| figure.measure == Measure::Operations && part != Detail::Figure(**figure));
    let operations = operations.map(|figure| {
        let off = percent_signed(figure.off());
        format!("{} are {off} off", figure.measure)
    });
    let mut all: Vec<String> = operations.into_iter().collect();
    all.push(part.to_string());
    all.push(format!(
        "likeliest reason: {}; {}",
        reason.text(),
        reason.remedy()
    ));
    Some(all)
}

fn figures(backtest: &BackTest) -> Table {
    let columns = [
        Column::text("", |figure: &Figure| {
            figure.role.map_or("", reading::Role::name)
        })
        .once()
        .pinned(),
        Column::text("", |figure: &Figure| figure.measure.to_string()).pinned(),
        Column::figure("recorded", |figure: &Figure| figure.recorded),
        Column::figure("simulated", |figure: &Figure| figure.simulated),
        Column::figure("off", |figure: &Figure| Cell::Figure {
            text: percent_signed(figure.off()),
            raw: figure.off().to_string(),
        }),
        Column::text("", judged),
    ];
    Table::of(backtest.figures.iter().copied(), columns)
}

/// What a figure means for the verdict.
fn judged(figure: &Figure) -> String {
    match (figure.decides, figure.fits()) {
        (true, true) => "fits".to_owned(),
        (true, false) => "does not fit".to_owned(),
        (false, _) => hardly_waited_for(figure.waited),
    }
}

/// Why a figure does not decide: its share of the time that sessions wait for disks.
pub(super) fn hardly_waited_for(waited: Option<f64>) -> String {
    match waited {
        None => "waits not known".to_owned(),
        Some(0.0) => "not waited for".to_owned(),
        Some(share) => format!("{} of disk waits", percent(share)),
    }
}

/// An operation's time, by what its session waits for; no rows where that was not recorded.
fn parts(backtest: &BackTest) -> Table {
    type Row = (TimePart, [(f64, f64); 2]);
    let rows = backtest.parts.iter().flat_map(|both| {
        let is_shown = |part: &TimePart| both.iter().any(|parts| parts[*part] > 0.0);
        let of = |part| both.map(|parts| (parts[part] * 1e3, parts.share(part)));
        let shown = TimePart::ALL.into_iter().filter(is_shown);
        shown.map(|part| (part, of(part))).collect::<Vec<Row>>()
    });
    let figure = |name, at: usize| {
        let both = move |(_, values): &Row| {
            let (ms, share) = values[at];
            let text = format!("{} ({})", number(ms), percent(share));
            let raw = ms.to_string();
            Cell::Figure { text, raw }
        };
        Column::figure(name, both)
    };
    let columns = [
        Column::text("ms of an operation", |(part, _): &Row| part.to_string()),
        figure("recorded", 0),
        figure("simulated", 1),
    ];
    Table::of(rows, columns)
}

/// The document `dbstow.backtest/1`, as JSON with a line feed at its end.
pub fn json(backtest: &BackTest) -> String {
    let figure = |figure: &Figure| {
        json!({
            "role": figure.role,
            "figure": figure.measure.to_string(),
            "recorded": figure.recorded,
            "simulated": figure.simulated,
            "off": figure.off(),
            "decides": figure.decides,
            "waited": figure.waited,
            "fits": figure.fits(),
        })
    };
    let figures: Vec<_> = backtest.figures.iter().map(figure).collect();
    let parts = backtest.parts.iter().flat_map(|[recorded, simulated]| {
        TimePart::ALL.into_iter().map(|part| {
            json!({
                "part": part.name(),
                "recorded_s": recorded[part],
                "recorded_share": recorded.share(part),
                "simulated_s": simulated[part],
                "simulated_share": simulated.share(part),
            })
        })
    });
    let own = backtest.own_latencies.iter().map(|latency| {
        json!({
            "volume": latency.name,
            "operation": latency.operation,
            "declared_s": latency.declared.as_secs_f64(),
            "recorded_s": latency.recorded.as_secs_f64(),
            "implied": latency.implied,
        })
    });
    let fit = backtest.fit();
    let (details, refused) = match &fit {
        Fit::Fits => (Vec::new(), None),
        Fit::RateFits { details } => (details.iter().map(ToString::to_string).collect(), None),
        Fit::DoesNotFit { part, reason } => (vec![part.to_string()], Some(reason)),
    };
    let document = json!({
        "schema": "dbstow.backtest/1",
        "off_max": OFF_MAX,
        "outcome": fit.name(),
        "fits": fit.allows_advice(),
        "details": details,
        "caveat": backtest.caveat(),
        "notices": backtest.notices,
        "figures": figures,
        "parts": parts.collect::<Vec<_>>(),
        "own_latencies": own.collect::<Vec<_>>(),
        "assumptions": backtest.assumptions,
        "cause": refused.map(|reason| reason.name()),
        "reason": refused.map(|reason| reason.text()),
        "remedy": refused.map(|reason| reason.remedy()),
    });
    format!("{document:#}\n")
}
