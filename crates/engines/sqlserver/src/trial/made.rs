//! A trial's database: created empty, or restored from a backup for the statements of a log.

use std::sync::Arc;

use host::site::Site;

use super::database_files::{self, Directories, Placed};
use super::{Backup, OBSERVER, ServerRun, SqlServer};
use crate::capture::{self, Product};
use crate::session::Driver;
use crate::tsql::{
    Alter, CreateDatabase, DatabaseOption, Durability, FileChange, Name, NameError, Restore,
    Statement, question,
};
use ::engine::EngineError;
use experiment::spec::{Commit, Role, Settings};

impl SqlServer {
    /// Creates it, empty.
    pub(super) fn create(&self, session: &mut Driver, own: &[Placed]) -> Result<(), EngineError> {
        let create = database_files::create(&self.name, own);
        if self.run.product() != Product::ManagedInstance {
            return self.run.execute(session, &Statement::Create(create));
        }
        // A managed instance accepts no files in CREATE DATABASE; it creates one of each, and others can be added.
        let bare = CreateDatabase {
            data: Vec::new(),
            log: Vec::new(),
            ..create.clone()
        };
        self.run.execute(session, &Statement::Create(bare))?;
        let number = self.number_of(session)?;
        let there = capture::files(session)
            .map_err(|error| EngineError::failed("look at the files that were made", error))?;
        for (kind, asked) in [
            (capture::FileKind::Rows, create.data.first()),
            (capture::FileKind::Log, create.log.first()),
        ] {
            let of_kind = |file: &&capture::File| file.database_id == number && file.kind == kind;
            let made = there.iter().find(of_kind);
            let (Some(made), Some(size)) = (made, asked.and_then(|asked| asked.size)) else {
                continue;
            };
            if u64::try_from(made.size_bytes).is_ok_and(|bytes| bytes >= size.get()) {
                continue;
            }
            let wrong = |error: NameError| EngineError::Missing(error.to_string());
            let file = Name::new(made.name.as_str()).map_err(wrong)?;
            let change = FileChange::Size(size);
            self.run.execute(
                session,
                &Statement::alter(&self.name, Alter::Modify { file, change }),
            )?;
        }
        create.data.into_iter().skip(1).try_for_each(|file| {
            self.run
                .execute(session, &Statement::alter(&self.name, Alter::Add(file)))
        })
    }

    pub(super) fn set_options(
        &self,
        session: &mut Driver,
        settings: &Settings,
    ) -> Result<(), EngineError> {
        options(settings, self.run.product())
            .into_iter()
            .try_for_each(|option| {
                let alter = Alter::Set(option);
                self.run
                    .execute(session, &Statement::alter(&self.name, alter))
            })
    }

    /// Moves tempdb to its place if arms differ in it, and restores a backup to files on the site's volumes, under a name of its own.
    ///
    /// # Errors
    /// When the server refuses; with its error, and the remedy.
    ///
    /// # Panics
    /// When the site does not have the settings' volumes.
    pub(crate) fn restored(
        run: Arc<ServerRun>,
        site: &dyn Site,
        settings: &Settings,
        backup: &Arc<Backup>,
    ) -> Result<SqlServer, EngineError> {
        let mut engine = SqlServer::of(run, 0);
        engine.backup = Some(Arc::clone(backup));
        engine.made(site, settings)
    }

    /// The files of the copy, by the names that they have in the backup.
    pub(super) fn files_of(
        &self,
        backup: &Backup,
        settings: &Settings,
        directories: Directories<'_>,
    ) -> Result<Vec<Placed>, EngineError> {
        let placement = &settings.placement;
        let mut data = 0;
        let mut files = Vec::new();
        for (number, file) in (1..).zip(&backup.files) {
            let (role, place, ending) = match file.is_log {
                true => (Role::Log, &placement.log, "ldf"),
                false => {
                    data += 1;
                    let place = &placement.data[(data - 1) % placement.data.len()];
                    (Role::Data, place, if data == 1 { "mdf" } else { "ndf" })
                }
            };
            let physical = format!("{}_{number}.{ending}", self.name.text());
            files.push(database_files::placed(
                role,
                file.name.text(),
                &physical,
                place,
                settings,
                directories,
            )?);
        }
        Ok(files)
    }

    pub(super) fn restore(
        &self,
        session: &mut Driver,
        backup: &Backup,
        files: &[Placed],
    ) -> Result<(), EngineError> {
        let moves = files.iter().filter_map(|file| {
            let path = file.spec.path.as_ref()?;
            Some((file.spec.name.clone(), path.clone()))
        });
        let restore = Restore::Database {
            name: self.name.clone(),
            from: backup.path.clone(),
            position: backup.position,
            moves: moves.collect(),
        };
        self.run.execute(session, &restore)
    }

    /// A connection for a session of the log.
    #[cfg(target_os = "linux")]
    pub(super) fn logged(&self) -> Result<crate::rehearse::LoggedTrialSession, EngineError> {
        let backup = self.backup.as_ref().ok_or_else(|| {
            EngineError::Missing("this trial's database is not from a backup".to_owned())
        })?;
        let watch = self.interruptions.watch();
        let mut connection = self.run.access().connect(super::SESSION)?;
        super::execute::execute(&mut connection, &Statement::Use(self.name.clone()))?;
        self.cancellers().push(connection.canceller());
        let database = (backup.database.clone(), self.name.clone());
        Ok(crate::rehearse::LoggedTrialSession::new(
            connection, watch, database,
        ))
    }
}

/// Options of the database; a managed instance keeps its recovery model.
fn options(settings: &Settings, product: Product) -> Vec<DatabaseOption> {
    let mut options = Vec::new();
    if product == Product::Boxed {
        options.push(DatabaseOption::RecoverySimple);
    }
    if settings.engine.versions.is_some() {
        options.push(DatabaseOption::ReadCommittedSnapshot(true));
    }
    if settings.engine.commit == Commit::Relaxed {
        options.push(DatabaseOption::DelayedDurability(Durability::Forced));
    }
    options
}

impl ServerRun {
    /// What is in the backup that trials restore, if the server can do that.
    ///
    /// # Errors
    /// What is in the way, with the remedy.
    pub(super) fn backup(&self, path: &str) -> Result<Backup, EngineError> {
        let mut session = self.access().connect(OBSERVER)?;
        let backup = Backup::read(&mut session, path)?;
        let databases = capture::read(&mut session, &question::DATABASES, |row| row.word("name"));
        let databases = databases
            .map_err(|error| EngineError::failed("ask which databases there are", error))?;
        backup.check(self.product(), self.major(), &databases)?;
        Ok(backup)
    }
}
