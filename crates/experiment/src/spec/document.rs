//! The text of an experiment: the line of a key, and edits that set a key.

use products::Own;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, ValueDeserializer};
use toml_edit::{Document, Item, Table, TableLike, Value};

use super::error::{listed, plain_words, remedy};
use super::keys;
use super::wire::Experiment;

/// Sections whose entries have names chosen by the author: an unknown name in an override is a typo.
const NAMED: [&str; 4] = ["volume", "placement", "arm", "published"];

/// Sections that set keys of others: they are applied to the file before arms and overrides set theirs.
const APPLIED_FIRST: [&str; 3] = ["quick", "real-time", "real-time-sqlserver"];

/// An experiment's text that is valid TOML and has the shape of an experiment.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    source: String,
    document: Document<String>,
}

/// A line, from 1, and what is wrong there.
type LineError = (usize, String);

impl Text {
    /// Reads `source`.
    ///
    /// # Errors
    /// The line, and what is not TOML or not an experiment.
    pub(crate) fn read(source: &str) -> Result<(Text, Experiment), LineError> {
        let wire = wire(source)?;
        let document = Document::parse(source.to_owned())
            .map_err(|error| (1, error.message().trim().to_owned()))?;
        let text = Text {
            source: source.to_owned(),
            document,
        };
        Ok((text, wire))
    }

    /// The text as read.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The line of the key at `path`, or of the nearest table that contains it.
    pub(crate) fn line(&self, path: &[String]) -> usize {
        line_at(&self.source, self.offset(path))
    }

    /// The value at `key`, a dotted path, as written; `None` if missing.
    pub(crate) fn value(&self, key: &str) -> Option<String> {
        let mut item = self.document.as_item();
        for part in key.split('.') {
            item = item.as_table_like()?.get(part)?;
        }
        let value = item.as_value()?;
        let text = value.as_str().map(str::to_owned);
        Some(text.unwrap_or_else(|| value.to_string().trim().to_owned()))
    }

    /// `names` in the order of `section`.
    pub(crate) fn in_order<'a>(
        &self,
        section: &str,
        names: impl Iterator<Item = &'a String>,
    ) -> Vec<&'a String> {
        let mut sorted: Vec<&String> = names.collect();
        sorted.sort_by_key(|name| self.offset(&[section.to_owned(), (*name).clone()]));
        sorted
    }

    /// The text with `key`, a dotted path, set to `value`.
    ///
    /// # Errors
    /// What is wrong with the key, or with the value at this key.
    pub(crate) fn with(&self, key: &str, value: Value) -> Result<Text, String> {
        if key == "engine.name" {
            // It is read before any override is applied.
            return Err("use --engine, or change [engine] name in a file of your own".to_owned());
        }
        let path: Vec<&str> = key.split('.').collect();
        if let Some((section, rest)) = path.split_first()
            && APPLIED_FIRST.contains(section)
        {
            let inner = rest.join(".").replace('"', "");
            let inner = if inner.is_empty() { "its keys" } else { &inner };
            return Err(format!(
                "[{section}] is applied before this, which would change nothing; set {inner} without it"
            ));
        }
        if let Some(message) = keys::unknown(&path, |section| self.names_in(section))
            && !path.contains(&"")
        {
            return Err(message);
        }
        let mut document = self.document.clone().into_mut();
        set(document.as_table_mut(), &path, value)?;
        Text::read(&document.to_string())
            .map(|(text, _)| text)
            .map_err(|(_, message)| message)
    }

    /// Names in the table at `key`, a dotted path; empty if the table does not exist.
    fn names_in(&self, key: &str) -> Vec<String> {
        let mut parts = key.split('.');
        let table = parts.try_fold(self.document.as_item(), |item, part| {
            item.as_table_like()?.get(part)
        });
        let table = table.and_then(Item::as_table_like);
        table.map_or_else(Vec::new, |table| {
            table.iter().map(|(name, _)| name.to_owned()).collect()
        })
    }

    /// Its deserialized content.
    pub(crate) fn wire(&self) -> Experiment {
        wire(&self.source).expect("a text is only made after it was read once")
    }

    fn offset(&self, path: &[String]) -> usize {
        offset(self.document.as_item(), path)
    }
}

/// The content of `source`.
fn wire(source: &str) -> Result<Experiment, LineError> {
    let located = |error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start);
        (line_at(source, start), plain_words(error.message()))
    };
    let mut table = DeTable::parse(source).map_err(located)?;
    let engine = table.get_mut().get_mut("engine").map(Spanned::get_mut);
    let own = match engine {
        Some(DeValue::Table(engine)) => {
            check_keys(source, engine)?;
            let section = |name| engine.remove(name).map(ValueDeserializer::from);
            Own::read(section).map_err(located)?
        }
        _ => Own::default(),
    };
    let mut wire = Experiment::deserialize(Deserializer::from(table)).map_err(located)?;
    wire.engine.own = own;
    Ok(wire)
}

