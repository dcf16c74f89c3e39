//! Combines experiments for each combination of values into one experiment with an arm for each.

use std::collections::{BTreeMap, BTreeSet};

use super::keys::Key;
use crate::spec::arm::{Sweep, SweepValue};
use crate::spec::bounds::{NAME_MAX, arm_named};
use crate::spec::{Arm, Fitted, Spec, SpecError};

/// A combination: for each key, which of its values.
type At = Vec<usize>;

/// The same experiment at every combination of values.
pub(super) struct Combinations {
    keys: Vec<Key>,
    /// In the order of the values, those of the last key first.
    specs: Vec<Spec>,
    /// For each arm in the file, the keys that affect it.
    matters: Vec<Vec<bool>>,
}

impl Combinations {
    /// Reads the experiment once for each combination of values, by `read`. It is given, for each override that has several values,
    /// the position among the overrides and the value that it has this time.
    ///
    /// # Errors
    /// The first error of `read`.
    pub(super) fn read(
        keys: Vec<Key>,
        read: impl Fn(&[(usize, &str)]) -> Result<Spec, SpecError>,
    ) -> Result<Combinations, SpecError> {
        let read = |at: At| {
            let chosen = keys.iter().zip(at).map(|(key, at)| key.chosen(at));
            read(&chosen.collect::<Vec<_>>())
        };
        let combined = combined(&keys).into_iter();
        let specs = combined
            .map(read)
            .collect::<Result<Vec<Spec>, SpecError>>()?;
        let mut combinations = Combinations {
            keys,
            specs,
            matters: Vec::new(),
        };
        let arms = 0..combinations.specs[0].arms.len();
        combinations.matters = arms.map(|arm| combinations.matters_to(arm)).collect();
        Ok(combinations)
    }

    /// A key that does not affect any arm.
    pub(super) fn without_effect(&self) -> Option<&Key> {
        let matters = |key: usize| self.matters.iter().any(|matters| matters[key]);
        let key = (0..self.keys.len()).find(|key| !matters(*key))?;
        Some(&self.keys[key])
    }

    /// The one experiment, with its sweeps.
    pub(super) fn into_spec(self) -> Spec {
        let named = self.named();
        let arms = (0..self.matters.len()).flat_map(|arm| {
            let arms = self.of_arm(arm).into_iter();
            arms.map(|at| self.arm(&named, arm, &at))
                .collect::<Vec<_>>()
        });
        let arms: Vec<Arm> = arms.collect();
        let given = (0..self.matters.len()).flat_map(|arm| {
            let all = self.of_arm(arm).into_iter();
            let keys = |at: At| {
                let spec = self.at(&at);
                let keys = spec.given.get(&spec.arms[arm].name)?.clone();
                Some((named.of(arm, &at).to_owned(), keys))
            };
            all.filter_map(keys).collect::<Vec<_>>()
        });
        let given = given.collect();
        let first = &self.specs[0];
        let mut protocol = first.protocol.clone();
        let zero = vec![0; self.keys.len()];
        let baseline = self.position(&protocol.baseline);
        protocol.baseline = named.of(baseline, &zero).to_owned();
        let mut source = first.source.clone();
        if let Some(source) = &mut source {
            let sources = self.specs.iter().filter_map(|spec| spec.source.as_ref());
            source.figures_left_out = sources.into_iter().any(|source| source.figures_left_out);
        }
        Spec {
            source,
            protocol,
            fitted: self.fitted(&named),
            sweeps: self.sweeps(&named),
            arms,
            given,
            ..first.clone()
        }
    }

