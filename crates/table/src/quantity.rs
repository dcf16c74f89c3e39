//! Numbers as text: significant digits, error, unit. All number formatting happens here.

use std::fmt;

use model::Duration;

/// Digits shown of a number whose error is not known.
const DIGITS: i32 = 3;
/// Digits shown of an error.
const DIGITS_OF_ERROR: i32 = 2;
/// Most digits shown, however small the error.
const DIGITS_MAX: i32 = 4;

/// Smaller values are shown as less than this: a thousandth of a unit changes no decision.
const SMALLEST: f64 = 0.001;

/// Cents are left out from this many dollars on: three digits, as for every other figure.
const CENTS_BELOW: f64 = 100.0;

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

    /// Like [`fmt::Display`] but without the unit, for a table whose header has it.
    pub fn bare(&self) -> String {
        match self.error {
            Some(error) if error > 0.0 => with_error(self.value, error),
            Some(_) | None => match decimals(self.value, DIGITS_MAX) {
                // A count that is the same in every trial.
                before @ ..0 if self.value.fract() == 0.0 => rounded(self.value, before),
                _ => number(self.value),
            },
        }
    }
}

/// `157.3 ± 1.2 s`, `3,991,000 ± 36,000`: two digits of the error, and the value to the same place, but at least its first two digits.
impl fmt::Display for Quantity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unit.is_empty() {
            f.write_str(&self.bare())
        } else {
            write!(f, "{} {}", self.bare(), self.unit)
        }
    }
}

/// Three digits: `0.551`, `52.9`, `12,300`. A whole number keeps all of its digits, as it is a count or an input:
/// `3,125`. `-` for NaN and infinities.
pub fn number(value: f64) -> String {
    match value.abs() {
        _ if value.fract() == 0.0 => rounded(value, 0),
        ..SMALLEST if value > 0.0 => format!("<{SMALLEST}"),
        ..SMALLEST => "0".to_owned(),
        _ => rounded(value, decimals(value, DIGITS)),
    }
}

/// A count: `12,346`.
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// Dollars: `0.80`, `23.04`, and from a hundred on `135`.
pub fn usd(amount: f64) -> String {
    match amount.abs() {
        0.0 => "0".to_owned(),
        ..CENTS_BELOW => rounded(amount, 2),
        _ => rounded(amount, 0),
    }
}

/// Dollars of a price list, with cents: `135.17`, `23.00`; the price of a GiB or an I/O with all its decimals: `0.0825`.
pub fn list_price(amount: f64) -> String {
    let text = rounded(amount, if amount < 1.0 { 6 } else { 2 });
    let cents = text.find('.').map_or(text.len(), |point| point + 3);
    let kept = text.trim_end_matches('0').len().max(cents);
    text[..kept].to_owned()
}

/// Bytes per second, in the decimal unit that suits them: `80 B/s`, `9.71 MB/s`.
pub fn rate(mb_per_s: f64) -> String {
    match mb_per_s {
        0.0 | 1.0.. => format!("{} MB/s", number(mb_per_s)),
        0.001.. => format!("{} kB/s", number(mb_per_s * 1e3)),
        _ => format!("{} B/s", rounded(mb_per_s * 1e6, 0)),
    }
}

/// A share in percent: `71 %`, `0.4 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", percent_bare(share))
}

