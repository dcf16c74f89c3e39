//! Files on the volumes of a managed service that lets its users choose: RDS, where a database moves by backup and restore alone.
//!
//! Source: <https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Appendix.SQLServer.CommonDBATasks.DatabaseStorage.html>, as of 2026-04-13.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use experiment::spec::Role;
use layout::{LayoutError, LayoutRequest, Script};

use super::filters;
use crate::tsql::Name;

/// Where a server has everything that was put nowhere else, and where the disk inside its class is.
const FIRST: &str = "D:";
const LOCAL: &str = "T:";

#[derive(Template)]
#[template(path = "layout/drives/back-up.sql", escape = "none")]
struct BackUp<'a> {
    title: &'a str,
    database: &'a str,
}

#[derive(Template)]
#[template(path = "layout/drives/restore.sql", escape = "none")]
struct Restore<'a> {
    title: &'a str,
    database: &'a str,
    moved: String,
    data: &'a str,
    log: &'a str,
}

#[derive(Template)]
#[template(path = "layout/drives/tempdb.sql", escape = "none")]
struct Tempdb<'a> {
    title: &'a str,
    file: String,
}

/// Scripts that put files where `places` says that the volumes are; none where all are on the first.
pub(super) fn scripts(
    request: &LayoutRequest,
    places: &BTreeMap<String, String>,
) -> Result<Vec<Script>, LayoutError> {
    let on = |role: Role| -> Vec<&str> {
        let files = request.files(role).iter();
        let places = files.filter_map(|file| places.get(&file.volume));
        places.map(String::as_str).collect()
    };
    let first = |role: Role| on(role).first().copied().unwrap_or(FIRST);
    let title = &request.title;
    let mut scripts = Vec::new();
    let (data, log) = (first(Role::Data), first(Role::Log));
    if data != FIRST || log != FIRST {
        let Some(database) = &request.database else {
            return Err(LayoutError::Database(format!(
                "{title} has data on {data} and the log on {log}: whose? Add --database NAME"
            )));
        };
        // A name that the server would refuse is refused here.
        Name::new(database)?;
        let moved = format!("{database}_moved");
        Name::new(&moved)?;
        scripts.push(Script::new("3-back-up.sql", &BackUp { title, database }));
        let restore = Restore {
            title,
            database,
            moved,
            data,
            log,
        };
        scripts.push(Script::new("4-restore.sql", &restore));
    }
    let temp: BTreeSet<&str> = on(Role::Temp).into_iter().collect();
    if temp.contains(LOCAL) && temp.contains(FIRST) {
        let file = format!("{FIRST}\\rdsdbdata\\DATA\\tempdb_storage.ndf");
        scripts.push(Script::new("5-tempdb.sql", &Tempdb { title, file }));
    }
    Ok(scripts)
}
