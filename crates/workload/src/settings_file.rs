//! A settings file of SQLQueryStress: which of its keys determine what is run, and which have no effect.
//!
//! Source: ErikEJ/SqlQueryStress, `QueryStressSettings.cs`, `LoadEngine.cs` and `sample.json` (read 2026-11-26).
//! Connections are not read, so passwords are neither read nor stored.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::error::{WorkloadError, line_of};
use super::stress::ParameterQuery;
use super::suggest;

/// The file.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Settings {
    pub(super) main_query: String,
    #[serde(default = "one")]
    pub(super) num_threads: i64,
    /// Per thread.
    #[serde(default = "one")]
    pub(super) num_iterations: i64,
    /// Milliseconds.
    #[serde(default)]
    pub(super) delay_between_queries: i64,
    #[serde(default)]
    param_query: Option<String>,
    #[serde(default)]
    param_mappings: Option<Mappings>,
    #[serde(default)]
    collect_io_stats: bool,
    #[serde(default)]
    collect_time_stats: bool,
    /// Seconds.
    #[serde(default)]
    command_timeout: i64,
    /// Seconds.
    #[serde(default)]
    connection_timeout: i64,
    #[serde(default)]
    enable_connection_pooling: Option<bool>,
    #[serde(default)]
    force_data_retrieval: Option<bool>,
    #[serde(default)]
    kill_queries_on_cancel: Option<bool>,
    #[serde(default)]
    share_db_settings: Option<bool>,
}

fn one() -> i64 {
    1
}

/// .NET's serializer writes a dictionary as a list of pairs; documentation shows an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum Mappings {
    Pairs(Vec<Pair>),
    Object(BTreeMap<String, Option<String>>),
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Pair {
    key: String,
    value: Option<String>,
}

/// Keys with a login in their value.
const CONNECTIONS: [&str; 2] = ["MainDbConnectionInfo", "ParamDbConnectionInfo"];

/// All other keys.
const KEYS: [&str; 14] = [
    "MainQuery",
    "NumThreads",
    "NumIterations",
    "DelayBetweenQueries",
    "ParamQuery",
    "ParamMappings",
    "CollectIoStats",
    "CollectTimeStats",
    "CommandTimeout",
    "ConnectionTimeout",
    "EnableConnectionPooling",
    "ForceDataRetrieval",
    "KillQueriesOnCancel",
    "ShareDbSettings",
];

/// A settings file and the positions of its keys.
pub(super) struct SettingsFile<'a> {
    pub(super) settings: Settings,
    file: &'a str,
    text: &'a str,
    members: Vec<Member>,
}

/// A key of the file and its position.
struct Member {
    key: String,
    start: usize,
    value: Range<usize>,
}

