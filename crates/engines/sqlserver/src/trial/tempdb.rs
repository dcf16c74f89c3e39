//! Moves tempdb to an arm's location, and back: its files only move at a restart of the server.
//!
//! ```text
//!  as it is ─► journal ─► apply ─► restart ─► look: is it there? ─► sizes ─► look: is it so?
//!     ▲                   (a script for the user, where no restart command was given)
//!     └──────────────── undo ◄─ restart ◄─ end of the run, Ctrl-C, or the next start after a crash
//! ```

use std::fs;

use crate::capture::{self, FileKind, Product, TEMPDB};
use crate::session::Driver;
use crate::tsql::tempdb::{Kind, TempdbFile, TempdbMove, TempdbPlan};
use crate::tsql::{CreateDatabase, FilePath, FileSpec, Name, Size, Statement, question, script};
use files::{Readers, write_whole};

use super::OBSERVER;
use crate::trial::database_files::{self, Directories, Placed};
use crate::trial::restart::{Awaited, By, Way};
use crate::trial::run::ServerRun;
use crate::trial::steps::{execute, execute_after_restart};
use engine::EngineError;
use experiment::spec::Settings;

/// Moves tempdb to the temporary space of `settings`. Returns its files, with their volumes.
pub(crate) fn bring(
    run: &ServerRun,
    settings: &Settings,
    directories: Directories<'_>,
) -> Result<Vec<Placed>, EngineError> {
    let mut session = run.to_restore().connect(OBSERVER)?;
    let present = captured(&mut session)?;
    let files = files(&present)?;
    let directories = directories.filter(|_| run.product() != Product::ManagedInstance);
    let (data, log) = database_files::tempdb(run.mark(), &files, settings, directories)?;
    let specs = |placed: &[Placed]| {
        placed
            .iter()
            .map(|file| file.spec.clone())
            .collect::<Vec<FileSpec>>()
    };
    let wanted = Wanted {
        data: specs(&data),
        log: specs(&log),
    };
    let placed: Vec<Placed> = data.into_iter().chain(log).collect();
    if wanted.missing(&mut session)?.is_none() && wanted.has_sizes_of(&files) {
        return Ok(placed);
    }
    let first = run.journal().changes().tempdb.is_empty();
    if first
        && present
            .iter()
            .any(|file| database_files::is_ours(&file.path))
    {
        return Err(EngineError::Missing(
            "tempdb is where another run of dbstow has put it, which was killed and is not known here; put it back \
             first: run dbstow again as that user on that machine, or use its undo.sql"
                .to_owned(),
        ));
    }
    for directory in directories.unwrap_or_default() {
        let here = placed.iter().filter(|file| {
            let path = file.spec.path.as_ref();
            path.is_some_and(|path| database_files::is_in(directory, path.text()))
        });
        let bytes = here
            .filter_map(|file| file.spec.size)
            .map(|size| size.get())
            .sum();
        prove(run, &mut session, directory, bytes)?;
    }
    if first {
        run.note(|changes| changes.tempdb = present)?;
    }
    drop(session);
    change(run, files, &wanted, Way::There)?;
    let mut session = run.to_restore().connect(OBSERVER)?;
    match wanted.missing(&mut session)? {
        None => Ok(placed),
        Some(what) => Err(EngineError::failed(
            "move tempdb",
            format!("the server was restarted, and {what}; look at its error log"),
        )),
    }
}

