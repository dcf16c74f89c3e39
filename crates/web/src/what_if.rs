//! Sliders: a layout of the answer with other sizes, other IOPS, or more load.

use std::collections::BTreeMap;

use advise::what_if::{Change, Disks, Reach, WhatIf};
use analysis::report::advice::document::Layout;
use analysis::report::advice::{Advice, Card, Currency};
use model::{Bytes, Iops};
use serde::{Deserialize, Serialize};

use crate::Refused;

/// The slider of growth: its key, and from and to where it goes around what was asked for.
const GROWTH: &str = "growth";
const GROWTH_LEAST: f64 = 0.5;
const GROWTH_MOST: f64 = 4.0;

/// Between two positions of sliders.
const GROWTH_STEP: f64 = 0.05;
const IOPS_STEP: u64 = 100;

/// A layout with what of it can be changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adjustable {
    /// What it is: `cheapest, fastest: $93.29 a month, azure.E2as_v7`.
    pub name: String,
    /// Its sliders.
    pub sliders: Vec<Slider>,
}

/// What can be changed, between two ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slider {
    /// What the page gives its value as.
    pub key: String,
    /// What it changes, with its unit.
    pub label: String,
    /// The lower end.
    pub least: f64,
    /// The upper end.
    pub most: f64,
    /// Between two positions.
    pub step: f64,
    /// Where it is at first.
    pub value: f64,
}

/// Where sliders are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// The layout, by its place among those that can be changed.
    pub layout: usize,
    /// Values by the keys of its sliders.
    pub values: BTreeMap<String, f64>,
    /// Whether to simulate the whole.
    pub whole: bool,
}

/// What the layout does like this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// Its price, its time, and what holds it back.
    pub card: Card,
    /// Files that do not fit, as sentences.
    pub lacking: Vec<String>,
    /// The part of a whole simulation that its time is from; a phrase. `None`: it is whole.
    pub part: Option<String>,
}

/// The layouts of an answer, to be tried with changes.
#[derive(Debug)]
pub struct Sliders {
    what_if: WhatIf,
    currency: Currency,
    /// What each layout is.
    names: Vec<String>,
    /// The layout that is advised, where it can be changed.
    chosen: Option<usize>,
}

impl Sliders {
    /// Those of `advice`.
    pub(crate) fn new(what_if: WhatIf, advice: &Advice) -> Sliders {
        let currency = advice.asked.currency.clone();
        let all = advice.every_layout();
        let card = |layout: &Layout| {
            let named = all.iter().find(|(_, known)| *known == layout);
            let name = named.map_or("", |(name, _)| name.as_str());
            Card::of(name.to_owned(), layout, &currency)
        };
        let cards: Vec<Card> = what_if.layouts().map(card).collect();
        let chosen = what_if
            .layouts()
            .position(|layout| advice.chosen() == Some(layout));
        Sliders {
            names: cards.iter().map(|card| name(card, &cards)).collect(),
            chosen,
            what_if,
            currency,
        }
    }

    /// The layouts with their sliders.
    pub(crate) fn adjustable(&self) -> Vec<Adjustable> {
        let names = self.names.iter().enumerate();
        let adjustable = |(at, name): (usize, &String)| Adjustable {
            name: name.clone(),
            sliders: self.sliders(at),
        };
        names.map(adjustable).collect()
    }

    /// The place of the layout that is advised, or else of the first.
    pub(crate) fn chosen(&self) -> usize {
        self.chosen.unwrap_or_default()
    }

    /// The layout with its sliders where they were moved to.
    ///
    /// # Errors
    /// When it is not sold like this, or there is no such layout.
    pub fn replayed(&self, moved: &Moved) -> Result<Replayed, Refused> {
        let count = match moved.layout < self.names.len() {
            true => self.what_if.reaches(moved.layout).len(),
            false => 0,
        };
        let value = |key: &str| moved.values.get(key).copied();
        let disks = |at: usize| Disks {
            size: value(&size_key(at)).map(|gib| Bytes::gib(gib as u64)),
            iops: value(&iops_key(at)).map(|iops| Iops(iops as u64)),
        };
        let change = Change {
            layout: moved.layout,
            growth: value(GROWTH).unwrap_or(self.what_if.growth()),
            volumes: (0..count).map(disks).collect(),
        };
        let changed = self.what_if.changed(&change, moved.whole);
        let changed = changed.map_err(|error| Refused(error.to_string()))?;
        let name = self.names[moved.layout].split(':').next();
        Ok(Replayed {
            card: Card::of(
                name.unwrap_or_default().to_owned(),
                &changed.layout,
                &self.currency,
            ),
            lacking: changed.lacking,
            part: (changed.simulated < 1.0).then(|| {
                let percent = (changed.simulated * 100.0).round();
                format!("from {percent} % of the operations of a whole simulation, which follows")
            }),
        })
    }

    fn sliders(&self, layout: usize) -> Vec<Slider> {
        let growth = self.what_if.growth();
        let mut all = vec![Slider {
            key: GROWTH.to_owned(),
            label: "Growth, times today".to_owned(),
            least: GROWTH_LEAST.min(growth),
            most: GROWTH_MOST.max(growth),
            step: GROWTH_STEP,
            value: growth,
        }];
        let volumes = self.what_if.layouts().nth(layout);
        let volumes = volumes.map_or(&[][..], |layout| &layout.volumes);
        for (at, (volume, reaches)) in volumes.iter().zip(self.what_if.reaches(layout)).enumerate()
        {
            let each = if volume.count > 1 {
                " of each disk"
            } else {
                ""
            };
            let slider = |key: String, what: String, reach: Reach, step: u64| Slider {
                key,
                label: what,
                least: reach.least as f64,
                most: reach.most as f64,
                step: step as f64,
                value: reach.now as f64,
            };
            let name = &volume.name;
            let size = reaches.size_gib.map(|reach| {
                let label = format!("Size{each}, volume {name}, GiB");
                slider(size_key(at), label, reach, 1)
            });
            let iops = reaches.iops.map(|reach| {
                let label = format!("IOPS{each}, volume {name}");
                slider(iops_key(at), label, reach, IOPS_STEP)
            });
            all.extend(size);
            all.extend(iops);
        }
        all
    }
}

/// What a layout is in a list: with its volumes where another one has its price and its machine.
fn name(card: &Card, all: &[Card]) -> String {
    let Card {
        title,
        price,
        machine,
        volumes,
        ..
    } = card;
    let alike = |other: &&Card| (&other.price, &other.machine) == (price, machine);
    match all.iter().filter(alike).count() {
        1 => format!("{title}: {price}, {machine}"),
        _ => format!("{title}: {price}, {machine}; {}", volumes.join("; ")),
    }
}

fn size_key(volume: usize) -> String {
    format!("{volume}.size")
}

fn iops_key(volume: usize) -> String {
    format!("{volume}.iops")
}