impl<'a> SettingsFile<'a> {
    /// Reads `text`; `file` is its name in messages.
    ///
    /// # Errors
    /// When it is not such a file, or has a key that SQLQueryStress does not write.
    pub(super) fn read(file: &'a str, text: &'a str) -> Result<SettingsFile<'a>, WorkloadError> {
        let text = text.trim_start_matches('\u{feff}');
        let syntax = |line, message| WorkloadError::Syntax {
            file: file.to_owned(),
            line,
            message,
        };
        let settings: Settings = serde_json::from_str(text).map_err(|error| {
            let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
            let key = key_before(text, &error);
            let key = key.map_or(String::new(), |key| format!("{key}: "));
            let error = error.to_string();
            let why = error.split(" at line ").next().unwrap_or_default();
            let why = why.replace("expected i64", "expected a whole number");
            syntax(
                line,
                format!("{key}{why}; save the settings again from SQLQueryStress"),
            )
        })?;
        let members = members(text).ok_or_else(|| {
            let message =
                "it is not an object of keys and values; save the settings again from SQLQueryStress";
            syntax(1, message.to_owned())
        })?;
        let is_known = |key: &str| KEYS.contains(&key) || CONNECTIONS.contains(&key);
        if let Some(member) = members.iter().find(|member| !is_known(&member.key)) {
            let known = KEYS.into_iter().chain(CONNECTIONS);
            let remedy = suggest::remedy(&member.key, known);
            let message = format!(
                "SQLQueryStress has no setting `{}`{remedy}; remove it",
                member.key
            );
            return Err(syntax(line_of(text, member.start), message));
        }
        Ok(SettingsFile {
            settings,
            file,
            text,
            members,
        })
    }

    /// The line of a key; 1 if it is missing.
    pub(super) fn line(&self, key: &str) -> u32 {
        let member = self.members.iter().find(|member| member.key == key);
        member.map_or(1, |member| line_of(self.text, member.start))
    }

    /// Source of the parameters. Without a mapping SQLQueryStress does not run the query.
    ///
    /// # Errors
    /// When columns are mapped without a query, or two columns to one parameter.
    pub(super) fn parameter_query(&self) -> Result<Option<ParameterQuery>, WorkloadError> {
        let mut mappings: BTreeMap<String, String> = BTreeMap::new();
        for (name, column) in self.mapped() {
            let known = mappings
                .keys()
                .find(|known| known.eq_ignore_ascii_case(&name));
            if known.is_some() {
                let wanted =
                    "map one column to each parameter; T-SQL takes large letters for small ones";
                return Err(self.value("ParamMappings", format!("two columns for {name}"), wanted));
            }
            mappings.insert(name, column.to_owned());
        }
        match (mappings.is_empty(), self.asked_for_parameters()) {
            (true, _) => Ok(None),
            (false, Some(text)) => Ok(Some(ParameterQuery {
                text: text.to_owned(),
                mappings,
            })),
            (false, None) => {
                let wanted = "give the query whose columns ParamMappings names, or remove these";
                Err(self.value("ParamQuery", "empty".to_owned(), wanted))
            }
        }
    }

    /// The parameter query, if there is any.
    fn asked_for_parameters(&self) -> Option<&str> {
        let text = self.settings.param_query.as_deref();
        text.filter(|text| !text.trim().is_empty())
    }

    /// Parameters, with their `@`, and columns. Names without a column occur too, and are not parameters.
    fn mapped(&self) -> Vec<(String, &str)> {
        let pairs: Vec<(&str, Option<&str>)> = match &self.settings.param_mappings {
            None => Vec::new(),
            Some(Mappings::Object(object)) => {
                let pairs = object.iter();
                pairs
                    .map(|(name, column)| (name.as_str(), column.as_deref()))
                    .collect()
            }
            Some(Mappings::Pairs(pairs)) => {
                let pairs = pairs.iter();
                pairs
                    .map(|pair| (pair.key.as_str(), pair.value.as_deref()))
                    .collect()
            }
        };
        let mut mapped = Vec::new();
        for (name, column) in pairs {
            if let Some(column) = column.filter(|column| !column.is_empty()) {
                mapped.push((format!("@{}", name.trim_start_matches('@')), column));
            }
        }
        mapped
    }

    fn value(&self, key: &'static str, given: String, wanted: &str) -> WorkloadError {
        WorkloadError::Value {
            file: self.file.to_owned(),
            line: self.line(key),
            key,
            given,
            wanted: wanted.to_owned(),
        }
    }

    /// Keys whose value requests something unsupported, each with what is done instead.
    pub(super) fn without_effect(&self) -> Vec<String> {
        let settings = &self.settings;
        let is_there = |key: &str| self.members.iter().any(|member| member.key == key);
        let statistics = "no SET STATISTICS is sent: dbstow has counters of its own";
        let is_asked_in_vain = self.mapped().is_empty() && self.asked_for_parameters().is_some();
        let all = [
            (
                is_there("MainDbConnectionInfo"),
                "MainDbConnectionInfo",
                "--server says where, and each trial has a database of its own",
            ),
            (
                settings.share_db_settings == Some(false) && is_there("ParamDbConnectionInfo"),
                "ParamDbConnectionInfo",
                "ParamQuery runs in the trial's database",
            ),
            (
                is_asked_in_vain,
                "ParamQuery",
                "ParamMappings names no column of it",
            ),
            (settings.collect_io_stats, "CollectIoStats", statistics),
            (settings.collect_time_stats, "CollectTimeStats", statistics),
            (
                settings.command_timeout != 0,
                "CommandTimeout",
                "a statement runs to its end",
            ),
            (
                settings.connection_timeout != 0,
                "ConnectionTimeout",
                "--timeout says how long a login may take",
            ),
            (
                settings.enable_connection_pooling.is_some(),
                "EnableConnectionPooling",
                "a session keeps its connection, which is not reset between iterations",
            ),
            (
                settings.force_data_retrieval == Some(false),
                "ForceDataRetrieval",
                "all rows are read",
            ),
            (
                settings.kill_queries_on_cancel == Some(false),
                "KillQueriesOnCancel",
                "a run that is cancelled ends its statements",
            ),
        ];
        let without = all.into_iter().filter(|(is_without, _, _)| *is_without);
        without
            .map(|(_, key, instead)| format!("{key} ({instead})"))
            .collect()
    }
}

/// The text of a settings file without its logins; every key stays on its line. Other files are unchanged.
pub(super) fn without_logins(text: &str) -> String {
    let mut text = text.to_owned();
    // From the last one on, so earlier positions stay valid.
    for member in members(text.trim_start_matches('\u{feff}'))
        .into_iter()
        .flatten()
        .rev()
    {
        if CONNECTIONS.contains(&member.key.as_str()) {
            let before = if text.starts_with('\u{feff}') {
                '\u{feff}'.len_utf8()
            } else {
                0
            };
            let value = member.value.start + before..member.value.end + before;
            let lines = text[value.clone()].matches('\n').count();
            text.replace_range(value, &format!("null{}", "\n".repeat(lines)));
        }
    }
    text
}

