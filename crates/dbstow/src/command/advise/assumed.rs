//! What the catalogue assumes of the machines and disks of an answer.

use analysis::report::advice::document::{Advice, Layout};
use catalogue::Catalogue;

/// What a volume's disk inside the machine is called.
const LOCAL: &str = "local";

/// An assumption, what it is of, and the answers that rest on it.
struct Assumed<'a> {
    text: String,
    of: Vec<&'a str>,
    answers: Vec<&'static str>,
}

/// Every assumption of the catalogue that an answer uses, in the order of the answers, each once; sentences.
pub(super) fn of_layouts(advice: &Advice, catalogue: &Catalogue) -> Vec<String> {
    let mut all: Vec<Assumed<'_>> = Vec::new();
    let frontier = advice.frontier.iter().map(|layout| ("frontier", layout));
    for (answer, layout) in advice.answers().into_iter().chain(frontier) {
        for (of, text) in of_layout(layout, catalogue) {
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
    let sentence = |assumed: &Assumed<'_>| {
        let (of, answers) = (assumed.of.join(", "), assumed.answers.join(", "));
        format!("{of}: {} ({answers}).", assumed.text)
    };
    all.iter().map(sentence).collect()
}

/// What is assumed of a layout, each with the name of its machine or disk.
fn of_layout<'a>(layout: &'a Layout, catalogue: &Catalogue) -> Vec<(&'a str, String)> {
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
        all.extend(entry.assumed.iter().map(|text| (name, text.clone())));
    }
    all
}
