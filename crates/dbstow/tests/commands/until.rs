//! `run --until`: as many blocks as the intervals need.

use testing::folder::Folder;

/// Two kinds of disk, whose latencies differ from block to block by chance.
const PAIR: &str = r#"name = "pair"
question = "Is one of them faster?"

[machine]
cores = 4
memory = "8 GiB"

[volume.d]
disk = "azure.premium.p30"

[volume.e]
disk = "aws.gp3"
size = "200 GiB"

[placement.on-d]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }

[placement.on-e]
data = { volumes = "e" }
temp = { volumes = "e" }
log = { volumes = "e" }

[workload]
name = "read-only"
operations = 50

[workload.parameters]
rows = 20_000

[engine]
memory = "1 MiB"

[protocol]
baseline = "on-d"
metric = "elapsed_s"
"#;

/// Blocks of the run, and what it says of them.
fn until(arguments: &[&str]) -> (u64, String) {
    let folder = Folder::with(&[("pair.toml", PAIR)]);
    let run = [
        "run",
        "pair.toml",
        "--nominal",
        "--format",
        "json",
        "--out",
        "results",
    ];
    let printed = folder.printed(&[&run, arguments].concat());
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let findings: serde_json::Value = serde_json::from_str(&printed.stdout).expect("JSON");
    // The folder has what was shown, and no trial is missing.
    let again = folder.printed(&["report", "results", "--format", "json"]);
    assert_eq!(again.stdout, printed.stdout);
    let blocks = findings["comparisons"][0]["blocks"].as_u64();
    (blocks.expect("a comparison"), printed.stderr)
}

#[test]
fn a_run_ends_when_its_intervals_are_narrow() {
    let (few, said) = until(&["--until", "50%"]);
    assert_eq!(few, 6);
    assert!(
        said.contains("6 blocks: every ratio is known within"),
        "{said}"
    );
    let (more, _) = until(&["--until", "4%"]);
    assert!(more > few && more < 40, "{more}");
}

#[test]
fn a_run_that_reaches_its_most_blocks_says_how_wide_the_intervals_are() {
    let (blocks, said) = until(&["--until", "0.1%", "--blocks", "9"]);
    assert_eq!(blocks, 9);
    assert!(
        said.contains("not within 0.1 %; --blocks gives it more"),
        "{said}"
    );
}

#[test]
fn what_blocks_do_not_narrow_is_refused() {
    let folder = Folder::with(&[("pair.toml", PAIR)]);
    let refused = |arguments: &[&str], part: &str| {
        let printed = folder.printed(&[&["run", "pair.toml"], arguments].concat());
        assert_eq!(printed.code, 2, "{}", printed.stderr);
        assert!(printed.stderr.contains(part), "{}", printed.stderr);
    };
    refused(&["--until", "2%"], "add --nominal");
    refused(&["--until", "2"], "no percent sign");
    refused(&["--until", "0%", "--nominal"], "as narrow as 0 %");
    refused(
        &["--until", "2%", "--nominal", "--listen", "127.0.0.1:0"],
        "leave out --listen",
    );
}
