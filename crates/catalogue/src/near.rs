//! Suggestions for mistyped names.

/// Minimum similarity for a suggestion; 1 is the same name.
const LIKENESS_MIN: f64 = 0.85;
const SUGGESTIONS_MAX: usize = 3;

/// Whether `given` is all of `name`, or its end after a dot: `p30` of `azure.premium.p30`. Case is ignored, and only letters and
/// digits count: `premiumv2` is the end of `azure.premium_v2`.
pub(super) fn is_end(name: &str, given: &str) -> bool {
    let wanted = plain(given);
    !wanted.is_empty() && ends(name).any(|end| plain(end) == wanted)
}

/// Names that end in `name`, or else contain it, or else are similar to it; nearest first.
pub(super) fn near<'a>(name: &str, names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let names: Vec<&String> = names.collect();
    let wanted = plain(name);
    let named = |is_near: &dyn Fn(&str) -> bool| {
        let mut found: Vec<&String> = names
            .iter()
            .copied()
            .filter(|known| is_near(known))
            .collect();
        found.sort_by_key(|known| (known.len(), *known));
        found
    };
    let ends = named(&|known| is_end(known, name));
    let contains = named(&|known| !wanted.is_empty() && plain(known).contains(&wanted));
    let alike = alike(&name.to_lowercase(), &names);
    let nearest = [ends, contains, alike]
        .into_iter()
        .find(|found| !found.is_empty());
    let nearest = nearest
        .unwrap_or_default()
        .into_iter()
        .take(SUGGESTIONS_MAX);
    nearest.cloned().collect()
}

fn alike<'a>(wanted: &str, names: &[&'a String]) -> Vec<&'a String> {
    let likeness = |known: &&'a String| {
        let ends = ends(known).map(|end| strsim::jaro_winkler(wanted, &end.to_lowercase()));
        (ends.fold(0.0, f64::max), *known)
    };
    let mut found: Vec<(f64, &String)> = names.iter().map(likeness).collect();
    found.retain(|(likeness, _)| *likeness >= LIKENESS_MIN);
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    found.into_iter().map(|(_, known)| known).collect()
}

/// Prefixes of the names, up to the first dot.
pub(super) fn families<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut families: Vec<String> = names
        .filter_map(|name| Some(name.split_once('.')?.0.to_owned()))
        .collect();
    families.sort();
    families.dedup();
    families
}

/// ` (did you mean ..?)` with these; empty if there are none.
pub(super) fn suggestion(near: &[String]) -> String {
    match listed(near) {
        None => String::new(),
        Some(names) => format!(" (did you mean {names}?)"),
    }
}

/// `` `a`, `b` or `c` ``; `None` if there are none.
pub(super) fn listed(names: &[String]) -> Option<String> {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let (last, first) = names.split_last()?;
    Some(match first {
        [] => last.clone(),
        first => format!("{} or {last}", first.join(", ")),
    })
}

/// The name, and the part after each of its dots.
fn ends(name: &str) -> impl Iterator<Item = &str> {
    let ends = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
    std::iter::once(name).chain(ends)
}

fn plain(name: &str) -> String {
    let counts = name.chars().filter(|c| c.is_alphanumeric());
    counts.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        let names = [
            "aws.gp3",
            "azure.premium.p3",
            "azure.premium.p30",
            "azure.premium_v2",
        ];
        names.map(str::to_owned).to_vec()
    }

    #[test]
    fn the_end_of_a_name_is_nearer_than_a_part_and_a_part_nearer_than_likeness() {
        let near = |name: &str| near(name, names().iter());
        assert_eq!(near("P3"), ["azure.premium.p3"]);
        assert_eq!(near("premiumv2"), ["azure.premium_v2"]);
        assert_eq!(near("premium.p"), ["azure.premium.p3", "azure.premium.p30"]);
        assert_eq!(near("aws.pg3"), ["aws.gp3"]);
        assert_eq!(near("premum.p30")[0], "azure.premium.p30");
        assert!(near("generic").is_empty() && near("").is_empty());
    }

    #[test]
    fn a_suggestion_is_a_question_with_all_names() {
        assert_eq!(suggestion(&[]), "");
        let three = suggestion(&names()[..3]);
        let expected = " (did you mean `aws.gp3`, `azure.premium.p3` or `azure.premium.p30`?)";
        assert_eq!(three, expected);
    }
}
