//! Numbers as text: digits that mean something, error, unit. The one place where they are formatted.

use std::fmt;

use model::Duration;

/// Digits shown of a number whose error is not known.
const DIGITS: i32 = 3;
/// Most digits shown, however small the error.
const DIGITS_MAX: i32 = 5;

/// Most decimals shown: what is below a millionth of its unit is nothing.
const DECIMALS_MAX: usize = 6;

/// A value with its error and unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity<'a> {
    /// The value.
    pub value: f64,
    /// Half the width of its interval, in the same unit; `None` or 0 when there is none.
    pub error: Option<f64>,
    /// Unit, empty for a count.
    pub unit: &'a str,
}

impl<'a> Quantity<'a> {
    /// A mean, and the lower and upper end of its interval.
    pub fn with_interval([mean, low, high]: [f64; 3], unit: &'a str) -> Quantity<'a> {
        Quantity {
            value: mean,
            error: Some((high - low) / 2.0),
            unit,
        }
    }

    /// As [`fmt::Display`], without the unit, for a table whose header has it.
    pub fn bare(&self) -> String {
        match self.error {
            Some(error) if error > 0.0 => with_error(self.value, error),
            Some(_) | None => number(self.value),
        }
    }
}

/// `157.3 ± 1.2 s`: two digits of the error, and the value as far as those.
impl fmt::Display for Quantity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unit.is_empty() {
            f.write_str(&self.bare())
        } else {
            write!(f, "{} {}", self.bare(), self.unit)
        }
    }
}

/// Three digits, or all digits of the whole part: `0.551`, `52.9`, `1,500`; `-` for what is no number.
pub fn number(value: f64) -> String {
    fixed(value, decimals(value, DIGITS))
}

/// A share in percent: `71 %`, `0.4 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", percent_bare(share))
}

/// A share in percent, for a table whose header says so: `71`, `0.4`.
pub fn percent_bare(share: f64) -> String {
    let percent = share * 100.0;
    let text = fixed(percent, usize::from(percent.abs() < 9.95));
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A limit that was used by more than this share of it was exceeded, and not only rounded: what is in a bucket when a
/// trial begins, and requests that were let through in its last moments, come to less.
const BURST_MIN: f64 = 1.02;

/// A share of a limit that was used, in percent: `71 %`, `100 %`, `140 % (burst)`.
pub fn used(share: f64) -> String {
    used_as(share, percent)
}

/// The same, for a table whose header says percent: `71`, `140 (burst)`.
pub fn used_bare(share: f64) -> String {
    used_as(share, percent_bare)
}

fn used_as(share: f64, percent: fn(f64) -> String) -> String {
    match share >= BURST_MIN {
        true => format!("{} (burst)", percent(share)),
        false => percent(if share > 1.0 { 1.0 } else { share }),
    }
}

/// A deviation in percent, with its sign: `+4.5 %`, `-12 %`.
pub fn percent_signed(share: f64) -> String {
    let text = percent(share);
    let sign = if text.starts_with('-') || share == 0.0 {
        ""
    } else {
        "+"
    };
    format!("{sign}{text}")
}

/// A ratio: `1.04`; three decimals where two would hide that it is not 1.
pub fn ratio(value: f64) -> String {
    let near_one = value != 1.0 && (value - 1.0).abs() < 0.005;
    let decimals = match (near_one, value < 10.0) {
        (true, _) => 3,
        (false, true) => 2,
        (false, false) => decimals(value, DIGITS),
    };
    fixed(value, decimals)
}

/// In the largest binary unit that leaves a whole part: `8 GiB`, `1.46 TiB`.
pub fn bytes(count: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while unit + 1 < UNITS.len() && value.abs() >= 1024.0 {
        value /= 1024.0;
        unit += 1;
    }
    match value.fract() == 0.0 {
        true => format!("{value:.0} {}", UNITS[unit]),
        false => format!("{} {}", number(value), UNITS[unit]),
    }
}

/// A length of time in digits that mean something: `15 s`, `2.5 h`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        ..120.0 => (seconds, "s"),
        ..7200.0 => (seconds / 60.0, "min"),
        _ => (seconds / 3600.0, "h"),
    };
    let shown = number(value);
    let shown = match shown.contains('.') {
        true => shown.trim_end_matches('0').trim_end_matches('.'),
        false => &shown,
    };
    format!("{shown} {unit}")
}

