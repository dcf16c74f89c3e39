//! A range of amounts, in the syntax of options: `8`, `8-16`, `8-`, `-16`.

use std::str::FromStr;

/// From one amount to another, both inclusive; either end may be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<T> {
    from: Option<T>,
    to: Option<T>,
}

impl<T: PartialOrd> Range<T> {
    /// Whether `amount` is within it.
    pub fn holds(&self, amount: T) -> bool {
        self.from.as_ref().is_none_or(|from| *from <= amount)
            && self.to.as_ref().is_none_or(|to| amount <= *to)
    }
}

impl<T: FromStr + Copy + PartialOrd> FromStr for Range<T>
where
    T::Err: std::fmt::Display,
{
    type Err = String;

    fn from_str(text: &str) -> Result<Range<T>, String> {
        let end = |text: &str| match text.trim() {
            "" => Ok(None),
            amount => amount
                .parse()
                .map(Some)
                .map_err(|error| format!("{error}; give one amount, FROM-TO, FROM- or -TO")),
        };
        let (from, to) = match text.split_once('-') {
            Some((from, to)) => (end(from)?, end(to)?),
            None => (end(text)?, end(text)?),
        };
        match (from, to) {
            (None, None) => Err("it has no amount; give one, FROM-TO, FROM- or -TO".to_owned()),
            (Some(from), Some(to)) if to < from => {
                Err("it ends before it begins; swap the two".to_owned())
            }
            (from, to) => Ok(Range { from, to }),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;

    #[test]
    fn both_ends_are_in_it_and_each_may_be_open() {
        let holds = |text: &str| {
            let range: Range<u32> = text.parse().expect(text);
            [4, 8, 12, 16, 32].map(|cores| range.holds(cores))
        };
        assert_eq!(holds("8-16"), [false, true, true, true, false]);
        assert_eq!(holds("8-"), [false, true, true, true, true]);
        assert_eq!(holds("-8"), [true, true, false, false, false]);
        assert_eq!(holds("8"), [false, true, false, false, false]);
        let memory: Range<Bytes> = "64GiB-".parse().expect("a size");
        assert!(memory.holds(Bytes::gib(64)) && !memory.holds(Bytes::gib(63)));
    }

    #[test]
    fn what_is_no_range_is_refused_with_the_remedy() {
        for text in ["", "-", "a", "8-a", "16-8"] {
            let error = text.parse::<Range<u32>>().expect_err(text);
            assert!(error.contains("give") || error.contains("swap"), "{error}");
        }
    }
}
