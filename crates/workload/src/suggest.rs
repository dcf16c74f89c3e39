//! "Did you mean": the remedy for a mistyped word.

/// Words at least this similar are considered typos; Jaro-Winkler similarity, from 0 to 1.
///
/// 0.8 keeps `dataabse` with `database` and leaves `rows` apart from `run`; chosen by trial.
const ALIKE: f64 = 0.8;

/// The end of a message about the unknown word `given`: the nearest of `known`, or all of them.
pub(super) fn remedy<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = known
        .iter()
        .map(|word| (strsim::jaro_winkler(given, word), word))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match nearest {
        Some((_, word)) => format!(" (did you mean `{word}`?)"),
        None if known.is_empty() => " (there are none)".to_owned(),
        None => format!(" (known: `{}`)", known.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_names_the_near_word_and_anything_else_names_all() {
        assert_eq!(remedy("rwos", ["rows", "body"]), " (did you mean `rows`?)");
        assert_eq!(
            remedy("zebra", ["rows", "body"]),
            " (known: `rows`, `body`)"
        );
    }
}
