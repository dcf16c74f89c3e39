//! A drill's findings for the reports of other commands: beside what a placement costs.

use model::Bytes;

use super::document::Drill;
use super::placement::{BIT_FLIP, Event, OnVolume, Placement};
use crate::findings::{ArmVolume, Findings, Survived};
use crate::report::advice::{
    self,
    document::{Advice, Layout},
};

/// The disk inside a machine, whose number is fixed by the machine.
const LOCAL: &str = "local";

impl Drill {
    /// Adds the findings to the arms that were drilled: those of the same experiment, by name, with the same number of
    /// the same disks. Returns how many there are.
    pub fn add_to_findings(&self, findings: &mut Findings) -> usize {
        if findings.experiment != self.experiment {
            return 0;
        }
        let arms = findings.arms.iter_mut();
        let drilled = arms.filter_map(|arm| {
            let mut placements = self.placements.iter();
            let placement = placements
                .find(|placement| placement.name == arm.name && is_on(placement, &arm.volumes))?;
            arm.survived = Some(self.survived(placement));
            arm.survived.as_ref()
        });
        drilled.count()
    }

    /// Adds the findings to the layouts of advice that were drilled: those with the same files on the same number of the
    /// same disks, of any size. Ambiguous matches (several placements) are skipped. Returns how many there are.
    pub fn add_to_advice(&self, advice: &mut Advice) -> usize {
        let layouts = advice.layouts_mut();
        let drilled = layouts.filter_map(|layout| {
            let placements = self.placements.iter();
            let mut placements = placements.filter(|placement| is_of(&placement.layout, layout));
            let placement = placements.next()?;
            if placements.next().is_some() {
                return None;
            }
            layout.survived = Some(self.survived(placement));
            layout.survived.as_ref()
        });
        drilled.count()
    }

    /// What it found, without full stops: a sentence for each placement, or why it proves nothing.
    pub fn answers(&self) -> Vec<String> {
        let controls = self.controls.iter();
        let silent = controls.filter(|control| control.noticed.is_none());
        let silent: Vec<&str> = silent.map(|control| control.setting.as_str()).collect();
        if self.complete && !silent.is_empty() {
            let silent = silent.join(" and ");
            return vec![format!(
                "This drill proves nothing: {silent} was not noticed"
            )];
        }
        let placements = self.placements.iter();
        let said = |placement: &Placement| format!("{}: {}", placement.name, placement.sentence());
        let mut answers: Vec<String> = placements.map(said).collect();
        if !self.complete {
            let first = answers.first().map_or("", String::as_str);
            let first = format!("Not complete, and no proof; so far: {first}");
            answers.splice(..answers.len().min(1), [first]);
        }
        answers
    }

    /// Whether data is lost that was on disks which still exist.
    pub fn has_loss(&self) -> bool {
        self.placements.iter().any(|placement| {
            let mut volumes = placement.volumes.iter();
            placement.crash_events().any(|event| event.failed() > 0)
                || volumes.any(|volume| volume.event != "lost" && volume.verdict != "intact")
        })
    }

    fn survived(&self, placement: &Placement) -> Survived {
        let events = || placement.crash_events();
        let rules = self.rules().into_iter().map(|rule| format!(", {rule}"));
        Survived {
            drill: format!(
                "{}, {}{}",
                self.experiment,
                self.server,
                rules.collect::<String>()
            ),
            states: events().map(|event| event.states).sum(),
            intact: events().map(|event| event.intact).sum(),
            found: placement.sentence(),
        }
    }

