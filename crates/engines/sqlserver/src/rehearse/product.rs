//! SQL Server, as a product that is rehearsed on a server of the user's: it restores the backup for each trial.

use std::path::Path;
use std::sync::Arc;

use host::orphans::Registration;
use model::Bytes;

use super::read;
use crate::capture;
use crate::trial::{Access, Backup, OBSERVER};
use engine::logged::{LogError, LogRequest, StatementLog};
use engine::rehearsed::{BackupFacts, LogFile, RehearsalProvider, RehearsedProduct};
use engine::{EngineError, Options, Patience, ProductOptions};

/// SQL Server's rehearsals.
pub(crate) struct Rehearsal;

impl RehearsalProvider for Rehearsal {
    fn product(
        &self,
        _options: &ProductOptions,
        _registration: &Arc<Registration>,
    ) -> Result<Arc<dyn RehearsedProduct>, EngineError> {
        Err(EngineError::Missing(
            "a backup of SQL Server is restored by a server of yours; add --server sqlserver://USER@HOST".to_owned(),
        ))
    }

    fn is_on_server(&self) -> bool {
        true
    }

    fn on_server(
        &self,
        options: &Options,
        patience: &Patience,
    ) -> Result<Arc<dyn RehearsedProduct>, EngineError> {
        let server = options.server.as_deref().unwrap_or_default();
        let access = Access::new(server, &options.of_product)?.with_patience(patience);
        Ok(Arc::new(Rehearsed { access }))
    }
}

/// SQL Server, rehearsed on one.
struct Rehearsed {
    access: Access,
}

impl RehearsedProduct for Rehearsed {
    fn name(&self) -> &'static str {
        "SQL Server"
    }

    fn owner(&self) -> Option<(u32, u32)> {
        None
    }

    fn inspect(&self, backup: &Path) -> Result<BackupFacts, EngineError> {
        let mut session = self.access.connect(OBSERVER)?;
        let found = Backup::read(&mut session, &backup.display().to_string())?;
        let server = self.access.server();
        let identity = capture::identity(&mut session)
            .map_err(|error| EngineError::failed("ask the server what it is", error))?
            .0;
        let sizes = found.files.iter().map(|file| file.bytes);
        let size = sizes.fold(0, u64::saturating_add);
        Ok(BackupFacts {
            version: found.version,
            // With what tells it from another one at that path, as far as the server's answer is read.
            kind: format!(
                "full backup of {} (number {} of its file, {} bytes), restored by {server}",
                found.database, found.position, found.bytes
            ),
            size: Bytes(size),
            assumed: assumed(&server, &identity.version),
            databases: Some(vec![found.database]),
            ..BackupFacts::default()
        })
    }

    fn read_log(&self, log: LogFile<'_>, asked: &LogRequest) -> Result<StatementLog, LogError> {
        read::read_log(log.path, log.file, asked)
    }
}

/// What stands beside each answer.
fn assumed(server: &str, version: &str) -> Vec<String> {
    vec![
        "not yet run on SQL Server: a rehearsal was run against a double of it alone, T-SQL and client against Babelfish 4.4"
            .to_owned(),
        format!(
            "processors, memory and settings are those of {server} (version {version}), whatever the layouts' machines have; its max \
             server memory stays as it is"
        ),
        "all sessions log in as the login of --server: what was denied to the log's logins may be allowed here, and names without a schema \
         may mean others"
            .to_owned(),
        "transactions that clients begin by the protocol are known where the log has begin_tran_completed, commit_tran_completed and \
         rollback_tran_completed, which WorkloadTools does not keep; elsewhere each of their statements commits on its own, and more is \
         written to the log of the database"
            .to_owned(),
        "files are as many and as large as in the backup; data files go to the placement's volumes for data in turn".to_owned(),
    ]
}
