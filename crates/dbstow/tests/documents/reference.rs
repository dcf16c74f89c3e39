//! The tables of keys in FORMAT.md are made of the comments on the types that read the files, and of the descriptions in JSON schemas.
//!
//! A line `<!-- keys: FILE TYPE, PREFIX. TYPE: FIELD FIELD -->` stands before each such table: the types in `FILE`, the second with
//! a prefix before its keys, and of the last these fields alone. The first paragraphs of a field's comment are the cell `value`, its
//! last one, `Absent: ..` or `Required.`, the cell `when absent`. A field whose type has a table of its own has no row.
//! `settings` are those of the product that the file is of, `defaults` those of engines, both from `products`.
//! In a schema, `TYPE` is where the object is (`/`, `/$defs/arm`), and required properties come first. `make reference` writes the
//! tables.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use products::{LIKES, PRODUCTS, Setting};
use serde_json::Value as Json;
use syn::{Attribute, Expr, ExprLit, Field, Item, Lit, Meta, Type};

const START: &str = "<!-- keys: ";
const END: &str = " -->";

/// One type of a table.
struct Part<'a> {
    prefix: &'a str,
    of: &'a str,
    /// Its only fields; empty: all.
    fields: Vec<&'a str>,
}

/// A row, before it is written.
struct Row {
    key: String,
    value: String,
    absent: Option<String>,
}

#[test]
fn tables_of_keys_are_made_of_the_types() {
    let file = root().join("FORMAT.md");
    let text = fs::read_to_string(&file).expect("it is in the repository");
    let made = with_tables(&text);
    if std::env::var_os("DBSTOW_WRITE_DOCUMENTS").is_some() {
        fs::write(&file, made).expect("a document of ours");
        return;
    }
    let differs = (text.lines().zip(made.lines())).find(|(is, should)| is != should);
    assert!(
        text == made,
        "`make reference` changes FORMAT.md, at {differs:?}"
    );
}