    /// Options of the request that make survival more or less likely than the defaults.
    fn rules(&self) -> Vec<String> {
        let asked = &self.asked;
        let mut rules = Vec::new();
        if asked.write_cache != "volatile" {
            rules.push(format!("write cache {}", asked.write_cache));
        }
        if asked.power != "machine" {
            rules.push(format!("power of one {}", asked.power));
        }
        match asked.atomic_bytes {
            Some(512) => {}
            Some(bytes) => rules.push(format!("atomic writes of {}", Bytes(bytes))),
            None => rules.push("atomic writes as vendors promise".to_owned()),
        }
        let settings = asked.settings.iter();
        rules.extend(settings.map(|(name, value)| format!("{name} = {value}")));
        rules
    }
}

/// Whether a placement was drilled on the volumes of an arm, where these are known.
fn is_on(placement: &Placement, volumes: &[ArmVolume]) -> bool {
    volumes.iter().all(|volume| {
        let mut drilled = placement.layout.iter();
        drilled.any(|drilled| {
            drilled.name == volume.name
                && drilled.disk == volume.disk
                && drilled.count as usize == volume.disks.len()
        })
    })
}

fn is_of(drilled: &[OnVolume], layout: &Layout) -> bool {
    let same = |drilled: &OnVolume, volume: &advice::document::Volume| {
        drilled.disk == volume.disk
            && (drilled.count == volume.count || volume.disk == LOCAL)
            && drilled.roles.len() == volume.roles.len()
            && volume.roles.iter().all(|role| drilled.roles.contains(role))
    };
    let mut left: Vec<&OnVolume> = drilled.iter().collect();
    left.len() == layout.volumes.len()
        && layout.volumes.iter().all(|volume| {
            let place = left.iter().position(|drilled| same(drilled, volume));
            place.map(|place| left.swap_remove(place)).is_some()
        })
}

impl Placement {
    /// Its events, except bit flips, which no placement can protect against.
    pub fn crash_events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| event.event != BIT_FLIP)
    }

    /// What it survives, as a sentence without its name and full stop.
    pub fn sentence(&self) -> String {
        let mut sentence = self.states_text();
        let forgets = |name: &str| {
            let mut volumes = self.layout.iter();
            volumes.any(|volume| volume.name == name && volume.forgets)
        };
        for (event, stop, what) in [
            (
                "lost",
                true,
                "it does not survive a stop of the machine, which empties volume",
            ),
            ("lost", false, "it does not survive the loss of volume"),
            ("full", false, "it is not intact after filling volume"),
            (
                "write-fails",
                false,
                "it is not intact after a failed write to volume",
            ),
            (
                "flush-fails",
                false,
                "it is not intact after a failed flush of volume",
            ),
        ] {
            let mut volumes: Vec<&str> = self
                .volumes
                .iter()
                .filter(|volume| volume.event == event && volume.verdict != "intact")
                .map(|volume| volume.volume.as_str())
                .filter(|volume| event != "lost" || forgets(volume) == stop)
                .collect();
            volumes.dedup();
            if !volumes.is_empty() {
                sentence.push_str(&format!(", {what} {}", volumes.join(" or ")));
            }
        }
        sentence
    }

    /// `15 of 30 snapshots taken apart are not intact (the other 60 states are)`: which events were not survived.
    fn states_text(&self) -> String {
        let (failed, survived): (Vec<&Event>, Vec<&Event>) =
            self.crash_events().partition(|event| event.failed() > 0);
        let others: u64 = survived.iter().map(|event| event.states).sum();
        if failed.is_empty() {
            return format!("all of {others} states are intact");
        }
        let parts: Vec<String> = failed
            .iter()
            .map(|event| {
                format!(
                    "{} of {} {}",
                    event.failed(),
                    event.states,
                    states_of(event)
                )
            })
            .collect();
        let others = match others {
            0 => String::new(),
            others => format!(" (the other {others} states are)"),
        };
        format!("{} are not intact{others}", parts.join(" and "))
    }
}

/// The name of an event's states in a sentence.
fn states_of(event: &Event) -> &str {
    match event.event.as_str() {
        "power" => "power cuts",
        "torn" => "torn writes",
        "snapshots" => "snapshots taken apart",
        other => other,
    }
}
