//! What dbstow's own part costs while a server executes transactions. `scripts/bench-client` runs it.
//!
//! | part | measures |
//! |---|---|
//! | `postgres` | processor time per transaction of dbstow's client and of pgbench |
//! | `mariadb` | the same of sysbench |
//! | `observe` | what MariaDB's performance schema and samples of its waits cost the server |
//!
//! The named parts run (`cargo bench --bench client -- mariadb observe`), or all of them where none is named.

#[cfg(unix)]
#[path = "client/beside.rs"]
mod beside;
#[cfg(unix)]
#[path = "client/observe.rs"]
mod observe;
#[cfg(unix)]
#[path = "client/pgbench.rs"]
mod pgbench;
#[cfg(unix)]
#[path = "client/sysbench.rs"]
mod sysbench;

#[cfg(unix)]
fn main() {
    const PARTS: [(&str, fn()); 3] = [
        ("postgres", pgbench::run),
        ("mariadb", sysbench::run),
        ("observe", observe::run),
    ];
    // Cargo adds its own options.
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    for name in &named {
        let known = PARTS.map(|(part, _)| part);
        assert!(
            known.contains(&name.as_str()),
            "no part {name} ({})",
            known.join(", ")
        );
    }
    for (name, run) in PARTS {
        if named.is_empty() || named.iter().any(|word| word == name) {
            run();
        }
    }
}

#[cfg(not(unix))]
fn main() {}