#[test]
fn a_row_has_the_key_of_the_file_and_both_parts_of_the_comment() {
    let of = "struct Part {\n/// Its size,\n/// at least `1`.\n///\n/// Absent: 2.\n#[serde(rename = \"length\")]\nsize: Option<u32>,\n\
              /// A|B.\n///\n/// Required.\nkind: String,\n/// Elsewhere.\nother: Option<Other>,\n}";
    let parsed = syn::parse_file(of).expect("it is Rust");
    let part = Part {
        prefix: "p.",
        of: "Part",
        fields: Vec::new(),
    };
    let lines = table(&rows(&parsed.items, &part, &BTreeSet::from(["Other"])));
    assert_eq!(
        lines,
        [
            "| key | value | when absent |",
            "|---|---|---|",
            "| `p.length` | its size, at least `1` | 2 |",
            "| `p.kind` | A\\|B | required |",
        ]
    );
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The document with all tables made anew.
fn with_tables(text: &str) -> String {
    let markers = text.lines().filter_map(marker).collect::<Vec<_>>();
    assert!(markers.len() >= 10, "only {} tables", markers.len());
    let parts = markers.iter().flat_map(|(_, parts)| parts);
    let with_table: BTreeSet<&str> = parts.map(|part| part.of).collect();
    let mut lines: Vec<String> = Vec::new();
    let mut in_table = false;
    for line in text.lines() {
        in_table &= line.starts_with('|');
        if !in_table {
            lines.push(line.to_owned());
        }
        if let Some((file, parts)) = marker(line) {
            lines.extend(match (parts[0].of, file.ends_with(".json")) {
                ("settings", _) => table(&settings(file)),
                ("defaults", _) => defaults(),
                (_, true) => {
                    let schema = fs::read_to_string(root().join(file)).expect(file);
                    let rows = parts.iter().flat_map(|part| described(&schema, part.of));
                    table(&rows.collect::<Vec<Row>>())
                }
                (_, false) => {
                    let source = fs::read_to_string(root().join(file)).expect(file);
                    let parsed = syn::parse_file(&source).expect(file);
                    let rows = |part: &Part<'_>| rows(&parsed.items, part, &with_table);
                    table(&parts.iter().flat_map(rows).collect::<Vec<Row>>())
                }
            });
            in_table = true;
        }
    }
    lines.join("\n") + "\n"
}

/// The file and types that a line asks for a table of.
fn marker(line: &str) -> Option<(&str, Vec<Part<'_>>)> {
    let (file, parts) = line
        .strip_prefix(START)?
        .strip_suffix(END)?
        .split_once(' ')?;
    let part = |text| {
        let (name, fields) = str::split_once(text, ": ").unwrap_or((text, ""));
        let (prefix, of) = name.split_once(' ').unwrap_or(("", name));
        Part {
            prefix,
            of,
            fields: fields.split_whitespace().collect(),
        }
    };
    Some((file, parts.split(", ").map(part).collect()))
}

/// Rows of the settings of the product that `file` is of.
fn settings(file: &str) -> Vec<Row> {
    let name = Path::new(file).file_stem().and_then(|name| name.to_str());
    let product = PRODUCTS
        .iter()
        .find(|product| Some(product.name) == name)
        .expect(file);
    // Its values stand behind what it is, before what is to be noted of it.
    let row = |setting: &Setting| {
        let is_open = |at: usize| setting.about[..at].matches('(').count();
        let is_closed = |at: usize| setting.about[..at].matches(')').count();
        let mut ends = setting.about.match_indices("; ").map(|(at, _)| at);
        let end = ends.find(|at| is_open(*at) == is_closed(*at));
        let (what, noted) = setting.about.split_at(end.unwrap_or(setting.about.len()));
        Row {
            key: setting.key.to_owned(),
            value: format!("{what}: {}{noted}", setting.kind.values()),
            absent: Some(setting.absent.to_owned()),
        }
    };
    product.settings.iter().map(row).collect()
}

/// The table of defaults, with a column for each name that `like` has.
fn defaults() -> Vec<String> {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let names = LIKES.map(|like| format!("`{}`", like.name));
    let head = [vec!["key".to_owned()], names.to_vec()].concat();
    let tables = LIKES.map(|like| like.defaults.table());
    let rows = (0..tables[0].len()).map(|at| {
        let key = format!("`{}`", tables[0][at].0);
        let values = tables.iter().map(|table| table[at].1.clone());
        line(&[key].into_iter().chain(values).collect::<Vec<_>>())
    });
    let rule = "|---".repeat(head.len()) + "|";
    [line(&head), rule].into_iter().chain(rows).collect()
}

/// Rows of the properties of an object in a JSON schema.
fn described(schema: &str, object: &str) -> Vec<Row> {
    let schema: Json = serde_json::from_str(schema).expect("a schema is JSON");
    let object = schema.pointer(object.trim_end_matches('/')).expect(object);
    let properties = object["properties"].as_object().expect("it has properties");
    let required = object["required"].as_array().into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Json::as_str).collect();
    let others = properties.keys().map(String::as_str);
    let others = others.filter(|key| !required.contains(key));
    let keys = required.iter().copied().chain(others);
    let rows = keys.map(|key| Row {
        key: key.to_owned(),
        value: match properties[key]["description"].as_str() {
            Some(text) => as_cell(text),
            None => panic!("{key} has no description"),
        },
        absent: None,
    });
    rows.collect()
}

