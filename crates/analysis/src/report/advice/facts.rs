//! What an answer is of: the profile, its load, what was asked for, and whose prices these are.

use std::path::Path;

use model::Bytes;
use reading::Role;
use table::quantity::{count, percent};

use super::document::{Advice, Capacity, Layout};

/// What was asked for, and whose prices these are.
pub(super) fn facts(advice: &Advice) -> Vec<(&'static str, String)> {
    let asked = &advice.asked;
    let capacity: Vec<String> = asked.capacity.iter().map(capacity).collect();
    let prices = match advice.price_lists.is_empty() {
        true => "not known".to_owned(),
        false => price_lists(&advice.price_lists),
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
    facts.extend(advice.sessions_assumed.map(sessions));
    facts.extend([
        ("goal", goal),
        ("capacity", capacity.join("; ")),
        (
            "prices",
            [format!(
                "{prices}; {}, {}, 730 hours",
                asked.term(),
                asked.system
            )]
            .into_iter()
            .chain(advice.licence())
            .collect::<Vec<_>>()
            .join("; "),
        ),
    ]);
    facts.extend(asked.currency.rate().map(|rate| ("currency", rate)));
    facts
}

/// How many sessions were taken where none were counted: with more of them, operations wait longer for a limit that is full.
fn sessions(assumed: u32) -> (&'static str, String) {
    let text = format!(
        "{}, assumed from recorded waits and processor time, as none were counted",
        count(assumed.into())
    );
    ("sessions", text)
}

/// Each list once, with its dates: `Azure eastus, 2026 and 2026-06-18; AWS us-east-1, 2026`.
fn price_lists(lists: &[String]) -> String {
    let mut named: Vec<(&str, Vec<&str>)> = Vec::new();
    for list in lists {
        let (name, date) = list.rsplit_once(", ").unwrap_or((list, ""));
        match named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, dates)) => dates.push(date),
            None => named.push((name, vec![date])),
        }
    }
    let shown = |(name, dates): (&str, Vec<&str>)| match dates.as_slice() {
        [""] => name.to_owned(),
        dates => format!("{name}, {}", dates.join(" and ")),
    };
    named.into_iter().map(shown).collect::<Vec<_>>().join("; ")
}

fn capacity(capacity: &Capacity) -> String {
    format!(
        "{} {}",
        Role::joined(&capacity.roles, ", "),
        Bytes(capacity.bytes)
    )
}

/// How much data a layout with more memory than today reads, to go on with.
pub(super) fn reads(layout: &Layout) -> Option<String> {
    let [least, most] = layout.data_reads?.map(percent);
    Some(format!(
        "; with more memory than today it reads {least} to {most} as much data, which is not in its time"
    ))
}
