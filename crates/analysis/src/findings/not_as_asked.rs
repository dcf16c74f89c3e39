//! Departures of trials from the experiment: a figure describes what was actually done.

use super::Warning;
use super::trials::Trials;
use super::warnings::{list, warning};
use experiment::question::Question;
use experiment::record::Note;

/// Each departure once, with the arms that have it.
pub(super) fn warnings(question: &Question, trials: &Trials) -> Option<Warning> {
    let mut departures: Vec<(&str, Vec<&str>)> = Vec::new();
    for arm in &question.arms {
        let finished = trials.finished(&arm.name).iter();
        for note in finished.flat_map(|record| &record.notes) {
            let Note::NotAsAsked(what) = note else {
                continue;
            };
            match departures.iter_mut().find(|(known, _)| known == what) {
                Some((_, arms)) if arms.last() == Some(&arm.name.as_str()) => {}
                Some((_, arms)) => arms.push(&arm.name),
                None => departures.push((what, vec![&arm.name])),
            }
        }
    }
    let departures = departures.into_iter();
    let departures = list(departures.map(|(what, arms)| format!("{}: {what}", arms.join(", "))))?;
    Some(warning(
        "not-as-asked",
        format!("not run as asked: {departures}."),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use super::*;
    use experiment::examples::{question, records};

    #[test]
    fn a_departure_of_many_trials_is_reported_once_with_its_arms() {
        let mut records = records();
        for record in &mut records {
            let what = "memory: 26 MiB asked, 1,024 MiB set";
            record.notes.push(Note::NotAsAsked(what.to_owned()));
        }

        let findings = make(&question(), &records);

        let warning = findings
            .warnings
            .iter()
            .find(|warning| warning.id == "not-as-asked");
        let expected = "not run as asked: local-ssd, p30: memory: 26 MiB asked, 1,024 MiB set.";
        assert_eq!(warning.expect("it is reported").text, expected);
    }
}
