//! `dbstow layout`: whole sets of scripts, mistakes in the request, and the verdicts of shells and servers on them.

mod cli;
mod linux;
mod managed;
mod mariadb;
#[cfg(target_os = "linux")]
mod mariadb_moves;
#[cfg(target_os = "linux")]
mod mariadb_server;
mod postgres;
mod service;
mod windows;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use experiment::spec::{File, Role};
use layout::{CaptureFile, LayoutProvider, LayoutRequest, Script, scripts};
use model::Bytes;
use sqlserver::capture::{
    Capture, Database, FileInUse, FileKind, Growth, MountedVolume, Service, TEMPDB,
};

/// `count` temp files on `volumes` in turn.
pub(crate) fn request(
    title: &str,
    volumes: &[(&str, &str)],
    count: usize,
    size: Bytes,
) -> LayoutRequest {
    let names = volumes.iter().cycle().take(count);
    let file = |(volume, _): &(&str, &str)| File {
        volume: (*volume).to_owned(),
        size: Some(size),
    };
    let own = |(name, folder): &(&str, &str)| ((*name).to_owned(), (*folder).to_owned());
    let folders: BTreeMap<String, String> = volumes.iter().map(own).collect();
    let log = File {
        volume: volumes.first().map_or("", |(name, _)| name).to_owned(),
        size: None,
    };
    LayoutRequest {
        files: [
            (Role::Temp, names.map(file).collect()),
            (Role::Log, vec![log]),
        ]
        .into(),
        folders,
        ..LayoutRequest::new(title)
    }
}

pub(crate) fn made(
    product: &dyn LayoutProvider,
    request: &LayoutRequest,
    capture: Option<Capture>,
) -> Vec<Script> {
    scripts(product, request, file(capture).as_ref()).unwrap_or_else(|error| panic!("{error}"))
}

/// The error of what cannot be.
pub(crate) fn refused(
    product: &dyn LayoutProvider,
    request: &LayoutRequest,
    capture: Option<Capture>,
) -> String {
    let made = scripts(product, request, file(capture).as_ref());
    made.expect_err("a mistake").to_string()
}

fn file(capture: Option<Capture>) -> Option<CaptureFile> {
    let capture = capture?;
    Some(CaptureFile {
        name: "server.json".to_owned(),
        text: serde_json::to_string(&capture).expect("a capture is JSON"),
    })
}

/// Scripts one after the other, without those that `leave` names.
pub(crate) fn shown(scripts: &[Script], leave: &[&str]) -> String {
    let kept = scripts
        .iter()
        .filter(|script| !leave.contains(&script.name.as_str()));
    kept.map(|script| format!("==> {}\n{}", script.name, script.text.replace('\r', "")))
        .collect()
}

/// What was put into the templates: the lines of scripts, without those that `leave` names, that no template has as they are.
pub(crate) fn filled(scripts: &[Script], leave: &[&str]) -> String {
    let templates = template_lines();
    let shown = shown(scripts, leave);
    let filled = shown
        .lines()
        .filter(|line| !templates.contains(line.trim_end()));
    filled.map(|line| format!("{line}\n")).collect()
}

fn template_lines() -> BTreeSet<String> {
    let engines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engines");
    let products = ["sqlserver", "mariadb", "postgres"];
    let mut folders = products
        .map(|product| engines.join(product).join("templates/layout"))
        .to_vec();
    let mut lines = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("it has templates").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("a template is text");
            lines.extend(text.lines().map(|line| line.trim_end().to_owned()));
        }
    }
    lines
}

pub(crate) fn text<'a>(scripts: &'a [Script], name: &str) -> &'a str {
    let found = scripts.iter().find(|script| script.name == name);
    &found.unwrap_or_else(|| panic!("no {name}")).text
}

/// A server as documented values have it: made by hand, not taken from one.
pub(crate) fn server(engine_edition: i64, platform: &str, folder: &str, files: i64) -> Capture {
    let mut capture = Capture {
        format: 1,
        taken: "2026-11-20T10:00:00+00:00".to_owned(),
        ..Capture::default()
    };
    capture.identity.version = "16.0.4135.4".to_owned();
    capture.identity.edition = "Developer Edition (64-bit)".to_owned();
    capture.identity.engine_edition = engine_edition;
    capture.machine.platform = platform.to_owned();
    capture.machine.processors = Some(8);
    let file = |id: i64, kind, name: String, at: String| sqlserver::capture::File {
        database_id: TEMPDB,
        id,
        kind,
        name,
        path: format!("{folder}{at}"),
        size_bytes: 8 << 20,
        max_bytes: None,
        growth: Growth::Bytes(64 << 20),
        state: "ONLINE".to_owned(),
    };
    capture.files = vec![
        file(
            1,
            FileKind::Rows,
            "tempdev".to_owned(),
            "tempdb.mdf".to_owned(),
        ),
        file(
            2,
            FileKind::Log,
            "templog".to_owned(),
            "templog.ldf".to_owned(),
        ),
    ];
    for number in 2..=files {
        let at = format!("tempdb_mssql_{number}.ndf");
        capture.files.push(file(
            number + 1,
            FileKind::Rows,
            format!("temp{number}"),
            at,
        ));
    }
    capture.tempdb_in_use = capture
        .files
        .iter()
        .map(|file| FileInUse {
            id: file.id,
            kind: file.kind,
            name: file.name.clone(),
            path: file.path.clone(),
            size_bytes: file.size_bytes,
        })
        .collect();
    capture
}

pub(crate) fn database(capture: &mut Capture, id: i64, name: &str) {
    capture.databases.push(Database {
        id,
        name: name.to_owned(),
        recovery: "FULL".to_owned(),
        read_committed_snapshot: false,
        encrypted: false,
    });
}

pub(crate) fn volume(capture: &mut Capture, mount_point: &str, free: Bytes) {
    capture.volumes.push(MountedVolume {
        mount_point: mount_point.to_owned(),
        label: String::new(),
        file_system: "NTFS".to_owned(),
        total_bytes: 64 << 30,
        available_bytes: i64::try_from(free.0).expect("a size"),
        files: Vec::new(),
    });
}

pub(crate) fn named_instance(capture: &mut Capture, name: &str) {
    capture.services.push(Service {
        name: format!("SQL Server ({name})"),
        account: format!("NT Service\\MSSQL${name}"),
        instant_file_initialization: Some(true),
    });
}
