//! The engines of a program.

use crate::EngineProvider;
use experiment::spec::{EngineName, near};

/// The engines of a program, and those left out of its build.
#[derive(Clone, Copy)]
pub struct Engines {
    /// The available ones, in the order in which they are listed.
    pub built: &'static [&'static dyn EngineProvider],
    /// Those left out.
    pub left_out: &'static [LeftOut],
}

/// An engine left out of the build.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    /// Its name.
    pub name: &'static str,
    /// Schemes of URLs of its servers.
    pub schemes: &'static [&'static str],
    /// Why it was left out.
    pub why: &'static str,
}

/// This program has no engine of this name; lists the existing ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownEngine(String);

/// No engine of this program has servers with such a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownServer {
    /// One that was left out does.
    #[error("{0}")]
    LeftOut(&'static str),
    /// None does; lists the known URLs.
    #[error("--server is not the URL of a server that is known; give {}", one_of(.0))]
    NoUrl(Vec<&'static str>),
}

/// `a, b or c`.
fn one_of(all: &[&str]) -> String {
    match all {
        [] => "none: this program knows no servers".to_owned(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

impl Engines {
    /// Names of the available engines.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.built.iter().map(|engine| engine.name())
    }

    /// Why an engine of this name was left out; `None` if it is available, or unknown.
    pub fn left_out(&self, name: &str) -> Option<&'static str> {
        let mut left_out = self.left_out.iter();
        let found = left_out.find(|left_out| left_out.name == name);
        found.map(|left_out| left_out.why)
    }

    /// The engine of this name.
    ///
    /// # Errors
    /// When the program does not have it.
    pub fn find(&self, name: &EngineName) -> Result<&'static dyn EngineProvider, UnknownEngine> {
        let mut built = self.built.iter();
        let known = built.find(|known| known.name() == name.as_str());
        known.copied().ok_or_else(|| self.unknown(name))
    }

    /// The engine whose servers have URLs such as `url`, for a recording. The message repeats no part of the URL, which
    /// may contain a password.
    ///
    /// # Errors
    /// When the program does not have it.
    pub fn of_url(&self, url: &str) -> Result<&'static dyn EngineProvider, UnknownServer> {
        let scheme = url.trim_start().split_once("://").map(|(scheme, _)| scheme);
        let is_of = |schemes: &[&str]| scheme.is_some_and(|scheme| schemes.contains(&scheme));
        let mut built = self.built.iter();
        let known = built.find(|engine| {
            let servers = engine.recorded();
            servers.is_some_and(|servers| is_of(servers.schemes))
        });
        if let Some(known) = known {
            return Ok(*known);
        }
        let mut left_out = self.left_out.iter();
        if let Some(left_out) = left_out.find(|left_out| is_of(left_out.schemes)) {
            return Err(UnknownServer::LeftOut(left_out.why));
        }
        let servers = self.built.iter().filter_map(|engine| engine.recorded());
        let urls = servers.map(|servers| servers.url);
        Err(UnknownServer::NoUrl(urls.collect()))
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
