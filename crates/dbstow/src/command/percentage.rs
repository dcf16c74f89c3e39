//! Percentages on the command line: one syntax for all options.

use analysis::quantity::percent;

/// The share written as `5%`, `5 %` or `0.05`, from 0 to below `end`. Input that could mean 5 % or a factor of five is
/// rejected as ambiguous.
pub(super) fn percentage(text: &str, end: f64) -> Result<f64, String> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 0.01),
        None => (text, 1.0),
    };
    let share: f64 = number
        .parse()
        .map_err(|_| "it is no number; give a percentage such as 5%".to_owned())?;
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
    if !(0.0..end).contains(&share) {
        return Err(format!(
            "{} is not from 0 to below {}; give a percentage such as 5%",
            percent(share),
            percent(end)
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
        assert!(of("150%").contains("150 % is not from 0 to below 100 %"));
        assert!(of("-5%").contains("from 0"));
        assert!(of("150").contains("no percent sign"));
        for text in ["", "%", "nan", "inf%", "five", "0,3"] {
            percentage(text, 1.0).expect_err(text);
        }
    }
}
