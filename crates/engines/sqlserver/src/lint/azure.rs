//! Virtual machines of Azure: caches, and the temporary disk.

use std::collections::BTreeMap;

use crate::capture::{Capture, File, FileKind, TEMPDB};

use super::locations::{
    at_volume, by_mount, databases, is_ephemeral, is_system_volume, is_user, mount_of, places,
    supplied, supplied_volumes, tempdb_data, user_files, volume, volumes_missing,
};
use super::sources::{
    AZURE_CONFIGURATION, AZURE_STORAGE, COMMITS_BY_CACHE, RULESET, WRITE_THROUGH,
};
use super::{Applies, Rule};
use rules::shown::{bytes, list, total};
use rules::{Change, Finding, Outcome, Severity};

/// From this size on a disk of Azure has no host cache (P50 and up).
const CACHE_MAX: i64 = 4 << 40;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "azure-tempdb-local-disk",
        title: "tempdb is not on the temporary disk",
        severity: Severity::Medium,
        why: "medium; Microsoft's ruleset says high. A published test found the temporary disk no faster than a P30 (Mr. Fox SQL, DS3), \
              so it is worth a try more than a change",
        says: "tempdb is on the local temporary disk. Exempt: failover cluster instances, sizes without such a disk (then a disk or pool of its \
               own with a read-only cache), and temporary disks too small for it.",
        sources: &[RULESET, AZURE_STORAGE],
        applies: Applies::AZURE,
        judge: local_disk,
    },
    Rule {
        id: "azure-temp-disk-folder",
        title: "tempdb is in a folder that the temporary disk loses",
        severity: Severity::Medium,
        why: "medium: after a move to another host the folder is gone, and without it the server does not start",
        says: "On a temporary disk tempdb is in the root, or something makes its folder and rights again at each start: \
               the SQL IaaS Agent extension, where it manages storage, or a task of one's own.",
        sources: &[AZURE_CONFIGURATION, AZURE_STORAGE],
        applies: Applies::AZURE,
        judge: folder_recreated,
    },
    Rule {
        id: "azure-data-cache",
        title: "the host's cache is not read-only for data",
        severity: Severity::High,
        why: "high, as in Microsoft's ruleset: reads from the cache cost nothing of the disk's limits; SQL Server writes through, so that \
              a cache that writes back makes nothing faster",
        says: "Disks with data have a read-only host cache. Exempt: Premium SSD v2, Ultra and disks of 4 TiB and more, which have no cache.",
        sources: &[RULESET, AZURE_STORAGE, WRITE_THROUGH],
        applies: Applies::AZURE,
        judge: data_cache,
    },
    Rule {
        id: "azure-log-cache",
        title: "the host's cache is on for logs",
        severity: Severity::High,
        why: "high, as in Microsoft's ruleset: the log is written through, and waits for the disk and for the cache; a published \
              test has 2.4 to 2.7 ms a commit without a cache, 2.8 to 3.1 ms read-write, 3.2 to 3.8 ms read-only",
        says: "Disks with logs have no host cache. Where data is on the same volume the two rules cannot both be kept.",
        sources: &[RULESET, AZURE_STORAGE, WRITE_THROUGH, COMMITS_BY_CACHE],
        applies: Applies::AZURE,
        judge: log_cache,
    },
    Rule {
        id: "azure-cached-limit-shared",
        title: "tempdb and cached reads share one limit",
        severity: Severity::Note,
        why: "note: it is how the machine is made; it matters when that limit is reached",
        says: "The machine's cached limit counts the temporary disk and the host cache together: tempdb on the one takes from reads through the other.",
        sources: &[AZURE_STORAGE],
        applies: Applies::AZURE,
        judge: cached_limit,
    },
    Rule {
        id: "azure-disk-class",
        title: "databases are on standard disks",
        severity: Severity::High,
        why: "high, as in Microsoft's ruleset: standard disks are for development and tests",
        says: "Data and logs of production are on Premium SSD, Premium SSD v2 or Ultra.",
        sources: &[RULESET, AZURE_STORAGE],
        applies: Applies::AZURE,
        judge: disk_class,
    },
];

