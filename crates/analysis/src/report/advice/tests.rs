//! Advice on a terminal.

use super::document::Advice;
use super::page::tests::advice;
use super::report;
use crate::report::section::Extent;
use crate::report::terminal::{Styled, Tone, render};
use table::Width;

fn screen(advice: &Advice, minimal: bool) -> Styled {
    render(&report(advice, minimal), Width::default(), Extent::Screen)
}

#[test]
fn names_are_never_broken_and_a_volume_is_a_line() {
    let mut advice = advice();
    let name = "azure.Standard_E96ibds_v5_with_a_long_name";
    for layout in advice.layouts_mut() {
        layout.machine = Some(name.to_owned());
    }

    let text = render(&report(&advice, true), Width::of(60), Extent::Full).to_string();

    assert!(text.contains(name), "{text}");
    assert!(
        screen(&advice, false)
            .to_string()
            .contains("     data, temp, log: 2 x a<b, 64 GiB, 3000 IOPS\n")
    );
}

#[test]
fn what_is_untested_is_in_words_and_in_a_tone_of_its_own() {
    let mut advice = advice();
    let first = |advice: &Advice| {
        let text = screen(advice, false);
        let first = text.pieces().next().map(|(tone, _)| tone);
        (first, text.to_string())
    };
    assert_eq!(first(&advice).0, Some(Tone::Plain));

    advice.backtest.fits = false;

    let (tone, text) = first(&advice);
    assert_eq!(tone, Some(Tone::Worse));
    assert!(text.contains("! UNTESTED: "), "{text}");
}

#[test]
fn the_smallest_changes_are_listed_where_they_are_asked_for() {
    let listed = |minimal| screen(&advice(), minimal).to_string();

    let line = listed(true)
        .lines()
        .find(|line| line.contains("<u>one</u>"))
        .map(str::to_owned);
    let line = line.expect("it is listed");
    assert!(line.contains("-5.00") && line.contains("150.0"), "{line}");
    assert!(!listed(false).contains("<u>one</u>"));
}

#[test]
fn the_screen_has_today_the_cheapest_and_the_best_value() {
    let mut advice = advice();
    advice.best_value = Some(advice.frontier[0].clone());
    advice.fastest = Some(advice.changes[0].layout.clone());
    advice.fastest.as_mut().expect("it was set").machine = Some("fastest-machine".to_owned());

    let text = screen(&advice, false).to_string();

    for name in ["today", "cheapest", "best value"] {
        assert!(
            text.lines().any(|line| line.trim_start().starts_with(name)),
            "{name}: {text}"
        );
    }
    assert!(!text.contains("fastest-machine"), "{text}");
    assert!(text.lines().count() < 40, "{text}");
}