/// Rejects a key that is neither of `[engine]` nor a product's section there.
fn check_keys(source: &str, engine: &DeTable<'_>) -> Result<(), LineError> {
    let known = keys::of_engine();
    let is_unknown = |key: &&Spanned<_>| known.iter().all(|known| known != key.get_ref());
    engine.keys().find(is_unknown).map_or(Ok(()), |key| {
        let given = key.get_ref();
        let hint = remedy(given, "known here", known.iter().map(String::as_str));
        let message = format!("there is no key \"{given}\"{hint}");
        Err((line_at(source, key.span().start), message))
    })
}

/// The line in `source`, which is TOML of any shape, of the key at `path`, or of the nearest table that contains it.
pub(crate) fn line_of(source: &str, path: &[String]) -> usize {
    match Document::parse(source) {
        Ok(document) => line_at(source, offset(document.as_item(), path)),
        Err(_) => 1,
    }
}

fn offset(root: &Item, path: &[String]) -> usize {
    let mut item = root;
    let mut offset = 0;
    for part in path {
        let Some((start, inner)) = entry(item, part) else {
            return offset;
        };
        offset = start.unwrap_or(offset);
        item = inner;
    }
    offset
}

/// The entry `part` of `item`, and where it starts: the value of a key, or, by its number, a table of a list of tables.
fn entry<'a>(item: &'a Item, part: &str) -> Option<(Option<usize>, &'a Item)> {
    if item.is_array_of_tables() {
        let table = item.get(part.parse::<usize>().ok()?)?;
        return Some((table.span().map(|span| span.start), table));
    }
    let (key, inner) = item.as_table_like()?.get_key_value(part)?;
    let span = key.span().or_else(|| inner.span());
    Some((span.map(|span| span.start), inner))
}

/// A value as typed by a user: TOML, or else unquoted text.
pub(crate) fn typed(value: &str) -> Value {
    value
        .parse()
        .unwrap_or_else(|_| Value::from(value.to_owned()))
}

fn set(root: &mut dyn TableLike, path: &[&str], value: Value) -> Result<(), String> {
    let Some((last, tables)) = path.split_last().filter(|_| !path.contains(&"")) else {
        return Err("a key is a dotted path such as \"workload.sessions\"".to_owned());
    };
    let mut table: &mut dyn TableLike = &mut *root;
    for (depth, part) in tables.iter().enumerate() {
        if depth == 1 && NAMED.contains(&tables[0]) && !table.contains_key(part) {
            let defined: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
            let hint = remedy(part, "defined", defined.iter().map(String::as_str));
            return Err(format!("there is no {} \"{part}\"{hint}", tables[0]));
        }
        let item = table
            .entry(part)
            .or_insert_with(|| Item::Table(Table::new()));
        table = item
            .as_table_like_mut()
            .ok_or_else(|| format!("\"{part}\" holds a value, so it has no key inside it"))?;
    }
    if *tables == ["volume"] && !table.contains_key(last) {
        let defined: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
        let hint = remedy(last, "defined", defined.iter().map(String::as_str));
        return Err(format!("there is no volume \"{last}\"{hint}"));
    }
    if tables.is_empty() && table.get(last).is_some_and(Item::is_table_like) {
        let keys: Vec<String> = table
            .get(last)
            .and_then(Item::as_table_like)
            .map_or_else(Vec::new, |inner| {
                inner.iter().map(|(key, _)| key.to_owned()).collect()
            });
        return Err(format!(
            "\"{last}\" is a section; set one of its keys ({})",
            listed(keys)
        ));
    }
    table.insert(last, Item::Value(value));
    // Another workload: the old one's name and parameters do not apply to it.
    let of_old: &[&str] = match path {
        ["workload", "folder"] => &["name", "parameters", "profile", "window", "demand"],
        ["workload", "profile"] => &[
            "name",
            "folder",
            "parameters",
            "sessions",
            "operations",
            "duration",
            "warm_up",
            "think",
            "rate",
            "log_bytes_per_row",
        ],
        _ => &[],
    };
    for key in of_old {
        table.remove(key);
    }
    if path == ["workload", "profile"]
        && let Some(protocol) = root.get_mut("protocol").and_then(Item::as_table_like_mut)
    {
        // Nor does its metric.
        protocol.remove("metric");
    }
    // Fitted parameters of the old one no longer exist.
    match path {
        ["volume", name] => forget_fitted(root, &format!("volume.{name}.")),
        ["workload", "folder"] => forget_fitted(root, "workload.parameters."),
        ["workload", "profile"] => {
            forget_fitted(root, "workload.");
            forget_fitted(root, "engine.");
        }
        _ => {}
    }
    Ok(())
}

