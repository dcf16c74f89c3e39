//! The command line that repeats an answer.

use import::Source;

use crate::asked::{Asked, Given};
use crate::today::PROFILE;

/// The experiment of the finalists, as the program names it in the folder beside the profile.
pub(crate) const FINALISTS: &str = "profile-advice/finalists.toml";

/// The command that asks the same of the files that the page offers.
pub(crate) fn repeating(asked: &Asked) -> String {
    let mut words = vec![format!("dbstow advise {PROFILE} --today today.toml")];
    let mut add = |option: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("--{option} {value}")));
    };
    let plain = |text: &Option<String>| text.as_deref().map(quoted);
    add("cloud", plain(&asked.cloud));
    add("region", plain(&asked.region));
    let default = Asked::default();
    let changed = |value: f64, default: f64| (value != default).then(|| value.to_string());
    let slower = changed(asked.not_slower, default.not_slower);
    add("not-slower", slower.map(|percent| format!("{percent}%")));
    add("budget", asked.budget.map(|usd| usd.to_string()));
    add("growth", changed(asked.growth, default.growth));
    for (role, size) in &asked.capacity {
        add("capacity", Some(quoted(&format!("{role}={size}"))));
    }
    add("edition", plain(&asked.edition));
    add(
        "licence",
        asked
            .own_licence
            .map(|usd| format!("own --licence-price {usd}")),
    );
    words.extend(asked.system.as_ref().map(|system| format!("--{system}")));
    words.extend(asked.quick.then(|| "--quick".to_owned()));
    words.extend(asked.untested.then(|| "--untested".to_owned()));
    words.join(" ")
}

/// The command that imports the same files.
pub(crate) fn importing(sources: &[Source<'_>], given: &Given) -> String {
    let mut words = vec!["dbstow import".to_owned()];
    words.extend(sources.iter().map(|source| quoted(source.file)));
    let options = [
        ("--device", &given.devices),
        ("--instance", &given.instances),
    ];
    for (option, values) in options {
        words.extend(
            values
                .iter()
                .map(|value| format!("{option} {}", quoted(value))),
        );
    }
    words.push(format!("--out {PROFILE}"));
    words.join(" ")
}

/// `text` as one word of a shell; nothing that is asked has a quotation mark in it.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=._-:".contains(c);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace(['"', '\\', '$', '`'], "")),
    }
}
