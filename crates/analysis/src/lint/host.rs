//! `--host FILE`: facts about the host that a server cannot see, provided by the host's owner.

use mariadb::capture as mysql;
use model::Rate;
use serde::Deserialize;
use sqlserver::capture::{Capture, HostTold, VolumeTold};

use catalogue::{Catalogue, CatalogueError, DiskEntry, Provision};
use experiment::spec::{line_at, plain_words, remedy};

/// Modes of a host cache.
const CACHES: [&str; 3] = ["none", "read-only", "read-write"];

/// An error in a host file.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct HostError {
    file: String,
    line: usize,
    message: String,
}

/// Facts about a host, in the form that each product's captures use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    sql_server: HostTold,
    mariadb: Vec<mysql::VolumeTold>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    azure: Option<bool>,
    #[serde(default)]
    volumes: Vec<WireVolume>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireVolume {
    mount_point: toml::Spanned<String>,
    allocation_unit_bytes: Option<toml::Spanned<i64>>,
    ephemeral: Option<toml::Spanned<bool>>,
    disk: Option<toml::Spanned<String>>,
    disks: Option<toml::Spanned<u32>>,
    host_cache: Option<toml::Spanned<String>>,
    iops: Option<toml::Spanned<i64>>,
    solid_state: Option<bool>,
    atomic_write_bytes: Option<toml::Spanned<i64>>,
}

/// A mistake at a byte of the text.
struct Fault(usize, String);

impl Told {
    /// Reads `text` of `file`; disks are resolved in the catalogue.
    ///
    /// # Errors
    /// The first mistake, with its line.
    pub fn parse(file: &str, text: &str, catalogue: &Catalogue) -> Result<Told, HostError> {
        let at = |offset, message| HostError {
            file: file.to_owned(),
            line: line_at(text, offset),
            message,
        };
        let wire: Wire = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            at(start, plain_words(error.message()))
        })?;
        let mut told = Told {
            sql_server: HostTold {
                azure: wire.azure,
                volumes: Vec::new(),
            },
            mariadb: Vec::new(),
        };
        for volume in wire.volumes {
            let meant = meaning(volume, catalogue);
            let (sql_server, mariadb) =
                meant.map_err(|Fault(offset, message)| at(offset, message))?;
            told.sql_server.volumes.push(sql_server);
            told.mariadb.push(mariadb);
        }
        Ok(told)
    }
}

fn meaning(
    volume: WireVolume,
    catalogue: &Catalogue,
) -> Result<(VolumeTold, mysql::VolumeTold), Fault> {
    let positive = |value: i64, offset: usize, what: &str| {
        if value > 0 {
            Ok(())
        } else {
            let message = format!("{what} is {value}; give a number above 0, or leave it out");
            Err(Fault(offset, message))
        }
    };
    if volume.mount_point.get_ref().trim().is_empty() {
        let message = "mount_point is empty; give it as in the capture, such as 'D:\\'";
        return Err(Fault(volume.mount_point.span().start, message.to_owned()));
    }
    if let Some(unit) = &volume.allocation_unit_bytes {
        positive(*unit.get_ref(), unit.span().start, "allocation_unit_bytes")?;
    }
    if let Some(iops) = &volume.iops {
        positive(*iops.get_ref(), iops.span().start, "iops")?;
    }
    if let Some(bytes) = &volume.atomic_write_bytes
        && *bytes.get_ref() < 0
    {
        let given = bytes.get_ref();
        let message =
            format!("atomic_write_bytes is {given}; give 0 for no promise, or leave it out");
        return Err(Fault(bytes.span().start, message));
    }
    if let Some(disks) = &volume.disks {
        positive(i64::from(*disks.get_ref()), disks.span().start, "disks")?;
    }
    if let Some(cache) = &volume.host_cache
        && !CACHES.contains(&cache.get_ref().as_str())
    {
        let given = cache.get_ref();
        let remedy = remedy(given, "possible", CACHES);
        let message = format!("host_cache \"{given}\" is not possible{remedy}");
        return Err(Fault(cache.span().start, message));
    }
    let disk = match &volume.disk {
        None => None,
        Some(disk) => {
            let found = catalogue.disk(disk.get_ref());
            let fault = |error: CatalogueError| Fault(disk.span().start, error.to_string());
            Some(found.map_err(fault)?)
        }
    };
    let forgets = disk.map(|disk| disk.class.after_stop.forgets());
    if let (Some(told), Some(disk), Some(true)) = (&volume.ephemeral, disk, forgets)
        && !told.get_ref()
    {
        let message = format!(
            "ephemeral is false, and {} is empty after the machine was stopped; leave ephemeral out, or name another disk",
            disk.name
        );
        return Err(Fault(told.span().start, message));
    }
    let disks = volume.disks.as_ref().map(|disks| *disks.get_ref());
    let given = |value: &Option<toml::Spanned<i64>>| {
        let value = value.as_ref().map(|value| *value.get_ref());
        value.and_then(|value| u64::try_from(value).ok())
    };
    let class = disk.map(|disk| &disk.class);
    let mount_point = volume.mount_point.into_inner();
    let mariadb = mysql::VolumeTold {
        mount_point: mount_point.clone(),
        iops: given(&volume.iops).or_else(|| {
            let each = sustained_iops(disk?)?;
            Some(each.saturating_mul(u64::from(disks.unwrap_or(1))))
        }),
        solid_state: volume
            .solid_state
            .or_else(|| class.map(|class| !class.hard_disk)),
        atomic_write_bytes: given(&volume.atomic_write_bytes).or_else(|| {
            // A stripe may split a request that one disk would have written atomically.
            let one = class.filter(|_| disks.unwrap_or(1) == 1)?;
            Some(one.atomic_write.map_or(0, |bytes| bytes.0))
        }),
    };
    let sql_server = VolumeTold {
        mount_point,
        allocation_unit_bytes: volume.allocation_unit_bytes.map(toml::Spanned::into_inner),
        ephemeral: volume.ephemeral.map(toml::Spanned::into_inner).or(forgets),
        disk: disk.map(|disk| disk.name.clone()),
        disks,
        host_cache: volume.host_cache.map(toml::Spanned::into_inner),
    };
    Ok((sql_server, mariadb))
}

