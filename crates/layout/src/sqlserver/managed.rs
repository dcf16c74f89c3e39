//! A managed instance: number, size and growth of files, and no word about where they are.

use std::fmt::Write;

use model::Bytes;
use sqlserver::capture::{Capture, FileKind, TEMPDB};
use sqlserver::tsql::tempdb::{Kind, TempdbPlan};
use sqlserver::tsql::{Alter, FileChange, FileSpec, Name, Size, Statement, literal};

use super::super::quote::line;
use super::super::{LayoutError, LayoutRequest, README, Script, Target};
use super::batches;
use super::files::{self, Taken};
use super::steps::stop_if;
use catalogue::{Catalogue, Limit, Rule};
use experiment::spec::Role;

/// Most files of an instance of the General Purpose tier; each takes 128 GiB behind the scenes.
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

/// All scripts.
pub(super) fn scripts(wish: &LayoutRequest, target: &Target) -> Result<Vec<Script>, LayoutError> {
    if let Some(volume) = wish.folders.keys().next() {
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
    if wish.has(Role::Log) {
        return Err(LayoutError::Impossible(
            "--role log: a managed instance has one log a database, which cannot be placed; leave it out".to_owned(),
        ));
    }
    let mut scripts = vec![Script::new(README, guidance(wish, capture))];
    if wish.has(Role::Temp) {
        scripts.extend(tempdb(wish, target, capture)?);
    }
    if wish.has(Role::Data) {
        scripts.extend(data(wish, capture)?);
    }
    Ok(scripts)
}

fn tempdb(
    wish: &LayoutRequest,
    target: &Target,
    capture: &Capture,
) -> Result<Vec<Script>, LayoutError> {
    let from = files::captured(capture)?.into_iter().map(|mut file| {
        file.path = None;
        file
    });
    let moved = files::planned(wish, target, from.collect(), false)?;
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
    Ok(tempdb_scripts(&plan, removes))
}

fn tempdb_scripts(plan: &TempdbPlan, removes: bool) -> Vec<Script> {
    let failover = if removes {
        "-- A file that goes has to be empty: fail the instance over first (Invoke-AzSqlInstanceFailover), at a quiet\n\
         -- time, and run this before there is work.\n"
    } else {
        ""
    };
    let script = |name: &str, says: &str, statements: &[Statement]| {
        let text = format!("{says}{}{}{END}", start(), batches(statements));
        Script::new(name, text)
    };
    vec![
        script(
            "tempdb-1-apply.sql",
            "-- New files of tempdb.\n",
            &plan.apply,
        ),
        script(
            "tempdb-2-size.sql",
            &format!("-- Sizes and growth, and files that go.\n{failover}"),
            &plan.after_restart,
        ),
        script("tempdb-undo-1.sql", "-- The way back.\n", &plan.undo),
        script(
            "tempdb-undo-2.sql",
            "-- The rest of the way back. Files that were added have to be empty: fail over first.\n",
            &plan.after_undo,
        ),
    ]
}

const END: &str = "SET NOEXEC OFF;\nGO\n";

fn start() -> String {
    let guard = stop_if(
        "CAST(SERVERPROPERTY('EngineEdition') AS int) <> 8",
        "This is no managed instance, and these scripts are for one.",
    );
    format!("USE [master];\nGO\nSET NOCOUNT ON;\nGO\n{guard}")
}

/// More data files of a database, all of one size.
fn data(wish: &LayoutRequest, capture: &Capture) -> Result<Vec<Script>, LayoutError> {
    let Some(name) = &wish.database else {
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
    let added = wish.data.len().saturating_sub(own.len());
    if remote(capture) + added > FILES_MAX {
        return Err(LayoutError::Impossible(format!(
            "the instance has {} files besides tempdb's, and {added} more are over the {FILES_MAX} that General Purpose \
             allows; name an arm with fewer",
            remote(capture)
        )));
    }
    let largest = own.iter().map(|file| file.size_bytes).max().unwrap_or(0);
    let asked = files::size(wish.data.iter().find_map(|file| file.size))?;
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
            growth: Some(files::growth(wish.growth)?),
            ..FileSpec::named(taken.name("data", own.len() + number + 1)?)
        };
        let name = file.name.clone();
        undo.push(Statement::Empty { file: name.clone() });
        undo.push(Statement::alter(&database, Alter::Remove(name)));
        apply.push(Statement::alter(&database, Alter::Add(file)));
    }
    let says = "-- More data files, all of one size. Rows that are there stay where they are: rebuild the tables and\n\
                -- indexes afterwards (ALTER INDEX ALL ON .. REBUILD), so that they spread over all files.\n";
    let check = format!(
        "SELECT name, physical_name, CAST(size AS bigint) * 8 / 1024 AS mib FROM {database}.sys.database_files;\nGO\n"
    );
    let known = stop_if(
        &format!("DB_ID({}) IS NULL", literal(database.text())),
        "There is no such database.",
    );
    let apply = format!("{says}{}{known}{}{check}{END}", start(), batches(&apply));
    let undo = format!(
        "-- The way back: moves all rows to the files that were there, which takes its time, and removes the others.\n\
         -- Sizes stay as they are: shrinking data fragments it.\n{}{known}{}{END}",
        start(),
        batches(&undo)
    );
    Ok(vec![
        Script::new("data-apply.sql", apply),
        Script::new("data-undo.sql", undo),
    ])
}

