//! Redacts a capture for sharing: names of hosts, logins, accounts, databases, files, folders and volumes are replaced by
//! placeholders such as `database-1` or `D:\folder-1\file-3.ndf`. Numbers, versions, settings, and which file is on which volume
//! are unchanged.

mod names;
mod path;
#[cfg(test)]
mod tests;
mod words;

use names::{Kind, Names, is_system_database, is_system_file};

use super::{Capture, FileKind, Greeting, TEMPDB};

/// Longest name that tempdb's files may have on a managed instance: a rule counts the letters.
const NAME_MAX: usize = 16;

impl Capture {
    /// The server without names. The same name has the same placeholder everywhere, including names of [`Capture::asked`] in the
    /// server's error texts. Names of SQL Server's own databases, files and folders are kept, and so are accounts that every machine has.
    ///
    /// The rest can still identify a server: sizes, counts, times, versions.
    pub fn redacted(&self) -> Capture {
        if self.redacted {
            return self.clone();
        }
        let mut capture = self.clone();
        let mut names = Names::default();
        capture.redacted = true;
        if let Some(asked) = capture.asked.take() {
            meet(&mut names, &asked);
        }
        databases(&mut names, &mut capture);
        services(&mut names, &mut capture);
        files(&mut names, &mut capture);
        volumes(&mut names, &mut capture);
        for unanswered in &mut capture.unanswered {
            unanswered.why = words::words(&mut names, &unanswered.why);
        }
        capture
    }
}

/// Registers names that occur only in error texts.
fn meet(names: &mut Names, greeting: &Greeting) {
    let (host, instance) = divided(&greeting.server);
    names.of(Kind::Host, host);
    names.of(Kind::Instance, instance.unwrap_or_default());
    names.of(Kind::Host, &greeting.server);
    account(names, Kind::Login, &greeting.login);
    if !is_system_database(&greeting.database) {
        names.of(Kind::Database, &greeting.database);
    }
}

/// `DOMAIN` or host, and the rest, of `DOMAIN\rest`.
fn divided(name: &str) -> (&str, Option<&str>) {
    match name.split_once('\\') {
        Some((first, rest)) => (first, Some(rest)),
        None => (name, None),
    }
}

/// An account, `DOMAIN\name` or `name@domain`, by parts, each of which may also occur alone.
fn account(names: &mut Names, kind: Kind, name: &str) -> String {
    match (name.split_once('\\'), name.split_once('@')) {
        (Some((domain, name)), _) => {
            let domain = names.of(Kind::Domain, domain);
            format!("{domain}\\{}", names.of(kind, name))
        }
        (None, Some((name, domain))) => {
            let name = names.of(kind, name);
            format!("{name}@{}", names.of(Kind::Domain, domain))
        }
        (None, None) => names.of(kind, name),
    }
}

fn databases(names: &mut Names, capture: &mut Capture) {
    for database in &mut capture.databases {
        if !is_system_database(&database.name) {
            database.name = names.of(Kind::Database, &database.name);
        }
    }
}

/// Service accounts that do not identify the owner of the machine.
const OWN_ACCOUNTS: [&str; 4] = ["localsystem", "mssql", "root", ".\\mssql"];
const OWN_DOMAINS: [&str; 2] = ["nt authority", "nt service"];

fn services(names: &mut Names, capture: &mut Capture) {
    for service in &mut capture.services {
        // "SQL Server (PROD)": the instance.
        if let Some((service_name, instance)) = in_brackets(&service.name) {
            service.name = format!("{service_name}({})", names.of(Kind::Instance, instance));
        }
        let folded = service.account.to_lowercase();
        let domain = divided(&folded).0;
        let instance = service.account.split_once('$').map(|(name, instance)| {
            let instance = names.of(Kind::Instance, instance);
            format!("{name}${instance}")
        });
        service.account = match OWN_DOMAINS.contains(&domain) {
            true => instance.unwrap_or_else(|| service.account.clone()),
            false if OWN_ACCOUNTS.contains(&&*folded) => service.account.clone(),
            false => account(names, Kind::Account, &service.account),
        };
    }
}

/// `SQL Server ` and `PROD` of `SQL Server (PROD)`; not of the default instance.
fn in_brackets(name: &str) -> Option<(&str, &str)> {
    let (before, rest) = name.split_once('(')?;
    let instance = rest.strip_suffix(')')?;
    (!matches!(instance, "MSSQLSERVER" | "")).then_some((before, instance))
}

fn files(names: &mut Names, capture: &mut Capture) {
    // Logical names first: the file on the disk often has the same one, and so gets the same placeholder.
    for file in &mut capture.files {
        file.name = logical(names, &file.name, file.database_id == TEMPDB);
    }
    for file in &mut capture.tempdb_in_use {
        file.name = logical(names, &file.name, true);
    }
    let paths = capture
        .files
        .iter_mut()
        .map(|file| (file.kind, &mut file.path));
    let in_use = capture.tempdb_in_use.iter_mut();
    let in_use = in_use.map(|file| (file.kind, &mut file.path));
    for (kind, path) in paths.chain(in_use) {
        *path = match kind {
            FileKind::Rows | FileKind::Log => path::file(names, path),
            // They are folders.
            FileKind::Filestream | FileKind::FullText => path::folder(names, path),
        };
    }
    let identity = &mut capture.identity;
    for path in [&mut identity.data_path, &mut identity.log_path] {
        *path = path.as_ref().map(|path| path::folder(names, path));
    }
}

fn logical(names: &mut Names, name: &str, of_tempdb: bool) -> String {
    if is_system_file(name) && !names.knows(name) {
        return name.to_owned();
    }
    let made = names.of(Kind::File, name);
    let letters = name.chars().count();
    match of_tempdb && (letters > NAME_MAX || name.contains(' ')) {
        true if name.contains(' ') => format!("{made:<letters$}").replace('-', " "),
        true => format!("{made:-<letters$}"),
        false => made,
    }
}

fn volumes(names: &mut Names, capture: &mut Capture) {
    for volume in &mut capture.volumes {
        volume.mount_point = path::folder(names, &volume.mount_point);
        volume.label = names.of(Kind::Label, &volume.label);
    }
    let supplied = capture.supplied.iter_mut();
    for volume in supplied.flat_map(|host| &mut host.volumes) {
        volume.mount_point = path::folder(names, &volume.mount_point);
        let own = volume.disk.take_if(|disk| !is_of_a_cloud(disk));
        if let Some(own) = own {
            volume.disk = Some(names.of(Kind::Disk, &own));
        }
    }
}

/// Whether a disk is a publicly available product, not one of a private catalogue.
fn is_of_a_cloud(disk: &str) -> bool {
    ["azure.", "aws.", "gcp."]
        .iter()
        .any(|cloud| disk.starts_with(cloud))
}
