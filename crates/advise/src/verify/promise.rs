//! What an `advice.json` promised.

use std::collections::BTreeMap;

use analysis::report::advice::Level;
use analysis::report::advice::document::{Advice, BackTest, Layout, NotAdvice, Volume};
use model::number::Counted;
use reading::Role;
use replay::TimePart;
use thiserror::Error;

/// Less than this, of milliseconds or operations a second, is nothing: quotients stay finite.
const LEAST: f64 = 1e-9;

/// An advised layout: what was predicted for it, and what was recorded before.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// The server, with its version, where the profile had it.
    pub server: Option<String>,
    /// The layout's name in the advice: `cheapest`.
    pub layout: String,
    /// Its machine in the catalogue, where it is known.
    pub machine: Option<String>,
    /// Its disks, by the files on them: `data, temp: 2 x aws.gp3`.
    pub volumes: Vec<String>,
    /// From and to how much of the time before an operation takes, without the model's error.
    pub time: [f64; 2],
    /// By what share times may differ from it all the same.
    pub model_error: f64,
    /// The multiple of the load that it was promised for.
    pub growth: f64,
    /// Milliseconds of an operation by what its session waits for, where the advice has them.
    pub parts_ms: BTreeMap<TimePart, f64>,
    /// Why the advice said that it was hardly to be trusted; empty where it was.
    pub doubts: Vec<String>,
    /// What was recorded before.
    pub before: Before,
}

/// What was recorded before the layout was changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Before {
    /// Mean time of an operation, in milliseconds.
    pub operation_ms: f64,
    /// Operations per second; above 0.
    pub operations_per_s: f64,
    /// Milliseconds of an operation by what its session waits for.
    pub parts_ms: BTreeMap<TimePart, f64>,
    /// Figures of a role by their names in the advice: `reads/s`, `read ms`.
    pub figures: BTreeMap<(Role, String), f64>,
}

/// Why advice cannot be compared with what was recorded after it.
#[derive(Debug, Error)]
pub enum PromiseError {
    /// The file is another one, or damaged.
    #[error(transparent)]
    NotAdvice(#[from] NotAdvice),
    /// It has no such layout.
    #[error("{file}: the advice has no layout `{name}`; it has {known}")]
    Layout {
        /// The file.
        file: String,
        /// What was asked for.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The advice says to keep what there is, or found nothing.
    #[error(
        "{file}: the advice names no layout to move to; say which one there is now: --layout {known}"
    )]
    NoLayout {
        /// The file.
        file: String,
        /// The names that there are.
        known: String,
    },
    /// Its times are bounds.
    #[error(
        "{file}: the advice was made with --quick, and promised no time; ask for it again without"
    )]
    Bound {
        /// The file.
        file: String,
    },
    /// The profile before had no operations.
    #[error(
        "{file}: the advice was made from a profile without the time of an operation, so it promised none that can be recorded; \
         record the server with `dbstow record`, and ask for advice on that"
    )]
    NoTime {
        /// The file.
        file: String,
    },
}

impl Promise {
    /// What the advice `text` of `file` promised of its layout `name`; of the one that it decided for, where none is named.
    ///
    /// # Errors
    /// When it is another file, has no such layout, or was made from a profile without the time of an operation.
    pub fn read(file: &str, text: &str, name: Option<&str>) -> Result<Promise, PromiseError> {
        let advice = Advice::read(file, text)?;
        if advice.asked.quick {
            return Err(PromiseError::Bound {
                file: file.to_owned(),
            });
        }
        let damaged = |why: String| NotAdvice {
            file: file.to_owned(),
            why,
        };
        let before = Before::of(&advice.backtest).map_err(damaged)?;
        if before.operation_ms < LEAST || before.operations_per_s < LEAST {
            return Err(PromiseError::NoTime {
                file: file.to_owned(),
            });
        }
        let answers = advice.answers().into_iter();
        let layouts = answers.map(|(name, layout)| (name.replace(' ', "-"), layout));
        let (names, layouts): (Vec<String>, Vec<&Layout>) = layouts.unzip();
        let Some(wanted) = name.or(advice.decision.layout.as_deref()) else {
            return Err(PromiseError::NoLayout {
                file: file.to_owned(),
                known: names.join("|"),
            });
        };
        let Some(at) = names.iter().position(|name| name == wanted) else {
            return Err(PromiseError::Layout {
                file: file.to_owned(),
                name: wanted.chars().take(40).collect(),
                known: names.join(", "),
            });
        };
        let layout = layouts[at];
        let read = || -> Result<Promise, String> {
            let parts = layout.parts_ms.iter();
            Ok(Promise {
                server: advice.server.clone(),
                layout: wanted.to_owned(),
                machine: layout.machine.clone(),
                volumes: layout.volumes.iter().map(shown).collect(),
                time: time(layout)?,
                model_error: counted(advice.decision.model_error)?,
                growth: counted(advice.asked.growth)?,
                parts_ms: parts
                    .map(|(name, ms)| part(name, *ms))
                    .collect::<Result<_, _>>()?,
                doubts: match advice.trust.level {
                    Level::High => Vec::new(),
                    Level::Low => advice.trust.because.clone(),
                },
                before,
            })
        };
        Ok(read().map_err(damaged)?)
    }
}

impl Before {
    fn of(backtest: &BackTest) -> Result<Before, String> {
        let of_all = |name: &str| {
            let mut figures = backtest.figures.iter();
            let figure = figures.find(|figure| figure.role.is_none() && figure.figure == name);
            figure.map_or(Ok(0.0), |figure| counted(figure.recorded))
        };
        let of_role = backtest.figures.iter().filter_map(|figure| {
            let name = (figure.role?, figure.figure.clone());
            Some(counted(figure.recorded).map(|recorded| (name, recorded)))
        });
        let parts = backtest.parts.iter();
        let parts = parts.map(|of| part(&of.part, of.recorded_s * 1e3));
        Ok(Before {
            operation_ms: of_all("operation ms")?,
            operations_per_s: of_all("operations/s")?,
            parts_ms: parts.collect::<Result<_, _>>()?,
            figures: of_role.collect::<Result<_, _>>()?,
        })
    }
}

/// From and to how much of the time before an operation takes.
fn time(layout: &Layout) -> Result<[f64; 2], String> {
    let (time, half) = (counted(layout.time)?, counted(layout.time_half)?);
    let [from, to] = layout
        .time_range
        .unwrap_or([(time - half).max(0.0), time + half]);
    Ok([counted(from)?, counted(to)?])
}

/// A part of an operation by its name, with its milliseconds.
fn part(name: &str, ms: f64) -> Result<(TimePart, f64), String> {
    let mut parts = TimePart::ALL.into_iter();
    let part = parts.find(|part| part.name() == name);
    let part = part.ok_or_else(|| format!("there is no part `{name}` of an operation"))?;
    Ok((part, counted(ms)?))
}

fn counted(value: f64) -> Result<f64, String> {
    let counted = Counted::try_from(value).map_err(|error| error.to_string())?;
    Ok(counted.get())
}

/// A volume, by the files on it: `data, temp: 2 x aws.gp3`.
fn shown(volume: &Volume) -> String {
    let count = match volume.count {
        1 => String::new(),
        count => format!("{count} x "),
    };
    format!(
        "{}: {count}{}",
        Role::joined(&volume.roles, ", "),
        volume.disk
    )
}
