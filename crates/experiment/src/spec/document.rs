//! The text of an experiment: the line of a key, and edits that set a key.

use products::Own;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, ValueDeserializer};
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, Value};

use super::error::{listed, plain_words, remedy};
use super::keys;
use super::wire::{Experiment, QUICK, REAL_TIME, REAL_TIME_OF_ENGINE};

/// Sections whose entries have names chosen by the author: an unknown name in an override is a typo.
const NAMED: [&str; 4] = ["volume", "placement", "arm", "published"];

/// Sections that set keys of others: they are applied to the file before arms and overrides set theirs.
const APPLIED_FIRST: [&str; 3] = [QUICK, REAL_TIME, REAL_TIME_OF_ENGINE];

/// Keys whose edit removes others, since the old workload's do not apply to the new one.
const OF_ANOTHER_WORKLOAD: [&str; 2] = ["workload.folder", "workload.profile"];

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
        let value = item(self.document.as_item(), key)?.as_value()?;
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

    /// The text with `edits`, dotted keys and their values, made in order.
    ///
    /// It is read once, after all of them. If that fails, or if an edit may hide an error in an earlier one, it is read after
    /// each, so that the first edit at fault is reported.
    ///
    /// # Errors
    /// The position of that edit, and what is wrong with its key, or with the value at this key.
    pub(crate) fn edited(&self, edits: &[(&str, Value)]) -> Result<Text, (usize, String)> {
        if edits.is_empty() {
            return Ok(self.clone());
        }
        if let Some(text) = self.edited_at_once(edits) {
            return Ok(text);
        }
        let mut numbered = edits.iter().enumerate();
        numbered.try_fold(self.clone(), |text, (at, (key, value))| {
            let text = text.with(key, value.clone());
            text.map_err(|message| (at, message))
        })
    }

    fn edited_at_once(&self, edits: &[(&str, Value)]) -> Option<Text> {
        let may_hide = |(at, (later, _)): (usize, &(&str, Value))| {
            let mut earlier = edits[..at].iter();
            earlier.any(|(earlier, _)| self.may_hide(later, earlier))
        };
        if edits.iter().enumerate().any(may_hide) {
            return None;
        }
        let mut document = self.document.clone().into_mut();
        for (key, value) in edits {
            edit(&mut document, key, value.clone()).ok()?;
        }
        let (text, _) = Text::read(&document.to_string()).ok()?;
        Some(text)
    }

    /// Whether the text may be valid after the edits of two keys although it is not after the `earlier` one alone: the `later`
    /// one replaces its value, or completes its table. A section that exists is complete.
    fn may_hide(&self, later: &str, earlier: &str) -> bool {
        let (one, other) = (table_of(earlier), table_of(later));
        let (outer, inner) = match one.len() <= other.len() {
            true => (one, other),
            false => (other, one),
        };
        let is_section = outer.split('.').count() <= 2;
        let exists = outer.is_empty() || item(self.document.as_item(), outer).is_some();
        OF_ANOTHER_WORKLOAD.contains(&later)
            || is_within(later, earlier)
            || is_within(earlier, later)
            || is_within(inner, outer) && !(is_section && exists)
    }

    /// The text with `key`, a dotted path, set to `value`.
    fn with(&self, key: &str, value: Value) -> Result<Text, String> {
        let mut document = self.document.clone().into_mut();
        edit(&mut document, key, value)?;
        Text::read(&document.to_string())
            .map(|(text, _)| text)
            .map_err(|(_, message)| message)
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

/// The table that contains `key`, a dotted path; empty for the whole document.
fn table_of(key: &str) -> &str {
    key.rsplit_once('.').map_or("", |(table, _)| table)
}

/// Whether `key` is `table`, or in it.
fn is_within(key: &str, table: &str) -> bool {
    let rest = key.strip_prefix(table);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The item at `key`, a dotted path.
fn item<'a>(root: &'a Item, key: &str) -> Option<&'a Item> {
    let mut parts = key.split('.');
    parts.try_fold(root, |item, part| item.as_table_like()?.get(part))
}

/// Names in the table at `key`, a dotted path; empty if the table does not exist.
fn names_in(root: &Item, key: &str) -> Vec<String> {
    let table = item(root, key).and_then(Item::as_table_like);
    table.map_or_else(Vec::new, |table| {
        table.iter().map(|(name, _)| name.to_owned()).collect()
    })
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

/// Sets `key`, a dotted path.
///
/// # Errors
/// What is wrong with the key.
fn edit(document: &mut DocumentMut, key: &str, value: Value) -> Result<(), String> {
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
    if let Some(message) = keys::unknown(&path, |section| names_in(document.as_item(), section))
        && !path.contains(&"")
    {
        return Err(message);
    }
    set(document.as_table_mut(), &path, value)
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
mod tests;
