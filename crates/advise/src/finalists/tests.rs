//! Every layout that the search can find is an arm that runs, and an arm that cannot does not take others with it.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

use experiment::spec::ExperimentText;
use lab::Prepared;
use lab::inventory::EMBEDDED;
use lab::request::RunRequest;

use super::*;
use crate::document::layouts::bought;
use crate::group::GROUPINGS;
use crate::layout::Layouts;
use crate::load::Load;
use crate::need::{Holding, Need, TempOn};
use crate::services::Services;
use crate::system::System;
use crate::tariff::Tariff;

/// Today's layout, with keys of a machine that an arm has to replace.
const TODAY_FILE: &str = r#"
[machine]
cores = 16
memory = "128 GiB"
[volume.d]
disk = "unlimited"
size = "100 GiB"
[placement.now]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
"#;

fn profile() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/apart.toml");
    file.display().to_string()
}

/// Resolves as `dbstow run` does.
fn resolved(request: &RunRequest) -> Result<Prepared, String> {
    let run = request
        .resolve(EMBEDDED)
        .map_err(|error| error.to_string())?;
    let prepared = Prepared::new(&run.plan, &run.inventory, &request.options);
    prepared.map_err(|error| {
        let why = error.source().map(ToString::to_string);
        format!("{error}: {}", why.unwrap_or_default())
    })
}

fn runs(text: &str) -> Result<Prepared, String> {
    let experiment = ExperimentText::of_file("finalists.toml", text);
    resolved(&RunRequest {
        allow_large: true,
        ..RunRequest::new(experiment)
    })
}

fn today() -> Prepared {
    let layout = ExperimentText::of_file("today.toml", TODAY_FILE);
    resolved(&RunRequest::back_test(layout, profile())).expect("it makes sense")
}

fn need(cloud: &str, machine: &str, disk: &str) -> Need {
    let hold = |role| Holding {
        roles: [role].into(),
        size: Bytes::gib(20),
    };
    Need {
        holdings: Role::COMMON.map(hold).into(),
        separate: Role::COMMON.into(),
        memory: Bytes::gib(1),
        cores: 0,
        cloud: Some(cloud.to_owned()),
        region: None,
        machine: Some(machine.to_owned()),
        today: None,
        machine_pattern: None,
        arm: true,
        any_generation: false,
        processor: None,
        disks: [disk.to_owned()].into(),
        disks_max: Some(3),
        temp: TempOn::Any,
        services: Services::default(),
        system: System::Linux,
        tariff: Tariff::default(),
    }
}

/// Roles of the files on each volume, and whether the volume is inside the machine.
fn grouping(volumes: &[Volume]) -> Vec<(Vec<Role>, bool)> {
    let of = |volume: &Volume| (volume.roles.clone(), volume.forgets);
    volumes.iter().map(of).collect()
}

#[test]
#[ignore = "long: resolves every grouping on every such machine; a run of one is tested always"]
fn every_grouping_runs_on_every_machine_with_several_local_disks() {
    const ARMS: [&str; GROUPINGS.len()] = ["a", "b", "c", "d", "e", "f", "g"];
    let catalogue = Catalogue::builtin();
    let prepared = today();
    let (arm, _, recording) = prepared.first();
    let recording = recording.expect("it replays a profile");
    let load = Load::of(&recording.profile).expect("operations were counted");
    let of = Finalists {
        today: TODAY_FILE,
        profile: profile(),
        window: None,
        temp_files_max: 8,
    };
    let writer = Writer {
        catalogue: &catalogue,
        today: &arm.settings,
        grown: None,
        recorded: None,
        system: System::Linux,
        of: &of,
    };
    for (cloud, disk) in [
        ("aws", "aws.gp2"),
        ("azure", "azure.premium.p30"),
        ("gcp", "gcp.pd_ssd"),
    ] {
        let (mut groupings, mut counts) = (BTreeSet::new(), BTreeSet::new());
        let machines = catalogue.machines().filter(|machine| {
            let is_several = machine.local_disks.is_some_and(|count| count > 1);
            // Where the vendor publishes what they do.
            let is_known = machine.spec.local_disk.is_some();
            machine.name.starts_with(cloud) && is_several && is_known
        });
        for machine in machines {
            let need = need(cloud, &machine.name, disk);
            let Ok(layouts) = Layouts::new(&catalogue, &need, &load, f64::INFINITY, false) else {
                // It has no price, or takes no such disk.
                continue;
            };
            let mut found: Vec<Vec<Volume>> = Vec::new();
            for layout in layouts.iter() {
                let volumes = bought(&layouts, layout);
                let is_known = |known: &Vec<Volume>| grouping(known) == grouping(&volumes);
                if !found.iter().any(is_known) {
                    found.push(volumes);
                }
                if found.len() == GROUPINGS.len() {
                    break;
                }
            }
            let finalists = found.iter().zip(ARMS).map(|(volumes, arm)| Finalist {
                arm,
                machine: Some(&machine.name),
                processors: None,
                volumes,
            });
            let finalists: Vec<Finalist<'_>> = finalists.collect();
            let text = writer.text(&finalists).expect("today's file is TOML");
            if let Err(error) = runs(&text) {
                panic!("{}: {error}\n{text}", machine.name);
            }
            groupings.extend(found.iter().map(|volumes| grouping(volumes)));
            counts.extend(machine.local_disks);
        }
        // With and without the local disks, of which machines have different numbers.
        assert_eq!(groupings.len(), GROUPINGS.len(), "{cloud}: {groupings:?}");
        assert!(counts.len() > 1, "{cloud}: {counts:?}");
    }
}

