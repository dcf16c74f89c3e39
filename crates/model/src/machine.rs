//! The machine's own limits, shared by all its disks.

use alloc::string::String;
use alloc::vec::Vec;

use crate::allowance::Limit;
use crate::cache::HostCache;
use crate::spec::MachineSpec;

/// A machine with its state.
pub struct Machine {
    /// Limits by name, in the order of [`MachineSpec::limits`].
    pub limits: Vec<(String, Vec<Limit>)>,
    /// The host cache, and the limits that requests through it pass.
    pub cache: Option<(HostCache, Option<u8>)>,
}

impl Machine {
    /// A machine with its allowances untouched and its cache empty.
    pub fn new(spec: &MachineSpec) -> Machine {
        let limits: Vec<_> = spec
            .limits
            .iter()
            .map(|(name, limits)| {
                (
                    name.clone(),
                    limits.iter().copied().map(Limit::new).collect(),
                )
            })
            .collect();
        let mut machine = Machine {
            limits,
            cache: None,
        };
        machine.cache = spec.host_cache.as_ref().map(|cache| {
            (
                HostCache::new(cache),
                machine.limit_of(core::slice::from_ref(&cache.limit)),
            )
        });
        machine
    }

    /// The first of `names` for which the machine has a limit.
    pub fn limit_of(&self, names: &[String]) -> Option<u8> {
        let place = |name: &String| self.limits.iter().position(|(known, _)| known == name);
        names
            .iter()
            .find_map(place)
            .and_then(|place| u8::try_from(place).ok())
    }

    /// The limits at `place`; empty for `None`.
    pub(crate) fn at(&mut self, place: Option<u8>) -> &mut [Limit] {
        match place {
            Some(place) => &mut self.limits[usize::from(place)].1,
            None => &mut [],
        }
    }
}
