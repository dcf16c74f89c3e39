//! The cloud a machine runs in, as its firmware reports without a network.

use std::collections::BTreeMap;
use std::path::Path;

use super::kernel_file::text;

/// The chassis asset tag of every Azure virtual machine.
///
/// Source: <https://github.com/canonical/cloud-init/blob/main/cloudinit/sources/DataSourceAzure.py>,
/// read 2026-11-21.
const AZURE_CHASSIS: &str = "7783-7084-3265-9085-8269-3286-77";

/// Asset tags that identify a cloud; others are the owner's and not recorded.
const CLOUD_CHASSIS: [&str; 3] = [AZURE_CHASSIS, "Amazon EC2", "OracleCloud.com"];

/// Vendor, product and cloud from `/sys/class/dmi/id`.
pub(super) fn facts(folder: &Path) -> BTreeMap<String, String> {
    let read = |file: &str| text(&folder.join(file));
    let (vendor, product) = (read("sys_vendor"), read("product_name"));
    let chassis = read("chassis_asset_tag").filter(|tag| CLOUD_CHASSIS.contains(&tag.as_str()));
    let cloud = cloud(vendor.as_deref(), product.as_deref(), chassis.as_deref());
    let mut facts = BTreeMap::new();
    let named = [
        ("machine vendor", vendor),
        ("machine product", product),
        ("machine chassis", chassis),
    ];
    for (name, value) in named {
        facts.extend(value.map(|value| (name.to_owned(), value)));
    }
    let unknown = "unknown: the firmware names none";
    facts.insert("cloud".into(), cloud.unwrap_or_else(|| unknown.into()));
    facts
}

fn cloud(vendor: Option<&str>, product: Option<&str>, chassis: Option<&str>) -> Option<String> {
    const HIDDEN: &str = "(its size is known only over the network)";
    match (vendor, product, chassis) {
        (Some("Amazon EC2"), Some(size), _) => Some(format!("Amazon EC2, {size}")),
        (_, _, Some(AZURE_CHASSIS)) => Some(format!("Microsoft Azure {HIDDEN}")),
        (_, Some("Google Compute Engine"), _) => Some(format!("Google Compute Engine {HIDDEN}")),
        (_, _, Some("OracleCloud.com")) => Some(format!("Oracle Cloud {HIDDEN}")),
        (_, _, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn facts_of(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            fs::write(folder.path().join(file), format!("{text}\n")).unwrap();
        }
        facts(folder.path())
    }

    #[test]
    fn amazon_tells_the_size_of_the_machine() {
        let facts = facts_of(&[("sys_vendor", "Amazon EC2"), ("product_name", "r6id.large")]);

        assert_eq!(facts["cloud"], "Amazon EC2, r6id.large");
    }

    #[test]
    fn azure_is_distinguished_from_another_hyper_v_by_its_chassis() {
        let vendor = ("sys_vendor", "Microsoft Corporation");
        let azure = facts_of(&[vendor, ("chassis_asset_tag", AZURE_CHASSIS)]);
        let own = facts_of(&[vendor, ("chassis_asset_tag", "room 12, shelf 3")]);

        assert!(azure["cloud"].starts_with("Microsoft Azure"));
        assert!(own["cloud"].starts_with("unknown"));
        assert!(!own.values().any(|value| value.contains("shelf")));
    }

    #[test]
    fn a_machine_without_firmware_tables_says_so() {
        assert!(facts_of(&[])["cloud"].starts_with("unknown"));
    }
}
