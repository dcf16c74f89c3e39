//! The engines that a program has.

use crate::EngineProvider;
use experiment::spec::{EngineName, near};

/// The engines that a program has, and those that it could have.
#[derive(Clone, Copy)]
pub struct Engines {
    /// Those that it has, in the order in which they are listed.
    pub built: &'static [&'static dyn EngineProvider],
    /// Names of others, each with why it is not there.
    pub left_out: &'static [(&'static str, &'static str)],
}

/// There is no engine of this name in this program; says which there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownEngine(String);

impl Engines {
    /// Names of those that the program has.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.built.iter().map(|engine| engine.name())
    }

    /// Why an engine of this name was left out; `None` where it is there, or unknown.
    pub fn left_out(&self, name: &str) -> Option<&'static str> {
        let mut left_out = self.left_out.iter();
        let found = left_out.find(|(left_out, _)| *left_out == name);
        found.map(|(_, why)| *why)
    }

    /// The engine of this name.
    ///
    /// # Errors
    /// When the program has none.
    pub fn find(&self, name: &EngineName) -> Result<&'static dyn EngineProvider, UnknownEngine> {
        let mut built = self.built.iter();
        let known = built.find(|known| known.name() == name.as_str());
        known.copied().ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &EngineName) -> UnknownEngine {
        let names: Vec<&str> = self.names().collect();
        let left_out = self.left_out(name.as_str());
        let near = near(name.as_str(), self.names());
        UnknownEngine(match (left_out, near) {
            (Some(why), _) => format!("{why}; it has: {}", names.join(", ")),
            (None, Some(near)) => {
                format!("there is no engine \"{name}\"; did you mean \"{near}\"?")
            }
            (None, None) => format!(
                "there is no engine \"{name}\"; there are: {}",
                names.join(", ")
            ),
        })
    }
}