fn local_disk(capture: &Capture) -> Vec<Outcome> {
    let files = tempdb_data(capture);
    let mounts = by_mount(capture, files.iter().copied());
    if mounts.is_empty() {
        return vec![volumes_missing(capture)];
    }
    let names: Vec<&str> = mounts.keys().copied().collect();
    let is_local = |mount: &&str| is_ephemeral(capture, mount) == Some(true);
    if names.iter().all(is_local) {
        let value = format!("tempdb is on {}, a temporary disk", list(&names));
        return vec![Outcome::fine(value)];
    }
    if capture.identity.clustered == Some(true) {
        let why = "a failover cluster instance";
        return vec![Outcome::exempt("failover-cluster-instance", why)];
    }
    if names
        .iter()
        .any(|mount| is_ephemeral(capture, mount).is_none())
    {
        return vec![Outcome::cannot_tell(
            format!("whether {} is the temporary disk", list(&names)),
            "--host FILE with ephemeral = true or false for each volume, the temporary disk among them even if it is empty",
        )];
    }
    let Some(local) = supplied_volumes(capture).find(|volume| volume.ephemeral == Some(true))
    else {
        return vec![Outcome::exempt(
            "no-temporary-disk",
            format!(
                "no volume is known to be temporary; tempdb is on {}, which should be its own and have a read-only cache",
                list(&names)
            ),
        )];
    };
    let needed = total(files.iter().map(|file| file.size_bytes));
    if let Some(found) = volume(capture, &local.mount_point)
        && found.total_bytes < needed
    {
        let why = format!(
            "{} has {}, tempdb needs {}; a larger machine has a larger one",
            local.mount_point,
            bytes(found.total_bytes),
            bytes(needed)
        );
        return vec![Outcome::exempt("temporary-disk-too-small", why)];
    }
    let message = format!(
        "tempdb is on {}, and the machine has a temporary disk, {}",
        list(&names),
        local.mount_point
    );
    vec![
        Finding::new(Severity::Medium, message)
            .with("data files of tempdb", bytes(needed))
            .advises(Change::TempLocal)
            .at(places(capture, files))
            .remedy("compare both places under your load; if the local one wins, see that its folder and rights are made at each start"),
    ]
}

fn folder_recreated(capture: &Capture) -> Vec<Outcome> {
    let mounts = by_mount(capture, capture.tempdb());
    if mounts.is_empty() {
        return vec![volumes_missing(capture)];
    }
    let local: Vec<&File> = mounts
        .into_iter()
        .filter(|(mount, _)| is_ephemeral(capture, mount) == Some(true))
        .flat_map(|(_, files)| files)
        .collect();
    if local.is_empty() {
        return vec![Outcome::fine("tempdb is not on a temporary disk")];
    }
    let in_folder: Vec<&File> = local
        .into_iter()
        .filter(|file| mount_of(capture, file).is_some_and(|mount| is_below(&file.path, mount)))
        .collect();
    if in_folder.is_empty() {
        return vec![Outcome::fine(
            "tempdb is in the root of its temporary disk; the service's account needs full control of it",
        )];
    }
    let message =
        "the folder of tempdb is on a temporary disk, which is empty after a move to another host";
    vec![
        Finding::new(Severity::Medium, message)
            .with("path", &in_folder[0].path)
            .at(places(capture, in_folder))
            .remedy("have the SQL IaaS Agent extension manage tempdb's storage, or make folder and rights in a task that runs before the service"),
    ]
}

/// Whether a path has a folder below its mount point.
fn is_below(path: &str, mount: &str) -> bool {
    let rest = path.get(mount.len()..).unwrap_or_default();
    rest.trim_start_matches(['\\', '/']).contains(['\\', '/'])
}

/// Whether a volume's disks can have a host cache at all; the reason, where not.
fn without_cache(capture: &Capture, mount: &str) -> Option<(&'static str, String)> {
    let supplied = supplied(capture, mount)?;
    if supplied.ephemeral == Some(true) {
        let why = format!("{mount} is a temporary disk, which is local");
        return Some(("temporary-disk", why));
    }
    let disk = supplied.disk.as_deref().unwrap_or_default();
    if disk == "azure.premium_v2" {
        let why = format!("{mount} is Premium SSD v2, which has no host cache");
        return Some(("premium-ssd-v2", why));
    }
    if disk.starts_with("azure.ultra") {
        let why = format!("{mount} is an Ultra disk, which has no host cache");
        return Some(("ultra-disk", why));
    }
    let tier = disk
        .strip_prefix("azure.premium.p")
        .and_then(|tier| tier.parse().ok());
    let by_tier = tier.is_some_and(|tier: u32| tier >= 50);
    let disks = i64::from(supplied.disks.unwrap_or(1).max(1));
    let by_size = volume(capture, mount)
        .is_some_and(|found| found.total_bytes / disks >= CACHE_MAX)
        && tier.is_none();
    (by_tier || by_size).then(|| {
        let why = format!("the disks of {mount} have 4 TiB or more, and so no host cache");
        ("disk-of-4-tib", why)
    })
}

fn data_cache(capture: &Capture) -> Vec<Outcome> {
    let data = user_files(capture).filter(|file| file.kind != FileKind::Log);
    cached(capture, by_mount(capture, data), "read-only")
}

fn log_cache(capture: &Capture) -> Vec<Outcome> {
    let logs = user_files(capture).filter(|file| file.kind == FileKind::Log);
    cached(capture, by_mount(capture, logs), "none")
}

/// One outcome for each volume, which should have the cache `wanted`.
fn cached(capture: &Capture, mounts: BTreeMap<&str, Vec<&File>>, wanted: &str) -> Vec<Outcome> {
    if mounts.is_empty() {
        return vec![match user_files(capture).next() {
            Some(_) => volumes_missing(capture),
            None => Outcome::fine("there are no databases of users"),
        }];
    }
    mounts
        .into_iter()
        .map(|(mount, files)| cache_of(capture, mount, &files, wanted))
        .collect()
}

