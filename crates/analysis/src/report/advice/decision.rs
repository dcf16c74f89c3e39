//! What to do, and how far to trust it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nothing: what there is is as good as what could be bought.
    Stay,
    /// Change one thing: a volume, the place of one kind of files, or the machine.
    Change,
    /// Move to another layout.
    Move,
    /// Not decided: a bound alone says what could be bought.
    Undecided,
    /// No layout within the budget is fast enough.
    Nothing,
}

/// What to do, and by which measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What.
    pub kind: Kind,
    /// The layout to have, by its key in the document: `today` or `cheapest`; `None` where there is none.
    pub layout: Option<Cow<'static, str>>,
    /// How it differs from today's layout; a phrase for each volume and the machine.
    pub differences: Vec<String>,
    /// Dollars a month that it costs less than today, where both prices are known; negative where it costs more.
    pub saves_usd_per_month: Option<f64>,
    /// Dollars a month: a smaller saving is not worth a change.
    pub worth_usd_per_month: f64,
    /// Times that differ by a smaller share are within the model's error.
    pub model_error: f64,
}

/// How far to trust the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// How far.
    pub level: Level,
    /// Why; phrases.
    pub because: Vec<String>,
}

/// How far to trust an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The model reproduces what was recorded, and the layout does what was recorded or published.
    High,
    /// Something that decides was neither recorded nor published.
    Low,
}

impl Trust {
    /// `trust: low, because ..`, with the first reason and the number of the others.
    pub fn sentence(&self) -> String {
        let level = match self.level {
            Level::High => "high",
            Level::Low => "low",
        };
        let first = self.because.first().map_or("", String::as_str);
        let more = match self.because.len().saturating_sub(1) {
            0 => String::new(),
            1 => "; and for 1 more reason".to_owned(),
            several => format!("; and for {several} more reasons"),
        };
        format!("trust: {level}, because {first}{more}.")
    }
}
