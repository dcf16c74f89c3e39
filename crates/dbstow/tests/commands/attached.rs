//! Disks whose limits only hold on some machines: refused where the vendor says so, otherwise reported beside the answer.

use catalogue::Catalogue;
use experiment::spec::{Spec, Variant, builtin_names};
use lab::trial::Stage;
use serde_json::Value;
use testing::folder::{Folder, Printed};

/// Random reads of 128 KiB, as many as the volume takes.
fn experiment(machine: &str, volume: &str) -> String {
    format!(
        "name = \"attached\"
question = \"What do the disks do on this machine?\"
[machine]
{machine}
[volume.s]
{volume}
[placement.p]
data = {{ volumes = \"s\" }}
temp = {{ volumes = \"s\" }}
log = {{ volumes = \"s\" }}
[workload]
name = \"raw\"
duration = \"3 s\"
warm_up = \"1 s\"
[workload.parameters]
block_size = \"128 KiB\"
read_percent = 100
pattern = \"random\"
span = \"4 GiB\"
depth = 512
[engine]
name = \"raw\"
[protocol]
blocks = 1
metric = \"mb_per_s\"
"
    )
}

/// What `words` print on the experiment.
fn dbstow(words: &[&str], machine: &str, volume: &str) -> Printed {
    Folder::with(&[("attached.toml", &experiment(machine, volume))]).printed(words)
}

fn checked(machine: &str, volume: &str) -> (i32, String) {
    let printed = dbstow(&["check", "attached.toml"], machine, volume);
    (printed.code, printed.stderr)
}

/// What `check` says where nothing is assumed: `run` warns of it, too.
const OF_LOCAL_DATA: &str = "dbstow: p: data or log is on a disk that is empty after its machine was stopped, moved or failed\n";

const OF_24: &str = "disk = \"gcp.local_ssd_nvme.24\"";

/// 9,360 MiB/s are published for 24 cores or more, and 6,372 MB/s were measured with 32.
#[test]
fn twenty_four_local_ssds_with_32_cores_have_the_published_limit_and_what_was_measured_beside_it() {
    let machine = "type = \"gcp.n2-highmem-32\"";
    let words = ["run", "attached.toml", "--nominal", "--format", "json"];
    let printed = dbstow(&words, machine, OF_24);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let findings: Value = serde_json::from_str(&printed.stdout).expect("it is JSON");
    let rate = findings["arms"][0]["metrics"]["mb_per_s"]["mean"].as_f64();
    // 9,360 MiB/s = 9,815 MB/s
    let rate = rate.expect("a number");
    assert!((9_600.0..9_900.0).contains(&rate), "{rate}");
    let warnings = findings["warnings"].as_array().expect("a list");
    let is_told = |warning: &Value| {
        let text = warning["text"].as_str().unwrap_or_default();
        warning["id"] == "noted" && text.contains("6,372 MB/s of reads with 32 cores")
    };
    assert!(warnings.iter().any(is_told), "{warnings:?}");

    // On the terminal and on the page, too.
    let words = ["run", "attached.toml", "--full", "--html", "page.html"];
    let folder = Folder::with(&[("attached.toml", &experiment(machine, OF_24))]);
    for text in [folder.stdout(&words), folder.read("page.html")] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("6,372 MB/s of reads with 32 cores"),
            "{text}"
        );
    }

    let (code, said) = checked(machine, OF_24);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("measured on machines such as gcp.n2-highmem-32"),
        "{said}"
    );
    // At 64 the published figure was reached.
    let (code, said) = checked("type = \"gcp.n2-highmem-64\"", OF_24);
    assert_eq!((code, said.as_str()), (0, OF_LOCAL_DATA));
}

#[test]
fn a_machine_with_fewer_cores_than_the_vendor_names_is_refused_unless_limits_are_given() {
    let small = "type = \"gcp.n2-highmem-16\"";
    let (code, said) = checked(small, OF_24);
    assert_eq!(code, 2, "{said}");
    for part in [
        "n2 or n2d with 24 cores or more, n1 with 32 cores or more",
        "gcp.n2-highmem-16 has 16",
        "[volume.s.override] iops_limit and throughput_limit",
    ] {
        assert!(said.contains(part), "no {part}: {said}");
    }
    let given =
        format!("{OF_24}\noverride = {{ iops_limit = 1_000_000, throughput_limit = \"4 GB/s\" }}");
    let (code, said) = checked(small, &given);
    assert_eq!(code, 0, "{said}");
    let extreme = "disk = \"gcp.pd_extreme\"\nsize = \"1 TiB\"\niops = 50_000";
    let (code, said) = checked("type = \"gcp.n2-highmem-32\"", extreme);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("n2 with 64 cores or more"), "{said}");
}

/// Eight are slices of one card: 2,650 MiB/s, and not eight times 660.
#[test]
fn more_local_ssds_than_have_limits_of_their_own_are_refused() {
    let machine = "type = \"gcp.n2-highmem-32\"";
    let four = "disk = \"gcp.local_ssd_nvme\"\ncount = 4";
    let (code, said) = checked(machine, four);
    assert_eq!((code, said.as_str()), (0, OF_LOCAL_DATA));
    for (volume, most) in [
        (
            "disk = \"gcp.local_ssd_nvme\"\ncount = 8",
            "those of 4 on a machine",
        ),
        (
            "disk = \"gcp.local_ssd_nvme.4\"\ncount = 2",
            "those of 1 on a machine",
        ),
    ] {
        let (code, said) = checked(machine, volume);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(most), "{said}");
    }
}

/// 24 and 16 are each the limits of all local SSDs of a machine, which has 24.
#[test]
fn two_entries_for_the_same_disks_are_refused() {
    let volume = format!(
        "{OF_24}\n[volume.t]\ndisk = \"gcp.local_ssd_nvme.16\"\n[placement.q]\n\
         data = {{ volumes = \"t\" }}\ntemp = {{ volumes = \"s\" }}\nlog = {{ volumes = \"s\" }}"
    );
    let machine = "type = \"gcp.n2-highmem-64\"";
    let (code, said) = checked(machine, &volume);
    assert_eq!(code, 2, "{said}");
    let parts = [
        "the volumes have gcp.local_ssd_nvme.24 and gcp.local_ssd_nvme.16",
        "use one entry for all of them",
        "[volume.t.override]",
    ];
    for part in parts {
        assert!(said.contains(part), "no {part}: {said}");
    }
    let given = volume.replace(
        "\n[placement.q]",
        "\noverride = { iops_limit = 1_000_000, throughput_limit = \"4 GB/s\" }\n[placement.q]",
    );
    let (code, said) = checked(machine, &given);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_disk_inside_machines_of_another_cloud_is_refused_unless_it_is_described() {
    let machine = "type = \"azure.E8ds_v5\"";
    let store = "disk = \"aws.instance_store.i4i.2xlarge\"";
    for disk in [store, "disk = \"gcp.local_ssd_nvme\""] {
        let (code, said) = checked(machine, disk);
        assert_eq!(code, 2, "{said}");
        for part in [
            "is a disk inside machines of another cloud than azure.E8ds_v5",
            "--catalogue FILE",
        ] {
            assert!(said.contains(part), "no {part}: {said}");
        }
    }
    let own = "[source.own]\ntitle = \"mine\"\nurl = \"https://example.com\"\ndate = \"2026-11-26\"\n\
               [disk.\"mine.nvme\"]\nclass = \"local-nvme\"\ntitle = \"mine\"\nsize = \"1875 GB\"\niops = 200_000\n\
               throughput = \"1 GB/s\"\nconfidence = \"measured\"\nsources = [\"own\"]\n";
    let text = experiment(machine, "disk = \"mine.nvme\"");
    let folder = Folder::with(&[("own.toml", own), ("attached.toml", &text)]);
    folder.stdout(&["check", "attached.toml", "--catalogue", "own.toml"]);
}

/// The store of i4i.2xlarge has four times the IOPS of that of i4i.large.
#[test]
fn local_disks_of_other_machines_are_refused_where_those_of_the_machine_are_known() {
    const OF_I4I: &str = "disk = \"aws.instance_store.i4i.2xlarge\"";
    const OF_LSV3: &str = "disk = \"azure.local_nvme.lsv3\"";
    const MEASURED: &str = "disk = \"measured.nvme.aws_i4i_2xlarge\"";
    for (machine, volume, parts) in [
        (
            "aws.i4i.large",
            OF_I4I,
            ["aws.i4i.large has 1 of 435.9 GiB", "use disk = \"local\""],
        ),
        (
            "aws.i4i.large",
            MEASURED,
            [
                "aws.i4i.large has 1 of 435.9 GiB",
                "a local disk of aws.i4i.2xlarge",
            ],
        ),
        (
            "aws.m6i.large",
            OF_I4I,
            [
                "aws.m6i.large has no local disk",
                "use a disk that is attached",
            ],
        ),
        (
            "azure.E8s_v3",
            OF_LSV3,
            ["azure.E8s_v3 has 1 of 128 GiB", "a local disk of Lsv3"],
        ),
        (
            "gcp.c3-standard-88",
            OF_24,
            [
                "gcp.c3-standard-88 has no local disk",
                "name a machine that has it",
            ],
        ),
    ] {
        let (code, said) = checked(&format!("type = \"{machine}\""), volume);
        assert_eq!(code, 2, "{machine}: {said}");
        for part in parts {
            assert!(said.contains(part), "no {part}: {said}");
        }
    }
    let given =
        format!("{OF_I4I}\noverride = {{ iops_limit = 50_000, throughput_limit = \"300 MB/s\" }}");
    let (code, said) = checked("type = \"aws.i4i.large\"", &given);
    assert_eq!(code, 0, "{said}");
}

/// L8s_v3 has one NVMe disk of 1.92 TB beside its temporary disk (`local`), L16s_v3 two.
#[test]
fn more_local_disks_than_the_machine_has_are_refused_by_whatever_name() {
    let several = |count| format!("disk = \"azure.local_nvme.lsv3\"\ncount = {count}");
    let beside = |disk: &str| {
        format!(
            "{disk}\n[volume.t]\ndisk = \"local\"\n[placement.q]\n\
             data = {{ volumes = \"t\" }}\ntemp = {{ volumes = \"s\" }}\nlog = {{ volumes = \"s\" }}"
        )
    };
    let (one, two) = ("type = \"azure.L8s_v3\"", "type = \"azure.L16s_v3\"");
    let store = "disk = \"aws.instance_store.i4i.2xlarge\"";
    for (machine, volume, part) in [
        (
            one,
            several(10),
            "10 local disks together, and azure.L8s_v3 has 1",
        ),
        (
            two,
            several(3),
            "3 local disks together, and azure.L16s_v3 has 2",
        ),
        (
            "type = \"aws.i4i.2xlarge\"",
            beside(store),
            "2 local disks together, and aws.i4i.2xlarge has 1",
        ),
    ] {
        let (code, said) = checked(machine, &volume);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(part), "no {part}: {said}");
    }
    for (machine, volume) in [
        (one, several(1)),
        (two, several(2)),
        (one, beside(&several(1))),
    ] {
        let (code, said) = checked(machine, &volume);
        assert_eq!(code, 0, "{said}");
    }
}

#[test]
fn what_nobody_says_of_a_machine_is_said_to_be_assumed() {
    for (machine, volume, part) in [
        (
            "aws.c5.9xlarge_2018",
            "disk = \"aws.instance_store.i4i.2xlarge\"",
            "is assumed: the catalogue does not know how many local disks it has",
        ),
        (
            "gcp.c3-standard-88-lssd",
            OF_24,
            "that they hold on gcp.c3-standard-88-lssd is assumed: the catalogue knows that it has 16 local disks, and not how",
        ),
        (
            "aws.m6i.2xlarge",
            "disk = \"azure.premium.p30\"",
            "azure.premium.p30 is sold in another cloud than aws.m6i.2xlarge, which cannot have it",
        ),
        (
            "azure.D2ads_v5",
            "disk = \"azure.premium.p30\"\ncount = 10",
            "the volumes have 10 disks, and azure.D2ads_v5 takes 4",
        ),
    ] {
        let (code, said) = checked(&format!("type = \"{machine}\""), volume);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains(part), "no {part}: {said}");
    }
}

/// What stands beside every answer is no longer read. Of the machines of 2013, no limit on all disks was ever published.
#[test]
fn little_is_assumed_of_the_disks_of_built_in_experiments() {
    let catalogue = Catalogue::builtin();
    for name in builtin_names() {
        let spec = Spec::builtin(name, &[], Variant::default()).expect("it makes sense");
        for arm in &spec.arms {
            let stage = Stage::new(&arm.settings, &catalogue).expect("its disks are sold");
            let is_old = |note: &String| note.contains("azure.A4_ExtraLarge lets through");
            let new: Vec<&String> = stage.notes.iter().filter(|note| !is_old(note)).collect();
            assert!(new.is_empty(), "{name}, {}: {new:?}", arm.name);
        }
    }
}
