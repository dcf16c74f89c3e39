//! Maintenance statements for memory, files and settings: CHECKPOINT, DBCC, sp_configure.

use super::error::{self, Outcome};
use super::state::{File, Io, Setting, TEMPDB};
use super::text::PAGE;
use super::{AZURE_DATABASE, SqlServer};
use crate::reply::{Item, Rows};
use crate::value::Kind;

/// Largest write of a checkpoint here, in pages.
const WRITE_PAGES: u64 = 32;

pub(super) fn checkpoint(server: &mut SqlServer, login: &str, name: &str) -> Outcome {
    let id = server.id_of(name).expect("a session is in a database");
    if server.databases[&id].owner != login && !server.may(login, "CONTROL SERVER") {
        return Err(vec![error::permission_in_database("CHECKPOINT", name)]);
    }
    let database = server.databases.get_mut(&id).expect("looked up before");
    let dirty = std::mem::take(&mut database.dirty_pages);
    database.clean_pages += dirty;
    let data: Vec<&mut File> = database
        .files
        .values_mut()
        .filter(|file| !file.log)
        .collect();
    let each = dirty.div_ceil(data.len() as u64);
    for file in data {
        let writes = each.div_ceil(WRITE_PAGES) as i64;
        file.io.add(Io {
            writes,
            written_bytes: (each * PAGE) as i64,
            write_stall_ms: writes,
            ..Io::default()
        });
    }
    Ok(Vec::new())
}

pub(super) fn drop_clean_buffers(server: &mut SqlServer, login: &str, current: &str) -> Outcome {
    // https://learn.microsoft.com/sql/t-sql/database-console-commands/dbcc-dropcleanbuffers-transact-sql, read 2026-11.
    let needed = if server.major() >= 16 || server.edition.engine >= AZURE_DATABASE {
        "ALTER SERVER STATE"
    } else {
        "CONTROL SERVER"
    };
    if !server.may(login, needed) {
        return Err(vec![error::dbcc_denied(login, "dropcleanbuffers")]);
    }
    let azure = server.edition.engine == AZURE_DATABASE;
    for database in server.databases.values_mut() {
        if !azure || database.name.eq_ignore_ascii_case(current) {
            database.clean_pages = 0;
        }
    }
    Ok(Vec::new())
}

pub(super) fn shrink(
    server: &mut SqlServer,
    login: &str,
    current: &str,
    name: &str,
    megabytes: Option<u64>,
) -> Outcome {
    let id = server.id_of(current).expect("a session is in a database");
    if server.databases[&id].owner != login && !server.may(login, "CONTROL SERVER") {
        return Err(vec![error::dbcc_denied(login, "shrinkfile")]);
    }
    let database = server.databases.get_mut(&id).expect("looked up before");
    let found = database
        .file(name)
        .ok_or_else(|| vec![error::no_such_file(name, current)])?;
    if megabytes.is_none() {
        let used = std::mem::take(&mut database.files.get_mut(&found).expect("found").used_pages);
        let log = database.files[&found].log;
        let other = database
            .files
            .iter_mut()
            .find(|(other, file)| **other != found && file.log == log);
        match other {
            Some((_, other)) => other.used_pages += used,
            None => {
                database.files.get_mut(&found).expect("found").used_pages = used;
                return Err(vec![error::cannot_empty(name)]);
            }
        }
    }
    if id == TEMPDB && server.tempdb_in_use && megabytes.is_none() {
        server.refused_in_use = true;
        return Err(vec![error::worktables()]);
    }
    let headers = id == TEMPDB && server.page_headers && megabytes.is_some();
    let file = database.files.get_mut(&found).expect("found");
    if let Some(megabytes) = megabytes {
        let target = (megabytes * (1 << 20) / PAGE).max(file.used_pages);
        file.now.pages = file.now.pages.min(target);
        file.next.pages = file.now.pages;
    }
    let columns = [
        "DbId",
        "FileId",
        "CurrentSize",
        "MinimumSize",
        "UsedPages",
        "EstimatedPages",
    ];
    let rows = Rows::new(columns.map(|name| (name, Kind::BigInt)));
    let (pages, used) = (file.now.pages as i64, file.used_pages as i64);
    let rows = rows.row([id, found, pages, pages, used, used].map(Into::into));
    let mut items = vec![Item::Rows(rows)];
    items.extend(headers.then(|| Item::Error(error::page_header(pages))));
    Ok(items)
}

pub(super) fn configure(
    server: &mut SqlServer,
    login: &str,
    name: &str,
    value: Option<i64>,
) -> Outcome {
    if server.edition.engine == AZURE_DATABASE {
        return Err(vec![error::not_in_azure("CONFIG")]);
    }
    if !server.may(login, "ALTER SETTINGS") {
        return Err(vec![error::may_not()]);
    }
    let shown = server.settings["show advanced options"].in_use == 1;
    let kept = server.kept;
    let known = |setting: &&mut Setting| !setting.advanced || shown;
    let setting = server
        .settings
        .get_mut(name)
        .filter(known)
        .ok_or_else(|| vec![error::no_setting(name)])?;
    let old = setting.value;
    setting.value = value.unwrap_or(kept);
    Ok(vec![Item::Info(error::setting_changed(
        name,
        old,
        setting.value,
    ))])
}
