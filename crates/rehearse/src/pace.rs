//! How fast a log is played.

use std::str::FromStr;

/// How fast a log is played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pace {
    /// As fast as the order of each session and of transactions allows, with the recorded pauses between statements.
    #[default]
    Closed,
    /// At the times of the log, so many times as fast.
    Original(f64),
}

/// Fastest multiple of the log's times.
const TIMES_MAX: f64 = 1_000.0;

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Pace, String> {
        let times = || text.strip_prefix('x')?.parse::<f64>().ok();
        match text {
            "closed" => Ok(Pace::Closed),
            "original" => Ok(Pace::Original(1.0)),
            _ => times()
                .filter(|times| (0.01..=TIMES_MAX).contains(times))
                .map(Pace::Original)
                .ok_or_else(|| {
                    "give closed, original, or x and a number from 0.01 to 1000, such as x2"
                        .to_owned()
                }),
        }
    }
}

impl std::fmt::Display for Pace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pace::Closed => f.write_str("closed"),
            Pace::Original(1.0) => f.write_str("original"),
            Pace::Original(times) => write!(f, "x{times}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_read_as_it_is_written() {
        for text in ["closed", "original", "x2", "x0.5"] {
            assert_eq!(text.parse::<Pace>().unwrap().to_string(), text);
        }
        for text in ["x0", "x-1", "xinf", "fast", "2", ""] {
            assert!(text.parse::<Pace>().is_err(), "{text}");
        }
    }
}