fn cache_of(capture: &Capture, mount: &str, files: &[&File], wanted: &str) -> Outcome {
    if let Some((exception, why)) = without_cache(capture, mount) {
        return Outcome::exempt(exception, why);
    }
    let Some(cache) = supplied(capture, mount).and_then(|volume| volume.host_cache.as_deref())
    else {
        return Outcome::cannot_tell(
            format!("the host's cache for {mount}"),
            "--host FILE with host_cache = \"none\", \"read-only\" or \"read-write\" for each volume, and disk for those that have none",
        );
    };
    if cache == wanted {
        return Outcome::fine(format!("{mount} has {}", cache_shown(cache)));
    }
    let what = if wanted == "none" { "logs" } else { "data" };
    let other = user_files(capture).any(|file| {
        let log = file.kind == FileKind::Log;
        log != (wanted == "none") && mount_of(capture, file) == Some(mount)
    });
    if other && wanted == "none" && cache == "read-only" {
        let why = format!(
            "{mount} holds data too, for which a read-only cache is right; a log wants none, so one of the two rules is broken while both are here"
        );
        return Finding::new(Severity::Low, why)
            .advises(Change::LogApart)
            .with(format!("host cache of {mount}"), cache)
            .at([at_volume(mount)])
            .remedy("put the log on a volume without cache if its writes are slow; else leave it");
    }
    let message = match cache {
        "read-write" if is_system_volume(mount) => {
            format!(
                "{mount} has {what}, and a cache that writes back, as disks of the system have: what is written through waits for the disk"
            )
        }
        "read-write" => format!(
            "{mount} has {what}, and a cache that writes back: what is written through waits for the disk"
        ),
        _ => format!("{mount} has {what}, and {}", cache_shown(cache)),
    };
    let names = databases(capture, files.iter().copied());
    Finding::new(Severity::High, message)
        .with(format!("host cache of {mount}"), cache)
        .with("databases", list(&names))
        .at([at_volume(mount)])
        .remedy(format!(
            "set the cache of its disks to {wanted}; stop SQL Server first: the disk is detached and attached again"
        ))
}

fn cache_shown(cache: &str) -> String {
    match cache {
        "none" => "no cache".to_owned(),
        _ => format!("a {cache} cache"),
    }
}

fn cached_limit(capture: &Capture) -> Vec<Outcome> {
    let mounts = by_mount(capture, capture.files.iter());
    let Some((local, files)) = mounts.iter().find(|(mount, files)| {
        is_ephemeral(capture, mount) == Some(true)
            && files.iter().any(|file| file.database_id == TEMPDB)
    }) else {
        let untold = mounts
            .keys()
            .any(|mount| is_ephemeral(capture, mount).is_none());
        return vec![if untold || mounts.is_empty() {
            Outcome::cannot_tell(
                "whether tempdb is on the temporary disk",
                "--host FILE with ephemeral = true or false for each volume",
            )
        } else {
            Outcome::fine("tempdb is not on the temporary disk")
        }];
    };
    let cached: Vec<&str> = mounts
        .keys()
        .filter(|mount| {
            supplied(capture, mount)
                .is_some_and(|volume| volume.host_cache.as_deref() == Some("read-only"))
        })
        .copied()
        .collect();
    if cached.is_empty() {
        let value =
            format!("tempdb is on {local}, and no volume is known to have a read-only cache");
        return vec![Outcome::fine(value)];
    }
    let message = format!(
        "tempdb on {local} and cached reads of {} share the machine's cached limit",
        list(&cached)
    );
    let tempdb = files.iter().filter(|file| file.database_id == TEMPDB);
    vec![
        Finding::new(Severity::Note, message)
            .with("temporary disk", local)
            .with("read-only cache", list(&cached))
            .at(places(capture, tempdb.copied()))
            .remedy("watch \"VM Cached IOPS Consumed Percentage\" and its bandwidth; near 100 % one of the two has to move"),
    ]
}

fn disk_class(capture: &Capture) -> Vec<Outcome> {
    let files = capture.files.iter();
    let mounts = by_mount(capture, files.filter(|file| is_user(file.database_id)));
    if mounts.is_empty() {
        return vec![match user_files(capture).next() {
            Some(_) => volumes_missing(capture),
            None => Outcome::fine("there are no databases of users"),
        }];
    }
    let class = |(mount, files): (&str, Vec<&File>)| {
        let Some(disk) = supplied(capture, mount).and_then(|volume| volume.disk.as_deref()) else {
            return Outcome::cannot_tell(
                format!("what disk {mount} is"),
                "--host FILE with disk = a name of `dbstow disks` for each volume",
            );
        };
        if !disk.starts_with("azure.std") {
            return Outcome::fine(format!("{mount} is {disk}"));
        }
        let names = databases(capture, files.iter().copied());
        let message = format!("{} is on {mount}, a standard disk", list(&names));
        Finding::new(Severity::High, message)
            .with(format!("disk of {mount}"), disk)
            .at([at_volume(mount)])
            .remedy("use Premium SSD or Premium SSD v2; `dbstow disks azure` lists both")
    };
    mounts.into_iter().map(class).collect()
}
