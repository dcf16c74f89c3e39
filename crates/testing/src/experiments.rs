//! Experiments for tests of several subjects.

/// Two arms that run in a moment.
pub const SMALL: &str = r#"name = "small"
question = "Do two data files do better than one?"

[machine]
cores = 4
memory = "8 GiB"

[volume.d]
disk = "azure.premium.p30"

[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }

[placement.two]
data = { volumes = "d", files = 2 }
temp = { volumes = "d" }
log = { volumes = "d" }

[workload]
name = "read-only"
operations = 10

[workload.parameters]
rows = 1_000

[engine]
memory = "1 MiB"

[protocol]
blocks = 2
metric = "elapsed_s"
"#;

/// The same with its first arm and one block.
pub fn small_of_one_arm() -> String {
    let (before, rest) = SMALL.split_once("[placement.two]").unwrap();
    let (_, after) = rest.split_once("[workload]").unwrap();
    format!("{before}[workload]{after}").replace("blocks = 2", "blocks = 1")
}

/// One data file on a volume, or two on two: every engine takes it with an external server.
pub const TWO_VOLUMES: &str = r#"
name = "files"
question = "One data volume, or two?"
[machine]
cores = 2
memory = "1 GiB"
[volume.a]
disk = "unlimited"
[volume.b]
disk = "unlimited"
[placement.one]
data = { volumes = "a" }
temp = { volumes = "a" }
log = { volumes = "a" }
[placement.two]
data = { volumes = ["a", "b"], files = 2 }
temp = { volumes = "a" }
log = { volumes = "a" }
[workload]
name = "trade"
sessions = 2
duration = "1 s"
[engine]
memory = "64 MiB"
sort_memory = "64 KiB"
start = "warm"
[protocol]
blocks = 2
baseline = "one"
metric = "operations_per_s"
"#;
