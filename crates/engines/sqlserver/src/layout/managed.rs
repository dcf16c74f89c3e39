//! A managed instance: number, size and growth of files, but not their location.

use crate::capture::{Capture, FileKind, TEMPDB};
use crate::tsql::tempdb::{Kind, TempdbPlan};
use crate::tsql::{Alter, FileChange, FileSpec, Name, Size, Statement};
use askama::Template;
use model::{Bytes, Throughput};

use super::files::{self, Taken};
use super::filters;
use super::target::Target;
use catalogue::{Catalogue, Limit, Rule};
use experiment::spec::Role;
use layout::{LayoutError, LayoutRequest, README, Script};

/// Most files of an instance of the General Purpose tier; each takes 128 GiB internally.
///
/// Source of this and the next three:
/// <https://learn.microsoft.com/azure/azure-sql/managed-instance/resource-limits> and
/// <https://learn.microsoft.com/azure/azure-sql/managed-instance/tempdb-configure>, read 2026-11.
const FILES_MAX: usize = 280;
/// Most data files of tempdb.
const TEMPDB_FILES_MAX: usize = 128;
/// Longest logical name of a file of tempdb.
const TEMPDB_NAME_MAX: usize = 16;
/// Most space of tempdb for each virtual processor, General Purpose.
const TEMPDB_PER_CORE: Bytes = Bytes::gib(24);

/// What determines I/O there, and the order of the scripts.
#[derive(Template)]
#[template(path = "layout/managed/readme.md")]
struct Readme<'a> {
    request: &'a LayoutRequest,
    capture: &'a Capture,
    /// Files that are remote disks.
    remote_files: usize,
    /// Resulting data files.
    files: usize,
    steps: Vec<Step>,
}

/// The limits of files up to a size.
struct Step {
    up_to: Bytes,
    iops: u64,
    throughput: Throughput,
}

#[derive(Template)]
#[template(path = "layout/managed/tempdb-1-apply.sql", escape = "none")]
struct TempdbApply<'a> {
    plan: &'a TempdbPlan,
}

#[derive(Template)]
#[template(path = "layout/managed/tempdb-2-size.sql", escape = "none")]
struct TempdbSize<'a> {
    plan: &'a TempdbPlan,
    /// Whether a file is removed.
    removes: bool,
}

#[derive(Template)]
#[template(path = "layout/managed/tempdb-undo-1.sql", escape = "none")]
struct TempdbUndo<'a> {
    plan: &'a TempdbPlan,
}

#[derive(Template)]
#[template(path = "layout/managed/tempdb-undo-2.sql", escape = "none")]
struct TempdbAfterUndo<'a> {
    plan: &'a TempdbPlan,
}

#[derive(Template)]
#[template(path = "layout/managed/data-apply.sql", escape = "none")]
struct DataApply<'a> {
    database: &'a Name,
    apply: Vec<Statement>,
}

#[derive(Template)]
#[template(path = "layout/managed/data-undo.sql", escape = "none")]
struct DataUndo<'a> {
    database: &'a Name,
    undo: Vec<Statement>,
}

/// All scripts.
pub(super) fn scripts(
    request: &LayoutRequest,
    target: &Target,
) -> Result<Vec<Script>, LayoutError> {
    if let Some(volume) = request.folders.keys().next() {
        return Err(LayoutError::Impossible(format!(
            "--volume {volume}=..: a managed instance decides where its files are; leave it out: number, size and \
             growth of files are laid out"
        )));
    }
    let Some(capture) = &target.capture else {
        return Err(LayoutError::Capture(
            "what a managed instance calls its files is not known; add --capture FILE, which `dbstow doctor` writes"
                .to_owned(),
        ));
    };
    if request.has(Role::Log) {
        return Err(LayoutError::Impossible(
            "--role log: a managed instance has one log a database, which cannot be placed; leave it out".to_owned(),
        ));
    }
    let mut scripts = vec![Script::new(README, &readme(request, capture))];
    if request.has(Role::Temp) {
        scripts.extend(tempdb(request, target, capture)?);
    }
    if request.has(Role::Data) {
        scripts.extend(data(request, capture)?);
    }
    Ok(scripts)
}