    /// Fitted parameters, with their values and the arms that have them.
    fn fitted(&self, named: &Named) -> Vec<Fitted> {
        let mut all: Vec<Fitted> = Vec::new();
        for at in combined(&self.keys) {
            let spec = self.at(&at);
            for entry in &spec.fitted {
                let arms = entry.to.iter().map(|arm| self.position(arm));
                let arms = arms.filter(|arm| spec.arms[*arm].fitted);
                let to = arms.filter(|arm| self.reduced(*arm, &at) == at);
                let to: Vec<String> = to.map(|arm| named.of(arm, &at).to_owned()).collect();
                let same = |known: &&mut Fitted| {
                    known.parameter == entry.parameter && known.value == entry.value
                };
                match all.iter_mut().find(same) {
                    Some(known) => known.to.extend(to),
                    None if to.is_empty() => {}
                    None => all.push(Fitted {
                        to,
                        ..entry.clone()
                    }),
                }
            }
        }
        all
    }

    /// The position of the arm called `name` in the file.
    fn position(&self, name: &str) -> usize {
        let arms = &self.specs[0].arms;
        let found = arms.iter().position(|arm| arm.name == name);
        found.expect("baselines and fitted arms are arms")
    }

    fn at(&self, at: &[usize]) -> &Spec {
        let lengths = self.keys.iter().map(|key| key.values.len());
        let index = lengths
            .zip(at)
            .fold(0, |index, (length, at)| index * length + at);
        &self.specs[index]
    }

    /// For each key, whether its values affect `arm`.
    fn matters_to(&self, arm: usize) -> Vec<bool> {
        let settings = |at: &[usize]| &self.at(at).arms[arm].settings;
        let differs = |key: usize| {
            combined(&self.keys).into_iter().any(|at| {
                let mut first = at.clone();
                first[key] = 0;
                settings(&at) != settings(&first)
            })
        };
        (0..self.keys.len()).map(differs).collect()
    }

    /// The distinct combinations for `arm`: keys that do not affect it stay at their first value.
    fn of_arm(&self, arm: usize) -> Vec<At> {
        let mut all = combined(&self.keys);
        all.retain(|at| self.reduced(arm, at) == *at);
        all
    }

    /// `at` with the first value of keys that do not affect `arm`.
    fn reduced(&self, arm: usize, at: &[usize]) -> At {
        let matters = self.matters[arm].iter().zip(at);
        matters
            .map(|(matters, at)| if *matters { *at } else { 0 })
            .collect()
    }

    /// The arm at a combination. One that others are compared with there is marked as its own baseline, so it is not compared
    /// itself.
    fn arm(&self, named: &Named, arm: usize, at: &[usize]) -> Arm {
        let baseline = self.baseline(arm);
        let choices = self.keys.iter().map(Key::is_choice).zip(at);
        let first_choices: At = choices
            .map(|(is_choice, at)| if is_choice { 0 } else { *at })
            .collect();
        let baseline = named.of(baseline, &self.reduced(baseline, &first_choices));
        let protocol = &self.specs[0].protocol;
        let of_experiment = named.of(self.position(&protocol.baseline), &vec![0; at.len()]);
        Arm {
            name: named.of(arm, at).to_owned(),
            baseline: (baseline != of_experiment).then(|| baseline.to_owned()),
            ..self.at(at).arms[arm].clone()
        }
    }

    /// The arm that `arm` is compared with at the same values: itself, if others are compared with it.
    fn baseline(&self, arm: usize) -> usize {
        let spec = &self.specs[0];
        let name = &spec.arms[arm].name;
        let is_baseline = |other: &Arm| other.baseline.as_ref() == Some(name);
        match &spec.arms[arm].baseline {
            Some(baseline) => self.position(baseline),
            None if spec.arms.iter().any(is_baseline) => arm,
            None => self.position(&spec.protocol.baseline),
        }
    }

    /// Arms that differ only in the amount of one resource, of which more is better.
    fn sweeps(&self, named: &Named) -> Vec<Sweep> {
        let mut sweeps = Vec::new();
        for arm in 0..self.matters.len() {
            for (key, swept) in self.keys.iter().enumerate() {
                let Some(values) = swept.ascending().filter(|_| self.matters[arm][key]) else {
                    continue;
                };
                let starts = self.of_arm(arm).into_iter().filter(|at| at[key] == 0);
                sweeps.extend(starts.map(|start| self.sweep(named, (arm, key), &values, &start)));
            }
        }
        sweeps
    }

