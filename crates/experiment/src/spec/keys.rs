//! The valid keys, derived from the types that deserialize them: a separate list would become outdated.

use products::{PRODUCTS, Product};
use serde::de::DeserializeOwned;

use super::error::{did_you_mean, near, remedy};
use super::wire;

/// The error for the dotted key `path`, if its first part is not a key of an experiment: the remedy suggests keys of sections,
/// such as "engine.memory" for "memory". `None` if its first part is valid.
///
/// `named` returns the names in a section such as "volume".
pub(super) fn unknown(path: &[&str], named: impl Fn(&str) -> Vec<String>) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let sections = of::<wire::Experiment>();
    if sections.iter().any(|section| section == first) {
        return None;
    }
    let inner = inner(named);
    let whole = |section: &str, key: &str| {
        let parts = [section, key].into_iter().chain(rest.iter().copied());
        parts.collect::<Vec<_>>().join(".")
    };
    let of_key = |wanted: &str| {
        let keys = inner.iter().filter(|(_, key)| key == wanted);
        let keys = keys.map(|(section, key)| whole(section, key));
        keys.collect::<Vec<_>>()
    };
    let meant = match of_key(first) {
        exact if !exact.is_empty() => exact,
        _ => match near(first, sections.iter().map(String::as_str)) {
            Some(section) => vec![[&[section], rest].concat().join(".")],
            None => {
                near(first, inner.iter().map(|(_, key)| key.as_str())).map_or_else(Vec::new, of_key)
            }
        },
    };
    let hint = match meant.as_slice() {
        [] => remedy(first, "known here", sections.iter().map(String::as_str)),
        meant => did_you_mean(meant),
    };
    Some(format!("there is no key \"{first}\"{hint}"))
}

/// Sections and their keys, the most frequently set first.
fn inner(named: impl Fn(&str) -> Vec<String>) -> Vec<(String, String)> {
    let of_product = |product: &'static Product| {
        let keys = product
            .settings
            .iter()
            .map(|setting| setting.key.to_owned());
        (format!("engine.{}", product.name), keys.collect())
    };
    let others = [
        ("workload", of::<wire::Workload>()),
        ("workload.parameters", named("workload.parameters")),
        ("protocol", of::<wire::Protocol>()),
        ("machine", of::<wire::Machine>()),
        ("volume", named("volume")),
        ("placement", named("placement")),
    ];
    let sections = [("engine".to_owned(), of_engine())].into_iter();
    let sections = sections.chain(PRODUCTS.into_iter().map(of_product));
    let sections = sections.chain(others.map(|(section, keys)| (section.to_owned(), keys)));
    let keys = |(section, keys): (String, Vec<String>)| {
        keys.into_iter().map(move |key| (section.clone(), key))
    };
    sections.flat_map(keys).collect()
}

/// The keys of `[engine]`, with the sections of products.
pub(super) fn of_engine() -> Vec<String> {
    let sections = PRODUCTS.map(|product| product.name.to_owned());
    of::<wire::Engine>().into_iter().chain(sections).collect()
}

/// The keys of a table that is deserialized as `T`, which rejects all others.
fn of<T: DeserializeOwned>() -> Vec<String> {
    // The deserializer's message about an impossible key: unknown field `?`, expected one of `a`, `b`.
    let error = toml::from_str::<T>("\"?\" = 0").err();
    let message = error.map_or_else(String::new, |error| error.message().to_owned());
    let quoted = message.split('`').skip(1).step_by(2).skip(1);
    quoted.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(key: &str) -> Option<String> {
        let path: Vec<&str> = key.split('.').collect();
        let named = |section: &str| match section {
            "volume" => vec!["fast".to_owned()],
            "workload.parameters" => vec!["rows".to_owned()],
            _ => Vec::new(),
        };
        unknown(&path, named)
    }

    #[test]
    fn a_key_without_its_section_is_answered_with_all_of_it() {
        for (key, meant) in [
            ("memory", "\"engine.memory\" or \"machine.memory\"?"),
            ("sessions", "; did you mean \"workload.sessions\"?"),
            ("sesions", "; did you mean \"workload.sessions\"?"),
            ("rows", "; did you mean \"workload.parameters.rows\"?"),
            ("cpu.statement", "; did you mean \"engine.cpu.statement\"?"),
            ("fast.iops", "; did you mean \"volume.fast.iops\"?"),
            ("engin.memory", "; did you mean \"engine.memory\"?"),
            ("zebra", "(known here: \"name\", \"question\","),
        ] {
            let message = message(key).expect("no such key");
            assert!(message.contains(meant), "{key}: {message}");
        }
        assert_eq!(message("engine.memory"), None);
        assert_eq!(message("real-time"), None);
    }
}