/// Creates a database of `bytes` in a directory and drops it again: a server whose tempdb cannot be created, or does not fit,
/// does not start, and `ALTER DATABASE tempdb` does not check this.
fn prove(
    run: &ServerRun,
    session: &mut Driver,
    directory: &str,
    bytes: u64,
) -> Result<(), EngineError> {
    if directory.is_empty() || bytes == 0 {
        return Ok(());
    }
    let name = format!("dbstow_probe_{}", run.mark());
    let size = Size::bytes(bytes).map_err(|error| EngineError::Missing(error.to_string()))?;
    let file = |end: &str| -> Result<FileSpec, EngineError> {
        let wrong = |error: &dyn std::fmt::Display| EngineError::Missing(error.to_string());
        let path = FilePath::new(database_files::join(directory, &format!("{name}.{end}")));
        let logical = Name::new(format!("{name}_{end}")).map_err(|error| wrong(&error))?;
        Ok(FileSpec {
            path: Some(path.map_err(|error| wrong(&error))?),
            ..FileSpec::named(logical)
        })
    };
    let create = CreateDatabase {
        name: Name::new(name.as_str()).expect("a name"),
        data: vec![FileSpec {
            size: Some(size),
            ..file("mdf")?
        }],
        log: vec![file("ldf")?],
    };
    run.note(|changes| changes.databases.push(name.clone()))?;
    let made = run.execute(session, &Statement::Create(create));
    // On a separate session: the next statement on an interrupted one is cancelled as well.
    let mut session = run.to_restore().connect(OBSERVER)?;
    let dropped = run.drop_database(&mut session, &name);
    made?;
    dropped.map_err(|error| EngineError::failed(format!("drop {name}"), error))
}

/// Restores tempdb to its location in the journal.
pub(crate) fn put_back(run: &ServerRun) -> Result<(), EngineError> {
    let original = run.journal().changes().tempdb.clone();
    let rescue = run.rescue();
    run.restart()
        .await_it(run.to_restore(), run.awaited(&rescue))?;
    let mut session = run.to_restore().connect(OBSERVER)?;
    let present = files(&captured(&mut session)?)?;
    let back = files(&original)?;
    let of = |kind| {
        back.iter()
            .filter(move |file| file.kind == kind)
            .map(TempdbFile::spec)
            .collect()
    };
    let wanted = Wanted {
        data: of(Kind::Data),
        log: of(Kind::Log),
    };
    let there = wanted.missing(&mut session)?.is_none();
    drop(session);
    if !there || present != back {
        change(run, present, &wanted, Way::Back)?;
        let mut session = run.to_restore().connect(OBSERVER)?;
        if let Some(what) = wanted.missing(&mut session)? {
            return Err(EngineError::failed(
                "put tempdb back",
                format!(
                    "the server was restarted, and {what}; the files it had are in {}",
                    run.journal().path().display()
                ),
            ));
        }
    }
    // The scripts were for this move, which is complete.
    let _ = fs::remove_dir_all(run.scripts());
    run.note(|changes| changes.tempdb.clear())
}

/// Target location of tempdb.
struct Wanted {
    data: Vec<FileSpec>,
    log: Vec<FileSpec>,
}

impl Wanted {
    /// Whether the existing files start with the target sizes.
    fn has_sizes_of(&self, files: &[TempdbFile]) -> bool {
        self.data.iter().chain(&self.log).all(|wanted| {
            let known = files
                .iter()
                .find(|file| file.name.text().eq_ignore_ascii_case(wanted.name.text()));
            known.is_some_and(|known| wanted.size.is_none_or(|size| size == known.size))
        })
    }

    /// Maximum number of bytes that a start zeroes.
    fn zeroed(&self, present: &[TempdbFile], instant: bool) -> u64 {
        let of = |kind: Kind, wanted: &[FileSpec]| -> u64 {
            let before = present.iter().filter(|file| file.kind == kind);
            let before: u64 = before.map(|file| file.size.get()).sum();
            let after = wanted.iter().filter_map(|file| file.size);
            before.max(after.map(Size::get).sum())
        };
        let data = if instant {
            0
        } else {
            of(Kind::Data, &self.data)
        };
        data + of(Kind::Log, &self.log)
    }

    /// The first difference of the files in use from the target, if any.
    fn missing(&self, session: &mut Driver) -> Result<Option<String>, EngineError> {
        let in_use = in_use(session)?;
        for (is_log, wanted) in [(false, &self.data), (true, &self.log)] {
            let there = in_use.iter().filter(|file| file.is_log == is_log).count();
            if there != wanted.len() {
                let kind = if is_log { "log" } else { "data" };
                let wanted = wanted.len();
                return Ok(Some(format!(
                    "tempdb has {there} {kind} files, not {wanted}"
                )));
            }
        }
        Ok(self.elsewhere(&in_use))
    }