fn tempdb(
    request: &LayoutRequest,
    target: &Target,
    capture: &Capture,
) -> Result<Vec<Script>, LayoutError> {
    let from = files::captured(capture)?.into_iter().map(|mut file| {
        file.path = None;
        file
    });
    let moved = files::planned(request, target, from.collect(), false)?;
    let count = moved.data.len();
    if count > TEMPDB_FILES_MAX {
        return Err(LayoutError::Impossible(format!(
            "tempdb is to have {count} data files, and a managed instance allows {TEMPDB_FILES_MAX}; ask for fewer (--files)"
        )));
    }
    let present = |name: &Name| moved.from.iter().any(|file| file.name == *name);
    let long = moved.data.iter().find(|file| {
        !present(&file.name) && file.name.text().encode_utf16().count() > TEMPDB_NAME_MAX
    });
    debug_assert!(long.is_none(), "names of ours are short: {long:?}");
    let bytes: u64 = moved
        .data
        .iter()
        .filter_map(|file| file.size)
        .map(Size::get)
        .fold(0, u64::saturating_add);
    let cores = capture
        .machine
        .processors
        .and_then(|cores| u64::try_from(cores).ok());
    if let Some(most) = cores
        .map(|cores| cores * TEMPDB_PER_CORE.0)
        .filter(|most| bytes > *most)
    {
        return Err(LayoutError::Space {
            volume: "tempdb of a managed instance".to_owned(),
            free: Bytes(most).to_string(),
            needed: Bytes(bytes).to_string(),
        });
    }
    let plan = moved.plan()?;
    let removes = moved
        .from
        .iter()
        .any(|file| file.kind == Kind::Data && moved.data.iter().all(|to| to.name != file.name));
    let plan = &plan;
    Ok(vec![
        Script::new("tempdb-1-apply.sql", &TempdbApply { plan }),
        Script::new("tempdb-2-size.sql", &TempdbSize { plan, removes }),
        Script::new("tempdb-undo-1.sql", &TempdbUndo { plan }),
        Script::new("tempdb-undo-2.sql", &TempdbAfterUndo { plan }),
    ])
}

/// Adds data files to a database, all of one size.
fn data(request: &LayoutRequest, capture: &Capture) -> Result<Vec<Script>, LayoutError> {
    let Some(name) = &request.database else {
        return Err(LayoutError::Database(
            "--role data: whose data? Add --database NAME".to_owned(),
        ));
    };
    let database = capture
        .databases
        .iter()
        .find(|known| known.name.eq_ignore_ascii_case(name));
    let Some(database) = database else {
        let known: Vec<&str> = capture
            .databases
            .iter()
            .map(|known| known.name.as_str())
            .collect();
        return Err(LayoutError::Database(format!(
            "--database {name}: the capture has no such database ({}); make it first, a managed instance takes no files \
             when it makes one",
            known.join(", ")
        )));
    };
    let own = capture
        .files
        .iter()
        .filter(|file| file.database_id == database.id);
    let own: Vec<_> = own.filter(|file| file.kind == FileKind::Rows).collect();
    let added = request.files(Role::Data).len().saturating_sub(own.len());
    if remote(capture) + added > FILES_MAX {
        return Err(LayoutError::Impossible(format!(
            "the instance has {} files besides tempdb's, and {added} more are over the {FILES_MAX} that General Purpose \
             allows; name an arm with fewer",
            remote(capture)
        )));
    }
    let largest = own.iter().map(|file| file.size_bytes).max().unwrap_or(0);
    let asked = files::size(request.files(Role::Data).iter().find_map(|file| file.size))?;
    let largest = files::size(Some(Bytes(u64::try_from(largest).unwrap_or(0))))?;
    let size = asked.max(largest);
    let database = Name::new(&database.name)?;
    let mut taken = Taken::empty(own.iter().map(|file| file.name.as_str()));
    let mut apply = Vec::new();
    let mut undo = vec![Statement::Use(database.clone())];
    for file in &own {
        let grows =
            size.filter(|size| i64::try_from(size.get()).is_ok_and(|size| size > file.size_bytes));
        let file = Name::new(&file.name)?;
        let change = grows.map(|size| Alter::Modify {
            file,
            change: FileChange::Size(size),
        });
        apply.extend(change.map(|change| Statement::alter(&database, change)));
    }
    for number in 0..added {
        let file = FileSpec {
            size,
            growth: Some(files::growth(request.growth)?),
            ..FileSpec::named(taken.name("data", own.len() + number + 1)?)
        };
        let name = file.name.clone();
        undo.push(Statement::Empty { file: name.clone() });
        undo.push(Statement::alter(&database, Alter::Remove(name)));
        apply.push(Statement::alter(&database, Alter::Add(file)));
    }
    let database = &database;
    Ok(vec![
        Script::new("data-apply.sql", &DataApply { database, apply }),
        Script::new("data-undo.sql", &DataUndo { database, undo }),
    ])
}

fn readme<'a>(request: &'a LayoutRequest, capture: &'a Capture) -> Readme<'a> {
    Readme {
        request,
        capture,
        remote_files: remote(capture),
        files: request.files(Role::Data).len().max(1),
        steps: steps(),
    }
}

/// Files that are remote disks, which excludes tempdb's.
fn remote(capture: &Capture) -> usize {
    let files = capture.files.iter();
    files.filter(|file| file.database_id != TEMPDB).count()
}

/// The catalogue's limits.
fn steps() -> Vec<Step> {
    let catalogue = Catalogue::builtin();
    let Ok(entry) = catalogue.disk("azure.mi_gp_file") else {
        return Vec::new();
    };
    let (Some(Limit::Shared(Rule::Tiers(tiers))), Some(Limit::Shared(throughput))) =
        (&entry.limits.iops, &entry.limits.throughput)
    else {
        return Vec::new();
    };
    let steps = tiers.iter().map(|tier| Step {
        up_to: tier.to,
        iops: tier.value.0,
        throughput: throughput.amount(tier.to, 0),
    });
    steps.collect()
}
