//! Filters of templates: those of every product, and a literal of Transact-SQL.

// The type that `filter_fn` generates has `pub` methods.
#![expect(unreachable_pub)]

use std::fmt::Display;

use askama::{Result, Values, filter_fn};

pub(super) use layout::quote::{line, powershell, sh, systemd_command, systemd_path};

/// A literal of Transact-SQL.
#[filter_fn]
pub(super) fn tsql<T: Display>(text: T, _: &dyn Values) -> Result<String> {
    Ok(crate::tsql::literal(&text.to_string()))
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::super::filters;

    #[derive(Template)]
    #[template(source = "{{ path|tsql }}", ext = "txt")]
    struct Path {
        path: &'static str,
    }

    #[test]
    fn no_text_leaves_its_quotes() {
        let quoted = |path| Path { path }.render().expect("texts");
        assert_eq!(quoted("a b'$(x)"), "N'a b''$(x)'");
        assert_eq!(quoted("%n ’\"\\"), "N'%n ’\"\\'");
    }
}
