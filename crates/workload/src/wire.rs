//! The file format of `workload.toml`; [`super::definition`] is its meaning.

use std::collections::BTreeMap;
use std::fmt;

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
    pub(super) name: String,
    #[serde(default)]
    pub(super) about: String,
    pub(super) database: Database,
    pub(super) tables: Tables,
    #[serde(default)]
    pub(super) operation: OperationKind,
    pub(super) claim: Option<Claim>,
    pub(super) sessions: Option<Spanned<i64>>,
    #[serde(default)]
    pub(super) parameters: BTreeMap<Spanned<String>, Parameter>,
    /// Minimum and maximum of an integer parameter.
    #[serde(default)]
    pub(super) range: BTreeMap<Spanned<String>, (i64, i64)>,
    #[serde(default)]
    pub(super) load: LoadFile,
    pub(super) run: Spanned<RunFile>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadFile {
    #[serde(default)]
    pub(super) measured: bool,
    #[serde(default)]
    pub(super) schema: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) scripts: Vec<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunFile {
    pub(super) operations: Option<Spanned<Parameter>>,
    pub(super) duration: Option<Spanned<String>>,
    pub(super) scripts: Spanned<Vec<WeightedFile>>,
    pub(super) log_bytes_per_row: Option<Spanned<i64>>,
    pub(super) server_loop: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WeightedFile {
    pub(super) file: Spanned<String>,
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
