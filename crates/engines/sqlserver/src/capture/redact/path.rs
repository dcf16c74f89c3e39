//! Redacts paths: drive letter, depth, separators and a short extension are kept, so a file stays on its volume, and files of one
//! folder stay together.

use super::names::{Kind, Names, is_system_file};

/// Default folders of installers and manuals, which do not identify the owner of a server.
const KEPT: [&str; 22] = [
    "program files",
    "program files (x86)",
    "microsoft sql server",
    "mssql",
    "mssqlserver",
    "data",
    "log",
    "logs",
    "backup",
    "ftdata",
    "tempdb",
    "temp",
    "sql",
    "sqldata",
    "sqllog",
    "var",
    "opt",
    "mnt",
    "media",
    "srv",
    "?",
    ".",
];

/// Longest extension that is kept: `mdf`, `ndf`, `ldf`.
const EXTENSION_MAX: usize = 3;

/// The path of a file.
pub(super) fn file(names: &mut Names, path: &str) -> String {
    replaced(names, path, Kind::File)
}

/// The path of a folder or mount point.
pub(super) fn folder(names: &mut Names, path: &str) -> String {
    replaced(names, path, Kind::Folder)
}

/// Syntax of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `D:\folder\file`
    Drive,
    /// `\\host\share\file`
    Share,
    /// `https://host/container/file`
    Url,
    /// `/folder/file`, or a bare name
    Unix,
}

impl Style {
    fn of(path: &str) -> Style {
        let mut start = path.chars();
        let letter = start.next().is_some_and(|c| c.is_ascii_alphabetic());
        if letter && start.next() == Some(':') {
            Style::Drive
        } else if path.contains("://") {
            Style::Url
        } else if path.starts_with("\\\\") || path.contains('\\') && !path.starts_with('/') {
            Style::Share
        } else {
            Style::Unix
        }
    }

    fn is_windows(self) -> bool {
        match self {
            Style::Drive | Style::Share => true,
            Style::Url | Style::Unix => false,
        }
    }

    /// Length of the prefix before the path's first part.
    fn root(self, path: &str) -> usize {
        match self {
            Style::Drive => 2,
            Style::Url => path.find("://").map_or(0, |at| at + 3),
            Style::Share | Style::Unix => 0,
        }
    }

    /// Whether its first part is a host.
    fn has_host(self, path: &str) -> bool {
        match self {
            Style::Url => true,
            // Not `\\?\Volume{..}\`, nor `\\.\`.
            Style::Share => path
                .strip_prefix("\\\\")
                .is_some_and(|rest| !rest.starts_with(['?', '.'])),
            Style::Drive | Style::Unix => false,
        }
    }
}

fn replaced(names: &mut Names, path: &str, last: Kind) -> String {
    let style = Style::of(path);
    let (root, rest) = path.split_at(style.root(path));
    let separators: &[char] = if style.is_windows() {
        &['\\', '/']
    } else {
        &['/']
    };
    let mut host = style.has_host(path);
    let mut text = root.to_owned();
    for piece in rest.split_inclusive(separators) {
        let part = piece.trim_end_matches(separators);
        let is_last = part.len() == piece.len();
        let kind = match (host, is_last) {
            (true, _) => Kind::Host,
            (false, true) => last,
            (false, false) => Kind::Folder,
        };
        host = host && part.is_empty();
        text.push_str(&part_of(names, part, kind, style.is_windows()));
        text.push_str(&piece[part.len()..]);
    }
    text
}

fn part_of(names: &mut Names, part: &str, kind: Kind, folded: bool) -> String {
    let name = |names: &mut Names, kind, text: &str| match folded {
        true => names.of_folded(kind, text),
        false => names.of(kind, text),
    };
    if part.is_empty() {
        return String::new();
    }
    if kind == Kind::File {
        let (stem, extension) = divided(part);
        if is_system_file(stem) && !names.knows(stem) {
            return part.to_owned();
        }
        return format!("{}{extension}", name(names, kind, stem));
    }
    if let Some((version, instance)) = instance_folder(part) {
        return format!("{version}{}", name(names, Kind::Instance, instance));
    }
    let kept = KEPT.contains(&part.to_lowercase().as_str()) || is_default_instance(part);
    if kind == Kind::Folder && kept && !names.knows(part) {
        return part.to_owned();
    }
    name(names, kind, part)
}

/// `sales` and `.mdf` of `sales.mdf`; an extension that is long, or not a word, belongs to the name.
fn divided(part: &str) -> (&str, &str) {
    match part.rsplit_once('.') {
        Some((stem, extension))
            if !stem.is_empty()
                && !extension.is_empty()
                && extension.len() <= EXTENSION_MAX
                && extension.chars().all(|c| c.is_ascii_alphanumeric()) =>
        {
            (stem, &part[stem.len()..])
        }
        Some(_) | None => (part, ""),
    }
}

/// `MSSQL16.` and `PROD` of `MSSQL16.PROD`; not of the default instance.
fn instance_folder(part: &str) -> Option<(&str, &str)> {
    let (version, instance) = part.split_once('.')?;
    let number = version.strip_prefix("MSSQL")?;
    let digits = number.chars().all(|c| c.is_ascii_digit() || c == '_');
    let named = !instance.is_empty() && !instance.eq_ignore_ascii_case("MSSQLSERVER");
    (digits && named).then(|| part.split_at(version.len() + 1))
}

/// `MSSQL16.MSSQLSERVER`
fn is_default_instance(part: &str) -> bool {
    let rest = part.strip_prefix("MSSQL").unwrap_or_default();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    rest.eq_ignore_ascii_case(".MSSQLSERVER")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rules_need_of_a_path_stays() {
        let mut names = Names::default();
        let shown = [
            r"D:\Sales\Data\sales_2024.NDF",
            r"d:\SALES\other.ndf",
            r"C:\Program Files\Microsoft SQL Server\MSSQL16.PROD\MSSQL\DATA\master.mdf",
            r"C:\Program Files\Microsoft SQL Server\MSSQL15.MSSQLSERVER\MSSQL\DATA\sales_2024.mdf",
            r"\\nas7\Sales\a.mdf",
            "/srv/sales/data/sales_2024.mdf",
            "https://acme.blob.core.windows.net/sql/sales.mdf",
            "tempdb_mssql_2.ndf",
        ]
        .map(|path| file(&mut names, path));
        assert_eq!(
            shown,
            [
                r"D:\folder-1\Data\file-1.NDF",
                r"d:\folder-1\file-2.ndf",
                r"C:\Program Files\Microsoft SQL Server\MSSQL16.instance-1\MSSQL\DATA\master.mdf",
                r"C:\Program Files\Microsoft SQL Server\MSSQL15.MSSQLSERVER\MSSQL\DATA\file-1.mdf",
                r"\\host-1\folder-1\file-3.mdf",
                "/srv/folder-2/data/file-1.mdf",
                "https://host-2/sql/folder-2.mdf",
                "tempdb_mssql_2.ndf",
            ]
        );
    }

    #[test]
    fn a_mount_point_stays_the_beginning_of_its_files() {
        let mut names = Names::default();
        for mount in [
            r"C:\mnt\Data.v1\",
            "/mnt/Data.v1",
            r"\\?\Volume{77}\",
            r"D:\",
        ] {
            let file = file(&mut names, &format!("{mount}/x/a.mdf"));
            let mount = folder(&mut names, mount);
            assert!(file.starts_with(&mount), "{file} is not on {mount}");
        }
    }
}
