//! Machines as rows of a table: one row is one machine. A row is converted to what a TOML file would contain.

use std::collections::BTreeMap;

use model::{Bytes, Duration};
use serde::Deserialize;

use super::each_row::{RowError, each};
use super::hourly_price::PriceAssumed;
use super::source::Confidence;
use super::wire::{
    AmountWire, BurstWire, BurstsWire, HostCacheWire, HourlyPriceWire, LimitsWire, LocalDiskWire,
    MachineWire, RuleTable, RuleWire,
};

/// How long machines burst. Azure: "up to 30 minutes at a time"; AWS: "at least 30 minutes once every 24 hours".
pub(super) const BURST: Duration = Duration::from_secs(30 * 60);

/// Flag of machines that a buyer adds local disks to.
const LOCAL_SSD_OPTIONAL: &str = "local-ssd-optional";

/// What a flag of a row means.
enum Meaning {
    /// An assumption about the price with Linux, with the reason.
    OfLinux(&'static str),
    /// An assumption about the price with Windows, with the reason.
    OfWindows(&'static str),
    /// A remark for the user.
    Noted(&'static str),
}

use Meaning::{Noted, OfLinux, OfWindows};

/// Flags that a row may have.
const FLAGS: [(&str, Meaning); 26] = [
    (
        "win-rule",
        OfWindows(
            "the price with Windows: $0.046 more for each core and hour, as on most machines",
        ),
    ),
    (
        "win-2023-adder",
        OfWindows("the price with Windows: as much more as in a list of 2023"),
    ),
    (
        "price-fixed",
        OfLinux(
            "the price: the list's is the one with Windows, of which the usual difference was taken off",
        ),
    ),
    (
        "price-outlier",
        Noted("the price does not fit that of its family's other sizes"),
    ),
    (
        "price-31pct-above-v6",
        Noted("the price is 31 % above that of the generation before it"),
    ),
    (
        "preview-tag",
        Noted("the vendor's page is marked as a preview"),
    ),
    (
        "local-iops-measured",
        Noted("IOPS of local disks: measured on one disk, times the number of disks"),
    ),
    (
        "local-mbps-measured",
        Noted("throughput of local disks: measured on one disk, times the number of disks"),
    ),
    (
        LOCAL_SSD_OPTIONAL,
        Noted("local SSDs can be added, and cost extra"),
    ),
    (
        "local-from-edsv6-names",
        Noted("local disks: the vendor's table has the names of another family"),
    ),
    (
        "local-write-iops-outlier-dropped",
        Noted(
            "write IOPS of local disks were measured at less than half of what smaller sizes do, and are left out",
        ),
    ),
    (
        "doc-temp-qty-column-wrong",
        Noted(
            "number of local disks: the vendor's table repeats the number of data disks; 1 is used",
        ),
    ),
    (
        "doc-pv2-columns-wrong",
        Noted(
            "limits of Premium SSD v2 and Ultra: the vendor's columns repeat those of the local disks, and are left out",
        ),
    ),
    (
        "doc-pv2-burst-iops-below-base",
        Noted(
            "burst of Premium SSD v2 and Ultra: below its base in the vendor's table, and left out",
        ),
    ),
    (
        "doc-local-write-iops-typo",
        Noted("write IOPS of local disks: impossible in the vendor's table, and left out"),
    ),
    (
        "doc-local-read-write-exchanged",
        Noted(
            "rates of local disks: the vendor's tables exchange reads and writes; as in those of the families with other processors",
        ),
    ),
    (
        "doc-burst-mbps-1000",
        Noted("burst throughput: as printed; pages of sister families say 1600"),
    ),
    (
        "doc-local-iops-85000",
        Noted("IOPS of the local disk: as printed; pages of sister families say 75000"),
    ),
    (
        "doc-local-iops-375000",
        Noted("IOPS of the local disk: as printed; pages of sister families say 300000"),
    ),
    (
        "doc-typo-used-esv6",
        Noted(
            "limits of remote disks: the row is shifted in the vendor's table; those of the family without local disks are used",
        ),
    ),
    (
        "plus-scsi-temp-80gib",
        Noted("also has a temporary SCSI disk of 80 GiB"),
    ),
    (
        "plus-scsi-temp-160gib",
        Noted("also has a temporary SCSI disk of 160 GiB"),
    ),
    (
        "plus-scsi-temp-320gib",
        Noted("also has a temporary SCSI disk of 320 GiB"),
    ),
    (
        "plus-scsi-temp-480gib",
        Noted("also has a temporary SCSI disk of 480 GiB"),
    ),
    (
        "plus-scsi-temp-640gib",
        Noted("also has a temporary SCSI disk of 640 GiB"),
    ),
    (
        "plus-scsi-temp-800gib",
        Noted("also has a temporary SCSI disk of 800 GiB"),
    ),
];

/// A row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    family: String,
    arm: String,
    cores: u32,
    memory_gib: f64,
    usd_hour_linux: Option<f64>,
    usd_hour_windows: Option<f64>,
    disks_max: Option<u32>,
    remote: String,
    iops: Option<f64>,
    mb_per_s: Option<f64>,
    burst_iops: Option<f64>,
    burst_mb_per_s: Option<f64>,
    write_iops: Option<f64>,
    write_mb_per_s: Option<f64>,
    v2_iops: Option<f64>,
    v2_mb_per_s: Option<f64>,
    v2_burst_iops: Option<f64>,
    v2_burst_mb_per_s: Option<f64>,
    cached_iops: Option<f64>,
    cached_mb_per_s: Option<f64>,
    host_cache_gib: Option<f64>,
    local_disks: Option<u32>,
    local_gib_each: Option<f64>,
    local_raw: String,
    local_read_iops: Option<f64>,
    local_read_mb_per_s: Option<f64>,
    local_write_iops: Option<f64>,
    local_write_mb_per_s: Option<f64>,
    sources: String,
    flags: String,
}

/// A row that was read.
pub(super) struct MachineRow {
    /// Its line, from 1.
    pub(super) line: u64,
    /// The machine's name.
    pub(super) name: String,
    /// What a TOML file would contain.
    pub(super) wire: MachineWire,
}

/// The machines of a table.
///
/// # Errors
/// The first invalid line.
pub(super) fn read(text: &str) -> Result<Vec<MachineRow>, RowError> {
    let mut machines = Vec::new();
    each(text, |line, row: Row| {
        let wire = row.wire();
        machines.push(MachineRow {
            line,
            wire: wire.map_err(|why| format!("`{}`: {why}", row.name))?,
            name: row.name,
        });
        Ok(())
    })?;
    Ok(machines)
}

/// Rates of a limit: IOPS and throughput, and what follows them.
type Rates = [Option<f64>; 2];

impl Row {
    fn wire(&self) -> Result<MachineWire, String> {
        let (mut price_assumed, mut notes) = (PriceAssumed::default(), Vec::new());
        let mut local_assumed = Vec::new();
        for flag in self.flags.split_whitespace() {
            match FLAGS.iter().find(|(name, _)| *name == flag) {
                Some((_, OfLinux(text))) => price_assumed.linux.push((*text).to_owned()),
                Some((_, OfWindows(text))) => price_assumed.windows.push((*text).to_owned()),
                Some((_, Noted(text))) => notes.push((*text).to_owned()),
                None => return Err(format!("there is no flag `{flag}`")),
            }
        }
        let local_disks = self.local_disks.unwrap_or(0);
        let local_disk = self.local_disk(local_disks, &mut local_assumed)?;
        if local_disks > 0 && local_disk.is_none() {
            notes.push("how fast its local disks are is not known".to_owned());
        }
        let limits = self.limits()?;
        let host_cache = self.host_cache_gib.map(|gib| HostCacheWire {
            class: "azure-local-ssd".to_owned(),
            size: gibibytes(gib),
            limit: "cached".to_owned(),
        });
        Ok(MachineWire {
            title: String::new(),
            aliases: Vec::new(),
            family: self.family.clone(),
            arm: yes(&self.arm)?.unwrap_or(false),
            cores: self.cores,
            memory: gibibytes(self.memory_gib),
            disks_max: self.disks_max,
            files_max: None,
            limits,
            host_cache,
            local_disk,
            local_disks: (local_disks > 0 || !self.can_add_local_disks()).then_some(local_disks),
            local_disks_raw: yes(&self.local_raw)?,
            price: Some(HourlyPriceWire {
                linux: self.usd_hour_linux,
                windows: self.usd_hour_windows,
            }),
            confidence: Confidence::Documented,
            sources: self.sources.split_whitespace().map(str::to_owned).collect(),
            assumed: Vec::new(),
            price_assumed,
            local_assumed,
            notes,
        })
    }

    /// Whether a buyer chooses how many local disks it has.
    fn can_add_local_disks(&self) -> bool {
        self.flags
            .split_whitespace()
            .any(|flag| flag == LOCAL_SSD_OPTIONAL)
    }

    fn limits(&self) -> Result<BTreeMap<String, LimitsWire>, String> {
        let mut limits = BTreeMap::new();
        let remote = [self.iops, self.mb_per_s];
        let unit = match self.remote.as_str() {
            "uncached" | "ebs" => "MB/s",
            "pd-ssd" | "hyperdisk" => "MiB/s",
            "" => {
                return match remote {
                    [None, None] => Ok(limits),
                    _ => Err("`remote` does not say whose limit it is".to_owned()),
                };
            }
            other => return Err(format!("`remote` is `{other}`; there is no such limit")),
        };
        let writes = match self.remote.as_str() {
            // Google Cloud limits each direction separately.
            "pd-ssd" | "hyperdisk" => Some([
                self.write_iops.or(self.iops),
                self.write_mb_per_s.or(self.mb_per_s),
            ]),
            _ => None,
        };
        let burst = [self.burst_iops, self.burst_mb_per_s];
        limits.insert(self.remote.clone(), limit(unit, remote, writes, burst));
        if self.v2_iops.is_some() {
            let (v2, burst) = (
                [self.v2_iops, self.v2_mb_per_s],
                [self.v2_burst_iops, self.v2_burst_mb_per_s],
            );
            limits.insert("ultra".to_owned(), limit("MB/s", v2, None, burst));
        }
        if self.cached_iops.is_some() {
            let cached = [self.cached_iops, self.cached_mb_per_s];
            limits.insert("cached".to_owned(), limit("MB/s", cached, None, [None; 2]));
        }
        Ok(limits)
    }

    /// One of the local disks: an equal share of their total.
    fn local_disk(
        &self,
        disks: u32,
        assumed: &mut Vec<String>,
    ) -> Result<Option<LocalDiskWire>, String> {
        let (Some(gib), true) = (self.local_gib_each, disks > 0) else {
            return Ok(None);
        };
        let is_nvme = yes(&self.local_raw)? == Some(true);
        let own = |class: &str, iops, throughput| {
            Some(LocalDiskWire {
                disk: None,
                class: Some(class.to_owned()),
                size: Some(gibibytes(gib)),
                iops,
                throughput,
            })
        };
        if !is_nvme && self.cached_iops.is_some() {
            // The limit that it shares with the host cache.
            return Ok(own("azure-local-ssd", None, None));
        }
        let share = |rate: Option<f64>| rate.map(|rate| rate / f64::from(disks));
        let reads = [share(self.local_read_iops), share(self.local_read_mb_per_s)];
        let mut writes = [
            share(self.local_write_iops),
            share(self.local_write_mb_per_s),
        ];
        let [Some(_), _] = reads else {
            return Ok(None);
        };
        if reads[0].is_some() && writes[0].is_none() || reads[1].is_some() && writes[1].is_none() {
            assumed.push("writes are as fast as reads, where they are not published".to_owned());
        }
        for (write, read) in writes.iter_mut().zip(reads) {
            *write = write.or(read);
        }
        let class = if is_nvme {
            "local-nvme"
        } else {
            "azure-local-ssd"
        };
        let LimitsWire {
            iops, throughput, ..
        } = limit("MB/s", reads, Some(writes), [None; 2]);
        Ok(own(class, iops, throughput))
    }
}

/// A limit with these rates; `writes`, if they have a separate limit.
fn limit(unit: &str, rates: Rates, writes: Option<Rates>, burst: Rates) -> LimitsWire {
    let iops = |rate: f64| RuleWire::Amount(AmountWire::Number(rate.floor()));
    let throughput = |rate: f64| RuleWire::Amount(AmountWire::Text(format!("{rate} {unit}")));
    let rule = |at: usize, amount: &dyn Fn(f64) -> RuleWire| {
        let rate = rates[at]?;
        Some(match writes.and_then(|writes| writes[at]) {
            None => amount(rate),
            Some(write) => RuleWire::Table(Box::new(RuleTable {
                read: Some(amount(rate)),
                write: Some(amount(write)),
                ..RuleTable::default()
            })),
        })
    };
    let of_burst = |at: usize, amount: &dyn Fn(f64) -> RuleWire| {
        let rate = burst[at].filter(|rate| Some(*rate) != rates[at])?;
        Some(BurstWire {
            rate: amount(rate),
            lasts: Some(BURST),
            credits: None,
        })
    };
    let bursts = BurstsWire {
        optional: false,
        iops: of_burst(0, &iops),
        throughput: of_burst(1, &throughput),
    };
    LimitsWire {
        iops: rule(0, &iops),
        throughput: rule(1, &throughput),
        burst: Some(bursts),
    }
}

pub(super) fn gibibytes(gib: f64) -> Bytes {
    Bytes((gib * (1_u64 << 30) as f64).round() as u64)
}

pub(super) fn yes(text: &str) -> Result<Option<bool>, String> {
    match text {
        "" => Ok(None),
        "yes" => Ok(Some(true)),
        "no" => Ok(Some(false)),
        other => Err(format!("`{other}` is not `yes` or `no`")),
    }
}
