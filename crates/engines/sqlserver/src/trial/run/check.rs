//! Whether the arms are possible on the server.

use std::collections::BTreeMap;

use crate::capture::{
    self, MAKE_ADMINISTRATOR, MOVES_TEMPDB, Obstacle, Product, obstacle_to_moving_tempdb,
};
use crate::trial::{OBSERVER, database_files};
use crate::tsql::question;
use engine::EngineError;
use experiment::spec::{Arm, Role};

use super::ServerRun;

/// The oldest supported version: 2016, which supports every query of a run.
const MAJOR_MIN: u32 = question::STATEMENTS.since;

impl ServerRun {
    /// Checks whether the arms are possible on the server, before anything is created.
    ///
    /// # Errors
    /// When the login lacks a permission, or the server cannot place files; with the remedy.
    pub(crate) fn check(&self, arms: &[Arm]) -> Result<(), EngineError> {
        let mut session = self.access.connect(OBSERVER)?;
        let missing = |text: String| Err(EngineError::Missing(text));
        match self.product {
            Product::AzureDatabase => {
                return missing(format!(
                    "{} is Azure SQL Database, which places its files itself: there is nothing to compare. \
                     What works there: `dbstow doctor` and `dbstow lint`. To compare placements take a server \
                     of your own, or a managed instance (number and size of files)",
                    self.access.server()
                ));
            }
            Product::ManagedInstance => {
                if let Some([one, other]) = alike(arms) {
                    return missing(format!(
                        "{} is a managed instance, which decides where files are, and the placements \"{one}\" and \
                         \"{other}\" have as many files of the same sizes: leave one out, or give the files in question \
                         sizes, such as --set placement.{other}.data.file_size=\"132 GiB\"",
                        self.access.server()
                    ));
                }
            }
            Product::Other => {
                return missing(format!(
                    "{} speaks T-SQL and is not a SQL Server (EngineEdition {}, such as Azure Synapse): its files cannot be \
                     placed; take a SQL Server of your own, or a managed instance",
                    self.access.server(),
                    self.identity.engine_edition
                ));
            }
            Product::Boxed if self.major < MAJOR_MIN => {
                return missing(format!(
                    "{} is SQL Server {}, and a run needs 2016 (version {MAJOR_MIN}) or later, or a managed instance",
                    self.access.server(),
                    self.identity.version
                ));
            }
            Product::Babelfish if self.volumes_end => {
                return missing(format!(
                    "{} is Babelfish, not SQL Server: it ignores where T-SQL puts files, so that modelled disks would stay \
                     unused; emulate with --engine postgres, or on a SQL Server",
                    self.access.server()
                ));
            }
            Product::Babelfish => {
                if let Some([one, other]) = placed_apart(arms) {
                    return missing(format!(
                        "{} is Babelfish, not SQL Server: it ignores where T-SQL puts files, and the placements \"{one}\" and \
                         \"{other}\" place them differently; compare placements with --engine postgres or on a SQL Server, \
                         or give all arms one placement",
                        self.access.server()
                    ));
                }
            }
            Product::Boxed => {}
        }
        let allowed = capture::read(&mut session, &question::PERMISSIONS, |row| {
            Ok((
                row.word("permission")?,
                row.flag("allowed")?.unwrap_or(false),
            ))
        });
        let allowed =
            allowed.map_err(|error| EngineError::failed("ask what the login may do", error))?;
        let allowed: BTreeMap<String, bool> = allowed.into_iter().collect();
        let moves = self
            .moves_tempdb
            .then(|| obstacle_to_moving_tempdb(&self.identity, &allowed));
        match moves.flatten() {
            Some(Obstacle::Cluster) => {
                return missing(format!(
                    "{} is a failover cluster instance: a restart may bring it up on another node, where tempdb's \
                     new directories need not be, and it does not start without them. `dbstow layout` writes the \
                     scripts for moving tempdb by hand; compare on a server of its own",
                    self.access.server()
                ));
            }
            // Missing permissions are reported after those that every run requires.
            Some(Obstacle::Service | Obstacle::Role | Obstacle::Unknown) | None => {}
        }
        let may = |permission: &str| allowed.get(permission).copied().unwrap_or(false);
        if !may("VIEW SERVER STATE") && !may("VIEW SERVER PERFORMANCE STATE") {
            let grant = question::Needs::ServerState
                .grant(self.major, self.product)
                .unwrap_or_default();
            return missing(format!(
                "the login may not see the server's counters, without which there is no reason to give: {grant}"
            ));
        }
        if !may("CREATE ANY DATABASE") {
            return missing(
                "the login may not make a database for the run: GRANT CREATE ANY DATABASE TO [login]".to_owned(),
            );
        }
        if moves.flatten().is_some() {
            return missing(format!(
                "the arms differ in where temporary space is, so that tempdb has to move, which takes a member of \
                 {MOVES_TEMPDB}: {MAKE_ADMINISTRATOR}"
            ));
        }
        if self.moves_tempdb && self.product == Product::Boxed {
            self.restart.check()?;
        }
        Ok(())
    }
}

/// Two placements whose files differ in location, number or size.
fn placed_apart(arms: &[Arm]) -> Option<[&str; 2]> {
    let (first, others) = arms.split_first()?;
    let one = &first.settings.placement;
    let mut others = others.iter().map(|arm| &arm.settings.placement);
    let other = others.find(|other| {
        Role::ALL
            .iter()
            .any(|role| other.files(*role) != one.files(*role))
    })?;
    Some([&one.name, &other.name])
}

/// Two placements that differ only in the location of their files.
fn alike(arms: &[Arm]) -> Option<[&str; 2]> {
    let sizes = |arm: &Arm, role| -> Vec<u64> {
        let files = arm.settings.placement.files(role).iter();
        files.map(database_files::bytes).collect()
    };
    let mut known: BTreeMap<Vec<Vec<u64>>, &str> = BTreeMap::new();
    arms.iter().find_map(|arm| {
        let shape = Role::COMMON.map(|role| sizes(arm, role)).to_vec();
        let name = arm.settings.placement.name.as_str();
        let other = known.insert(shape, name)?;
        (other != name).then_some([other, name])
    })
}
