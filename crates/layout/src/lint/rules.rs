//! What is only true on a managed service.

use model::{Bytes, Throughput};
use rules::{Finding, Outcome, Rule, RuleInfo, Severity, Source};

use super::facts::{ServiceFacts, VolumeFacts};

/// From which share of a limit on, a load is at it. Ours.
const AT_LIMIT: f64 = 0.9;

/// A fall of the burst balance that counts, in percentage points. Ours.
const FALL: u8 = 5;

const STORAGE: Source = Source {
    name: "Amazon, RDS user guide: DB instance storage",
    url: "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Storage.html",
    read: "2026-11-26",
};
const OPTIMIZED_READS: Source = Source {
    name: "Amazon, RDS user guide: optimized reads",
    url: "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-optimized-reads.html",
    read: "2026-11-26",
};
const MANAGED_INSTANCE: Source = Source {
    name: "Microsoft, Azure SQL Managed Instance: resource limits",
    url: "https://learn.microsoft.com/azure/azure-sql/managed-instance/resource-limits",
    read: "2026-11-26",
};
const DATABASE: Source = Source {
    name: "Microsoft, Azure SQL Database: vCore limits of single databases",
    url: "https://learn.microsoft.com/azure/azure-sql/database/resource-limits-vcore-single-databases",
    read: "2026-11-26",
};

type ServiceRule = Rule<ServiceFacts, ()>;

/// All rules.
pub(super) const RULES: &[ServiceRule] = &[
    Rule {
        id: "service-burst-credits",
        title: "storage of a managed service serves the load by burst credits, which end",
        severity: Severity::High,
        why: "high where the mean load is above what lasts, or the burst balance falls below half, medium where it falls",
        says: "The mean of a volume's requests is below the IOPS that last without credits, and the burst balance does not fall by 5 \
               percentage points (ours).",
        sources: &[STORAGE],
        applies: (),
        judge: burst_credits,
    },
    Rule {
        id: "service-storage-step",
        title: "storage of a managed service is just below a size with more IOPS",
        severity: Severity::Medium,
        why: "medium where the load reaches 90 % of its IOPS, else a note: a few GiB more are paid for",
        says: "A volume is not within 10 % (ours) below a size from which it has at least 1.25 times (ours) the IOPS, such as 400 GiB of gp3 on \
               RDS, or more than 129, 513 or 1,025 GiB of a file of a managed instance.",
        sources: &[STORAGE, MANAGED_INSTANCE],
        applies: (),
        judge: storage_step,
    },
    Rule {
        id: "service-temp-on-storage",
        title: "temporary files are on the network storage, and the class has a disk of its own",
        severity: Severity::Medium,
        why: "medium where temporary files have requests, else a note: they take IOPS that data and log need",
        says: "Where a class has local NVMe or SSD, temporary files are on it.",
        sources: &[OPTIMIZED_READS],
        applies: (),
        judge: temp_on_storage,
    },
    Rule {
        id: "service-log-rate",
        title: "the log of a managed service is written at its cap",
        severity: Severity::High,
        why: "high: commits wait for a cap that a larger class, or another tier, raises",
        says: "The log's bytes of the busiest interval are below 90 % (ours) of what the class lets it write.",
        sources: &[MANAGED_INSTANCE, DATABASE],
        applies: (),
        judge: log_rate,
    },
];

/// All rules, as they are listed.
pub fn listed() -> Vec<RuleInfo> {
    RULES.iter().map(info).collect()
}

pub(super) fn info(rule: &ServiceRule) -> RuleInfo {
    rule.info("managed services, with --today".to_owned())
}

fn rate(iops: f64) -> String {
    format!("{iops:.0}")
}

