//! What the page answers is what the program writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use assert_cmd::Command;
use testing::folder::example;
use web::{AdviceForm, Advised, Answer, Moved};

/// What the program writes, given the command line that the page shows.
fn written(command: &str) -> [String; 3] {
    let folder = tempfile::tempdir().expect("a folder");
    for (from, to) in [("shop.toml", "profile.toml"), ("today.toml", "today.toml")] {
        fs::copy(example(from), folder.path().join(to)).expect("it is an example");
    }
    let words = shell_words::split(command).expect("words of a shell");
    let mut program = Command::new(env!("CARGO_BIN_EXE_dbstow"));
    program.args(&words[1..]).current_dir(folder.path());
    program.assert().success();
    let answer = folder.path().join("profile-advice");
    ["advice.json", "advice.html", "finalists.toml"]
        .map(|name| fs::read_to_string(answer.join(name)).expect("it was written"))
}

#[test]
fn the_page_answers_byte_for_byte_as_the_command_that_it_shows() {
    let asked = AdviceForm {
        cloud: Some("azure".to_owned()),
        budget: Some(300.0),
        capacity: BTreeMap::from([
            ("data".to_owned(), "60GiB".to_owned()),
            ("log".to_owned(), "20GiB".to_owned()),
        ]),
        ..AdviceForm::default()
    };
    let text = |name: &str| fs::read_to_string(example(name)).expect("it is an example");
    let answer = web::advise(&text("shop.toml"), &text("today.toml"), &asked, &mut |_| {
        true
    });
    let Advised { answer, sliders } = answer.expect("the README shows this answer");
    let Answer {
        json,
        html,
        finalists,
        command,
        notes,
        layouts,
        chosen,
        untested,
    } = answer;

    assert_eq!(notes, [""; 0]);
    assert!(!untested);
    // No two of its layouts look alike in a list.
    let names: BTreeSet<&str> = layouts.iter().map(|layout| layout.name.as_str()).collect();
    assert_eq!(names.len(), layouts.len(), "{names:?}");
    let [written_json, written_html, written_finalists] = written(&command);
    assert_eq!(json, written_json);
    assert!(html == written_html, "the pages differ");
    assert_eq!(finalists, written_finalists);

    // Sliders that were not moved: a whole simulation of one seed is what the search saw first.
    let unmoved = |whole| Moved {
        layout: chosen,
        values: BTreeMap::new(),
        whole,
    };
    let whole = sliders.replayed(&unmoved(true)).expect("it is sold");
    assert_eq!(whole.card.price, "$93.29 a month");
    assert!(whole.card.time.starts_with("61."), "{}", whole.card.time);
    assert_eq!(whole.part, None);
    let glance = sliders.replayed(&unmoved(false)).expect("it is sold");
    assert_eq!(glance.card.price, whole.card.price);
    assert!(glance.part.is_some_and(|part| part.contains("10 %")));

    // Half of the IOPS is less than the vendor sells; twice as many cost more, and are faster.
    let iops = &layouts[chosen].sliders;
    let iops = iops.iter().find(|slider| slider.label.starts_with("IOPS"));
    let iops = iops.expect("they are provisioned");
    let moved = |value: f64| Moved {
        values: BTreeMap::from([(iops.key.clone(), value)]),
        ..unmoved(true)
    };
    let refused = sliders
        .replayed(&moved(iops.least / 2.0))
        .expect_err("too few");
    assert!(refused.to_string().contains("volume "), "{refused}");
    let more = sliders
        .replayed(&moved(iops.value * 2.0))
        .expect("it is sold");
    assert_ne!(more.card.price, whole.card.price);
    // Twice the load takes twice the space.
    let grown = Moved {
        values: BTreeMap::from([("growth".to_owned(), 2.0)]),
        ..unmoved(true)
    };
    let grown = sliders.replayed(&grown).expect("it can be simulated");
    assert_eq!(grown.lacking.len(), 1, "{:?}", grown.lacking);
}