/// Requests per second that a disk serves without bursts; `None` where that depends on the provisioned amount.
fn sustained_iops(disk: &DiskEntry) -> Option<u64> {
    let bought = disk.provision(&Provision::default()).ok()?;
    let limits = bought.spec.limits.iter();
    let iops = limits.filter_map(|limit| match limit.rate {
        Rate::Iops(iops) => Some(iops.0),
        Rate::Throughput(_) => None,
    });
    iops.min()
}

/// A mount point of the host's file where the capture has nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// The mount point.
    pub mount_point: String,
    /// Whether the file calls it a temporary disk. Rules propose such a disk for tempdb while it is empty.
    pub is_temporary: bool,
}

/// [`merge`], for MariaDB and MySQL: returns the mount points that hold none of the server's directories.
pub fn merge_mariadb(capture: &mut mysql::Capture, told: Told) -> Vec<Unconfirmed> {
    capture.told.extend(told.mariadb);
    let places = mysql::Places::of(capture);
    let used: Vec<String> = places
        .all()
        .iter()
        .filter_map(|path| capture.told(path))
        .map(|told| told.mount_point.clone())
        .collect();
    let told = capture.told.iter().map(|told| told.mount_point.clone());
    told.filter(|mount| !used.contains(mount))
        .map(|mount_point| Unconfirmed {
            mount_point,
            is_temporary: false,
        })
        .collect()
}

/// Adds host facts to a capture, overriding what it contains. Returns the mount points that hold nothing of the capture.
pub fn merge(capture: &mut Capture, told: Told) -> Vec<Unconfirmed> {
    let told = told.sql_server;
    let strange: Vec<Unconfirmed> = told
        .volumes
        .iter()
        .filter(|volume| !holds(capture, &volume.mount_point))
        .map(|volume| Unconfirmed {
            mount_point: volume.mount_point.clone(),
            is_temporary: volume.ephemeral == Some(true),
        })
        .collect();
    let before = capture.told.get_or_insert_default();
    before.azure = told.azure.or(before.azure);
    for new in told.volumes {
        let same = |old: &&mut VolumeTold| key(&old.mount_point) == key(&new.mount_point);
        match before.volumes.iter_mut().find(same) {
            None => before.volumes.push(new),
            Some(old) => {
                *old = VolumeTold {
                    mount_point: new.mount_point,
                    allocation_unit_bytes: new.allocation_unit_bytes.or(old.allocation_unit_bytes),
                    ephemeral: new.ephemeral.or(old.ephemeral),
                    disk: new.disk.or(old.disk.take()),
                    disks: new.disks.or(old.disks),
                    host_cache: new.host_cache.or(old.host_cache.take()),
                };
            }
        }
    }
    strange
}

/// Whether a captured volume or file is located there.
fn holds(capture: &Capture, mount: &str) -> bool {
    let mount = key(mount);
    let mut volumes = capture.volumes.iter();
    let mut files = capture.files.iter();
    volumes.any(|volume| key(&volume.mount_point) == mount)
        || files.any(|file| {
            let path = file.path.replace('\\', "/").to_lowercase();
            path.strip_prefix(&mount)
                .is_some_and(|rest| rest.starts_with('/'))
        })
}

