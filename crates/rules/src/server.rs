//! A captured server of any product, for those who check it without knowing which product it is.

use std::collections::BTreeSet;

use crate::outcome::{Outcome, Severity};
use crate::rule::{Judged, Rule, Selection, Source};

/// A captured server.
pub trait Server {
    /// What it is.
    fn identity(&self) -> Identity;

    /// Adds what the owner of the host knows, which overrides what was captured. Returns the mount points that hold nothing of the
    /// server: by default all, as no rule looks at them.
    fn add_host(&mut self, host: &Host) -> Vec<Unconfirmed> {
        let volumes = host.volumes.iter();
        let unconfirmed = volumes.map(|volume| Unconfirmed {
            mount_point: volume.mount_point.clone(),
            is_temporary: false,
        });
        unconfirmed.collect()
    }

    /// All rules of its product.
    fn rules(&self) -> Vec<RuleInfo>;

    /// Checks it with the selected rules, in the order of [`Server::rules`]. A rule of a profile applies only if the rule or one of
    /// `profiles` is selected.
    fn check(&self, selection: &Selection, profiles: &BTreeSet<String>) -> Vec<Checked>;
}

/// What a captured server is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// When it was captured, in server time.
    pub taken: String,
    /// Its product in files, such as `managed-instance`.
    pub product: &'static str,
    /// Its product in texts.
    pub title: &'static str,
    /// Its version.
    pub version: String,
    /// Its edition.
    pub edition: String,
    /// Its system; empty where unknown.
    pub platform: String,
    /// Whether names were replaced in the capture.
    pub redacted: bool,
}

/// A rule of any product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// As [`Rule::id`].
    pub id: &'static str,
    /// As [`Rule::title`].
    pub title: &'static str,
    /// As [`Rule::severity`].
    pub severity: Severity,
    /// As [`Rule::why`].
    pub why: &'static str,
    /// As [`Rule::says`].
    pub says: &'static str,
    /// As [`Rule::sources`].
    pub sources: &'static [Source],
    /// The servers it applies to, in words.
    pub scope: String,
    /// The profile with which it applies; `None`: it always does.
    pub profile: Option<&'static str>,
}

impl<S, A> Rule<S, A> {
    /// Its description, for servers that are called `scope`.
    pub fn info(&self, scope: String) -> RuleInfo {
        RuleInfo {
            id: self.id,
            title: self.title,
            severity: self.severity,
            why: self.why,
            says: self.says,
            sources: self.sources,
            scope,
            profile: None,
        }
    }
}

/// A rule and its outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The rule.
    pub rule: RuleInfo,
    /// At least one outcome, findings first, the worst at the top.
    pub outcomes: Vec<Outcome>,
}

impl<S, A> Judged<S, A> {
    /// The same, without its product.
    pub fn checked(self, info: impl Fn(&Rule<S, A>) -> RuleInfo) -> Checked {
        Checked {
            rule: info(self.rule),
            outcomes: self.outcomes,
        }
    }
}

/// What the owner of a host knows about it, and a server cannot see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Whether it is a virtual machine of Azure.
    pub azure: Option<bool>,
    /// Its volumes.
    pub volumes: Vec<HostVolume>,
}

/// A volume of a host. `None`: not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostVolume {
    /// Where it is mounted.
    pub mount_point: String,
    /// Allocation unit of its file system.
    pub allocation_unit_bytes: Option<u64>,
    /// Whether it loses its contents when the machine is moved or stopped.
    pub ephemeral: Option<bool>,
    /// Its disk in dbstow's catalogue, such as `azure.premium.p30`.
    pub disk: Option<String>,
    /// Disks that it is striped over.
    pub disks: Option<u32>,
    /// The host's cache: `none`, `read-only` or `read-write`.
    pub host_cache: Option<String>,
    /// Requests per second that it serves.
    pub iops: Option<u64>,
    /// Whether it is solid-state.
    pub solid_state: Option<bool>,
    /// Longest write that is never torn; 0: no promise.
    pub atomic_write_bytes: Option<u64>,
}

/// A mount point of a [`Host`] where the capture has nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// The mount point.
    pub mount_point: String,
    /// Whether a rule uses it all the same, as a temporary disk that is empty.
    pub is_temporary: bool,
}
