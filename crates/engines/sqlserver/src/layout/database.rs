//! Creates a database with its files placed as an arm has them.

use std::collections::{BTreeMap, BTreeSet};

use crate::tsql::{CreateDatabase, FilePath, FileSpec, Name, Statement};
use askama::Template;

use super::filters;
use super::placement::enough;
use super::service::Service;
use super::target::Target;
use super::{files, linux, windows};
use experiment::spec::Role;
use layout::Folder;
use layout::{LayoutError, LayoutRequest, Platform, Script};

#[derive(Template)]
#[template(path = "layout/database-create.sql", escape = "none")]
struct Create<'a> {
    title: &'a str,
    name: &'a str,
    service: &'a Service,
    /// Name of the script that creates the folders.
    folder_script: &'a str,
    /// A volume that comes back empty.
    lost: Option<&'a String>,
    create: Statement,
}

#[derive(Template)]
#[template(path = "layout/database-undo.sql", escape = "none")]
struct Undo {
    drop: Statement,
}

/// `CREATE DATABASE` with its folders and its rollback.
pub(super) fn scripts(
    request: &LayoutRequest,
    target: &Target,
) -> Result<Vec<Script>, LayoutError> {
    let Some(name) = &request.database else {
        return Err(LayoutError::Database(
            "--role data: whose data? Add --database NAME of a database that is to be made"
                .to_owned(),
        ));
    };
    let known = target.capture.iter().flat_map(|capture| &capture.databases);
    if known
        .clone()
        .any(|database| database.name.to_lowercase() == name.to_lowercase())
    {
        return Err(LayoutError::Database(format!(
            "--database {name}: it is there already, and layout makes new ones only; take another name, or move its files \
             by hand (https://learn.microsoft.com/sql/relational-databases/databases/move-user-databases)"
        )));
    }
    let service = Service::new(
        request.service.as_deref(),
        target.on,
        target.capture.as_ref(),
    )?;
    let (create, needs) = create(request, target, name)?;
    enough(target, &needs)?;
    check_paths(target, &create)?;
    let folders: Vec<Folder> = needs.into_keys().collect();
    let folder_script = match target.on {
        Platform::Linux => linux::folders("database-", &folders),
        Platform::Windows | Platform::ManagedInstance | Platform::AzureSqlDatabase => {
            windows::folders("database-", &service, &folders, &[])
        }
    };
    let undo = Undo {
        drop: Statement::Drop(create.name.clone()),
    };
    let create = Create {
        title: &request.title,
        name,
        service: &service,
        folder_script: &folder_script.name,
        lost: lost(request),
        create: Statement::Create(create),
    };
    Ok(vec![
        Script::new("database-create.sql", &create),
        Script::new("database-undo.sql", &undo),
        folder_script,
    ])
}

type Needs = BTreeMap<Folder, u64>;

fn create(
    request: &LayoutRequest,
    target: &Target,
    name: &str,
) -> Result<(CreateDatabase, Needs), LayoutError> {
    let stem: String = name.chars().map(plain).collect();
    let mut needs = Needs::new();
    let mut made = |role: Role| -> Result<Vec<FileSpec>, LayoutError> {
        let mut specs = Vec::new();
        for (number, file) in (1..).zip(request.files(role)) {
            let folder = request.folder(&file.volume, target.style())?;
            let size = files::size(file.size)?;
            *needs.entry(folder.clone()).or_insert(0) += size.map_or(0, |size| size.get());
            let end = match (role, number) {
                (Role::Log | Role::Binlog, _) => "ldf",
                (Role::Data | Role::Temp | Role::Undo | Role::Doublewrite, 1) => "mdf",
                (Role::Data | Role::Temp | Role::Undo | Role::Doublewrite, _) => "ndf",
            };
            let called = format!("{role}{number}");
            specs.push(FileSpec {
                path: Some(FilePath::new(
                    folder.file(&format!("{stem}_{called}.{end}")),
                )?),
                size,
                growth: Some(files::growth(request.growth)?),
                ..FileSpec::named(Name::new(called)?)
            });
        }
        Ok(specs)
    };
    let data = made(Role::Data)?;
    let log = match request.has(Role::Log) {
        true => made(Role::Log)?,
        false => Vec::new(),
    };
    let name = Name::new(name)?;
    Ok((CreateDatabase { name, data, log }, needs))
}

/// A volume of data or log that comes back empty.
fn lost(request: &LayoutRequest) -> Option<&String> {
    let roles = [Role::Data, Role::Log];
    let roles = roles.into_iter().filter(|role| request.has(*role));
    let mut volumes = roles
        .flat_map(|role| request.files(role))
        .map(|file| &file.volume);
    volumes.find(|volume| request.ephemeral.contains(*volume))
}

/// A letter for a file name, whatever the database's name.
fn plain(letter: char) -> char {
    if letter.is_alphanumeric() || "-_. ".contains(letter) {
        letter
    } else {
        '_'
    }
}

fn check_paths(target: &Target, create: &CreateDatabase) -> Result<(), LayoutError> {
    let files = target.capture.iter().flat_map(|capture| &capture.files);
    let taken: BTreeSet<String> = files.map(|file| file.path.to_lowercase()).collect();
    let mut paths = create
        .data
        .iter()
        .chain(&create.log)
        .filter_map(|file| file.path.as_ref());
    match paths.find(|path| taken.contains(&path.text().to_lowercase())) {
        None => Ok(()),
        Some(path) => Err(LayoutError::Database(format!(
            "{}: another database has this file; give the database another name, or another folder",
            path.text()
        ))),
    }
}