fn with_error(value: f64, error: f64) -> String {
    let wanted = decimals(error, 2);
    let decimals = wanted.min(decimals(value, DIGITS_MAX));
    let error = fixed(error, decimals);
    if error.chars().any(|digit| ('1'..='9').contains(&digit)) {
        format!("{} ± {error}", fixed(value, decimals))
    } else {
        fixed(value, decimals)
    }
}

/// Decimals that show `digits` digits of `value`.
fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let whole = value.abs().log10().floor() as i32 + 1;
    usize::try_from(digits - whole)
        .unwrap_or(0)
        .min(DECIMALS_MAX)
}

/// `value` with `decimals` decimals and commas between thousands.
fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let zero = text.chars().all(|digit| matches!(digit, '0' | '.'));
    let sign = if value < 0.0 && !zero { "-" } else { "" };
    format!("{sign}{grouped}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_three_digits_or_the_whole_part() {
        let shown = [
            0.0,
            0.000_551,
            0.551_2,
            52.85,
            157.3,
            1_499.754,
            52_711_596.0,
            -0.000_000_000_1,
        ]
        .map(number);

        assert_eq!(
            shown,
            [
                "0",
                "0.000551",
                "0.551",
                "52.9",
                "157",
                "1,500",
                "52,711,596",
                "0.000000"
            ]
            .map(String::from)
        );
        assert_eq!(number(f64::NAN), "-");
    }

    #[test]
    fn the_error_says_how_many_digits_mean_something() {
        let shown = |value, error| {
            Quantity {
                value,
                error: Some(error),
                unit: "s",
            }
            .to_string()
        };

        assert_eq!(shown(157.345, 1.234), "157.3 ± 1.2 s");
        assert_eq!(shown(157.345, 23.4), "157 ± 23 s");
        assert_eq!(shown(157.345, 0.000_001), "157.34 s");
        assert_eq!(shown(157.345, 0.0), "157 s");
        assert_eq!(shown(12_345.6, 789.0), "12,346 ± 789 s");
    }

    #[test]
    fn a_length_of_time_has_the_unit_that_suits_it() {
        let shown = [0.5, 15.0, 119.0, 120.0, 7_199.0, 9_000.0]
            .map(|seconds| duration(Duration::from_secs_f64(seconds)));

        assert_eq!(
            shown,
            ["0.5 s", "15 s", "119 s", "2 min", "120 min", "2.5 h"]
        );
    }

    #[test]
    fn a_count_has_no_unit() {
        let count = Quantity {
            value: 67_000.0,
            error: None,
            unit: "",
        };

        assert_eq!(count.to_string(), "67,000");
    }

    #[test]
    fn shares_and_deviations_are_percent() {
        assert_eq!(percent(0.714), "71 %");
        assert_eq!(percent(0.004), "0.4 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.05), "5 %");
        assert_eq!(percent(0.097), "9.7 %");
        assert_eq!(percent_signed(0.0446), "+4.5 %");
        assert_eq!(percent_signed(-0.12), "-12 %");
    }

    #[test]
    fn more_than_all_of_a_limit_is_all_of_it_or_a_burst() {
        assert_eq!(used(0.714), "71 %");
        assert_eq!(used(1.0), "100 %");
        assert_eq!(used(1.013), "100 %");
        assert_eq!(used(1.4), "140 % (burst)");
        assert_eq!(
            (used_bare(1.013), used_bare(1.4)),
            ("100".into(), "140 (burst)".into())
        );
    }

    #[test]
    fn ratios_show_how_far_from_one_they_are() {
        assert_eq!(ratio(1.043), "1.04");
        assert_eq!(ratio(1.0), "1.00");
        assert_eq!(ratio(1.0012), "1.001");
        assert_eq!(ratio(0.5), "0.50");
        assert_eq!(ratio(12.34), "12.3");
    }
}
