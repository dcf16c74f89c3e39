//! Tablespaces of a backup: directories outside of its data directory. Their copies are on the placement's data volumes, in turn.
//!
//! A link of a backup is not followed: the user names the directories, or they are archives beside `base.tar`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use files::{Folder, input};
use host::site::Site;
use model::Bytes;

use crate::drill::Places;
use crate::trial::tablespaces::Tablespace;
use engine::managed_server::Owner;
use engine::rehearsed::BackupFacts;
use engine::{EngineError, copies, home};
use experiment::spec::Settings;

/// Deepest directory of a data directory or a tablespace: `base/5/16384` has three.
pub(super) const DEPTH_MAX: usize = 8;

/// The directory of the links to them, in a data directory.
pub(super) const LINKS: &str = "pg_tblspc";

/// Where those of a backup in archives were: a server that starts on it makes links to there.
pub(super) const MAP: &str = "tablespace_map";

/// Most bytes of that file.
const MAP_BYTES_MAX: u64 = 1 << 20;

/// Whether a tablespace may have this name.
pub(super) fn is_name(name: &str) -> bool {
    (1..=10).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// The tablespaces of a data directory, and where their links lead.
pub(super) fn linked(data: &Folder) -> Result<BTreeMap<String, PathBuf>, String> {
    let Ok(links) = data.inner(LINKS.as_ref()) else {
        return Ok(BTreeMap::new());
    };
    let mut all = BTreeMap::new();
    for name in links.names().map_err(|error| error.to_string())? {
        let path = links.path().join(&name);
        let shown = || path.display().to_string().escape_debug().to_string();
        let name = name.into_string().ok().filter(|name| is_name(name));
        let name = name.ok_or_else(|| format!("{} is not a tablespace", shown()))?;
        let target = std::fs::read_link(&path).map_err(|_| {
            format!(
                "{} is not a link: a tablespace in place is not read",
                shown()
            )
        })?;
        all.insert(name, target);
    }
    Ok(all)
}

/// Takes the directories that the user names for those that the links of a backup lead to.
pub(super) fn name(
    facts: &mut BackupFacts,
    named: &BTreeMap<String, PathBuf>,
) -> Result<(), String> {
    let known = |name: &&String| facts.elsewhere.contains_key(*name);
    if let Some(other) = named.keys().find(|name| !known(name)) {
        let names: Vec<&str> = facts.elsewhere.keys().map(|name| &**name).collect();
        let has = match names.as_slice() {
            [] => "none that links lead to, and those in archives are read from there".to_owned(),
            names => names.join(", "),
        };
        return Err(format!(
            "--tablespace {}: the backup has no such tablespace (it has {has}); name those, or leave it out",
            other.escape_debug()
        ));
    }
    for (name, place) in &mut facts.elsewhere {
        let Some(directory) = named.get(name) else {
            let place = place.display().to_string();
            return Err(format!(
                "the backup's tablespace {name} is a link to {0}, and links of a backup are not followed; name the directory that has its files: \
                 --tablespace {name}={0}",
                place.escape_debug()
            ));
        };
        facts.size = Bytes(
            facts
                .size
                .0
                .saturating_add(size(directory, &facts.version)?.0),
        );
        place.clone_from(directory);
    }
    Ok(())
}

/// Checks that each tablespace of an unpacked backup has an archive.
pub(super) fn check_map(data: &Folder, unpacked: &BTreeMap<String, PathBuf>) -> Result<(), String> {
    if !data.holds(MAP.as_ref()) {
        return Ok(());
    }
    let map = input::inside(data, MAP, MAP_BYTES_MAX).map_err(|error| error.to_string())?;
    let names = map.lines().filter_map(|line| line.split(' ').next());
    let mut names = names.filter(|name| is_name(name));
    match names.find(|name| !unpacked.contains_key(*name)) {
        None => Ok(()),
        Some(name) => Err(format!(
            "it has a tablespace {name}, and no {name}.tar; take the whole directory that pg_basebackup has made"
        )),
    }
}

/// The size of a tablespace's files.
pub(super) fn size(directory: &Path, major: &str) -> Result<Bytes, String> {
    let (folder, own) = of_version(directory, major)?;
    let own = folder.inner(&own).map_err(|error| error.to_string())?;
    copies::size(&own, DEPTH_MAX, &|_, _| Ok(true))
}

/// Its directory, and the one in it that is this version's.
fn of_version(directory: &Path, major: &str) -> Result<(Folder, OsString), String> {
    let folder = Folder::open(directory).map_err(|error| error.to_string())?;
    let names = folder.names().map_err(|error| error.to_string())?;
    let begins = format!("PG_{major}_");
    let is_own = |name: &OsString| name.as_encoded_bytes().starts_with(begins.as_bytes());
    let mut own = names.into_iter().filter(is_own);
    match (own.next(), own.next()) {
        (Some(name), None) => Ok((folder, name)),
        (None, _) => Err(format!(
            "{} has no {begins}..; give the directory of a tablespace of PostgreSQL {major}",
            directory.display()
        )),
        (Some(_), Some(_)) => Err(format!(
            "{} has two directories {begins}.., of two catalogs; remove what is not the backup's",
            directory.display()
        )),
    }
}

/// Where the files of a copy are: its tablespaces are on the placement's data volumes, in turn.
pub(super) fn places(facts: &BackupFacts, site: &dyn Site, settings: &Settings) -> Places {
    let mut places = Places::of(site, settings);
    let volumes = settings.placement.data.iter().cycle();
    let data = facts.elsewhere.keys().zip(volumes);
    places.tablespaces.data = data
        .map(|(name, file)| Tablespace {
            directory: home(site, settings, file).join(format!("tablespace_{name}")),
            name: name.clone(),
        })
        .collect();
    places
}

/// Copies the tablespaces to their empty directories, and links the data directory to them.
pub(super) fn copy(
    facts: &BackupFacts,
    places: &Places,
    owner: Option<Owner>,
) -> Result<(), EngineError> {
    for Tablespace { name, directory } in &places.tablespaces.data {
        let failed =
            |why: String| EngineError::failed(format!("copy tablespace {name} of the backup"), why);
        let from = &facts.elsewhere[name];
        let (from, own) = of_version(from, &facts.version).map_err(failed)?;
        let to = Folder::open(directory).map_err(|error| failed(error.to_string()))?;
        copies::copy(&from, &to, &own, owner).map_err(|error| failed(error.to_string()))?;
        // Both are ours, and no other user has access to the volumes yet.
        symlink(directory, places.data.join(LINKS).join(name))
            .map_err(|error| failed(error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn facts(elsewhere: &[(&str, &Path)]) -> BackupFacts {
        let elsewhere = elsewhere.iter();
        BackupFacts {
            version: "15".to_owned(),
            elsewhere: elsewhere
                .map(|(name, place)| ((*name).to_owned(), place.to_path_buf()))
                .collect(),
            ..BackupFacts::default()
        }
    }

    #[test]
    fn a_tablespace_is_where_the_user_says_and_not_where_a_link_leads() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("data/pg_tblspc")).unwrap();
        fs::create_dir_all(at("ts/PG_15_202209061/5")).unwrap();
        fs::write(at("ts/PG_15_202209061/5/1"), "a page").unwrap();
        symlink("/mnt/ts", at("data/pg_tblspc/16384")).unwrap();
        let data = Folder::open(&at("data")).unwrap();
        let linked = linked(&data).unwrap();
        let mut facts = facts(&[("16384", &linked["16384"])]);

        let refused = name(&mut facts, &BTreeMap::new()).unwrap_err();
        assert!(refused.contains("--tablespace 16384=/mnt/ts"), "{refused}");
        let named = |name: &str, to: &str| BTreeMap::from([(name.to_owned(), at(to))]);
        let refused = name(&mut facts, &named("1", "ts")).unwrap_err();
        assert!(refused.contains("(it has 16384)"), "{refused}");
        let refused = name(&mut facts, &named("16384", "data")).unwrap_err();
        assert!(refused.contains("has no PG_15_"), "{refused}");
        name(&mut facts, &named("16384", "ts")).unwrap();
        assert_eq!(
            (facts.size, &facts.elsewhere["16384"]),
            (Bytes(6), &at("ts"))
        );
    }

    #[test]
    fn what_is_no_link_among_tablespaces_and_one_without_an_archive_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let data = Folder::open(place.path()).unwrap();
        fs::create_dir_all(place.path().join("pg_tblspc/16384")).unwrap();
        let refused = linked(&data).unwrap_err();
        assert!(refused.contains("16384 is not a link"), "{refused}");

        fs::write(place.path().join(MAP), "16384 /mnt/ts\n").unwrap();
        let refused = check_map(&data, &BTreeMap::new()).unwrap_err();
        assert!(refused.contains("no 16384.tar"), "{refused}");
        let unpacked = BTreeMap::from([("16384".to_owned(), PathBuf::new())]);
        check_map(&data, &unpacked).unwrap();
    }
}
