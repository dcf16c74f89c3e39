//! Every T-SQL text used by layouts, for parsers to check.

use crate::capture::{Capture, Database, File as CapturedFile, FileKind, Growth, TEMPDB};
use model::Bytes;

use super::{Target, drives, scripts};
use experiment::spec::{File, Role};
use layout::{LayoutRequest, Platform, Script};

/// Names and texts of all `.sql` scripts for SQL Server, batches separated by `GO`. Names and paths are as hostile as the
/// server allows.
pub fn examples() -> Vec<(String, String)> {
    let of_sets = sets().into_iter().map(|(set, request, target)| {
        let made = scripts(&request, &target);
        (set, made.unwrap_or_else(|error| panic!("{set}: {error}")))
    });
    let mut all = Vec::new();
    for (set, made) in of_sets.chain([("service", on_service())]) {
        let sql = made
            .into_iter()
            .filter(|script| script.name.ends_with(".sql"));
        all.extend(sql.map(|script| (format!("{set}/{}", script.name), script.text)));
    }
    all
}

const ODD: &str = "o'dd] name;--$(x)";

fn sets() -> Vec<(&'static str, LayoutRequest, Target)> {
    let on = |on, capture| Target { on, capture };
    let windows = placed("D:\\it's [odd]; --\\$(x)", 3);
    let linux = placed("/nvme/it's [odd]; --", 1);
    let managed = LayoutRequest {
        folders: Default::default(),
        ..placed("", 4)
    };
    let database = Some(ODD.to_owned());
    let all = |request: &LayoutRequest| LayoutRequest {
        roles: Role::COMMON.into(),
        database: database.clone(),
        ..request.clone()
    };
    let of_instance = LayoutRequest {
        roles: [Role::Temp, Role::Data].into(),
        database: database.clone(),
        ..managed
    };
    vec![
        ("windows", all(&windows), on(Platform::Windows, None)),
        (
            "windows-captured",
            windows,
            on(Platform::Windows, Some(captured(3, 2))),
        ),
        ("linux", all(&linux), on(Platform::Linux, None)),
        (
            "managed-instance",
            of_instance,
            on(Platform::ManagedInstance, Some(captured(8, 12))),
        ),
    ]
}

/// Scripts for a managed service with a volume for the log, and tempdb on the disk inside the class and on the storage.
fn on_service() -> Vec<Script> {
    let file = |volume: &str| File {
        volume: volume.to_owned(),
        size: None,
    };
    let request = LayoutRequest {
        database: Some(ODD.to_owned()),
        files: [
            (Role::Data, vec![file("data")]),
            (Role::Temp, vec![file("local"), file("data")]),
            (Role::Log, vec![file("log")]),
        ]
        .into(),
        ..LayoutRequest::new("examples")
    };
    let places = [("data", "D:"), ("local", "T:"), ("log", "H:")];
    let places = places.map(|(volume, place)| (volume.to_owned(), place.to_owned()));
    drives::scripts(&request, &places.into()).expect("it can be placed")
}

fn placed(folder: &str, files: usize) -> LayoutRequest {
    let file = |size| File {
        volume: "v".to_owned(),
        size,
    };
    let sized = vec![file(Some(Bytes::gib(4))); files];
    LayoutRequest {
        files: [
            (Role::Data, sized.clone()),
            (Role::Temp, sized),
            (Role::Log, vec![file(None)]),
        ]
        .into(),
        folders: [("v".to_owned(), folder.to_owned())].into(),
        ephemeral: ["v".to_owned()].into(),
        log_size: Some(Bytes::mib(512)),
        ..LayoutRequest::new("examples")
    }
}

/// A server with this many data files of tempdb.
fn captured(engine_edition: i64, count: i64) -> Capture {
    let mut capture = Capture::default();
    capture.identity.engine_edition = engine_edition;
    capture.machine.platform = "Windows".to_owned();
    let file = |database_id, id, kind, name: String| CapturedFile {
        database_id,
        id,
        kind,
        path: format!("C:\\d'ata\\{id}-{}.ndf", name.len()),
        name,
        size_bytes: 16 << 20,
        max_bytes: None,
        growth: Growth::Percent(10),
        state: "ONLINE".to_owned(),
    };
    let more = (3..).take(usize::try_from(count - 1).unwrap_or(0));
    capture.files = vec![
        file(TEMPDB, 1, FileKind::Rows, "tempdev".to_owned()),
        file(TEMPDB, 2, FileKind::Log, "templog".to_owned()),
        file(9, 1, FileKind::Rows, ODD.to_owned()),
    ];
    let more = more.map(|id| file(TEMPDB, id, FileKind::Rows, format!("{ODD}{id}")));
    capture.files.extend(more);
    capture.databases = vec![Database {
        id: 9,
        name: if engine_edition == 8 { ODD } else { "other" }.to_owned(),
        recovery: "FULL".to_owned(),
        read_committed_snapshot: false,
        encrypted: false,
    }];
    capture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_its_scripts_and_none_repeats_a_name() {
        let all = examples();
        let names: std::collections::BTreeSet<&String> = all.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), all.len());
        for wanted in [
            "windows/1-check.sql",
            "windows/database-create.sql",
            "windows-captured/undo-after-restart.sql",
            "linux/rescue.sql",
            "managed-instance/tempdb-undo-2.sql",
            "managed-instance/data-apply.sql",
            "service/4-restore.sql",
            "service/5-tempdb.sql",
        ] {
            assert!(
                names.contains(&wanted.to_owned()),
                "no {wanted} in {names:?}"
            );
        }
    }
}
