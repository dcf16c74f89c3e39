//! Amounts and lists in the text of a finding.

/// A saturating sum: a capture may contain anything.
pub fn total(amounts: impl Iterator<Item = i64>) -> i64 {
    amounts.fold(0, i64::saturating_add)
}

/// `8 GiB`, `1.5 TiB`, `64 KiB`: three digits at most, unless the amount is whole.
pub fn bytes(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut scale = 1_i64;
    while unit + 1 < UNITS.len() && bytes.unsigned_abs() >= scale.unsigned_abs() * 1024 {
        scale *= 1024;
        unit += 1;
    }
    if bytes % scale == 0 {
        return format!("{} {}", bytes / scale, UNITS[unit]);
    }
    let value = bytes as f64 / scale as f64;
    let decimals = match value.abs() {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text} {}", UNITS[unit])
}

/// `1 file`, `8 files`.
pub fn count(number: usize, what: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {what}{end}")
}

/// A share in per cent: `12 %`, `0.4 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 && percent != percent.trunc() {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// The first five, and the number of the rest.
pub fn list<T: AsRef<str>>(names: &[T]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_digits_that_mean_something() {
        let shown = [0, 512, 65_536, 1 << 30, 3 << 29, 3_170_304 * 1024].map(bytes);
        assert_eq!(
            shown,
            ["0 B", "512 B", "64 KiB", "1 GiB", "1.5 GiB", "3.02 GiB"]
        );
        assert_eq!([0.004, 0.1, 0.25].map(percent), ["0.4 %", "10 %", "25 %"]);
    }

    #[test]
    fn long_lists_are_cut_with_their_number() {
        assert_eq!(list(&["a", "b"]), "a, b");
        assert_eq!(list(&["a"; 7]), "a, a, a, a, a and 2 more");
    }
}