    fn sweep(
        &self,
        named: &Named,
        (arm, key): (usize, usize),
        values: &[usize],
        start: &[usize],
    ) -> Sweep {
        let swept = &self.keys[key];
        let value = |value: &usize| {
            let mut at = start.to_vec();
            at[key] = *value;
            SweepValue {
                value: swept.plain(*value).to_owned(),
                arm: named.of(arm, &at).to_owned(),
            }
        };
        let others = (0..start.len()).filter(|other| *other != key && self.matters[arm][*other]);
        let others = others.map(|other| {
            let swept = &self.keys[other];
            format!("{} = {}", swept.key, swept.plain(start[other]))
        });
        let name = self.specs[0].arms[arm].name.clone();
        Sweep {
            of: std::iter::once(name)
                .chain(others)
                .collect::<Vec<_>>()
                .join(", "),
            key: swept.key.clone(),
            values: values.iter().map(value).collect(),
        }
    }

    /// A name for every arm at every combination.
    fn named(&self) -> Named {
        let own = self.specs[0].arms.iter();
        let mut taken: BTreeSet<String> = own.map(|arm| arm.name.to_lowercase()).collect();
        let mut names = BTreeMap::new();
        for arm in 0..self.matters.len() {
            for (number, at) in self.of_arm(arm).into_iter().enumerate() {
                let name = self.name(arm, &at, number + 1, &taken);
                taken.insert(name.to_lowercase());
                names.insert((arm, at), name);
            }
        }
        Named(names)
    }

    /// `gp3-iops-3000`: the arm's own name, and last parts of keys with their values; `gp3-7`, the seventh arm of its kind, if
    /// that is too long or taken. Names are used for files too, so case is ignored.
    fn name(&self, arm: usize, at: &[usize], number: usize, taken: &BTreeSet<String>) -> String {
        let own = &self.specs[0].arms[arm].name;
        let keys = (0..at.len()).filter(|key| self.matters[arm][*key]);
        let part = |key: usize| {
            let value = in_name(self.keys[key].plain(at[key]));
            format!("-{}-{value}", self.short(key))
        };
        let parts: String = keys.map(part).collect();
        if parts.is_empty() {
            return own.clone();
        }
        let is_free = |name: &String| {
            arm_named(&["arm", name], name).is_ok() && !taken.contains(&name.to_lowercase())
        };
        let numbered = (number..).map(|number| {
            let number = format!("-{number}");
            let kept = own.len().min(NAME_MAX - number.len());
            format!("{}{number}", &own[..kept])
        });
        let mut names = std::iter::once(format!("{own}{parts}")).chain(numbered);
        names.find(is_free).expect("there is always another number")
    }

    /// The last part of a key, preceded by the part before it if another key has the same last part.
    fn short(&self, key: usize) -> String {
        let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
        let name = &self.keys[key].key;
        let same = self
            .keys
            .iter()
            .filter(|other| last(&other.key) == last(name));
        match (same.count(), name.rsplit('.').nth(1)) {
            (2.., Some(before)) => format!("{before}-{}", last(name)),
            (_, _) => last(name),
        }
    }
}

/// Names of arms, by position in the file and combination.
struct Named(BTreeMap<(usize, At), String>);

impl Named {
    fn of(&self, arm: usize, at: &[usize]) -> &str {
        &self.0[&(arm, at.to_vec())]
    }
}

/// Every combination, in the order of the values, those of the last key first.
fn combined(keys: &[Key]) -> Vec<At> {
    keys.iter().fold(vec![Vec::new()], |combined, key| {
        let values = 0..key.values.len();
        let with = |at: At| {
            values
                .clone()
                .map(move |value| [&at[..], &[value]].concat())
        };
        combined.into_iter().flat_map(with).collect()
    })
}

/// `value` reduced to valid characters of a name.
fn in_name(value: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let words = value
        .split(|c: char| !allowed(c))
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}
