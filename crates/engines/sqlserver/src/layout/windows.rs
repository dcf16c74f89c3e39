//! Windows scripts for a move: folders and permissions, a restart, a rollback for a service that does not start, and
//! folders that are recreated on an empty disk.

use askama::Template;
use model::Bytes;

use super::filters;
use super::mount_point::drive;
use super::placement::Placement;
use super::service::Service;
use layout::Folder;
use layout::Script;

/// A service's own account (`NT SERVICE\..`) always belongs to the service, whichever account it runs as.
///
/// Source: <https://learn.microsoft.com/sql/database-engine/configure-windows/configure-file-system-permissions-for-database-engine-access>,
/// read 2026-11.
#[derive(Template)]
#[template(path = "layout/windows/folders.ps1", escape = "none")]
struct Folders<'a> {
    service: &'a Service,
    folders: &'a [Folder],
    local_disk: Option<LocalDisk<'a>>,
}

/// Windows' name of a disk inside a machine (`FriendlyName`), as a pattern. Remote disks have other names: `MSFT NVMe
/// Accelerator`, `NVMe Amazon Elastic B`, `nvme_card-pd`, `Google PersistentDisk`.
///
/// Sources, read 2026-11-26: Azure's `Microsoft NVMe Direct Disk` (Lsv2, Lsv3) and `.. v2` (v6 and later)
/// <https://github.com/Azure/azure-vm-utils/blob/f6b3854b/doc/disk-identification.md>; AWS and Google Cloud
/// <https://github.com/GoogleCloudPlatform/PerfKitBenchmarker> (`GetLocalSSDNames` in `aws_disk_strategies.py` at 561e34a5 and
/// `gce_disk_strategies.py` at d37a83d7); `NVMe nvme_card` from Google's own deployment of SQL Server, and a number behind it on
/// machines with several (`nvme_card0` ..).
const LOCAL_DISKS: &str = "Microsoft NVMe Direct Disk( v[0-9]+)?|NVMe Amazon EC2 NVMe|(NVMe )?nvme_card[0-9]*|Google EphemeralDisk";

/// Bytes of NTFS's allocation unit, as Microsoft advises for files of SQL Server.
///
/// Source: <https://learn.microsoft.com/azure/azure-sql/virtual-machines/windows/performance-guidelines-best-practices-storage>,
/// read 2026-11.
const ALLOCATION_UNIT: Bytes = Bytes::kib(64);

/// Formats and mounts a disk that comes back without a file system.
///
/// Source: <https://learn.microsoft.com/azure/virtual-machines/enable-nvme-temp-faqs>, read 2026-11-26. Never run, for
/// lack of a Windows machine.
#[derive(Template)]
#[template(path = "layout/windows/local-disk.ps1", escape = "none")]
struct LocalDisk<'a> {
    places: &'a [String],
    models: &'static str,
    unit: u64,
}

impl LocalDisk<'_> {
    fn of(places: &[String]) -> Option<LocalDisk<'_>> {
        (!places.is_empty()).then_some(LocalDisk {
            places,
            models: LOCAL_DISKS,
            unit: ALLOCATION_UNIT.0,
        })
    }
}

/// The Agent depends on the service: it is stopped with it, and restarted if it was running.
#[derive(Template)]
#[template(path = "layout/windows/restart.ps1", escape = "none")]
struct Restart<'a> {
    service: &'a Service,
}

/// Source: <https://learn.microsoft.com/sql/relational-databases/databases/move-system-databases> (failure
/// recovery), read 2026-11.
#[derive(Template)]
#[template(path = "layout/windows/rescue.cmd", escape = "none")]
struct Rescue<'a> {
    service: &'a Service,
}

/// Creates the folders and then starts the service, which no longer starts automatically.
#[derive(Template)]
#[template(path = "layout/windows/start-up.ps1", escape = "none")]
struct StartUp<'a> {
    service: &'a Service,
    folders: &'a [Folder],
    drives: Vec<String>,
    local_disk: Option<LocalDisk<'a>>,
}

/// A task at start-up runs it.
#[derive(Template)]
#[template(path = "layout/windows/start-up-register.ps1", escape = "none")]
struct Register<'a> {
    service: &'a Service,
}

/// The script that creates folders; `prefix` begins its name. It first mounts the disks in `raw`.
pub(super) fn folders(
    prefix: &str,
    service: &Service,
    folders: &[Folder],
    raw: &[String],
) -> Script {
    let template = Folders {
        service,
        folders,
        local_disk: LocalDisk::of(raw),
    };
    Script::new(&format!("{prefix}0-folders.ps1"), &template)
}

/// Everything except the folders.
pub(super) fn scripts(placement: &Placement<'_>) -> Vec<Script> {
    let service = &placement.service;
    let mut scripts = vec![
        Script::new("3-restart.ps1", &Restart { service }),
        Script::new("rescue.cmd", &Rescue { service }),
    ];
    if !placement.ephemeral.is_empty() {
        let start_up = StartUp {
            service,
            folders: &placement.ephemeral,
            drives: placement.ephemeral.iter().map(drive).collect(),
            local_disk: LocalDisk::of(&placement.raw),
        };
        scripts.push(Script::new("start-up.ps1", &start_up));
        scripts.push(Script::new("start-up-register.ps1", &Register { service }));
    }
    scripts
}