    /// The first file that is not at its target location; other files are ignored.
    fn elsewhere(&self, in_use: &[InUse]) -> Option<String> {
        let placed = |wanted: &FileSpec, is_log: bool| {
            let same = |file: &&InUse| {
                file.is_log == is_log && file.name.eq_ignore_ascii_case(wanted.name.text())
            };
            let path = wanted.path.as_ref().map(FilePath::text);
            let known = in_use.iter().find(same);
            known.is_some_and(|file| path.is_none_or(|path| path.eq_ignore_ascii_case(&file.path)))
        };
        let data = self.data.iter().map(|file| (file, false));
        let mut all = data.chain(self.log.iter().map(|file| (file, true)));
        let (file, _) = all.find(|(file, is_log)| !placed(file, *is_log))?;
        let path = file.path.as_ref().map(FilePath::text);
        let at = path.map(|path| format!(" at {path}")).unwrap_or_default();
        Some(format!("tempdb has no file {}{at}", file.name))
    }
}

/// A file that tempdb uses now.
struct InUse {
    is_log: bool,
    name: String,
    path: String,
}

fn in_use(session: &mut Driver) -> Result<Vec<InUse>, EngineError> {
    let files = capture::read(session, &question::TEMPDB_IN_USE, |row| {
        Ok(InUse {
            is_log: row.word("kind")? == "LOG",
            name: row.word("name")?,
            path: row.word("path")?,
        })
    });
    files.map_err(|error| EngineError::failed("look at tempdb's files", error))
}

/// Moves tempdb, with a restart.
fn change(
    run: &ServerRun,
    from: Vec<TempdbFile>,
    wanted: &Wanted,
    way: Way,
) -> Result<(), EngineError> {
    let (data, log) = (wanted.data.clone(), wanted.log.clone());
    let paths = from.iter().filter_map(|file| file.path.as_ref());
    let ours = paths
        .map(|path| path.text())
        .filter(|path| database_files::is_ours(path));
    let behind: Vec<String> = ours.map(str::to_owned).collect();
    let present = from.clone();
    let plan = TempdbMove { from, data, log }.plan();
    let plan = plan.map_err(|error| EngineError::Missing(error.to_string()))?;
    if run.product() == Product::ManagedInstance {
        // Its files are added and removed while it runs; there is no restart to wait for.
        execute(run, &plan.apply, way)?;
        return execute(run, &plan.after_restart, way);
    }
    let todo = write(run, &plan, &present, wanted)?;
    let zeroed = zeroed(run, &present, wanted)?;
    if let By::Command(_) = run.restart().by {
        execute(run, &plan.apply, way)?;
    }
    // A server that starts with little memory may reject all logins.
    run.restore_memory()?;
    let rescue = run.rescue();
    let awaited = Awaited {
        rescue: &rescue,
        way,
        zeroed,
    };
    run.restart().execute(run.to_restore(), &todo, awaited)?;
    let mut session = run.to_restore().connect(OBSERVER)?;
    if let Some(what) = wanted.elsewhere(&in_use(&mut session)?) {
        // Sizes apply only to the new location.
        let why = match run.restart().by {
            By::Command(_) | By::NoOne => "look at its error log",
            By::User(_) => "apply.sql was not run to completion",
        };
        return Err(EngineError::failed(
            "move tempdb",
            format!("the server was restarted, and {what}: {why}"),
        ));
    }
    drop(session);
    run.leave_behind(behind);
    execute_after_restart(run, &plan.after_restart, awaited)
}

/// Maximum number of bytes that a start of the server must zero: every log, and data files unless the service is known to create
/// them without zeroing. Each file counts with the larger of its old and target size: which one a start finds depends on the
/// direction.
fn zeroed(run: &ServerRun, present: &[TempdbFile], wanted: &Wanted) -> Result<u64, EngineError> {
    let mut session = run.to_restore().connect(OBSERVER)?;
    // Without permission to query it, the longer time applies.
    let services = capture::services(&mut session).unwrap_or_default();
    let instant = capture::instant_file_initialization(&services) == Some(true);
    Ok(wanted.zeroed(present, instant))
}

