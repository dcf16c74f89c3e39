//! What a drill found, for the reports of other commands: beside what a placement costs.

use super::document::{BIT_FLIP, Drill, Event, OnVolume, Placement};
use crate::findings::{Findings, Survived};
use crate::report::advice::document::{Advice, Layout};

/// The disk inside a machine: how many there are is the machine's.
const LOCAL: &str = "local";

impl Drill {
    /// Adds what was found to the arms that were drilled: those of the same experiment, by name. Returns how many there are.
    pub fn add_to_findings(&self, findings: &mut Findings) -> usize {
        if findings.experiment != self.experiment {
            return 0;
        }
        let arms = findings.arms.iter_mut();
        let drilled = arms.filter_map(|arm| {
            let mut placements = self.placements.iter();
            let placement = placements.find(|placement| placement.name == arm.name)?;
            arm.survived = Some(self.survived(placement));
            arm.survived.as_ref()
        });
        drilled.count()
    }

    /// Adds what was found to the layouts of advice that were drilled: those with the same files on as many of the same disks,
    /// of whatever size. Returns how many there are.
    pub fn add_to_advice(&self, advice: &mut Advice) -> usize {
        let layouts = advice.layouts_mut();
        let drilled = layouts.filter_map(|layout| {
            let mut placements = self.placements.iter();
            let placement = placements.find(|placement| is_of(&placement.layout, layout))?;
            layout.survived = Some(self.survived(placement));
            layout.survived.as_ref()
        });
        drilled.count()
    }

    fn survived(&self, placement: &Placement) -> Survived {
        let events = || placement.crash_events();
        Survived {
            drill: format!("{}, {}", self.experiment, self.server),
            states: events().map(|event| event.states).sum(),
            intact: events().map(|event| event.intact).sum(),
            found: placement.sentence(),
        }
    }
}

fn is_of(drilled: &[OnVolume], layout: &Layout) -> bool {
    let same = |drilled: &&OnVolume, volume: &crate::report::advice::document::Volume| {
        drilled.disk == volume.disk
            && (drilled.count == volume.count || volume.disk == LOCAL)
            && drilled.roles.len() == volume.roles.len()
            && volume.roles.iter().all(|role| drilled.roles.contains(role))
    };
    drilled.len() == layout.volumes.len()
        && layout
            .volumes
            .iter()
            .all(|volume| drilled.iter().any(|drilled| same(&drilled, volume)))
}

impl Placement {
    /// Its events, but for bits that flip, which no placement can do anything about.
    pub fn crash_events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| event.event != BIT_FLIP)
    }

    /// What it survives, in a sentence without its name and a full stop.
    pub fn sentence(&self) -> String {
        let states: u64 = self.crash_events().map(|event| event.states).sum();
        let failed: u64 = self.crash_events().map(Event::failed).sum();
        let mut sentence = match failed {
            0 => format!("all of {states} states are intact"),
            failed => format!("{failed} of {states} states are not intact"),
        };
        for (event, what) in [
            ("lost", "it does not survive the loss of volume"),
            ("full", "it is not intact after a full volume"),
            (
                "write-fails",
                "it is not intact after a failed write to volume",
            ),
            (
                "flush-fails",
                "it is not intact after a failed flush of volume",
            ),
        ] {
            let mut volumes: Vec<&str> = self
                .volumes
                .iter()
                .filter(|volume| volume.event == event && volume.verdict != "intact")
                .map(|volume| volume.volume.as_str())
                .collect();
            volumes.dedup();
            if !volumes.is_empty() {
                sentence.push_str(&format!(", {what} {}", volumes.join(" or ")));
            }
        }
        sentence
    }
}
