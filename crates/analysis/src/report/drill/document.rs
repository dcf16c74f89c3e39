//! A drill as a document.

use serde::{Deserialize, Serialize};

use super::check;
pub use super::placement::{
    Control, DrillConditions, Event, Finding, Lane, OnVolume, Placement, Recorded, Request, Took,
    VolumeEvent, VolumeLoss,
};

/// Name of the document's version.
pub const SCHEMA: &str = "dbstow.drill/1";

/// What placements survived. A document that is read is checked: its numbers and words must be those of a drill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Drill {
    /// [`SCHEMA`].
    pub schema: String,
    /// The answer, in a sentence.
    pub answer: String,
    /// Name of the experiment whose placements these are.
    pub experiment: String,
    /// The server, with its version.
    pub server: String,
    /// The request.
    pub asked: DrillConditions,
    /// Whether it ran to its end.
    pub complete: bool,
    /// Whether every control was detected. Otherwise the drill proves nothing.
    pub proves: bool,
    /// What was found of each placement.
    pub placements: Vec<Placement>,
    /// Servers configured so that they must not survive.
    pub controls: Vec<Control>,
    /// How long checking the states took.
    pub took: Took,
}

impl Drill {
    /// Reads the output of [`Drill::json`].
    ///
    /// # Errors
    /// When it is another format or version, or has an impossible value: which key, and what is allowed.
    pub fn parse(text: &str) -> Result<Drill, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// As text.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("it is plain data");
        text.push('\n');
        text
    }

    /// The finding of this name, and its placement.
    pub fn finding(&self, name: &str) -> Option<(&Placement, &Finding)> {
        let mut all = self.placements.iter().flat_map(|placement| {
            let findings = placement.findings.iter();
            findings.map(move |finding| (placement, finding))
        });
        all.find(|(_, finding)| finding.name == name)
    }
}

/// The document as parsed.
#[derive(Deserialize)]
struct Unchecked {
    schema: String,
    answer: String,
    experiment: String,
    server: String,
    asked: DrillConditions,
    complete: bool,
    proves: bool,
    placements: Vec<Placement>,
    controls: Vec<Control>,
    took: Took,
}

impl TryFrom<Unchecked> for Drill {
    type Error = String;

    fn try_from(read: Unchecked) -> Result<Drill, String> {
        if read.schema != SCHEMA {
            return Err(format!("it is of another version ({})", read.schema));
        }
        check::asked(&read.asked).map_err(|why| format!("asked.{why}"))?;
        check::took(&read.took).map_err(|why| format!("took.{why}"))?;
        for (place, found) in read.placements.iter().enumerate() {
            check::placement(found).map_err(|why| format!("placements[{place}].{why}"))?;
        }
        for (place, found) in read.controls.iter().enumerate() {
            check::control(found).map_err(|why| format!("controls[{place}].{why}"))?;
        }
        Ok(Drill {
            schema: read.schema,
            answer: read.answer,
            experiment: read.experiment,
            server: read.server,
            asked: read.asked,
            complete: read.complete,
            proves: read.proves,
            placements: read.placements,
            controls: read.controls,
            took: read.took,
        })
    }
}
