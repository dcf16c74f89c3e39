//! Locations of a trial's files: those of its own database, and those of tempdb.

use crate::tsql::tempdb::{Kind, TempdbFile};
use crate::tsql::{CreateDatabase, FilePath, FileSpec, Growth, MaxSize, Name, PathError, Size};

use engine::EngineError;
use experiment::spec::{File, Role, Settings};

/// Default size of a file, and the growth step: SQL Server's own, from 2016
/// on, is a growth of 64 MB.
const STEP_MIB: u32 = 64;

const MIB: u64 = 1 << 20;

/// Prefix of the name of every file that a run places in a directory.
const PREFIX: &str = "dbstow_";

/// Whether a path belongs to a tempdb file placed by a run.
pub(crate) fn is_ours(path: &str) -> bool {
    let name = path.rsplit(['\\', '/']).next().unwrap_or(path);
    name.starts_with(PREFIX) && name.contains("_temp")
}

/// A file, and the index of its volume in the arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) role: Role,
    pub(crate) volume: usize,
    pub(crate) spec: FileSpec,
}

/// Directories of the arm's volumes as the server sees them; `None` if the server places files itself.
pub(crate) type Directories<'a> = Option<&'a [String]>;

/// The files of a database of our own, data first.
pub(crate) fn database(
    name: &Name,
    settings: &Settings,
    directories: Directories<'_>,
) -> Result<Vec<Placed>, EngineError> {
    let placement = &settings.placement;
    let mut files = Vec::new();
    for (number, file) in (1..).zip(&placement.data) {
        let end = if number == 1 { "mdf" } else { "ndf" };
        let physical = format!("{}_data_{number}.{end}", name.text());
        files.push(placed(
            Role::Data,
            &format!("data_{number}"),
            &physical,
            file,
            settings,
            directories,
        )?);
    }
    let physical = format!("{}_log.ldf", name.text());
    files.push(placed(
        Role::Log,
        "log_1",
        &physical,
        &placement.log,
        settings,
        directories,
    )?);
    Ok(files)
}

/// The statement that creates it.
pub(crate) fn create(name: &Name, files: &[Placed]) -> CreateDatabase {
    let of = |role| {
        files
            .iter()
            .filter(move |file| file.role == role)
            .map(|file| file.spec.clone())
    };
    CreateDatabase {
        name: name.clone(),
        data: of(Role::Data).collect(),
        log: of(Role::Log).collect(),
    }
}

/// tempdb's data files according to the placement, and its log beside the first of them. Existing files keep their names, so they
/// are moved and not recreated.
pub(crate) fn tempdb(
    mark: &str,
    present: &[TempdbFile],
    settings: &Settings,
    directories: Directories<'_>,
) -> Result<(Vec<Placed>, Vec<Placed>), EngineError> {
    let names = |kind| {
        let mut files: Vec<&TempdbFile> = present.iter().filter(|file| file.kind == kind).collect();
        files.sort_by_key(|file| file.id);
        files
            .into_iter()
            .map(|file| file.name.text().to_owned())
            .collect::<Vec<_>>()
    };
    let known = names(Kind::Data);
    let mut data = Vec::new();
    for (index, file) in settings.placement.temp.iter().enumerate() {
        let number = index + 1;
        let own = format!("dbstow_temp_{number}");
        let physical = format!("{PREFIX}{mark}_temp_{number}");
        let name = known.get(index).unwrap_or(&own);
        let end = if number == 1 { "mdf" } else { "ndf" };
        let physical = format!("{physical}.{end}");
        data.push(placed(
            Role::Temp,
            name,
            &physical,
            file,
            settings,
            directories,
        )?);
    }
    // The experiment's log applies to the database that is written to.
    let first = File {
        size: settings.placement.log.size,
        ..settings.placement.temp[0].clone()
    };
    let log = names(Kind::Log);
    let name = log.first().map_or("templog", String::as_str);
    let log = placed(
        Role::Temp,
        name,
        &format!("{PREFIX}{mark}_templog.ldf"),
        &first,
        settings,
        directories,
    )?;
    Ok((data, vec![log]))
}

/// A file of this logical and physical name, where `file` says.
pub(super) fn placed(
    role: Role,
    name: &str,
    physical: &str,
    file: &File,
    settings: &Settings,
    directories: Directories<'_>,
) -> Result<Placed, EngineError> {
    let volumes = &settings.volumes;
    let volume = volumes.iter().position(|volume| volume.name == file.volume);
    let volume = volume.expect("a placement's volumes are among the arm's");
    let wrong = |error: &dyn std::fmt::Display| EngineError::Missing(error.to_string());
    let path = match directories {
        Some(directories) if directories[volume].is_empty() => {
            let name = &file.volume;
            return Err(EngineError::Missing(format!(
                "volume \"{name}\" has no directory; add --volume {name}=DIR, as the server sees it"
            )));
        }
        Some(directories) => {
            let path: Result<FilePath, PathError> =
                FilePath::new(join(&directories[volume], physical));
            Some(path.map_err(|error| wrong(&error))?)
        }
        None => None,
    };
    let bytes = bytes(file);
    let step = Size::mib(STEP_MIB).expect("64 MiB are whole pages");
    Ok(Placed {
        role,
        volume,
        spec: FileSpec {
            name: Name::new(name).map_err(|error| wrong(&error))?,
            path,
            size: Some(Size::bytes(bytes).map_err(|error| wrong(&error))?),
            max: Some(MaxSize::Unlimited),
            growth: Some(Growth::By(step)),
        },
    })
}

/// Initial size of a file: whole mebibytes.
pub(crate) fn bytes(file: &File) -> u64 {
    let step = u64::from(STEP_MIB) * MIB;
    file.size.map_or(step, |size| size.0.div_ceil(MIB) * MIB)
}

/// A file in a directory, with the directory's own separator.
pub(crate) fn join(directory: &str, name: &str) -> String {
    let windows = directory.contains('\\') || directory.as_bytes().get(1) == Some(&b':');
    let separator = if windows { '\\' } else { '/' };
    let directory = directory.trim_end_matches(['\\', '/']);
    format!("{directory}{separator}{name}")
}

/// Whether a file is directly in a directory.
pub(crate) fn is_in(directory: &str, path: &str) -> bool {
    let name = path.rsplit(['\\', '/']).next().unwrap_or(path);
    join(directory, name) == path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_whose_name_goes_on_is_another_one() {
        assert!(is_in("D:\\tempdb", "D:\\tempdb\\a.mdf"));
        assert!(is_in("D:\\tempdb\\", "D:\\tempdb\\a.mdf"));
        assert!(!is_in("D:\\tempdb", "D:\\tempdb2\\a.mdf"));
        assert!(!is_in("D:\\", "D:\\tempdb\\a.mdf"));
        assert!(is_in("/mnt/fast", "/mnt/fast/a.mdf"));
        assert!(!is_in("/mnt/fast", "/mnt/fast2/a.mdf"));
    }

    #[test]
    fn a_path_has_the_separator_of_its_system() {
        assert_eq!(join("D:\\", "a.mdf"), "D:\\a.mdf");
        assert_eq!(join("D:", "a.mdf"), "D:\\a.mdf");
        assert_eq!(join("C:\\mnt\\fast", "a.mdf"), "C:\\mnt\\fast\\a.mdf");
        assert_eq!(join("\\\\nas\\sql\\", "a.mdf"), "\\\\nas\\sql\\a.mdf");
        assert_eq!(join("/mnt/fast/", "a.mdf"), "/mnt/fast/a.mdf");
    }
}
