//! The parameters of a drill.

use analysis::report::drill::document::DrillConditions;
use emulator::crash::Cache;
use model::{Bytes, Duration};

use super::{Placed, Power};

/// The parameters of a drill.
#[derive(Clone, Debug, PartialEq)]
pub struct DrillSpec {
    /// States to check, of each kind.
    pub cuts: u32,
    /// Seed of when power is cut, and of what the disks contain then.
    pub seed: u64,
    /// How long clients write.
    pub record: Duration,
    /// How many clients write.
    pub sessions: u32,
    /// What disks do with acknowledged writes.
    pub write_cache: WriteCache,
    /// How long disks that ignore flushes keep acknowledged writes in volatile memory, at most.
    pub write_back: Duration,
    /// The size that a disk writes atomically.
    pub atomic: Atomic,
    /// How far apart snapshots of volumes are.
    pub skew: Duration,
    /// Scope of the power cut.
    pub power: Power,
    /// Whether disks also misbehave: a bit flips, a write fails, a flush fails.
    pub faults: bool,
    /// Most bytes per recording of a placement.
    pub space: Bytes,
    /// States checked concurrently.
    pub jobs: usize,
}

/// The size of the aligned units that disks write atomically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// This many bytes, for all disks.
    Bytes(Bytes),
    /// As the vendor guarantees ([`Placed::atomic`]).
    OfDisk,
}

/// What disks do with acknowledged writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteCache {
    /// They lose them, until they are flushed.
    #[default]
    Volatile,
    /// They keep them.
    Safe,
    /// They lose them until they have written them by themselves ([`DrillSpec::write_back`]), whatever is flushed.
    IgnoresFlushes,
}

impl DrillSpec {
    /// The parameters where nothing else is requested.
    pub const DEFAULT: DrillSpec = DrillSpec {
        cuts: 100,
        seed: 1,
        record: Duration::from_secs(10),
        sessions: 8,
        write_cache: WriteCache::Volatile,
        write_back: Duration::from_secs(1),
        atomic: Atomic::Bytes(Placed::ATOMIC_DEFAULT),
        skew: Duration::from_secs(2),
        power: Power::Machine,
        faults: false,
        space: Bytes::gib(4),
        jobs: 4,
    };

    /// The parameters that decide what disks contain in a state of an earlier drill; `None`: a word is unknown.
    pub(super) fn of_state(asked: &DrillConditions) -> Option<DrillSpec> {
        let mut known = WriteCache::ALL.into_iter();
        Some(DrillSpec {
            write_cache: known.find(|cache| cache.name() == asked.write_cache)?,
            write_back: Duration::from_secs_f64(asked.write_back_s),
            atomic: match asked.atomic_bytes {
                Some(unit) => Atomic::Bytes(Bytes(unit)),
                None => Atomic::OfDisk,
            },
            ..DrillSpec::DEFAULT
        })
    }

    /// What disks do with acknowledged writes.
    pub(super) fn cache(&self) -> Cache {
        match self.write_cache {
            WriteCache::Volatile => Cache::Volatile,
            WriteCache::Safe => Cache::Safe,
            WriteCache::IgnoresFlushes => Cache::WrittenBack(self.write_back),
        }
    }

    /// As a document has it, for a drill of `engine` with these settings of its server.
    pub(super) fn asked(&self, engine: &str, settings: &[(String, String)]) -> DrillConditions {
        DrillConditions {
            engine: engine.to_owned(),
            cuts: self.cuts,
            seed: self.seed,
            sessions: self.sessions,
            record_s: self.record.as_secs_f64(),
            write_cache: self.write_cache.name().to_owned(),
            write_back_s: self.write_back.as_secs_f64(),
            atomic_bytes: match self.atomic {
                Atomic::Bytes(unit) => Some(unit.0),
                Atomic::OfDisk => None,
            },
            skew_s: self.skew.as_secs_f64(),
            power: self.power.name().to_owned(),
            faults: self.faults,
            settings: settings.to_vec(),
        }
    }
}

impl WriteCache {
    /// All of them.
    pub const ALL: [WriteCache; 3] = [
        WriteCache::Volatile,
        WriteCache::Safe,
        WriteCache::IgnoresFlushes,
    ];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            WriteCache::Volatile => "volatile",
            WriteCache::Safe => "safe",
            WriteCache::IgnoresFlushes => "ignores-flushes",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_checked_again_on_disks_with_the_same_rules() {
        for write_cache in WriteCache::ALL {
            for atomic in [Atomic::OfDisk, Atomic::Bytes(Bytes::kib(16))] {
                let spec = DrillSpec {
                    write_cache,
                    write_back: Duration::from_millis(300),
                    atomic,
                    ..DrillSpec::DEFAULT
                };
                let again = DrillSpec::of_state(&spec.asked("sqlite", &[]));
                assert_eq!(again, Some(spec));
            }
        }
        let mut unknown = DrillSpec::DEFAULT.asked("sqlite", &[]);
        unknown.write_cache = "warm".to_owned();
        assert_eq!(DrillSpec::of_state(&unknown), None);
    }
}
