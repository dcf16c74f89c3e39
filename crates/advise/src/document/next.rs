//! What to run next.

use analysis::report::advice::document::{self, Next};
use reading::Role;

use super::Described;
use crate::finalists::{CHEAPEST, volume_name};

/// What `--engine` calls MariaDB.
const MARIADB: &str = "mariadb";

/// What `--engine` calls SQL Server.
const SQL_SERVER: &str = "sqlserver";

impl Described<'_> {
    /// Commands, each with its purpose.
    pub(super) fn next(
        &self,
        today: &document::Layout,
        cheapest: Option<&document::Layout>,
    ) -> Vec<Next> {
        let file = self.names.finalists.as_str();
        let next = |what: &str, words: Vec<String>| Next {
            what: what.to_owned(),
            command: shell_words::join(["dbstow".to_owned()].into_iter().chain(words)),
        };
        let catalogues = || {
            let files = self.names.catalogues.iter();
            files.flat_map(|file| ["--catalogue".to_owned(), file.clone()])
        };
        let mut simulate = words(&["run", file]);
        simulate.extend(catalogues());
        let engine = self.engine();
        let mut emulate = words(&["run", file, "--mode", "emulate", "--engine", engine]);
        emulate.extend(words(&["--workload", "FOLDER"]));
        emulate.extend(words(&["--set", "workload.duration=60s"]));
        emulate.extend(words(&["--set", "engine.memory=SIZE"]));
        emulate.extend(catalogues());
        let mut all = vec![
            next("compare the finalists, simulated", simulate),
            next(
                "run your own workload on modelled disks before paying",
                emulate,
            ),
        ];
        if let Some(cheapest) = cheapest.filter(|cheapest| self.kept_for(today, cheapest).is_none())
        {
            let mut scripts = words(&["layout", file, "--arm", CHEAPEST]);
            scripts.extend(words(&["--engine", engine]));
            scripts.extend(words(match engine {
                // Existing databases are moved by hand.
                SQL_SERVER => &["--role", "temp"],
                // The scripts query the server for the location of its files.
                MARIADB => &["--role", "data,temp,log"],
                _ => &[
                    "--role",
                    "data,temp,log",
                    "--database",
                    "NAME",
                    "--data-directory",
                    "FOLDER",
                ],
            }));
            let moved = |volume: &&document::Volume| {
                engine != SQL_SERVER || volume.roles.contains(&Role::Temp)
            };
            for volume in cheapest.volumes.iter().filter(moved) {
                let name = volume_name(CHEAPEST, volume);
                scripts.extend(["--volume".to_owned(), format!("{name}=FOLDER")]);
            }
            scripts.extend(catalogues());
            all.push(next(
                match engine {
                    SQL_SERVER => {
                        "generate apply and rollback scripts for tempdb on the cheapest layout"
                    }
                    _ => "generate apply and rollback scripts for the cheapest layout",
                },
                scripts,
            ));
        }
        all
    }

    /// The server's product, as an engine.
    fn engine(&self) -> &'static str {
        let product = self.request.today.profile.origin.product.as_deref();
        match product.unwrap_or_default().to_lowercase() {
            product if product.contains("postgres") => "postgres",
            product if product.contains("mariadb") => MARIADB,
            product if product.contains("sql server") || product == SQL_SERVER => SQL_SERVER,
            _ => "ENGINE",
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