/// The keys of a JSON object, in order; `None` if it is not an object.
fn members(text: &str) -> Option<Vec<Member>> {
    let mut rest = text.trim_start().strip_prefix('{')?.trim_start();
    let at = |rest: &str| text.len() - rest.len();
    let mut members = Vec::new();
    while !rest.starts_with('}') {
        let start = at(rest);
        let (key, behind) = first::<String>(rest)?;
        let value = behind.trim_start().strip_prefix(':')?.trim_start();
        let (IgnoredAny, behind) = first(value)?;
        members.push(Member {
            key,
            start,
            value: at(value)..at(behind),
        });
        rest = behind.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(members)
}

/// The key whose value `error` is about, where the text is JSON.
fn key_before(text: &str, error: &serde_json::Error) -> Option<String> {
    let lines = text.split_inclusive('\n');
    let before: usize = lines.take(error.line().checked_sub(1)?).map(str::len).sum();
    let at = before + error.column();
    let mut members = members(text)?.into_iter();
    members
        .find(|member| (member.start..=member.value.end).contains(&at))
        .map(|member| member.key)
}

/// The JSON value that `text` begins with, and the rest.
fn first<T: DeserializeOwned>(text: &str) -> Option<(T, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As SQLQueryStress saves it, except for the values.
    const SAVED: &str = r#"{
  "CollectIoStats": true, "CollectTimeStats": false, "CommandTimeout": 30, "ConnectionTimeout": 15,
  "DelayBetweenQueries": 0, "EnableConnectionPooling": true, "ForceDataRetrieval": false, "KillQueriesOnCancel": true,
  "MainDbConnectionInfo": {
    "Database": "Northwind", "Login": "dbUser", "Password": "!Se8ret\"}",
    "Server": ".\\SQLEXPRESS"
  },
  "MainQuery": "SELECT '\"MainDbConnectionInfo\": {', @id",
  "NumIterations": 10, "NumThreads": 1,
  "ParamDbConnectionInfo": { "Password": "hunter2" },
  "ParamMappings": [ { "Key": "@id", "Value": "id" } ],
  "ParamQuery": "SELECT 1 AS id", "ShareDbSettings": false
}"#;

    #[test]
    fn every_key_is_used_or_reported_with_what_is_done_instead() {
        let file = SettingsFile::read("stress.json", SAVED).expect("sound");
        let without = file.without_effect();
        let keys: Vec<&str> = without
            .iter()
            .filter_map(|told| told.split(' ').next())
            .collect();
        assert_eq!(
            keys,
            [
                "MainDbConnectionInfo",
                "ParamDbConnectionInfo",
                "CollectIoStats",
                "CommandTimeout",
                "ConnectionTimeout",
                "EnableConnectionPooling",
                "ForceDataRetrieval",
            ]
        );
        assert_eq!(file.members.len(), KEYS.len() + CONNECTIONS.len());
        assert_eq!((file.line("MainQuery"), file.line("ParamQuery")), (8, 12));
    }

    #[test]
    fn a_key_that_sqlquerystress_does_not_have_is_refused_with_its_line_and_the_near_one() {
        let slip = SAVED.replace("\"NumIterations\"", "\"NumIteration\"");
        let error = SettingsFile::read("stress.json", &slip)
            .err()
            .expect("a slip");
        let told = error.to_string();
        assert!(told.starts_with("stress.json:9: "), "{told}");
        assert!(told.contains("did you mean `NumIterations`?"), "{told}");
        let list = SettingsFile::read("stress.json", "[\"SELECT 1\"]");
        assert!(list.is_err(), "an object has keys");
    }

    #[test]
    fn mappings_that_have_no_query_or_two_columns_are_refused() {
        let refused = |from: &str, to: &str| {
            let text = SAVED.replace(from, to);
            let file = SettingsFile::read("stress.json", &text).expect("sound");
            file.parameter_query().expect_err(to).to_string()
        };
        let none = refused("\"SELECT 1 AS id\"", "\" \"");
        assert!(
            none.starts_with("stress.json:12: ParamQuery is empty; "),
            "{none}"
        );
        let two = refused(
            "\"id\" }",
            "\"id\" }, { \"Key\": \"@ID\", \"Value\": \"b\" }",
        );
        assert!(two.contains("two columns for @ID"), "{two}");
    }

    #[test]
    fn a_query_without_a_mapped_column_does_not_run_and_is_reported() {
        let text = SAVED.replace("\"id\" }", "null }");
        let file = SettingsFile::read("stress.json", &text).expect("sound");
        assert_eq!(file.parameter_query().expect("sound"), None);
        assert!(file.without_effect()[2].starts_with("ParamQuery (ParamMappings names no"));
    }

    #[test]
    fn a_text_without_logins_has_everything_else_on_its_line() {
        for text in [SAVED.to_owned(), format!("\u{feff}{SAVED}")] {
            let without = without_logins(&text);
            for secret in ["Se8ret", "hunter2", "dbUser", "SQLEXPRESS"] {
                assert!(!without.contains(secret), "{without}");
            }
            let file = SettingsFile::read("stress.json", &without).expect("sound");
            assert_eq!((file.line("MainQuery"), file.line("ParamQuery")), (8, 12));
            assert_eq!(file.without_effect().len(), 7);
            assert!(file.settings.main_query.contains("{', @id"));
        }
        assert_eq!(without_logins("no JSON"), "no JSON");
    }
}
