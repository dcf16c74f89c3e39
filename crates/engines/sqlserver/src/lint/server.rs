//! A captured server, checked by those who do not know its product.

use std::collections::BTreeSet;

use ::rules::{Checked, Host, Identity, RuleInfo, Selection, Server, Unconfirmed};

use super::{Applies, LintRequest, Profile, Rule, judge, product_name, rules};
use crate::capture::{Capture, Product, VolumeFacts};

/// All rules, as they are listed.
pub fn listed() -> Vec<RuleInfo> {
    rules().map(info).collect()
}

fn info(rule: &Rule) -> RuleInfo {
    RuleInfo {
        profile: rule.applies.profile.map(Profile::name),
        ..rule.info(scope(&rule.applies))
    }
}

impl Server for Capture {
    fn identity(&self) -> Identity {
        let product = self.identity.product();
        Identity {
            taken: self.taken.clone(),
            product: match product {
                Product::Boxed => "sql-server",
                Product::AzureDatabase => "azure-sql-database",
                Product::ManagedInstance => "managed-instance",
                Product::Babelfish => "babelfish",
                Product::Other => "other",
            },
            title: match product {
                Product::Babelfish => "Babelfish, not SQL Server",
                Product::Other => "a product that dbstow does not know",
                Product::Boxed | Product::AzureDatabase | Product::ManagedInstance => {
                    product_name(product)
                }
            },
            version: self.identity.version.clone(),
            edition: self.identity.edition.clone(),
            platform: self.machine.platform.clone(),
            redacted: self.redacted,
        }
    }

    fn add_host(&mut self, host: &Host) -> Vec<Unconfirmed> {
        let volumes: Vec<VolumeFacts> = host.volumes.iter().map(supplied).collect();
        let unconfirmed = volumes
            .iter()
            .filter(|volume| !holds(self, &volume.mount_point))
            .map(|volume| Unconfirmed {
                mount_point: volume.mount_point.clone(),
                // Rules propose such a disk for tempdb.
                is_temporary: volume.ephemeral == Some(true),
            })
            .collect();
        let before = self.supplied.get_or_insert_default();
        before.azure = host.azure.or(before.azure);
        for new in volumes {
            let same = |old: &&mut VolumeFacts| key(&old.mount_point) == key(&new.mount_point);
            match before.volumes.iter_mut().find(same) {
                None => before.volumes.push(new),
                Some(old) => {
                    *old = VolumeFacts {
                        mount_point: new.mount_point,
                        allocation_unit_bytes: new
                            .allocation_unit_bytes
                            .or(old.allocation_unit_bytes),
                        ephemeral: new.ephemeral.or(old.ephemeral),
                        disk: new.disk.or(old.disk.take()),
                        disks: new.disks.or(old.disks),
                        host_cache: new.host_cache.or(old.host_cache.take()),
                    };
                }
            }
        }
        unconfirmed
    }

    fn rules(&self) -> Vec<RuleInfo> {
        listed()
    }

    fn check(&self, selection: &Selection, profiles: &BTreeSet<String>) -> Vec<Checked> {
        let all = Profile::ALL.into_iter();
        let asked = LintRequest {
            selection: selection.clone(),
            profiles: all
                .filter(|profile| profiles.contains(profile.name()))
                .collect(),
        };
        let judged = judge(self, &asked).into_iter();
        judged.map(|judged| judged.checked(info)).collect()
    }
}

fn supplied(volume: &::rules::HostVolume) -> VolumeFacts {
    VolumeFacts {
        mount_point: volume.mount_point.clone(),
        allocation_unit_bytes: volume
            .allocation_unit_bytes
            .and_then(|bytes| i64::try_from(bytes).ok()),
        ephemeral: volume.ephemeral,
        disk: volume.disk.clone(),
        disks: volume.disks,
        host_cache: volume.host_cache.clone(),
    }
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

/// The SQL Servers that a rule applies to, as text.
fn scope(applies: &Applies) -> String {
    let products: Vec<&str> = applies
        .products
        .iter()
        .map(|product| match product {
            Product::Other => "others",
            known => product_name(*known),
        })
        .collect();
    let mut text = products.join(", ");
    if applies.windows {
        text.push_str(" on Windows");
    }
    if applies.azure {
        text.push_str(" on a virtual machine of Azure");
    }
    if applies.since > 0 {
        text.push_str(&format!(", version {} and later", applies.since));
    }
    if applies.until > 0 {
        text.push_str(&format!(", up to version {}", applies.until));
    }
    if let Some(profile) = applies.profile {
        text.push_str(&format!(", with --profile {}", profile.name()));
    }
    text
}

#[cfg(test)]
mod tests {
    use ::rules::HostVolume;

    use super::*;
    use crate::capture::HostFacts;

    #[test]
    fn a_host_counts_before_what_was_captured_member_by_member() {
        let supplied = HostFacts {
            azure: Some(false),
            volumes: vec![VolumeFacts {
                mount_point: "F:\\".into(),
                allocation_unit_bytes: Some(4096),
                host_cache: Some("none".into()),
                ..VolumeFacts::default()
            }],
        };
        let mut capture = Capture {
            supplied: Some(supplied),
            ..Capture::default()
        };
        let host = Host {
            azure: Some(true),
            volumes: vec![HostVolume {
                mount_point: "f:".to_owned(),
                host_cache: Some("read-only".to_owned()),
                ..HostVolume::default()
            }],
        };
        let unconfirmed = capture.add_host(&host);

        let supplied = capture.supplied.expect("it was supplied");
        assert_eq!(supplied.azure, Some(true));
        assert_eq!(supplied.volumes[0].host_cache.as_deref(), Some("read-only"));
        assert_eq!(supplied.volumes[0].allocation_unit_bytes, Some(4096));
        // The capture has no file on that mount point.
        let expected = Unconfirmed {
            mount_point: "f:".to_owned(),
            is_temporary: false,
        };
        assert_eq!(unconfirmed, [expected]);
    }
}