/// Writes the scripts, and returns instructions. Rollback scripts lead to the location of tempdb before the run, regardless of
/// moves since.
fn write(
    run: &ServerRun,
    plan: &TempdbPlan,
    present: &[TempdbFile],
    wanted: &Wanted,
) -> Result<String, EngineError> {
    let folder = run.scripts();
    let failed = |error: &dyn std::error::Error| {
        EngineError::failed(format!("write scripts to {}", folder.display()), error)
    };
    // Beside the journal, in a folder that only this user can write to.
    if !folder.is_dir() {
        fs::create_dir(folder).map_err(|error| failed(&error))?;
    }
    let original = files(&run.journal().changes().tempdb)?;
    let back = way_back(original, present, wanted)?;
    let rescue = run.rescue();
    for (path, statements) in [
        (folder.join("apply.sql"), &plan.apply),
        (folder.join("undo.sql"), &back.undo),
        (folder.join("after-undo.sql"), &back.after_undo),
        (rescue.clone(), &back.rescue),
    ] {
        write_whole(&path, script(statements).as_bytes(), Readers::Umask)
            .map_err(|error| failed(&error))?;
    }
    let sqlcmd = run.to_restore().sqlcmd();
    let command = |file: &str| format!("{sqlcmd} -i \"{}\"", folder.join(file).display());
    Ok(format!(
        "tempdb must be moved and the server restarted:\n  1. {}\n  2. restart the service\n\
         To roll back: {}, restart, {} (where that says a file is in use, 5042 or 5054, restart and run it again).\n\
         If the server does not start: {}; see `dbstow layout --help`.",
        command("apply.sql"),
        command("undo.sql"),
        command("after-undo.sql"),
        rescue.display(),
    ))
}

/// Plan to move tempdb back to its `original` files, from either `present` or `wanted`.
fn way_back(
    original: Vec<TempdbFile>,
    present: &[TempdbFile],
    wanted: &Wanted,
) -> Result<TempdbPlan, EngineError> {
    let of = |kind: Kind, wanted: &[FileSpec]| -> Vec<FileSpec> {
        let first = original.iter().find(|file| file.kind == kind);
        let is_first = |file: &FileSpec| first.is_some_and(|first| same(&first.name, &file.name));
        let is_home = |file: &FileSpec| {
            let home = original.iter().find(|home| same(&home.name, &file.name));
            home.is_some_and(|home| home.path == file.path)
        };
        let there = present.iter().filter(|file| file.kind == kind);
        let there: Vec<FileSpec> = there.map(TempdbFile::spec).collect();
        // The locations that files must leave. A file that was never moved may have been removed: files omitted here are added
        // again if missing, except the first, which cannot be removed.
        let (moved, home): (Vec<&FileSpec>, Vec<&FileSpec>) =
            wanted.iter().chain(&there).partition(|file| !is_home(file));
        let firsts = home.into_iter().filter(|file| is_first(file));
        let mut away: Vec<FileSpec> = Vec::new();
        for file in moved.into_iter().chain(firsts) {
            match away.iter_mut().find(|other| same(&other.name, &file.name)) {
                // No file may be larger than before when it returns.
                Some(known) => known.size = known.size.max(file.size),
                None => away.push(file.clone()),
            }
        }
        away
    };
    let away = TempdbMove {
        data: of(Kind::Data, &wanted.data),
        log: of(Kind::Log, &wanted.log),
        from: original.clone(),
    };
    away.plan()
        .map_err(|error| EngineError::Missing(error.to_string()))
}

fn same(one: &Name, other: &Name) -> bool {
    one.text().eq_ignore_ascii_case(other.text())
}

/// tempdb's files as of the next start.
fn captured(session: &mut Driver) -> Result<Vec<capture::File>, EngineError> {
    let files = capture::files(session)
        .map_err(|error| EngineError::failed("look at tempdb's files", error))?;
    Ok(files
        .into_iter()
        .filter(|file| file.database_id == TEMPDB)
        .collect())
}

fn files(captured: &[capture::File]) -> Result<Vec<TempdbFile>, EngineError> {
    let known = captured
        .iter()
        .filter(|file| matches!(file.kind, FileKind::Rows | FileKind::Log));
    let files: Result<Vec<TempdbFile>, _> = known.map(TempdbFile::of).collect();
    files.map_err(|error| EngineError::Missing(error.to_string()))
}

#[cfg(test)]
mod tests;
