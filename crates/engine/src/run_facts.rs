//! The options of a run as facts of its plan.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use crate::{EngineProvider, Measured, Options};
use experiment::spec::Arm;

impl Options {
    /// The options that determine the outcome of a trial of `engine`, for the plan: with absolute paths, except those of a
    /// server that creates its own files, and without passwords.
    ///
    /// # Errors
    /// When the current directory is not known.
    pub fn facts(
        &self,
        engine: &dyn EngineProvider,
        arms: &[Arm],
    ) -> io::Result<BTreeMap<String, String>> {
        let mut options = self.clone();
        if engine.measured(arms) == Measured::Directories {
            for directory in options.volumes.values_mut() {
                *directory = std::path::absolute(&*directory)?;
            }
        }
        if let Some(backing) = &mut options.backing {
            *backing = std::path::absolute(&*backing)?;
        }
        options.of_product.make_absolute()?;
        Ok(options.shown(engine))
    }

    fn shown(&self, engine: &dyn EngineProvider) -> BTreeMap<String, String> {
        let path = |path: &PathBuf| path.display().to_string();
        let volumes = self.volumes.iter();
        let volumes = volumes.map(|(name, directory)| (format!("volume {name}"), path(directory)));
        let others = [
            ("backing", self.backing.as_ref().map(path)),
            ("front", self.front.map(|front| front.name().to_owned())),
            (
                "transport",
                self.transport.map(|transport| transport.name().to_owned()),
            ),
            ("server", self.server.as_deref().map(without_password)),
        ];
        let others = others
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let of_product = engine.options().iter().filter(|option| option.is_fact);
        let of_product = of_product.filter_map(|option| {
            let value = self.of_product.shown(option.name)?;
            Some((option.name.to_owned(), value))
        });
        volumes.chain(others).chain(of_product).collect()
    }
}

/// `scheme://user:secret@host/database` as `scheme://user@host/database`, and without the part
/// after a question mark.
fn without_password(url: &str) -> String {
    let unclear = || "a server".to_owned();
    let Some((scheme, rest)) = url.split_once("://") else {
        return unclear();
    };
    // Nothing after the host can be a password, unless the password contains an unencoded delimiter.
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if rest[end..].contains('@') {
        return unclear();
    }
    let (rest, _) = rest.split_once('?').unwrap_or((rest, ""));
    // A password may contain an @; the host cannot.
    match rest.rsplit_once('@') {
        None => format!("{scheme}://{rest}"),
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_a_server_holds_no_password() {
        let url = "postgresql://me:s3cr3t@w0rd@db.example/x?password=s3cr3t";
        assert_eq!(without_password(url), "postgresql://me@db.example/x");
        for url in [
            "postgresql://me:12?s3cr3t@db/x",
            "postgresql://me:12/s3cr3t@db/x",
            "postgresql://me@db/x?password=s3@cr3t",
            "me:s3cr3t@db/x",
        ] {
            assert_eq!(without_password(url), "a server", "{url}");
        }
    }
}