/// A share in percent, for a table whose header says so: `71`, `0.4`.
pub fn percent_bare(share: f64) -> String {
    let percent = share * 100.0;
    let text = rounded(percent, i32::from(percent.abs() < 9.95));
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A share in percent with its error, for a narrow column: one decimal each, and an error never rounds to zero.
pub fn percent_with_error(share: f64, error: f64) -> String {
    match rounded(error * 100.0, 1).as_str() {
        "0.0" => rounded(share * 100.0, 1),
        error => format!("{} ± {error}", rounded(share * 100.0, 1)),
    }
}

/// A share in percent, and from where to where it may be, all to the same place, so that the interval contains what is before it:
/// `63 (59 to 69)`. A decimal where half the interval is less than one percent, or the share has a single digit; four digits at most.
pub fn percent_within([share, low, high]: [f64; 3]) -> String {
    let all = [share, low, high].map(|share| share * 100.0);
    let is_narrow = (all[2] - all[1]) / 2.0 < 0.95 || all[0].abs() < 9.95;
    let has_decimal = is_narrow && all.iter().all(|each| each.abs() < 999.95);
    let [share, low, high] = all.map(|percent| rounded(percent, i32::from(has_decimal)));
    match low == high {
        true => share,
        false => format!("{share} ({low} to {high})"),
    }
}

/// A limit counts as exceeded only when use is above it by more than this share; less can come from a full bucket at the
/// start of a trial, or from requests admitted in its last moments.
const BURST_MIN: f64 = 1.02;

/// The used share of a limit, in percent: `71 %`, `100 %`, `140 % (burst)`.
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

/// A ratio: `1.04`; three decimals where two would hide that it is not 1, and two significant digits of a small one.
pub fn ratio(value: f64) -> String {
    ratios([value; 3])[0].clone()
}

/// A ratio and the ends of its interval, all to the same number of decimals: `1.04`, `1.03`, `1.05`.
pub fn ratios(interval: [f64; 3]) -> [String; 3] {
    let [mean, ..] = interval;
    let off_one = interval.map(|value| (value - 1.0).abs());
    let off_one = off_one.into_iter().fold(0.0, f64::max);
    let decimals = match (off_one, mean) {
        (0.000_5..0.005, _) => 3,
        (_, ..0.1) => decimals(mean, 2).max(2),
        (_, ..9.995) => 2,
        (_, _) => decimals(mean, DIGITS),
    };
    interval.map(|value| rounded(value, decimals))
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

/// A duration in significant digits: `15 s`, `2.5 h`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        0.0 => (0.0, "s"),
        ..SMALLEST => (seconds * 1e3, "ms"),
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
    let of_error = decimals(error, DIGITS_OF_ERROR);
    let (of_value, of_error) = match value {
        0.0 => (of_error, of_error),
        _ => {
            let both = of_error.min(decimals(value, DIGITS_MAX));
            (both.max(decimals(value, DIGITS_OF_ERROR)), both)
        }
    };
    let (value, error) = (rounded(value, of_value), rounded(error, of_error));
    if error.chars().any(|digit| ('1'..='9').contains(&digit)) {
        format!("{value} ± {error}")
    } else {
        value
    }
}

/// The number of decimals that shows `digits` significant digits of `value` after rounding; negative where the last of
/// them is before the decimal point.
fn decimals(value: f64, digits: i32) -> i32 {
    let after_first = usize::try_from(digits - 1).unwrap_or(0);
    let text = format!("{value:.after_first$e}");
    let exponent = text.split_once('e').and_then(|(_, text)| text.parse().ok());
    exponent.map_or(0, |exponent: i32| digits - 1 - exponent)
}

/// `value` with `decimals` decimals and commas between thousands; a negative count zeroes that many digits before the
/// point.
fn rounded(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    let (value, decimals) = match usize::try_from(decimals) {
        Ok(decimals) => (value, decimals),
        Err(_) => {
            let unit = 10_f64.powi(-decimals);
            ((value / unit).round() * unit, 0)
        }
    };
    let text = format!("{:.decimals$}", value.abs());
    let zero = text.chars().all(|digit| matches!(digit, '0' | '.'));
    let sign = if value < 0.0 && !zero { "-" } else { "" };
    format!("{sign}{}", grouped(&text))
}

/// Digits with commas between thousands.
fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_three_digits_and_whole_ones_all() {
        let shown = [
            0.0,
            0.001_234,
            0.551_2,
            52.85,
            157.3,
            1_499.754,
            12_345.6,
            3_991_268.3,
            52_711_596.0,
            -12_345.6,
        ]
        .map(number);

        let expected = [
            "0",
            "0.00123",
            "0.551",
            "52.9",
            "157",
            "1,500",
            "12,300",
            "3,990,000",
            "52,711,596",
            "-12,300",
        ];
        assert_eq!(shown, expected);
        assert_eq!(number(f64::NAN), "-");
    }

    #[test]
    fn a_number_that_is_rounded_up_to_the_next_power_of_ten_has_three_digits_still() {
        // Three digits of 0.99975 are 1.00, not 1.000.
        let shown = [0.999_75, 9.999, 99.96, 999.7].map(number);

        assert_eq!(shown, ["1.00", "10.0", "100", "1,000"]);
        assert_eq!(ratio(9.996), "10.0");
    }

    #[test]
    fn what_is_less_than_a_thousandth_has_no_row_of_zeros() {
        // 80 bytes a second are 0.000080 MB/s.
        assert_eq!(number(0.000_08), "<0.001");
        assert_eq!(number(-0.000_000_000_1), "0");
        let shown = [0.0, 0.000_08, 0.012_34, 0.000_999_9, 9.712, 131.072].map(rate);
        let expected = [
            "0 MB/s",
            "80 B/s",
            "12.3 kB/s",
            "1,000 B/s",
            "9.71 MB/s",
            "131 MB/s",
        ];
        assert_eq!(shown, expected);
        assert_eq!(ratio(0.001_23), "0.0012");
    }

    #[test]
    fn money_has_cents_up_to_a_hundred_dollars() {
        let shown = [0.0, 0.8, 23.036, 99.994, 135.17, 1_234.5].map(usd);

        assert_eq!(shown, ["0", "0.80", "23.04", "99.99", "135", "1,234"]);
    }

    #[test]
    fn a_price_of_a_list_has_all_its_decimals_and_cents() {
        let shown = [23.0, 135.17, 60.736, 0.8, 0.0825, 4_058.1].map(list_price);

        assert_eq!(
            shown,
            ["23.00", "135.17", "60.74", "0.80", "0.0825", "4,058.10"]
        );
    }

    #[test]
    fn a_count_has_commas_between_thousands() {
        assert_eq!(count(9_857_123), "9,857,123");
    }

    #[test]
    fn a_value_and_its_error_end_at_the_same_digit() {
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
        assert_eq!(shown(157.345, 0.000_001), "157.3 s");
        assert_eq!(shown(157.345, 0.0), "157 s");
        assert_eq!(shown(12_345.6, 789.0), "12,350 ± 790 s");
        assert_eq!(shown(3_991_268.0, 35_622.0), "3,991,000 ± 36,000 s");
        assert_eq!(shown(3_991_268.0, 3.0), "3,991,000 s");
        assert_eq!(shown(15.73, 0.099_6), "15.73 ± 0.10 s");
        assert_eq!(shown(0.0, 0.34), "0.00 ± 0.34 s");
        assert_eq!(shown(1_023.0, 491_000.0), "1,000 ± 490,000 s");
        assert_eq!(shown(42.4, 121.0), "42 ± 120 s");
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
        let long = Quantity {
            value: 9_857_123.0,
            ..count
        };
        assert_eq!(long.to_string(), "9,857,000");
    }

    #[test]
    fn shares_and_deviations_are_percent() {
        assert_eq!(percent(0.714), "71 %");
        assert_eq!(percent(0.004), "0.4 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.05), "5 %");
        assert_eq!(percent(0.097), "9.7 %");
        assert_eq!(percent_signed(0.0446), "+4.5 %");
        assert_eq!(percent_with_error(0.746, 0.001_3), "74.6 ± 0.1");
        assert_eq!(percent_with_error(0.160_8, 0.000_4), "16.1");
        assert_eq!(percent_within([0.173, 0.16, 0.173]), "17.3 (16.0 to 17.3)");
        assert_eq!(percent_within([0.634, 0.59, 0.688]), "63 (59 to 69)");
        assert_eq!(percent_within([0.034, 0.01, 0.088]), "3.4 (1.0 to 8.8)");
        assert_eq!(percent_within([0.173, 0.16, 0.5]), "17 (16 to 50)");
        assert_eq!(percent_within([9.98, 9.97, 10.01]), "998 (997 to 1,001)");
        assert_eq!(percent_within([0.5, 0.5, 0.5]), "50.0");
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
        assert_eq!(ratio(0.999_93), "1.00");
        assert_eq!(ratios([1.0, 0.998, 1.002]), ["1.000", "0.998", "1.002"]);
        assert_eq!(ratios([1.001, 0.998, 1.012]), ["1.00", "1.00", "1.01"]);
        assert_eq!(ratios([11.5, 8.61, 15.34]), ["11.5", "8.6", "15.3"]);
        assert_eq!(ratio(0.5), "0.50");
        assert_eq!(ratio(12.34), "12.3");
    }
}
