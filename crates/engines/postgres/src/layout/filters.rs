//! Filters of templates: those of every product, and literals and names of PostgreSQL.

// The type that `filter_fn` generates has `pub` methods.
#![expect(unreachable_pub)]

use std::fmt::Display;

use askama::{Result, Values, filter_fn};

pub(super) use layout::quote::{line, sh, systemd_command};

/// A literal of PostgreSQL, independent of `standard_conforming_strings`.
#[filter_fn]
pub(super) fn sql<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    let quoted = text.to_string().replace('\'', "''");
    Ok(match quoted.contains('\\') {
        true => format!("E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    })
}

/// A name of PostgreSQL.
#[filter_fn]
pub(super) fn sql_name<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    Ok(format!("\"{}\"", text.to_string().replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::super::filters;

    #[derive(Template)]
    #[template(source = "{{ path|sql }} {{ path|sql_name }}", ext = "txt")]
    struct Both {
        path: &'static str,
    }

    #[test]
    fn no_text_leaves_its_quotes() {
        let both = |path| Both { path }.render().expect("texts");
        assert_eq!(both("a b'$(x)"), "'a b''$(x)' \"a b'$(x)\"");
        assert_eq!(both("%n ’\"\\"), "E'%n ’\"\\\\' \"%n ’\"\"\\\"");
    }
}
