//! How fast the processors of the answers are beside today's, and what of them counts.

use analysis::report::advice::document::{Advice, Layout};
use catalogue::{MachineEntry, Processor};
use model::Duration;
use table::quantity::{number, percent};

use super::DocumentBuilder;

impl DocumentBuilder<'_> {
    /// What is assumed of the processors of the answers; sentences, one for what holds for the same answers.
    pub(super) fn processors(&self, document: &Advice) -> Vec<String> {
        let parts = &self.request.today_load.parts;
        if parts
            .iter()
            .all(|part| part.demand.processor == Duration::ZERO)
        {
            return vec![
                "Processor time was not recorded, so that no answer depends on processors."
                    .to_owned(),
            ];
        }
        let mut all: Vec<(String, Vec<&str>)> = Vec::new();
        for (answer, layout) in document.answers() {
            for text in self.of_processor(answer, layout) {
                match all.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, answers)) => answers.push(answer),
                    None => all.push((text, vec![answer])),
                }
            }
        }
        let with_answers = |(text, answers): (String, Vec<&str>)| {
            let answers = answers.join(", ");
            text.replacen(ANSWERS, &answers, 1)
        };
        all.into_iter().map(with_answers).collect()
    }

    /// The same of one layout.
    fn of_processor(&self, answer: &str, layout: &Layout) -> Vec<String> {
        let Some(machine) = self.machine_of(layout) else {
            return Vec::new();
        };
        let name = &machine.name;
        let mut all = Vec::new();
        if answer != "today" {
            all.extend(self.speed_of(machine));
        }
        if let Some(baseline) = machine.baseline {
            let when = match answer {
                "today" => "today's is simulated with all of them",
                _ => "what it uses beyond that is paid with credits",
            };
            all.push(format!(
                "{name} ({ANSWERS}): it may use {} of its processors in the long run; {when}.",
                percent(baseline)
            ));
        }
        if layout.switched_on.is_some_and(|on| on.threads == 1) {
            all.push(format!(
                "{name} ({ANSWERS}): a processor counts the same whether its core has one thread or two."
            ));
        }
        all
    }

    fn speed_of(&self, machine: &MachineEntry) -> Option<String> {
        let today = self.request.need.processor.as_ref();
        let own = machine.processor.as_ref();
        Some(match (today, own) {
            (Some(today), Some(own)) if today.model == own.model => return None,
            (Some(today), Some(own)) => {
                format!("{} ({ANSWERS}): {}.", machine.name, does(own, today))
            }
            (None, _) => format!(
                "A processor does as much on every machine ({ANSWERS}): how fast today's is was not measured."
            ),
            (Some(_), None) => format!(
                "{} ({ANSWERS}): a processor does as much as one of today's; how fast it is was not measured.",
                machine.name
            ),
        })
    }

    pub(super) fn machine_of(&self, layout: &Layout) -> Option<&MachineEntry> {
        let name = layout.machine.as_ref()?;
        self.request.catalogue.machine(name).ok()
    }
}

/// Where a sentence names the answers that it is about.
const ANSWERS: &str = "\u{1}";

/// What a processor does beside one of today's, with the spread and where that comes from.
pub(super) fn does(own: &Processor, today: &Processor) -> String {
    let [low, high] = own.spread_beside(today).map(number);
    // Without the parts of a title in brackets.
    let titles = own.sources.iter().map(|source| {
        let title = source.title.split_once(" (");
        title.map_or(source.title.as_str(), |(title, _)| title)
    });
    let sources: Vec<&str> = titles.collect();
    format!(
        "a processor ({}) does {} times as much as one of today's ({}), {low} to {high} on single machines and in other tests: {}",
        own.model,
        number(own.beside(today)),
        today.model,
        sources.join("; ")
    )
}
