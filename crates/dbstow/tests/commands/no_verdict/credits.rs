//! Verdicts that rest on burst credits.

use super::*;

#[test]
fn what_rests_on_burst_credits_is_said_first_and_compared_without_them() {
    let folder = Folder::new();
    let file = write(&folder, "gp2.toml", GP2);

    let bursting = dbstow(&folder, &["run", file, "--nominal", "--out", "a"]);
    contains(
        &bursting.stdout,
        &[
            "Read first ! burst-credits: ",
            "gb-500: disk one.1: 3,006 IOPS, of which 1,500 are sustained",
            "run it with --sustained too",
            "gb-1000 and gb-500 tie",
            "gb-500, at $50.00 a month for its disks instead of $100. This holds while burst credits last; with credits spent, it is \
             gb-1000, at $100 a month",
        ],
    );

    let sustained = dbstow(
        &folder,
        &["run", file, "--nominal", "--sustained", "--out", "b"],
    );
    contains(
        &sustained.stdout,
        &[
            "changed: machine.credits = 0; volume.one.credits = 0",
            "gb-1000: 2.00x the IOPS of gb-500",
            "Cheapest arm no more than 5 % worse than the best: gb-1000",
        ],
    );
    assert!(!sustained.stdout.contains("burst-credits"));
    assert!(!sustained.stdout.contains("This holds while"));

    let burst = "volume.one.override.iops_burst=4000";
    let credits = "volume.one.override.iops_credits=1000000";
    let arguments = [
        "run",
        file,
        "--nominal",
        "--set",
        burst,
        "--set",
        credits,
        "--out",
        "c",
    ];
    let own_burst = dbstow(&folder, &arguments);
    contains(
        &own_burst.stdout,
        &["gb-500: disk one.1: 4,008 IOPS, of which 1,500 are sustained"],
    );
}

#[test]
fn sustained_runs_spend_the_machines_credits_too() {
    let folder = Folder::new();
    // Of EBS it has 20,000 IOPS for half an hour a day, and 6,000 for the rest.
    let text = GP2
        .replace("aws.r5b.2xlarge", "aws.c6g.xlarge")
        .replace(
            "disk = \"aws.gp2\"\nsize = \"500 GiB\"",
            "disk = \"aws.gp3\"\niops = 12_000\nsize = \"500 GiB\"",
        )
        .replace("depth = 32", "depth = 128");
    let file = write(&folder, "machine.toml", &text);
    let bursting = dbstow(&folder, &["run", file, "--nominal", "--out", "a"]);
    contains(
        &bursting.stdout,
        &[
            "gb-500: the machine's ebs limit: 12,0",
            "IOPS, of which 6,000 are sustained",
        ],
    );
    let sustained = dbstow(
        &folder,
        &["run", file, "--nominal", "--sustained", "--out", "b"],
    );
    contains(&sustained.stdout, &["gb-500 5,999 "]);
    assert!(!sustained.stdout.contains("burst-credits"));
}

#[test]
fn credits_that_make_no_sense_are_refused_with_the_remedy() {
    let folder = Folder::new();
    let file = write(&folder, "gp2.toml", GP2);
    for (arguments, part) in [
        (
            ["--sustained", "--mode=measure"],
            "--sustained applies to modelled disks only",
        ),
        (
            ["--set", "volume.one.credits=2"],
            "volume.one.credits is 2.0; give the share of the credits",
        ),
        (
            ["--set", "volume.one.override.iops_burst=2000"],
            "give iops_credits too",
        ),
    ] {
        let printed = dbstow(&folder, &[&["run", file], &arguments[..]].concat());
        assert_eq!(printed.code, 2, "{}", printed.stderr);
        contains(&printed.stderr, &[part]);
    }
    let burst = [
        "volume.one.override.iops_burst=1500",
        "volume.one.override.iops_credits=1",
    ];
    let printed = dbstow(
        &folder,
        &["check", file, "--set", burst[0], "--set", burst[1]],
    );
    assert_eq!(printed.code, 2, "{}", printed.stdout);
    let expected =
        "volume \"one\" has iops_burst = 1500, and its limit sustains 1500; give a higher rate";
    contains(&printed.stderr, &[expected]);
    let unlimited = GP2.replace(
        "disk = \"aws.gp2\"\nsize = \"500 GiB\"",
        "disk = \"unlimited\"",
    );
    let burst = "override = { iops_burst = 2000, iops_credits = 1000 }\n[placement.one]";
    let text = unlimited.replace("[placement.one]", burst);
    let text = text.split("[arm.gb-500]").next().expect("a part before it");
    let file = write(&folder, "unlimited.toml", text);
    let printed = dbstow(&folder, &["check", file]);
    assert_eq!(printed.code, 2, "{}", printed.stdout);
    let refused = "but unlimited has no limit that it could be the burst of; give iops_limit too";
    contains(
        &printed.stderr,
        &[&format!("volume \"one\" has iops_burst, {refused}")],
    );
    // Credits alone are for any rate.
    let text = text.replace("iops_burst = 2000, ", "");
    let file = write(&folder, "credits.toml", &text);
    let printed = dbstow(&folder, &["check", file]);
    assert_eq!(printed.code, 2, "{}", printed.stdout);
    contains(
        &printed.stderr,
        &[&format!("volume \"one\" has iops_credits, {refused}")],
    );
}
