//! Advice for a terminal: the answer first, then a table in which a layout takes a line for each volume.

use table::Width;
use table::quantity::{number, percent};

use super::document::{Advice, Change, Layout};
use super::view::{self, View};
use crate::report::terminal::{Styled, Tone};

/// Assumptions and other details are on the page.
const REST: &str = "Prices by part, assumptions, and the frontier are on the page";

/// The text, for lines of `width`; with `minimal`, the smallest changes from today's layout too. `folder` has the page.
pub fn text(advice: &Advice, width: Width, minimal: bool, folder: &str) -> Styled {
    let shown = View::of(advice);
    let tone = match shown.untested {
        Some(_) => Tone::Worse,
        None => Tone::Plain,
    };
    let mut text = Styled::default();
    text.push_in(tone, &width.wrapped("", &shown.answer));
    text.push_in(tone, &width.wrapped("", &shown.trust));
    if let Some(untested) = &shown.untested {
        text.push_in(tone, &width.wrapped("", untested));
    }
    for note in &shown.notes {
        text.push(&width.wrapped(" - ", note));
    }
    text.push("\n");
    let names = shown.facts.iter().map(|(name, _)| name.len()).max();
    for (name, fact) in &shown.facts {
        let first = format!(" {name:<0$}  ", names.unwrap_or_default());
        text.push(&width.wrapped(&first, fact));
    }
    text.push("\n");
    text.push_in(tone, &layouts(advice, width));
    text.push("\n");
    if minimal {
        text.push_in(tone, &changes(advice, width));
        text.push("\n");
    }
    // How the search went is on the page: its layouts, and the simulations that gave bounds.
    let of_search = 1 + usize::from(advice.counts.bounds_simulated > 0);
    let notes = shown
        .reasons
        .iter()
        .chain(shown.search.iter().skip(of_search));
    for note in notes {
        text.push(&width.wrapped("", note));
    }
    text.push("Next:\n");
    for (what, command) in &shown.next {
        text.push(&format!("  {what}:\n    {command}\n"));
    }
    text.push(&format!(
        "{REST} ({} assumptions): {folder}\n",
        advice.assumptions.len()
    ));
    text
}

/// Each answer: a line of figures, and a line for each volume.
fn layouts(advice: &Advice, width: Width) -> String {
    let rows = view::named(advice);
    let head = [
        String::new(),
        advice.asked.currency.per_month(),
        "time, %".to_owned(),
        "ms".to_owned(),
        "machine".to_owned(),
        "most used".to_owned(),
    ];
    let mut lines = vec![head];
    for (name, layout) in &rows {
        lines.push(figures(advice, name, layout));
    }
    let widest = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..lines[0].len()).map(widest).collect();
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let [name, usd, time, ms, machine, used] = line;
        let figures = format!(
            " {name:<0$}  {usd:>1$}  {time:>2$}  {ms:>3$}  {machine:<4$}",
            widths[0], widths[1], widths[2], widths[3], widths[4]
        );
        let whole = format!("{figures}  {used}");
        match whole.chars().count() <= width.columns() {
            true => text.push_str(&format!("{}\n", whole.trim_end())),
            false => {
                let (figures, used) = (figures.trim_end(), used.trim());
                text.push_str(&format!("{figures}\n     most used: {used}\n"));
            }
        }
        let volumes = at.checked_sub(1).map(|row| &rows[row].1.volumes);
        for volume in volumes.into_iter().flatten() {
            text.push_str(&width.wrapped("     ", &view::volume(volume)));
        }
    }
    text.push_str("time: of an operation, in % of today's; ms: the same; most used: when the server is busiest\n");
    text
}

fn figures(advice: &Advice, name: &str, layout: &Layout) -> [String; 6] {
    let used = layout.used.first();
    let used = used.map_or_else(String::new, |used| {
        format!("{} {}", used.limit, percent(used.share))
    });
    [
        name.to_owned(),
        view::usd(layout.usd_per_month, &advice.asked.currency),
        view::time(layout),
        number(layout.operation_ms),
        view::machine(layout),
        used,
    ]
}

/// A line for each change.
fn changes(advice: &Advice, width: Width) -> String {
    let currency = &advice.asked.currency;
    if advice.changes.is_empty() {
        return "No change of one thing saves money or time, or the price of today's layout is not known.\n".to_owned();
    }
    let line = |change: &Change| {
        let figures = format!(
            " {:>9}  {:>7}  ",
            view::more(change, currency),
            view::time(&change.layout)
        );
        width.wrapped(&figures, &change.what)
    };
    let lines: String = advice.changes.iter().map(line).collect();
    format!(
        "Smallest changes from today, with {} more, and time in % of today's:\n{lines}",
        currency.per_month()
    )
}

#[cfg(test)]
mod tests {
    use super::super::page::tests::advice;
    use super::*;

    #[test]
    fn names_are_never_broken_and_a_volume_is_a_line() {
        let mut advice = advice();
        let name = "azure.Standard_E96ibds_v5_with_a_long_name";
        for layout in advice.layouts_mut() {
            layout.machine = Some(name.to_owned());
        }

        let text = text(&advice, Width::of(60), true, "out").to_string();

        assert!(text.contains(name), "{text}");
        let volume = "     data, temp, log: 2 x a<b, 64 GiB, 3000 IOPS\n";
        assert!(text.contains(volume), "{text}");
    }

    #[test]
    fn what_is_untested_is_in_words_and_in_a_tone_of_its_own() {
        let mut advice = advice();
        let tones = |advice: &Advice| -> Vec<Tone> {
            let text = text(advice, Width::default(), false, "out");
            text.pieces().map(|(tone, _)| tone).collect()
        };
        assert_eq!(tones(&advice), [Tone::Plain]);

        advice.backtest.fits = false;

        // The headline, the facts, the table, the rest.
        assert_eq!(
            tones(&advice),
            [Tone::Worse, Tone::Plain, Tone::Worse, Tone::Plain]
        );
        let text = text(&advice, Width::default(), false, "out").to_string();
        assert!(text.contains("UNTESTED"), "{text}");
    }

    #[test]
    fn the_smallest_changes_are_listed_where_they_are_asked_for() {
        let listed = |minimal| text(&advice(), Width::default(), minimal, "out").to_string();

        assert!(
            listed(true).contains("     -5.00    150.0  <u>one</u>"),
            "{}",
            listed(true)
        );
        assert!(!listed(false).contains("<u>one</u>"));
    }
}