/// What decides I/O there.
fn guidance(wish: &LayoutRequest, capture: &Capture) -> String {
    let mut text = format!(
        "# Managed instance: {}\n\n\
         None of these scripts has run on a managed instance yet; their T-SQL is parsed by Microsoft's own parser.\n\
         Written for the instance as captured on {}: {} {}, {} files besides tempdb's, of the\n\
         {FILES_MAX} that General Purpose allows.\n\n\
         tempdb is on a local SSD (at most {TEMPDB_PER_CORE} a virtual processor, 1 to {TEMPDB_FILES_MAX} data files, names of\n\
         {TEMPDB_NAME_MAX} characters at most); number, growth and MAXSIZE outlive restarts and failovers. Where files are is the\n\
         instance's business: `FILENAME` is refused.\n\n",
        line(&wish.title),
        line(&capture.taken),
        line(&capture.identity.edition),
        line(&capture.identity.version),
        remote(capture),
    );
    text += &order(wish);
    text += "On General Purpose every data file is a remote disk of its own, and its size decides what it may do:\n\n";
    text += &table();
    let files = wish.data.len().max(1);
    let _ = write!(
        text,
        "\nSo {files} files have {files} times the IOPS of one of their size. {} GiB are taken behind the scenes by every file,\n\
         however small, hence the limit of {FILES_MAX}.\n\n\
         - One file is enough for one reader at a time: a published test (dbstow's experiment `managed-instance-files`) read\n  \
           as fast from 4 small files as from 1 with one worker. With two workers 4 files took 37 s instead of 77 s.\n\
         - A larger file is the other way to more IOPS, and its empty space is paid for. The same test saw nothing of it\n  \
           from 1.5 to 132 GB, though the table promises it: measure.\n\
         - Files of one size and one growth are filled alike. More files than virtual processors are seldom of use.\n\n\
         The table is dbstow's catalogue entry `azure.mi_gp_file`; the next-gen General Purpose tier shares IOPS among files\n\
         and Business Critical has a local SSD: neither has this table.\n",
        128
    );
    text
}

/// Which script comes when.
fn order(wish: &LayoutRequest) -> String {
    let mut text =
        String::from("Order, each with `sqlcmd -b -x -i FILE` or in Management Studio:\n\n");
    if wish.has(Role::Temp) {
        text += "- tempdb: `tempdb-1-apply.sql`, `tempdb-2-size.sql`. Back: `tempdb-undo-1.sql`, a failover,\n  \
                 `tempdb-undo-2.sql`.\n";
    }
    if wish.has(Role::Data) {
        text +=
            "- Data: `data-apply.sql`, once; then rebuild the indexes. Back: `data-undo.sql`.\n";
    }
    text + "\n"
}

/// Files that are remote disks: tempdb's are not.
fn remote(capture: &Capture) -> usize {
    let files = capture.files.iter();
    files.filter(|file| file.database_id != TEMPDB).count()
}

/// The catalogue's steps.
fn table() -> String {
    let catalogue = Catalogue::builtin();
    let Ok(entry) = catalogue.disk("azure.mi_gp_file") else {
        return String::new();
    };
    let mut text = String::from("| file up to | IOPS | throughput |\n|---|---|---|\n");
    if let (Some(Limit::Shared(Rule::Tiers(iops))), Some(Limit::Shared(throughput))) =
        (&entry.limits.iops, &entry.limits.throughput)
    {
        for step in iops {
            let rate = throughput.amount(step.to, 0);
            text += &format!("| {} | {} | {rate} |\n", step.to, step.value.0);
        }
    }
    text
}
