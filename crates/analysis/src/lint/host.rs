//! `--host FILE`: facts about the host that a server cannot see, provided by the host's owner.

use model::Rate;
use rules::{Host, HostVolume};
use serde::Deserialize;

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

/// An error at a byte of the text.
struct Fault(usize, String);

/// Reads `text` of `file`; disks are resolved in the catalogue.
///
/// # Errors
/// The first error, with its line.
pub fn host(file: &str, text: &str, catalogue: &Catalogue) -> Result<Host, HostError> {
    let at = |offset, message| HostError {
        file: file.to_owned(),
        line: line_at(text, offset),
        message,
    };
    let wire: Wire = toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        at(start, plain_words(error.message()))
    })?;
    let volumes = wire.volumes.into_iter();
    let volumes: Result<Vec<HostVolume>, Fault> =
        volumes.map(|volume| meaning(volume, catalogue)).collect();
    Ok(Host {
        azure: wire.azure,
        volumes: volumes.map_err(|Fault(offset, message)| at(offset, message))?,
    })
}

fn meaning(volume: WireVolume, catalogue: &Catalogue) -> Result<HostVolume, Fault> {
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
    if let (Some(ephemeral), Some(disk), Some(true)) = (&volume.ephemeral, disk, forgets)
        && !ephemeral.get_ref()
    {
        let message = format!(
            "ephemeral is false, and {} is empty after the machine was stopped; leave ephemeral out, or name another disk",
            disk.name
        );
        return Err(Fault(ephemeral.span().start, message));
    }
    let disks = volume.disks.as_ref().map(|disks| *disks.get_ref());
    let given = |value: &Option<toml::Spanned<i64>>| {
        let value = value.as_ref().map(|value| *value.get_ref());
        value.and_then(|value| u64::try_from(value).ok())
    };
    let class = disk.map(|disk| &disk.class);
    Ok(HostVolume {
        mount_point: volume.mount_point.into_inner(),
        allocation_unit_bytes: given(&volume.allocation_unit_bytes),
        ephemeral: volume.ephemeral.map(toml::Spanned::into_inner).or(forgets),
        disk: disk.map(|disk| disk.name.clone()),
        disks,
        host_cache: volume.host_cache.map(toml::Spanned::into_inner),
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
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Host, HostError> {
        host("host.toml", text, &Catalogue::builtin())
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
    fn a_disk_of_the_catalogue_says_whether_it_forgets() {
        let ephemeral = |line: &str| {
            let text = format!("[[volumes]]\nmount_point = 'D:\\'\n{line}\n");
            let host = parse(&text).expect("it makes sense");
            host.volumes[0].ephemeral
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
        let facts = |text: &str| {
            let text = format!("[[volumes]]\nmount_point = \"/data\"\n{text}");
            let host = parse(&text).expect("it makes sense");
            let volume = &host.volumes[0];
            (volume.iops, volume.solid_state, volume.atomic_write_bytes)
        };
        // A P30 has 5,000 IOPS, and Azure promises writes of 16 KiB.
        let disk = "disk = \"azure.premium.p30\"\n";
        assert_eq!(facts(disk), (Some(5000), Some(true), Some(16_384)));
        let striped = format!("{disk}disks = 4\n");
        assert_eq!(facts(&striped), (Some(20_000), Some(true), None));
        let own = "iops = 900\nsolid_state = false\natomic_write_bytes = 16384\n";
        assert_eq!(facts(own), (Some(900), Some(false), Some(16_384)));
        // Given values override the catalogue.
        let own = format!("{disk}{own}");
        assert_eq!(facts(&own), (Some(900), Some(false), Some(16_384)));
    }
}
