//! Profiles: what `dbstow profile` shows of a file, and what a replay requests; and files of other tools, which are
//! imported as profiles.

use analysis::report::profile::page;
use import::{Options, Source};
use model::Duration;
use profile::Profile;
use replay::DemandSeries;

use crate::meaning::{is_real, is_real_document};

/// Devices in the corpus' files; without any of them, those with one device.
const DEVICES: [&[&str]; 4] = [
    &[],
    &["data=D:", "log=D:", "temp=T:"],
    &["data=vda", "log=/dev/vda"],
    &["data=shop.dat"],
];

/// Parses a profile, and renders its full report.
pub(crate) fn read(text: &str) -> Result<(), String> {
    let profile = profile::read("fuzz.toml", text).map_err(|error| error.to_string())?;
    means_something(&profile);
    let page = page(&profile);
    assert!(page.contains("</html>"));
    Ok(())
}

/// Imports a file by its detected format, whatever device holds what.
pub(crate) fn import(text: &str) -> Result<(), String> {
    let mut refused = Err("no devices".to_owned());
    for devices in DEVICES {
        let devices = devices
            .iter()
            .map(|device| device.parse().expect("a device"));
        let options = Options {
            devices: devices.collect(),
            ..Options::default()
        };
        match import::read(&[Source { file: "fuzz", text }], &options) {
            Ok(imported) => {
                means_something(&imported.profile);
                refused = Ok(());
            }
            Err(error) => refused = refused.map_err(|_| error.to_string()),
        }
    }
    refused
}

/// Asserts that its written form parses to the same, and that none of its figures is out of range.
fn means_something(profile: &Profile) {
    let written = profile::write("fuzz.toml", profile).expect("what was read can be written");
    let again = profile::read("fuzz.toml", &written).expect("what was written is a profile");
    let twice = profile::write("fuzz.toml", &again).expect("what was read can be written");
    assert_eq!(twice, written, "a profile reads back as it was written");
    is_real_document(&written);
    is_real("its summary", &profile::summary(profile));
    assert!(!replay::answers(profile).is_empty());
    let common = profile
        .clone()
        .busiest(Duration::from_secs(3_600))
        .in_common_roles();
    is_real("its busiest part", &profile::summary(&common));
    if let Ok(demand) = DemandSeries::of(&common) {
        is_real("its demand", &demand);
    }
    if let Ok(demand) = DemandSeries::by_load(&common, 4) {
        is_real("its demand by load", &demand);
    }
}
