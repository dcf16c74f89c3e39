//! Values in commands: every one is quoted for the shell that reads it.

use catalogue::{NAMED, Shell};

use crate::error::LayoutError;
use crate::quote::in_powershell;

/// What a service calls a server and what is around it; `None` where it was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The server.
    pub server: Option<String>,
    /// The group of resources that it is in.
    pub group: Option<String>,
    /// The database, where a service sells one by itself.
    pub database: Option<String>,
    /// The group of its parameters.
    pub parameters: Option<String>,
}

/// The longest name.
const NAME_MAX: usize = 128;

impl Names {
    /// A name, by its word in braces, with the option that gives it.
    fn named(&self, word: &str) -> Option<(&Option<String>, &'static str)> {
        let (_, option) = NAMED.into_iter().find(|(known, _)| *known == word)?;
        let name = match word {
            "server" => &self.server,
            "group" => &self.group,
            "database" => &self.database,
            _ => &self.parameters,
        };
        Some((name, option))
    }

    /// Refuses names that no service has, and that a client may take for options.
    pub(super) fn check(&self) -> Result<(), LayoutError> {
        for (word, _) in NAMED {
            let Some((Some(name), option)) = self.named(word) else {
                continue;
            };
            let is_plain = |letter: char| letter.is_alphanumeric() || "-_.()".contains(letter);
            let is_free = word == "database";
            let is_fine = |letter: char| is_plain(letter) || is_free && !letter.is_control();
            let begins = name.chars().next().is_some_and(char::is_alphanumeric);
            if !begins || name.chars().count() > NAME_MAX || !name.chars().all(is_fine) {
                let name: String = name.escape_debug().take(NAME_MAX).collect();
                return Err(LayoutError::Impossible(format!(
                    "{option} {name}: it begins with a letter or digit, and has letters, digits and any of -_.(), up to {NAME_MAX}; give the \
                     name that the service shows"
                )));
            }
        }
        Ok(())
    }
}

/// Fills in a command: names, and `values` by their words.
///
/// # Errors
/// When a name is needed that was not given.
///
/// # Panics
/// When the catalogue has a word that stands for nothing; a test fills in all commands.
pub(super) fn fill(
    template: &str,
    shell: Shell,
    names: &Names,
    values: &[(&str, String)],
) -> Result<String, LayoutError> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (word, after) = after.split_once('}').expect("braces come in pairs");
        filled += before;
        rest = after;
        let value = values.iter().find(|(known, _)| *known == word);
        let value = match (value, names.named(word)) {
            (Some((_, value)), _) => value.clone(),
            (None, Some((Some(name), _))) => name.clone(),
            (None, Some((None, option))) => {
                return Err(LayoutError::Impossible(format!(
                    "the commands of this service name the server's {word}; add {option} NAME",
                    word = match word {
                        "group" => "resource group",
                        "parameters" => "parameter group",
                        "server" => "identifier",
                        other => other,
                    }
                )));
            }
            (None, None) => panic!("{{{word}}} in {template}"),
        };
        filled += &quoted(&value, shell);
    }
    Ok(filled + rest)
}

/// A value that the shell takes for one word.
fn quoted(value: &str, shell: Shell) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match shell {
        Shell::Sh => shell_words::quote(value).into_owned(),
        Shell::Powershell if !value.is_empty() && value.chars().all(is_plain) => value.to_owned(),
        Shell::Powershell => in_powershell(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_its_quotes_or_is_an_option() {
        let named = |name: &str| Names {
            server: Some(name.to_owned()),
            database: Some(name.to_owned()),
            ..Names::default()
        };
        for hostile in ["a b", "a;reboot", "$(x)", "--delete", "", "a\nb", "'"] {
            assert!(named(hostile).check().is_err(), "{hostile}");
        }
        named("shop-1").check().expect("a name");
        let names = Names {
            database: Some("it's $(x)".to_owned()),
            ..named("shop")
        };
        names.check().expect("databases have any letters");
        let filled = |shell| fill("set {server} {database}", shell, &names, &[]).expect("named");
        assert_eq!(filled(Shell::Sh), "set shop 'it'\\''s $(x)'");
        assert_eq!(filled(Shell::Powershell), "set shop 'it''s $(x)'");
        let missing = fill("in {group}", Shell::Sh, &names, &[]).expect_err("no group");
        assert!(missing.to_string().contains("--resource-group"));
    }
}
