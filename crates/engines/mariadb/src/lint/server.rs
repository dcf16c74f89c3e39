//! A captured server, checked by those who do not know its product.

use std::collections::BTreeSet;

use rules::{Checked, Host, Identity, RuleInfo, Selection, Server, Unconfirmed};

use super::{Rule, judge, rules};
use crate::capture::{Capture, Places, VolumeFacts};

/// All rules, as they are listed.
pub fn listed() -> Vec<RuleInfo> {
    rules().map(info).collect()
}

fn info(rule: &Rule) -> RuleInfo {
    let products: Vec<&str> = rule.applies.products.iter().map(|p| p.name()).collect();
    rule.info(products.join(", "))
}

impl Server for Capture {
    fn identity(&self) -> Identity {
        Identity {
            taken: self.taken.clone(),
            product: self.product.id(),
            title: self.product.name(),
            version: self.version.clone(),
            edition: self.edition.clone(),
            platform: self.platform.clone(),
            redacted: self.redacted,
        }
    }

    fn add_host(&mut self, host: &Host) -> Vec<Unconfirmed> {
        self.supplied
            .extend(host.volumes.iter().map(|volume| VolumeFacts {
                mount_point: volume.mount_point.clone(),
                ephemeral: volume.ephemeral,
                host_cache: volume.host_cache.clone(),
                iops: volume.iops,
                solid_state: volume.solid_state,
                atomic_write_bytes: volume.atomic_write_bytes,
            }));
        let places = Places::of(self);
        let used: Vec<String> = places
            .all()
            .iter()
            .filter_map(|path| self.supplied(path))
            .map(|volume| volume.mount_point.clone())
            .collect();
        let supplied = self
            .supplied
            .iter()
            .map(|volume| volume.mount_point.clone());
        supplied
            .filter(|mount| !used.contains(mount))
            .map(|mount_point| Unconfirmed {
                mount_point,
                is_temporary: false,
            })
            .collect()
    }

    fn rules(&self) -> Vec<RuleInfo> {
        listed()
    }

    fn check(&self, selection: &Selection, _profiles: &BTreeSet<String>) -> Vec<Checked> {
        let judged = judge(self, selection).into_iter();
        judged.map(|judged| judged.checked(info)).collect()
    }
}

#[cfg(test)]
mod tests {
    use rules::HostVolume;

    use super::*;

    #[test]
    fn a_volume_without_a_directory_of_the_server_is_unconfirmed() {
        let volume = |mount_point: &str| HostVolume {
            mount_point: mount_point.to_owned(),
            iops: Some(900),
            ..HostVolume::default()
        };
        let host = Host {
            azure: None,
            volumes: vec![volume("/data"), volume("/backup")],
        };
        let mut capture = Capture::default();
        capture
            .variables
            .insert("datadir".into(), "/data/mysql/".into());
        let unconfirmed = capture.add_host(&host);
        let mounts: Vec<&str> = unconfirmed.iter().map(|one| &*one.mount_point).collect();
        assert_eq!(mounts, ["/backup"]);
        let supplied = capture.supplied("/data/mysql").expect("it was supplied");
        assert_eq!(supplied.iops, Some(900));
    }
}
