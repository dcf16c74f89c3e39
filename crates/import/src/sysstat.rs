//! Shared by iostat and sadf: a JSON document with one element per record, possibly truncated by a kill; device names; processor
//! time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::Duration;
use reading::Role;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::devices::Found;
use super::error::ImportError;
use profile::Draft;

#[derive(Deserialize)]
struct Document<R> {
    sysstat: Sysstat<R>,
}

#[derive(Deserialize)]
struct Sysstat<R> {
    hosts: Vec<Host<R>>,
}

/// The host that was recorded.
#[derive(Deserialize)]
pub(super) struct Host<R> {
    #[serde(rename = "number-of-cpus")]
    pub(super) processors: Option<u32>,
    #[serde(default = "Vec::new")]
    pub(super) statistics: Vec<R>,
    #[serde(default)]
    pub(super) restarts: Vec<Value>,
}

/// Objects and lists that are open around an element of `statistics`: document, sysstat, hosts, host, statistics.
const DEPTH: usize = 5;

/// Closes them.
const CLOSE: &str = "]}]}}";

/// Reads the one host of a document, and whether its end was truncated and dropped.
///
/// # Errors
/// With the line, when it is not JSON of these tools; when the number of hosts is not one.
pub(super) fn read<R: DeserializeOwned>(
    file: &str,
    text: &str,
) -> Result<(Host<R>, bool), ImportError> {
    let (document, is_cut): (Document<R>, bool) = match serde_json::from_str(text) {
        Ok(document) => (document, false),
        Err(error) => {
            let whole = closed(text).filter(|_| error.is_eof());
            let whole = whole.ok_or_else(|| wrong(file, &error))?;
            let document = serde_json::from_str(&whole).map_err(|error| wrong(file, &error))?;
            (document, true)
        }
    };
    let mut hosts = document.sysstat.hosts;
    match hosts.pop() {
        Some(host) if hosts.is_empty() => Ok((host, is_cut)),
        last => {
            let count = hosts.len() + usize::from(last.is_some());
            let message = format!("it has {count} hosts; give a file of one host");
            Err(ImportError::file(file, message))
        }
    }
}

fn wrong(file: &str, error: &serde_json::Error) -> ImportError {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    ImportError::line(
        file,
        error.line(),
        format!("{message}; record again with `iostat -x -t -o JSON` or export with `sadf -j`"),
    )
}

/// The document up to its last complete element.
fn closed(text: &str) -> Option<Cow<'_, str>> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    let mut end = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == DEPTH && byte == b'}' {
                    end = Some(at + 1);
                }
            }
            _ => {}
        }
    }
    Some(format!("{}{CLOSE}", &text[..end?]).into())
}

/// Devices in the order of the file, from their records: the name, and whether it had requests. A partition
/// of another device is not active: its requests are those of the device.
pub(super) fn devices<'a>(records: impl Iterator<Item = (&'a str, bool)>) -> Vec<Found<'a>> {
    let mut found: Vec<Found> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, is_active) in records {
        let place = *places.entry(name).or_insert_with(|| {
            found.push(Found {
                name,
                is_active: false,
            });
            found.len() - 1
        });
        found[place].is_active |= is_active;
    }
    for device in &mut found {
        let disks = places.keys();
        device.is_active &= !disks
            .into_iter()
            .any(|disk| is_partition(device.name, disk));
    }
    found
}

/// Drops a device that a record has twice with the same figures.
///
/// # Errors
/// When the figures differ, with the number of the record.
pub(super) fn drop_repeated<D: PartialEq>(
    disks: &mut Vec<D>,
    name: fn(&D) -> &str,
    number: usize,
    draft: &mut Draft,
) -> Result<(), String> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<D> = Vec::new();
    for disk in std::mem::take(disks) {
        match places.get(name(&disk)) {
            None => {
                places.insert(name(&disk).to_owned(), kept.len());
                kept.push(disk);
            }
            Some(before) if kept[*before] == disk => {
                draft.assume("A record has a device twice, with the same figures: it counts once.");
            }
            Some(_) => {
                return Err(format!(
                    "record {number} has `{}` twice, with different figures; leave one of them out",
                    name(&disk)
                ));
            }
        }
    }
    *disks = kept;
    Ok(())
}

/// The roles assigned to devices, by name.
///
/// # Errors
/// When one of them is a partition of another.
pub(super) fn by_name<'a>(
    found: &[Found<'a>],
    roles: &[Option<Role>],
) -> Result<BTreeMap<&'a str, Role>, String> {
    let pairs = found.iter().zip(roles);
    let named: BTreeMap<&str, Role> = pairs
        .filter_map(|(device, role)| Some((device.name, (*role)?)))
        .collect();
    for part in named.keys() {
        if let Some(disk) = named.keys().find(|disk| is_partition(part, disk)) {
            return Err(format!(
                "`{part}` is a partition of `{disk}`, and its requests would count twice; name one of them with --device"
            ));
        }
    }
    Ok(named)
}

/// `/dev/vda` is `vda`.
pub(super) fn base(name: &str) -> &str {
    name.strip_prefix("/dev/").unwrap_or(name)
}

/// Whether `name` is a partition of `disk`: `sda1` of `sda`, `nvme0n1p2` of `nvme0n1`.
fn is_partition(name: &str, disk: &str) -> bool {
    let number = name.strip_prefix(disk).unwrap_or_default();
    let number = number.strip_prefix('p').unwrap_or(number);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Processor time from the percentages in which processors did no work for this machine.
pub(super) fn busy(
    unused_percent: [f64; 3],
    processors: u32,
    length: Duration,
) -> Option<Duration> {
    let unused: f64 = unused_percent.iter().sum();
    let share = (1.0 - unused / 100.0).max(0.0);
    let time = share * f64::from(processors) * length.as_secs_f64();
    Some(Duration::from_secs_f64(time))
}