/// Rows of a type's fields.
fn rows(items: &[Item], part: &Part<'_>, with_table: &BTreeSet<&str>) -> Vec<Row> {
    let mut structs = items.iter().filter_map(|item| match item {
        Item::Struct(found) if found.ident == part.of => Some(found),
        _ => None,
    });
    let found = (structs.next()).unwrap_or_else(|| panic!("there is no struct {}", part.of));
    let keys = (found.fields.iter()).filter_map(|field| Some((key(field)?, field)));
    let wanted = keys.filter(|(key, field)| match part.fields.as_slice() {
        [] => !with_table.contains(innermost(&field.ty).as_str()),
        only => only.contains(&key.as_str()),
    });
    let rows: Vec<Row> = wanted.map(|(key, field)| row(part, &key, field)).collect();
    assert!(
        part.fields.is_empty() || rows.len() == part.fields.len(),
        "{} has other fields than {:?}",
        part.of,
        part.fields
    );
    rows
}

fn row(part: &Part<'_>, key: &str, field: &Field) -> Row {
    let mut paragraphs = paragraphs(&field.attrs);
    let last = paragraphs.last().map_or("", String::as_str);
    let absent = match last.strip_prefix("Absent: ") {
        Some(absent) => Some(absent.trim_end_matches('.').to_owned()),
        None => (last == "Required.").then(|| "required".to_owned()),
    };
    if absent.is_some() {
        paragraphs.pop();
    }
    assert!(!paragraphs.is_empty(), "{}.{key} has no comment", part.of);
    Row {
        key: format!("{}{key}", part.prefix),
        value: as_cell(&paragraphs.join(" ")),
        absent,
    }
}

/// The table; with the third column where a row has it.
fn table(rows: &[Row]) -> Vec<String> {
    let (head, line) = match rows.iter().any(|row| row.absent.is_some()) {
        true => ("| key | value | when absent |", "|---|---|---|"),
        false => ("| key | value |", "|---|---|"),
    };
    let written = rows.iter().map(|row| {
        let key = format!("| `{}` | {} |", row.key, escaped(&row.value));
        match (&row.absent, line.len() > 9) {
            (Some(absent), _) => format!("{key} {} |", escaped(absent)),
            (None, true) => format!("{key} |"),
            (None, false) => key,
        }
    });
    let head = [head.to_owned(), line.to_owned()];
    head.into_iter().chain(written).collect()
}

/// A vertical line would end the cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A sentence as the other cells are: without its capital letter and its full stop.
fn as_cell(text: &str) -> String {
    let text = match text.ends_with("..") {
        true => text,
        false => text.strip_suffix('.').unwrap_or(text),
    };
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), second)
            if second.is_none_or(|second| !second.is_uppercase() && second != '|') =>
        {
            format!("{}{}", first.to_lowercase(), &text[first.len_utf8()..])
        }
        _ => text.to_owned(),
    }
}

/// The paragraphs of a comment, each in one line.
fn paragraphs(attributes: &[Attribute]) -> Vec<String> {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        });
    let lines: Vec<String> = lines.collect();
    let paragraphs = lines.split(String::is_empty);
    paragraphs.map(|lines| lines.join(" ")).collect()
}

/// The key of a field in a file, its name unless serde has another; `None` if no file has it.
fn key(field: &Field) -> Option<String> {
    let mut key = Some(field.ident.as_ref().expect("it has a name").to_string());
    let serde = field
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("serde"));
    for attribute in serde {
        let parsed = attribute.parse_nested_meta(|meta| {
            let value: Option<Expr> = match meta.input.peek(syn::Token![=]) {
                true => Some(meta.value()?.parse()?),
                false => None,
            };
            match value {
                None if meta.path.is_ident("skip") => key = None,
                Some(Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                })) if meta.path.is_ident("rename") => key = Some(text.value()),
                _ => {}
            }
            Ok(())
        });
        parsed.expect("serde's");
    }
    key
}

/// The innermost type: `Volume` of `Option<BTreeMap<String, Spanned<Volume>>>`.
fn innermost(of: &Type) -> String {
    let Type::Path(path) = of else {
        return String::new();
    };
    let last = path.path.segments.last().expect("a path has a name");
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return last.ident.to_string();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        syn::GenericArgument::Type(of) => Some(of),
        _ => None,
    });
    types.last().map_or_else(String::new, innermost)
}
