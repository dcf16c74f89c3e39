//! Parameters of a statement, as a log shows them: `$1 = '5', $2 = NULL`.

/// The values, in order; `None` if the text is incomplete, or a value was cut.
pub(crate) fn parse(detail: &str) -> Option<Box<[Option<Box<str>>]>> {
    let lower = detail.strip_prefix("parameters: ");
    let mut rest = lower.or_else(|| detail.strip_prefix("Parameters: "))?;
    let mut values = Vec::new();
    loop {
        let (number, after) = rest.strip_prefix('$')?.split_once(" = ")?;
        if number.parse() != Ok(values.len() + 1) {
            return None;
        }
        let (value, after) = match after.strip_prefix("NULL") {
            Some(after) => (None, after),
            None => {
                let (value, after) = quoted(after)?;
                (Some(value), after)
            }
        };
        // What `log_parameter_max_length` cut ends like this.
        if value.as_deref().is_some_and(|value| value.ends_with("...")) {
            return None;
        }
        values.push(value);
        match after.strip_prefix(", ") {
            Some(after) => rest = after,
            None if after.is_empty() => return Some(values.into()),
            None => return None,
        }
    }
}

/// A value in quotes, in which quotes are doubled, and what follows.
fn quoted(text: &str) -> Option<(Box<str>, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut value = String::new();
    loop {
        let end = rest.find('\'')?;
        value.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(after) => {
                value.push('\'');
                rest = after;
            }
            None => return Some((value.into(), rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_read_as_a_server_writes_them() {
        let values = |text| parse(text).map(|values| values.to_vec());
        let some = |text: &str| Some(text.into());
        assert_eq!(
            values("parameters: $1 = '5', $2 = NULL, $3 = 'it''s, $4 = ''x'''"),
            Some(vec![some("5"), None, some("it's, $4 = 'x'")])
        );
        assert_eq!(values("Parameters: $1 = ''"), Some(vec![some("")]));
        for other in [
            "",
            "parameters: ",
            "parameters: $2 = '5'",
            "parameters: $1 = '5",
            "parameters: $1 = 5",
            "parameters: $1 = '5' and more",
            "parameters: $1 = 'a long text that was...'",
        ] {
            assert_eq!(values(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(values in proptest::collection::vec(proptest::option::of("[^.]{0,9}"), 1..5)) {
            let shown: Vec<String> = values.iter().enumerate().map(|(place, value)| {
                let value = value.as_ref().map_or("NULL".to_owned(), |value| format!("'{}'", value.replace('\'', "''")));
                format!("${} = {value}", place + 1)
            }).collect();
            let read = parse(&format!("parameters: {}", shown.join(", "))).unwrap();
            let read: Vec<Option<String>> = read.iter().map(|value| value.as_deref().map(str::to_owned)).collect();
            prop_assert_eq!(read, values);
        }
    }
}
