//! `1-check.sql`: asks the server whether the move can be run.

use crate::capture::MOVES_TEMPDB;
use crate::tsql::tempdb::TempdbFile;
use crate::tsql::{CreateDatabase, FilePath, FileSpec, Growth, Name, Statement};
use askama::Template;

use super::filters;
use super::placement::Placement;
use layout::Folder;
use layout::Script;

/// The database that is created and dropped to check whether the service can write.
const PROBE: &str = "dbstow-probe";

/// It makes no permanent changes.
#[derive(Template)]
#[template(path = "layout/check.sql", escape = "none")]
struct Check<'a> {
    /// The files that the scripts are written for.
    expected: Vec<Expected<'a>>,
    /// Locations where no other database may have a file.
    paths: Vec<&'a FilePath>,
    probe: Option<Probe>,
}

/// A file as shown in `sys.master_files`.
struct Expected<'a> {
    name: &'a str,
    path: &'a str,
    pages: u64,
    growth: u64,
    is_percent: u8,
}

/// Checks that the service can write in the folders, and their free space: `sys.dm_os_volume_stats` only covers volumes
/// that hold a file of a database.
struct Probe {
    create: Statement,
    drop: Statement,
    /// Its files, and how many bytes their folders must hold.
    needs: Vec<(Name, u64)>,
}

/// The script.
pub(super) fn script(placement: &Placement<'_>) -> Script {
    let check = Check {
        expected: placement.moved.from.iter().map(expected).collect(),
        paths: placement
            .to()
            .filter_map(|file| file.path.as_ref())
            .collect(),
        probe: probe(placement),
    };
    Script::new("1-check.sql", &check)
}

fn expected(file: &TempdbFile) -> Expected<'_> {
    let (growth, is_percent) = match file.growth {
        Growth::Never => (0, 0),
        Growth::By(size) => (size.pages(), 0),
        Growth::Percent(percent) => (u64::from(percent), 1),
    };
    Expected {
        name: file.name.text(),
        path: file.path.as_ref().map_or("", FilePath::text),
        pages: file.size.pages(),
        growth,
        is_percent,
    }
}

fn probe(placement: &Placement<'_>) -> Option<Probe> {
    let log = probe_log(placement.needs.keys().next()?)?;
    let files = placement
        .needs
        .iter()
        .enumerate()
        .filter_map(|(index, (folder, bytes))| Some((probe_file(folder, index)?, *bytes)));
    let (data, needs) = files
        .map(|(file, bytes)| (file.clone(), (file.name, bytes)))
        .unzip();
    let create = CreateDatabase {
        name: probe_name(),
        data,
        log: vec![log],
    };
    Some(Probe {
        create: Statement::Create(create),
        drop: Statement::Drop(probe_name()),
        needs,
    })
}

fn probe_name() -> Name {
    Name::new(PROBE).expect("a name of ours")
}

fn probe_file(folder: &Folder, index: usize) -> Option<FileSpec> {
    let end = if index == 0 { "mdf" } else { "ndf" };
    file(folder, &format!("{PROBE}-{index}"), end)
}

fn probe_log(folder: &Folder) -> Option<FileSpec> {
    file(folder, &format!("{PROBE}-log"), "ldf")
}

fn file(folder: &Folder, name: &str, end: &str) -> Option<FileSpec> {
    let path = FilePath::new(folder.file(&format!("{name}.{end}"))).ok()?;
    Some(FileSpec {
        path: Some(path),
        ..FileSpec::named(Name::new(name).ok()?)
    })
}
