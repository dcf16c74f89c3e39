//! Notes of a trial, as stored in records: a text that begins with the kind of note.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A note of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// `not cold: ..`: a cache that should have been emptied but was not.
    NotCold(String),
    /// `no write-back: ..`: writes that an engine leaves to its filesystem's cache went to modelled disks immediately.
    NoWriteBack(String),
    /// `not cleaned up: ..`: something that the trial left behind.
    NotCleanedUp(String),
    /// `paused: ..`: the trial was suspended during measurement.
    Paused(String),
    /// `not as asked: ..`: a setting that was not applied, with the value used instead.
    NotAsAsked(String),
    /// `not exercised: ..`: the behaviour that the workload targets but its statements did not show.
    NotExercised(String),
    /// The workload was written for SQLQueryStress, which computes averages differently.
    Stress,
    /// Anything else, human-readable.
    Other(String),
}

const NOT_COLD: &str = "not cold: ";
const NO_WRITE_BACK: &str = "no write-back: ";
const NOT_CLEANED_UP: &str = "not cleaned up: ";
const PAUSED: &str = "paused: ";
const NOT_AS_ASKED: &str = "not as asked: ";
const NOT_EXERCISED: &str = "not exercised: ";
const STRESS: &str = "the workload is one of SQLQueryStress";

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::NotCold(why) => write!(f, "{NOT_COLD}{why}"),
            Note::NoWriteBack(why) => write!(f, "{NO_WRITE_BACK}{why}"),
            Note::NotCleanedUp(what) => write!(f, "{NOT_CLEANED_UP}{what}"),
            Note::Paused(how) => write!(f, "{PAUSED}{how}"),
            Note::NotAsAsked(what) => write!(f, "{NOT_AS_ASKED}{what}"),
            Note::NotExercised(what) => write!(f, "{NOT_EXERCISED}{what}"),
            Note::Stress => f.write_str(STRESS),
            Note::Other(text) => f.write_str(text),
        }
    }
}

impl FromStr for Note {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Note, Infallible> {
        let after = |prefix| text.strip_prefix(prefix).map(str::to_owned);
        Ok(after(NOT_COLD)
            .map(Note::NotCold)
            .or_else(|| after(NO_WRITE_BACK).map(Note::NoWriteBack))
            .or_else(|| after(NOT_CLEANED_UP).map(Note::NotCleanedUp))
            .or_else(|| after(PAUSED).map(Note::Paused))
            .or_else(|| after(NOT_AS_ASKED).map(Note::NotAsAsked))
            .or_else(|| after(NOT_EXERCISED).map(Note::NotExercised))
            .unwrap_or_else(|| match text {
                STRESS => Note::Stress,
                other => Note::Other(other.to_owned()),
            }))
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Note {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Note, D::Error> {
        let Ok(note) = String::deserialize(deserializer)?.parse();
        Ok(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_reads_back_as_it_was_written() {
        for note in [
            Note::NotCold("volume d: tmpfs".to_owned()),
            Note::NoWriteBack("file mode".to_owned()),
            Note::NotCleanedUp("a mount".to_owned()),
            Note::Paused("3 s".to_owned()),
            Note::NotAsAsked("memory: 1 GiB".to_owned()),
            Note::NotExercised("a sort did not spill".to_owned()),
            Note::Stress,
            Note::Other("a histogram was clipped".to_owned()),
        ] {
            assert_eq!(note.to_string().parse(), Ok(note));
        }
    }
}
