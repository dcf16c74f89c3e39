//! Percentages: one syntax for all options and keys.

/// The share written as `5%`, `5 %` or `0.05`, from 0 to below `end`, which may be infinite. Input that could mean 5 % or a
/// factor of five is rejected as ambiguous.
///
/// # Errors
/// What is wrong with it, with the remedy.
pub fn percentage(text: &str, end: f64) -> Result<f64, String> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 0.01),
        None => (text, 1.0),
    };
    let share: Option<f64> = number.parse().ok();
    let Some(share) = share.filter(|share| share.is_finite()) else {
        return Err("it is not a number; give a percentage such as 5%".to_owned());
    };
    if unit == 1.0 && share >= 1.0 {
        let meant = share / 100.0;
        return Err(match meant < end {
            true => format!(
                "{number} has no percent sign: is that {number} % or {number} times? Give {number}%, or {meant} for the same"
            ),
            false => format!("{number} has no percent sign; give a percentage such as 5%"),
        });
    }
    let share = share * unit;
    if share < 0.0 {
        return Err(format!(
            "{text} is below 0; give a percentage such as 5%, without a sign before it"
        ));
    }
    if share >= end {
        let end = end * 100.0;
        return Err(format!(
            "{text} is not below {end:.0}%; give a percentage such as 5%"
        ));
    }
    Ok(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_has_a_sign_or_is_a_share() {
        for text in ["30%", "30 %", " 30% ", "0.30", ".3", "3e1%"] {
            let share = percentage(text, 1.0).expect(text);
            assert!((share - 0.3).abs() < 1e-12, "{text}: {share}");
        }
        assert_eq!(percentage("0", 1.0), Ok(0.0));
        assert_eq!(percentage("150%", 9.0), Ok(1.5));
    }

    #[test]
    fn a_number_without_a_sign_is_a_question() {
        assert_eq!(
            percentage("30", 1.0).expect_err("which?"),
            "30 has no percent sign: is that 30 % or 30 times? Give 30%, or 0.3 for the same"
        );
        assert_eq!(
            percentage("5", 9.0).expect_err("which?"),
            "5 has no percent sign: is that 5 % or 5 times? Give 5%, or 0.05 for the same"
        );
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_range() {
        let of = |text: &str| percentage(text, 1.0).expect_err(text);
        assert!(of("150%").contains("150% is not below 100%"));
        for text in ["-5%", "-0.05", "-5"] {
            assert!(of(text).starts_with(&format!("{text} is below 0")));
        }
        assert!(of("150").contains("no percent sign"));
        for text in ["", "%", "nan", "NaN%", "inf%", "-inf", "five", "0,3"] {
            assert!(of(text).starts_with("it is not a number"), "{text}");
        }
    }
}