fn burst_credits(server: &ServiceFacts) -> Vec<Outcome> {
    let bursts = |volume: &&VolumeFacts| volume.burst.is_some() && volume.iops.is_some();
    let volumes: Vec<&VolumeFacts> = server.volumes.iter().filter(bursts).collect();
    if volumes.is_empty() {
        return vec![Outcome::fine("no volume has burst credits")];
    }
    let fallen = server.balance;
    let fallen = fallen.filter(|[first, least]| first.saturating_sub(*least) >= FALL);
    let outcome = |volume: &VolumeFacts| {
        let (lasts, burst) = (
            volume.iops.unwrap_or_default(),
            volume.burst.unwrap_or_default(),
        );
        let is_above = volume.mean.is_some_and(|mean| mean > lasts);
        if !is_above && fallen.is_none() {
            return match volume.mean {
                Some(mean) => Outcome::fine(format!(
                    "{}: {} IOPS on average, {} last",
                    volume.name,
                    rate(mean),
                    rate(lasts)
                )),
                None => Outcome::cannot_tell(
                    format!("what was asked of {}", volume.name),
                    "record with the metrics of its volume, and BurstBalance",
                ),
            };
        }
        let is_low = fallen.is_some_and(|[_, least]| least < 50);
        let severity = match is_above || is_low {
            true => Severity::High,
            false => Severity::Medium,
        };
        let message = format!(
            "{} of {} on {} has {} IOPS that last, and up to {} while its credits do",
            volume.size,
            volume.disk,
            volume.name,
            rate(lasts),
            rate(burst)
        );
        let mut finding = Finding::new(severity, message);
        if let Some(mean) = volume.mean {
            finding = finding.with("IOPS on average", rate(mean));
        }
        if let Some([first, least]) = fallen {
            finding = finding.with("burst balance", format!("{first} % to {least} %"));
        }
        finding.remedy(
            "take storage without credits (gp3), or so much that what lasts is enough; `dbstow advise` compares both with their prices",
        )
    };
    volumes.into_iter().map(outcome).collect()
}

fn storage_step(server: &ServiceFacts) -> Vec<Outcome> {
    let near: Vec<(&VolumeFacts, Bytes, f64)> = server
        .volumes
        .iter()
        .filter_map(|volume| volume.step.map(|(to, then)| (volume, to, then)))
        .collect();
    if near.is_empty() {
        return vec![Outcome::fine(
            "no volume is just below a size with more IOPS",
        )];
    }
    let finding = |(volume, to, then): (&VolumeFacts, Bytes, f64)| {
        let now = volume.iops.unwrap_or_default();
        let is_full = volume.peak.is_some_and(|peak| peak >= AT_LIMIT * now);
        let severity = if is_full {
            Severity::Medium
        } else {
            Severity::Note
        };
        let message = format!(
            "{} of {} on {} has {} IOPS: with {} GiB it has {}",
            volume.size,
            volume.disk,
            volume.name,
            rate(now),
            // Not rounded: 1 TiB is in the class below.
            to.0 >> 30,
            rate(then)
        );
        let mut finding = Finding::new(severity, message);
        if let Some(peak) = volume.peak {
            finding = finding.with("IOPS of the busiest interval", rate(peak));
        }
        finding.remedy(
            "make it that large where requests wait; `dbstow layout` says what the service makes of it, and that it does not shrink again",
        )
    };
    near.into_iter().map(finding).collect()
}

fn temp_on_storage(server: &ServiceFacts) -> Vec<Outcome> {
    if !server.has_local || !server.takes_temp {
        return vec![Outcome::fine(format!(
            "{} has no disk of its own for temporary files",
            server.class
        ))];
    }
    if server.has_temp_local {
        return vec![Outcome::fine("temporary files are on the class's disk")];
    }
    let severity = match server.temp_iops {
        Some(iops) if iops > 0.0 => Severity::Medium,
        Some(_) | None => Severity::Note,
    };
    let message = format!(
        "temporary files are on the storage, and {} has a disk of its own for them",
        server.class
    );
    let mut finding = Finding::new(severity, message);
    if let Some(iops) = server.temp_iops {
        finding = finding.with("requests of temporary files a second", format!("{iops:.1}"));
    }
    vec![finding.remedy(
        "put them there: with `temp = { volumes = .. }` on a volume with `disk = \"local\"`, `dbstow layout` writes the parameter",
    )]
}

fn log_rate(server: &ServiceFacts) -> Vec<Outcome> {
    let Some(cap) = server.log_cap else {
        return vec![Outcome::fine(format!(
            "{} has no cap of the log that is published",
            server.class
        ))];
    };
    let Some(peak) = server.log_peak else {
        return vec![Outcome::cannot_tell(
            "how much the log is written",
            "record the server itself (`dbstow record --no-host`): the profile has no writes of the log",
        )];
    };
    let shown = |rate: f64| Throughput(rate as u64).to_string();
    if peak < AT_LIMIT * cap {
        return vec![Outcome::fine(format!("{} of {}", shown(peak), shown(cap)))];
    }
    let message = format!(
        "the log of {} is written at {} in its busiest interval, and capped at {}",
        server.class,
        shown(peak),
        shown(cap)
    );
    vec![Finding::new(Severity::High, message).remedy(
        "take more vCores or another tier, where the cap is higher; more or faster disks do not help",
    )]
}
