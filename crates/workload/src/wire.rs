//! The file format of `workload.toml`; [`super::definition`] is its meaning.

use std::collections::BTreeMap;
use std::fmt;

use model::Spread;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use toml::Spanned;

use super::definition::{Claim, Database, OperationKind, Tables};
use super::error::{WorkloadError, line_of};
use super::suggest;
use super::value::Value;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadFile {
    /// Its name.
    ///
    /// Required.
    pub(super) name: String,
    /// What it does, and where it comes from, in a sentence or more.
    ///
    /// Absent: empty.
    #[serde(default)]
    pub(super) about: String,
    /// `shared`: one for all sessions; `per-session`: each has its own.
    ///
    /// Required.
    pub(super) database: Database,
    /// Role of the files its tables live in: `data` or `temp`.
    ///
    /// Required.
    pub(super) tables: Tables,
    /// What one script is called in metrics: `operation`, `application_request`, `business_transaction`.
    ///
    /// Absent: `operation`.
    #[serde(default)]
    pub(super) operation: OperationKind,
    /// What every statement of the run has to do, or there is no verdict: `spill` (write to temporary files) or `parallel` (run
    /// on several threads, where its hint `MAXDOP` is above 1). Checked where the engine reports it.
    ///
    /// Absent: none.
    pub(super) claim: Option<Claim>,
    /// Where it stands for a load of others: by how much what an operation of theirs reads and writes differs, as one standard
    /// deviation; each block of a simulated run draws a factor from it.
    ///
    /// Absent: 1, its statements are the load itself.
    #[serde(default = "exact")]
    pub(super) io_between: Spread,
    /// How many it was written for.
    ///
    /// Absent: not stated.
    pub(super) sessions: Option<Spanned<i64>>,
    /// Numbers, texts, `true` or `false` (1 or 0); each is a variable of the scripts.
    ///
    /// Absent: none.
    #[serde(default)]
    pub(super) parameters: BTreeMap<Spanned<String>, Parameter>,
    /// By the name of a parameter that is a number: the least and the most that it may be, such as `rows = [1, 1_000_000_000]`;
    /// what is outside is refused before anything is loaded.
    ///
    /// Absent: any finite number.
    #[serde(default)]
    pub(super) range: BTreeMap<Spanned<String>, (i64, i64)>,
    #[serde(default)]
    pub(super) load: LoadFile,
    pub(super) run: Spanned<RunFile>,
}

fn exact() -> Spread {
    Spread::NONE
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadFile {
    /// Whether loading counts in the result.
    ///
    /// Absent: false: it takes no virtual time, and in real time is over before the sessions begin.
    #[serde(default)]
    pub(super) measured: bool,
    /// Scripts run first, once for each database, in order: tables.
    ///
    /// Absent: none.
    #[serde(default)]
    pub(super) schema: Vec<Spanned<String>>,
    /// Scripts run next, once for each database, in order: rows.
    ///
    /// Absent: none.
    #[serde(default)]
    pub(super) scripts: Vec<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunFile {
    /// How many, or the name of a parameter, or `"sessions"` for one each: the end of a run whose experiment says none.
    ///
    /// Absent: one of the two is required; the experiment's own setting wins.
    pub(super) operations: Option<Spanned<Parameter>>,
    /// A span, or the name of a parameter that holds one.
    pub(super) duration: Option<Spanned<String>>,
    /// The mix: `file`, and `weight` (1 when absent); an operation is one script, drawn by weight.
    ///
    /// Required.
    pub(super) scripts: Spanned<Vec<WeightedFile>>,
    /// Bytes of log for each row changed.
    ///
    /// Absent: 300.
    pub(super) log_bytes_per_row: Option<Spanned<i64>>,
    /// The mix as one statement that runs operations `:first` to `:first + :count - 1` of a session on the server, in a file of
    /// one dialect such as `mixed.loop.ENGINE.sql`.
    ///
    /// Absent: none.
    pub(super) server_loop: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WeightedFile {
    /// Name of the script.
    ///
    /// Required.
    pub(super) file: Spanned<String>,
    /// Its share of the mix: an operation is one script, drawn by weight.
    ///
    /// Absent: 1.
    pub(super) weight: Option<Spanned<i64>>,
}

/// A number or a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameter(pub(super) Value);

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Parameter, D::Error> {
        struct ParameterVisitor;
        impl Visitor<'_> for ParameterVisitor {
            type Value = Parameter;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text, true or false")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Parameter, E> {
                Ok(Parameter(Value::Int(value)))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Parameter, E> {
                Ok(Parameter(Value::Double(value)))
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Parameter, E> {
                Ok(Parameter(Value::from(value)))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Parameter, E> {
                Ok(Parameter(Value::Text(value.to_owned())))
            }
        }
        deserializer.deserialize_any(ParameterVisitor)
    }
}

/// Reads the file; `file` is its name in messages.
pub(super) fn read(file: &str, text: &str) -> Result<WorkloadFile, WorkloadError> {
    toml::from_str(text).map_err(|error| WorkloadError::Syntax {
        file: file.to_owned(),
        line: error.span().map_or(1, |span| line_of(text, span.start)),
        message: with_remedy(error.message()),
    })
}

/// Adds the nearest word to serde's "unknown field `x`, expected one of `a`, `b`".
///
/// The message is the only place where serde lists the known words.
fn with_remedy(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = ["unknown field", "unknown variant"]
        .iter()
        .find(|start| message.starts_with(**start));
    match (unknown, quoted.next()) {
        (Some(what), Some(given)) => {
            let what = what.replace("field", "key").replace("variant", "value");
            format!("{what} `{given}`{}", suggest::remedy(given, quoted))
        }
        (Some(_) | None, _) => message.lines().collect::<Vec<_>>().join("; "),
    }
}