fn volume(name: &str, roles: &[Role], disk: &str, count: u32) -> Volume {
    Volume {
        name: name.to_owned(),
        roles: roles.to_vec(),
        disk: disk.to_owned(),
        count,
        size: None,
        iops: None,
        throughput: None,
        usd_per_month: None,
        requests_usd_per_month: None,
        forgets: disk == "local",
    }
}

#[test]
fn an_arm_that_cannot_be_expressed_is_left_out_alone_with_its_reason() {
    let catalogue = Catalogue::builtin();
    let prepared = today();
    let of = Finalists {
        today: TODAY_FILE,
        profile: profile(),
        window: None,
        temp_files_max: 8,
    };
    let writer = Writer {
        catalogue: &catalogue,
        today: &prepared.first().0.settings,
        grown: Some([8, 12]),
        recorded: None,
        system: System::Linux,
        of: &of,
    };
    let kept = [volume("data", &Role::COMMON, "azure.premium.p30", 2)];
    // The machine has four.
    let refused = [
        volume("data", &[Role::Data, Role::Log], "azure.premium.p30", 1),
        volume("temp", &[Role::Temp], "local", 5),
    ];
    let finalist = |arm, volumes| Finalist {
        arm,
        machine: Some("azure.D32ads_v7"),
        processors: None,
        volumes,
    };
    let found = [
        finalist("cheapest", &refused[..]),
        finalist("fastest", &kept),
    ];
    let written = writer.experiment(&found, &mut |text| runs(text).map(|_| ()));
    let Experiment { text, left_out } = written.expect("today's file is TOML");
    let [LeftOut { arm, why }] = left_out.as_slice() else {
        panic!("{left_out:?}");
    };
    assert_eq!(*arm, "cheapest");
    assert!(
        why.contains("5 local disks") && why.contains("azure.D32ads_v7 has 4"),
        "{why}"
    );
    let prepared = runs(&text).expect("what is left runs");
    let arms = prepared.plan().arms.iter();
    let sessions: Vec<_> = arms
        .map(|arm| (arm.name.as_str(), arm.settings.workload.sessions))
        .collect();
    // Today's load is the recorded one.
    assert_eq!(sessions, [("today", 8), ("fastest", 12)]);
    let temp = prepared.plan().arms[1].settings.placement.files(Role::Temp);
    assert_eq!(temp.len(), 8, "32 processors, and 8 files at most");

    let own = TODAY_FILE.replace("volume.d]", "volume.fastest-data]");
    let own = own.replace("\"d\"", "\"fastest-data\"");
    let layout = ExperimentText::of_file("today.toml", own.as_str());
    let today = resolved(&RunRequest::back_test(layout, profile())).expect("it makes sense");
    let writer = Writer {
        today: &today.first().0.settings,
        of: &Finalists {
            today: &own,
            ..of.clone()
        },
        ..writer
    };
    let found = [finalist("fastest", &kept[..])];
    let written = writer.experiment(&found, &mut |text| runs(text).map(|_| ()));
    let Experiment { text, left_out } = written.expect("today's file is TOML");
    assert!(left_out[0].why.contains("rename it there"), "{left_out:?}");
    assert_eq!(runs(&text).expect("it runs").plan().arms.len(), 1);
}
