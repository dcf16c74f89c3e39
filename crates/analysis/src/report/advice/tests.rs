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

#[test]
fn advice_that_was_written_is_read_again_and_nothing_else_is() {
    let advice = advice();
    let read = Advice::read("advice.json", &advice.json());
    // The arm of a next command is of the finalists alone.
    assert_eq!(read, Ok(advice.clone()));

    let other = advice.json().replace("dbstow.advice/1", "dbstow.advice/0");
    let error = Advice::read("advice.json", &other).expect_err("it is of another version");
    assert!(
        error
            .to_string()
            .contains("its schema is `dbstow.advice/0`"),
        "{error}"
    );
    assert!(Advice::read("advice.json", "{}").is_err());
}

#[test]
fn an_interval_contains_the_time_before_it() {
    let mut advice = advice();
    let shown = |advice: &Advice| screen(advice, false).to_string();
    let large = advice.cheapest.as_mut().expect("it was set");
    // To whole percents, 17.3 would not be within 16 to 17.
    (large.time, large.time_range) = (0.1732, Some([0.1604, 0.1739]));
    advice.fastest = advice.cheapest.clone();

    assert!(
        shown(&advice).contains("17.3 (16.0 to 17.4)"),
        "{}",
        shown(&advice)
    );

    // 26 points and more are said without decimals.
    advice.cheapest.as_mut().expect("it was set").time_range = Some([0.1604, 0.4239]);
    assert!(
        shown(&advice).contains("17 (16 to 42)"),
        "{}",
        shown(&advice)
    );
}

#[test]
fn a_limit_is_at_its_end_only_where_operations_wait_for_one() {
    let mut advice = advice();
    let large = advice.cheapest.as_mut().expect("it was set");
    large.used[0].share = 0.997;
    let shown = |advice: &Advice| screen(advice, false).to_string();

    assert!(
        shown(&advice).contains("IOPS of <i>data</i> 100 %"),
        "{}",
        shown(&advice)
    );

    let large = advice.cheapest.as_mut().expect("it was set");
    large
        .spent
        .insert("waiting for throttled reads".to_owned(), 0.3);
    assert!(
        shown(&advice).contains("IOPS of <i>data</i> at limit"),
        "{}",
        shown(&advice)
    );
}

#[test]
fn a_screen_has_the_first_reason_to_trust_an_answer_little_and_the_number_of_the_others() {
    let mut advice = advice();
    advice.trust.because = ["one", "another", "a third"].map(str::to_owned).into();

    let text = screen(&advice, false).to_string();
    let whole = render(&report(&advice, false), Width::default(), Extent::Full).to_string();

    assert!(
        text.contains("because one; and for 2 more reasons.\n"),
        "{text}"
    );
    assert!(
        !text.contains("a third") && whole.contains("a third"),
        "{whole}"
    );
}

#[test]
fn sessions_that_were_not_counted_are_shown_with_their_number() {
    let mut advice = advice();
    assert!(!screen(&advice, false).to_string().contains("sessions: "));

    advice.sessions_assumed = Some(1_229);

    let text = screen(&advice, false).to_string();
    assert!(text.contains("sessions: 1,229, assumed from"), "{text}");
}

#[test]
fn a_price_list_is_named_once_with_all_its_dates() {
    let mut advice = advice();
    advice.price_lists = [
        "AWS us-east-1, 2026",
        "Azure eastus, 2026",
        "Azure eastus, 2026-06-18",
    ]
    .map(str::to_owned)
    .into();

    let text = screen(&advice, false).to_string();

    let lists = "prices: AWS us-east-1, 2026; Azure eastus, 2026 and 2026-06-18; on demand";
    assert!(text.contains(lists), "{text}");
}
