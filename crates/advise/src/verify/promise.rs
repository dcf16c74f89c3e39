//! What an `advice.json` promised.

use std::collections::BTreeMap;

use model::number::Counted;
use reading::Role;
use replay::TimePart;
use serde::Deserialize;
use thiserror::Error;

/// Less than this, of milliseconds or operations a second, is nothing: quotients stay finite.
const LEAST: f64 = 1e-9;

/// The version of the document that is read.
const SCHEMA: &str = analysis::report::advice::document::SCHEMA;

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
    /// The file is another one.
    #[error(
        "{file}: this is not advice from this version of dbstow ({why}); give the folder or the advice.json that `dbstow advise` wrote"
    )]
    NotAdvice {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
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

/// The parts of the document that are needed; the rest is left unread.
#[derive(Deserialize)]
struct Document {
    schema: String,
    server: Option<String>,
    decision: Decision,
    asked: Asked,
    backtest: BackTest,
    today: Option<Layout>,
    cheapest: Option<Layout>,
    runner_up: Option<Layout>,
    best_value: Option<Layout>,
    fastest: Option<Layout>,
    above_budget: Option<Layout>,
}

#[derive(Deserialize)]
struct Decision {
    layout: Option<String>,
    model_error: Counted,
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    quick: bool,
    growth: Counted,
}

#[derive(Deserialize)]
struct BackTest {
    figures: Vec<Figure>,
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Figure {
    role: Option<Role>,
    figure: String,
    recorded: Counted,
}

#[derive(Deserialize)]
struct Part {
    part: TimePart,
    recorded_s: Counted,
}

#[derive(Deserialize)]
struct Layout {
    machine: Option<String>,
    volumes: Vec<Volume>,
    time: Counted,
    time_half: Counted,
    time_range: Option<[Counted; 2]>,
    #[serde(default)]
    parts_ms: BTreeMap<TimePart, Counted>,
}

#[derive(Deserialize)]
struct Volume {
    roles: Vec<Role>,
    disk: String,
    count: u32,
}

impl Promise {
    /// What the advice `text` of `file` promised of its layout `name`; of the one that it decided for, where none is named.
    ///
    /// # Errors
    /// When it is another file, has no such layout, or was made from a profile without the time of an operation.
    pub fn read(file: &str, text: &str, name: Option<&str>) -> Result<Promise, PromiseError> {
        let not_advice = |why: String| PromiseError::NotAdvice {
            file: file.to_owned(),
            why,
        };
        let document: Document =
            serde_json::from_str(text).map_err(|error| not_advice(error.to_string()))?;
        if document.schema != SCHEMA {
            let other: String = document.schema.chars().take(40).collect();
            return Err(not_advice(format!("its schema is `{other}`, not {SCHEMA}")));
        }
        if document.asked.quick {
            return Err(PromiseError::Bound {
                file: file.to_owned(),
            });
        }
        let before = Before::of(&document.backtest);
        if before.operation_ms < LEAST || before.operations_per_s < LEAST {
            return Err(PromiseError::NoTime {
                file: file.to_owned(),
            });
        }
        let layouts = [
            ("today", document.today),
            ("cheapest", document.cheapest),
            ("runner-up", document.runner_up),
            ("best-value", document.best_value),
            ("fastest", document.fastest),
            ("above-budget", document.above_budget),
        ];
        let mut layouts: Vec<(&str, Layout)> = layouts
            .into_iter()
            .filter_map(|(name, layout)| Some((name, layout?)))
            .collect();
        let known: Vec<&str> = layouts.iter().map(|(name, _)| *name).collect();
        let known = known.join(", ");
        let decided = document.decision.layout.as_deref();
        let Some(wanted) = name.or(decided) else {
            return Err(PromiseError::NoLayout {
                file: file.to_owned(),
                known: known.replace(", ", "|"),
            });
        };
        let Some(at) = layouts.iter().position(|(name, _)| *name == wanted) else {
            return Err(PromiseError::Layout {
                file: file.to_owned(),
                name: wanted.chars().take(40).collect(),
                known,
            });
        };
        let (name, layout) = layouts.swap_remove(at);
        Ok(Promise {
            server: document.server,
            layout: name.to_owned(),
            time: layout.time(),
            machine: layout.machine,
            volumes: layout.volumes.iter().map(Volume::shown).collect(),
            model_error: document.decision.model_error.get(),
            growth: document.asked.growth.get(),
            parts_ms: values(layout.parts_ms),
            before,
        })
    }
}

fn values(parts: BTreeMap<TimePart, Counted>) -> BTreeMap<TimePart, f64> {
    let values = parts.into_iter();
    values.map(|(part, value)| (part, value.get())).collect()
}

impl Before {
    fn of(backtest: &BackTest) -> Before {
        let of_all = |name: &str| {
            let mut figures = backtest.figures.iter();
            let figure = figures.find(|figure| figure.role.is_none() && figure.figure == name);
            figure.map_or(0.0, |figure| figure.recorded.get())
        };
        let parts = backtest.parts.iter();
        let of_role = backtest.figures.iter().filter_map(|figure| {
            Some(((figure.role?, figure.figure.clone()), figure.recorded.get()))
        });
        Before {
            operation_ms: of_all("operation ms"),
            operations_per_s: of_all("operations/s"),
            parts_ms: parts
                .map(|part| (part.part, part.recorded_s.get() * 1e3))
                .collect(),
            figures: of_role.collect(),
        }
    }
}

impl Layout {
    fn time(&self) -> [f64; 2] {
        match self.time_range {
            Some(range) => range.map(Counted::get),
            None => {
                let (time, half) = (self.time.get(), self.time_half.get());
                [(time - half).max(0.0), time + half]
            }
        }
    }
}

impl Volume {
    fn shown(&self) -> String {
        let roles: Vec<&str> = self.roles.iter().map(|role| role.name()).collect();
        let count = match self.count {
            1 => String::new(),
            count => format!("{count} x "),
        };
        format!("{}: {count}{}", roles.join(", "), self.disk)
    }
}
