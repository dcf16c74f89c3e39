//! The catalogue's assumptions about the machines and disks of an answer.

use analysis::report::advice::document::{Advice, Layout};
use catalogue::{Catalogue, MachineEntry};

use crate::system::System;

/// The name of a volume's disk inside the machine.
const LOCAL: &str = "local";

/// An assumption, its subject, and the answers that rely on it.
struct Assumed<'a> {
    text: String,
    of: Vec<&'a str>,
    answers: Vec<&'static str>,
}

/// Every catalogue assumption that an answer uses, without duplicates; one sentence for those of the same disks or
/// machines in the same answers. The answer's own come first, then those of its rivals, of today's layout, and of the
/// frontier.
pub(super) fn of_layouts(advice: &Advice, system: System, catalogue: &Catalogue) -> Vec<String> {
    let mut all: Vec<Assumed<'_>> = Vec::new();
    for (answer, layout) in in_order(advice) {
        for (of, text) in of_layout(layout, system, catalogue) {
            let at = all.iter().position(|known| known.text == text);
            let at = at.unwrap_or_else(|| {
                all.push(Assumed {
                    text,
                    of: Vec::new(),
                    answers: Vec::new(),
                });
                all.len() - 1
            });
            let known = &mut all[at];
            if !known.of.contains(&of) {
                known.of.push(of);
            }
            if !known.answers.contains(&answer) {
                known.answers.push(answer);
            }
        }
    }
    sentences(all)
}

/// The layouts that are shown, the recommended one first.
fn in_order(advice: &Advice) -> Vec<(&'static str, &Layout)> {
    // Today's layout is the first of the answers.
    let mut answers = advice.answers();
    answers.rotate_left(1);
    let frontier = advice.frontier.iter().map(|layout| ("frontier", layout));
    answers.into_iter().chain(frontier).collect()
}

fn sentences(all: Vec<Assumed<'_>>) -> Vec<String> {
    let mut together: Vec<Assumed<'_>> = Vec::new();
    for assumed in all {
        let is_same =
            |known: &&mut Assumed<'_>| known.of == assumed.of && known.answers == assumed.answers;
        match together.iter_mut().find(is_same) {
            Some(known) => known.text = format!("{}; {}", known.text, assumed.text),
            None => together.push(assumed),
        }
    }
    let sentence = |assumed: &Assumed<'_>| {
        let (of, answers) = (assumed.of.join(", "), assumed.answers.join(", "));
        format!("{of} ({answers}): {}.", assumed.text)
    };
    together.iter().map(sentence).collect()
}

/// Assumptions about a layout, each with the name of its machine or disk.
fn of_layout<'a>(
    layout: &'a Layout,
    system: System,
    catalogue: &Catalogue,
) -> Vec<(&'a str, String)> {
    let machine = layout.machine.as_deref();
    let entry = machine.and_then(|name| Some((name, catalogue.machine(name).ok()?)));
    let mut all = Vec::new();
    for volume in &layout.volumes {
        let name = volume.disk.as_str();
        if let Ok(disk) = catalogue.disk(name) {
            all.extend(disk.assumptions().into_iter().map(|text| (name, text)));
        } else if let Some((machine, entry)) = entry.filter(|_| name == LOCAL) {
            let texts = entry.local_assumed.iter();
            all.extend(texts.map(|text| (machine, format!("its own disk: {text}"))));
        }
    }
    if let Some((name, entry)) = entry {
        let texts = entry.assumed.iter().chain(of_price(entry, system));
        all.extend(texts.map(|text| (name, text.clone())));
    }
    all
}

/// Assumptions about the price that was requested.
fn of_price(entry: &MachineEntry, system: System) -> &[String] {
    match system {
        System::Linux => &entry.price_assumed.linux,
        System::Windows => &entry.price_assumed.windows,
    }
}
