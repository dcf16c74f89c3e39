//! What a disk holds after its machine was stopped: the single source for which disks lose their contents.

use serde::{Deserialize, Serialize};

/// What a disk holds after its machine was stopped, moved or has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AfterStop {
    /// What it held before.
    #[default]
    Kept,
    /// An empty file system.
    Empty,
    /// Nothing, not even a file system.
    Raw,
}

impl AfterStop {
    /// Whether its contents are lost.
    pub fn forgets(self) -> bool {
        match self {
            AfterStop::Kept => false,
            AfterStop::Empty | AfterStop::Raw => true,
        }
    }

    /// As text, for tables.
    pub fn shown(self) -> &'static str {
        match self {
            AfterStop::Kept => "what it held",
            AfterStop::Empty => "empty",
            AfterStop::Raw => "empty, without a file system",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Catalogue;
    use super::*;

    #[test]
    fn every_disk_inside_a_machine_forgets_whatever_it_is_called() {
        let catalogue = Catalogue::builtin();
        let after = |disk: &str| catalogue.after_stop(disk, None);
        for name in [
            "azure.local_nvme.lsv3",
            "aws.instance_store.i4i.2xlarge",
            "gcp.local_ssd_nvme",
            "gcp.local_ssd_nvme.24",
            "measured.nvme.azure_L8s_v3_per_disk",
        ] {
            assert_eq!(after(name), AfterStop::Raw, "{name}");
        }
        for name in ["aws.gp3", "azure.premium.p30", "unlimited"] {
            assert_eq!(after(name), AfterStop::Kept, "{name}");
        }
        // Local disks do not pass the machine's limits on remote disks.
        let remote = ["uncached", "ebs", "pd-ssd", "hyperdisk", "data"];
        for disk in catalogue.disks().filter(|disk| disk.name.contains("nvme")) {
            let limits = &disk.class.machine_limits;
            assert!(
                !limits.iter().any(|limit| remote.contains(&limit.as_str())),
                "{}",
                disk.name
            );
            assert!(disk.class.after_stop.forgets(), "{}", disk.name);
        }
    }

    #[test]
    fn the_local_disk_is_what_its_machine_says() {
        let catalogue = Catalogue::builtin();
        let local = |machine| catalogue.after_stop("local", machine);
        // SCSI up to v5, NVMe from v6 on.
        assert_eq!(local(Some("azure.E8ds_v5")), AfterStop::Empty);
        assert_eq!(local(Some("azure.E8ds_v6")), AfterStop::Raw);
        assert_eq!(local(Some("azure.DS14_v2")), AfterStop::Empty);
        assert_eq!(local(Some("aws.i4i.2xlarge")), AfterStop::Raw);
        assert_eq!(local(None), AfterStop::Empty);
    }

    #[test]
    fn a_disk_of_ones_own_says_it_of_its_class_or_of_itself() {
        let text = r#"
            [source.mine]
            title = "Mine"
            date = "2026"
            [class.mine]
            title = "Mine"
            after_stop = "empty"
            read = { value = "1 ms", assumed = "a test" }
            write = { value = "1 ms", assumed = "a test" }
            flush = { value = "1 ms", assumed = "a test" }
            [disk."mine.a"]
            class = "mine"
            title = "A"
            size = "1 TiB"
            confidence = "measured"
            sources = ["mine"]
            [disk."mine.b"]
            class = "mine"
            title = "B"
            size = "1 TiB"
            after_stop = "kept"
            confidence = "measured"
            sources = ["mine"]
        "#;
        let mut catalogue = Catalogue::builtin();
        catalogue.add(text, "mine.toml").expect("it is whole");
        assert_eq!(catalogue.after_stop("mine.a", None), AfterStop::Empty);
        assert_eq!(catalogue.after_stop("mine.b", None), AfterStop::Kept);
    }
}