/// A mount point in canonical spelling. Case is folded on Linux too: such a file is not expected to have two mounts that
/// differ only by case.
fn key(mount: &str) -> String {
    let mount = mount.replace('\\', "/").to_lowercase();
    mount.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Told, HostError> {
        Told::parse("host.toml", text, &Catalogue::builtin())
    }

    #[test]
    fn a_mistake_has_its_line_and_a_remedy() {
        let volume = |line: &str| format!("[[volumes]]\nmount_point = 'D:\\'\n{line}\n");
        for (line, expected) in [
            (
                "ephemral = true",
                "host.toml:3: there is no key \"ephemral\"; did you mean \"ephemeral\"?",
            ),
            (
                "host_cache = \"readonly\"",
                "host.toml:3: host_cache \"readonly\" is not possible; did you mean \"read-only\"?",
            ),
            (
                "disk = \"azure.premium.p33\"",
                "host.toml:3: there is no disk `azure.premium.p33` in the catalogue",
            ),
            (
                "allocation_unit_bytes = 0",
                "host.toml:3: allocation_unit_bytes is 0",
            ),
            (
                "disk = \"azure.local_nvme.lsv3\"\nephemeral = false",
                "host.toml:4: ephemeral is false, and azure.local_nvme.lsv3 is empty after the machine was stopped; leave",
            ),
            ("disks = 0", "host.toml:3: disks is 0"),
            ("iops = 0", "host.toml:3: iops is 0; give a number above 0"),
            (
                "atomic_write_bytes = -1",
                "host.toml:3: atomic_write_bytes is -1; give 0",
            ),
        ] {
            let error = parse(&volume(line)).expect_err(line).to_string();
            assert!(error.starts_with(expected), "{line}: {error}");
        }
        let error = parse("[[volumes]]\nephemeral = true").expect_err("no mount point");
        assert!(
            error.to_string().contains("\"mount_point\" is missing"),
            "{error}"
        );
    }

    #[test]
    fn what_is_told_counts_before_what_was_captured_member_by_member() {
        let told = HostTold {
            azure: Some(false),
            volumes: vec![VolumeTold {
                mount_point: "F:\\".into(),
                allocation_unit_bytes: Some(4096),
                host_cache: Some("none".into()),
                ..VolumeTold::default()
            }],
        };
        let mut capture = Capture {
            told: Some(told),
            ..Capture::default()
        };
        let text = "azure = true\n[[volumes]]\nmount_point = 'f:'\nhost_cache = 'read-only'\n";
        let strange = merge(&mut capture, parse(text).expect("it makes sense"));

        let told = capture.told.expect("it was told");
        assert_eq!(told.azure, Some(true));
        assert_eq!(told.volumes[0].host_cache.as_deref(), Some("read-only"));
        assert_eq!(told.volumes[0].allocation_unit_bytes, Some(4096));
        // The capture has no file on that mount point.
        let unconfirmed = Unconfirmed {
            mount_point: "f:".to_owned(),
            is_temporary: false,
        };
        assert_eq!(strange, [unconfirmed]);
    }

    #[test]
    fn a_disk_of_the_catalogue_says_whether_it_forgets() {
        let ephemeral = |line: &str| {
            let text = format!("[[volumes]]\nmount_point = 'D:\\'\n{line}\n");
            let told = parse(&text).expect("it makes sense").sql_server;
            told.volumes[0].ephemeral
        };
        assert_eq!(ephemeral("disk = 'gcp.local_ssd_nvme'"), Some(true));
        assert_eq!(ephemeral("disk = 'azure.premium.p30'"), Some(false));
        // A disk whose catalogue entry does not override it.
        assert_eq!(
            ephemeral("disk = 'azure.premium.p30'\nephemeral = true"),
            Some(true)
        );
        assert_eq!(ephemeral("iops = 5000"), None);
    }

    #[test]
    fn a_disk_of_the_catalogue_tells_what_innodb_has_to_know() {
        let told = |text: &str| {
            let text = format!("[[volumes]]\nmount_point = \"/data\"\n{text}");
            let mut capture = mysql::Capture::default();
            capture
                .variables
                .insert("datadir".into(), "/data/mysql/".into());
            let strange = merge_mariadb(&mut capture, parse(&text).expect("it makes sense"));
            assert!(strange.is_empty(), "{strange:?}");
            let told = capture.told("/data/mysql").expect("it was told").clone();
            (told.iops, told.solid_state, told.atomic_write_bytes)
        };
        // A P30 has 5,000 IOPS, and Azure promises writes of 16 KiB.
        let disk = "disk = \"azure.premium.p30\"\n";
        assert_eq!(told(disk), (Some(5000), Some(true), Some(16_384)));
        let striped = format!("{disk}disks = 4\n");
        assert_eq!(told(&striped), (Some(20_000), Some(true), None));
        let own = "iops = 900\nsolid_state = false\natomic_write_bytes = 16384\n";
        assert_eq!(told(own), (Some(900), Some(false), Some(16_384)));
        // Given values override the catalogue.
        let own = format!("{disk}{own}");
        assert_eq!(told(&own), (Some(900), Some(false), Some(16_384)));
    }

    #[test]
    fn a_volume_without_a_directory_of_the_server_is_strange() {
        let told = parse("[[volumes]]\nmount_point = \"/backup\"\n").expect("it makes sense");
        let mut capture = mysql::Capture::default();
        let strange = merge_mariadb(&mut capture, told);
        let mounts: Vec<&str> = strange.iter().map(|one| &*one.mount_point).collect();
        assert_eq!(mounts, ["/backup"]);
    }
}