/// Removes fitted parameters whose key has this prefix.
fn forget_fitted(root: &mut dyn TableLike, begins: &str) {
    let fitted = root.get_mut("fitted");
    if let Some(fitted) = fitted.and_then(Item::as_array_of_tables_mut) {
        let is_of_it = |entry: &Table| {
            let parameter = entry.get("parameter").and_then(Item::as_str);
            parameter.is_some_and(|parameter| parameter.starts_with(begins))
        };
        fitted.retain(|entry| !is_of_it(entry));
    }
}

/// The line, from 1, of the byte at `offset`.
pub fn line_at(source: &str, offset: usize) -> usize {
    let before = &source.as_bytes()[..offset.min(source.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Text {
        let whole = format!("name = \"x\"\nquestion = \"?\"\n{source}[workload]\nname = \"w\"\n");
        Text::read(&whole).expect("an experiment").0
    }

    fn path(key: &str) -> Vec<String> {
        key.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn a_key_is_found_on_its_line_and_a_missing_one_at_its_table() {
        let text = text("[volume.d]\ndisk = \"local\"\n");
        assert_eq!(text.line(&path("volume.d.disk")), 4);
        assert_eq!(text.line(&path("volume.d.count")), 3);
        assert_eq!(text.line(&path("protocol.seed")), 1);
    }

    #[test]
    fn a_set_key_replaces_or_adds() {
        let text = text("[volume.d]\ndisk = \"local\"\n");
        let text = text.with("volume.d.count", typed("2")).expect("known key");
        let text = text.with("volume.d.disk", typed("a.b")).expect("bare text");
        let wire = text.wire();
        assert_eq!(wire.volume["d"].count, Some(2));
        assert_eq!(wire.volume["d"].disk, "a.b");
    }

    #[test]
    fn a_set_folder_takes_the_place_of_the_workload_and_its_parameters() {
        let text = text("").with("workload.parameters.rows", typed("3"));
        let text = text.expect("known key");
        let text = text.with("workload.folder", typed("mine"));
        let workload = text.expect("known key").wire().workload;
        assert_eq!(workload.name, None);
        assert_eq!(workload.folder.as_deref(), Some("mine"));
        assert!(workload.parameters.is_empty());
    }

    #[test]
    fn a_set_profile_takes_the_place_of_the_workload_and_of_what_it_was_compared_by() {
        let before = text("").with("protocol.metric", typed("elapsed_s"));
        let before = before
            .expect("known key")
            .with("workload.sessions", typed("3"));
        let after = before
            .expect("known key")
            .with("workload.profile", typed("a.toml"));
        let wire = after.expect("known key").wire();
        assert_eq!(wire.workload.name, None);
        assert_eq!(wire.workload.sessions, None);
        assert_eq!(wire.workload.profile.as_deref(), Some("a.toml"));
        assert_eq!(wire.protocol.metric, None);
    }

    #[test]
    fn a_set_volume_takes_the_place_of_the_old_one_and_what_was_fitted_of_it() {
        let fitted = |parameter: &str| {
            format!("[[fitted]]\nparameter = \"{parameter}\"\nto = \"a\"\nwhy = \"w\"\n")
        };
        let both = fitted("volume.d.override.iops_limit") + &fitted("engine.memory");
        let text = text(&format!("{both}[volume.d]\ndisk = \"a.b\"\ncount = 2\n"));
        let text = text.with("volume.d", typed("{ disk = \"mine\" }"));
        let wire = text.expect("known volume").wire();
        assert_eq!(wire.volume["d"].disk, "mine");
        assert_eq!(wire.volume["d"].count, None);
        let left: Vec<_> = wire.fitted.iter().map(|entry| &entry.parameter).collect();
        assert_eq!(left, ["engine.memory"]);
    }

    #[test]
    fn a_mistyped_key_is_refused_with_the_near_one() {
        let text = text("[volume.d]\ndisk = \"local\"\n");
        let refuse = |key: &str| text.with(key, typed("2")).expect_err("unknown");
        assert_eq!(
            refuse("workload.sesions"),
            "there is no key \"sesions\"; did you mean \"sessions\"?"
        );
        assert_eq!(
            refuse("volume.e.count"),
            "there is no volume \"e\"; did you mean \"d\"?"
        );
        assert!(refuse("volume.e").contains("did you mean \"d\"?"));
        assert!(refuse("volume").contains("is a section"));
        assert!(refuse("volume..count").contains("dotted path"));
    }

    #[test]
    fn a_section_that_was_applied_before_is_not_set() {
        let text = text("[volume.d]\ndisk = \"local\"\n");
        for (key, remedy) in [
            (
                "quick.x",
                "[quick] is applied before this, which would change nothing; set x without it",
            ),
            (
                "quick.\"workload.sessions\"",
                "set workload.sessions without it",
            ),
            ("real-time.engine.memory", "set engine.memory without it"),
            ("real-time-sqlserver", "set its keys without it"),
        ] {
            let error = text.with(key, typed("3")).expect_err("no effect");
            assert!(error.ends_with(remedy), "{key}: {error}");
        }
    }
}
