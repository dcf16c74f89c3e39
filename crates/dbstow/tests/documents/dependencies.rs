//! deny.toml, held against `cargo metadata`: licences, sources, and which crates may use which.
//!
//! The same file is read by cargo-deny (`make audit`, every week), which takes longer to compile than dbstow's libraries.

use std::collections::BTreeSet;
use std::process::Command;

use serde::Deserialize;

/// What of deny.toml is looked at here.
#[derive(Deserialize)]
struct Deny {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    allow: Vec<String>,
    #[serde(rename = "crate")]
    of: String,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    of: String,
    wrappers: Vec<String>,
    reason: String,
}

/// What of `cargo metadata` is looked at here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    license: Option<String>,
    source: Option<String>,
    dependencies: Vec<Requirement>,
}

#[derive(Deserialize)]
struct Requirement {
    name: String,
    req: String,
    path: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Edge {
    /// Whether more than tests needs it.
    fn is_built(&self) -> bool {
        let mut kinds = self.dep_kinds.iter();
        kinds.any(|kind| kind.kind.as_deref() != Some("dev"))
    }
}

impl Metadata {
    fn package(&self, id: &str) -> &Package {
        let found = self.packages.iter().find(|package| package.id == id);
        found.expect("cargo lists each package that it resolves")
    }

    /// Packages that a build of any member has, without what only tests need.
    fn built(&self) -> Vec<&Package> {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = self.workspace_members.iter().map(String::as_str).collect();
        while let Some(id) = next.pop() {
            if seen.insert(id) {
                let node = self.resolve.nodes.iter().find(|node| node.id == id);
                let edges = &node.expect("cargo resolves each package").deps;
                let built = edges.iter().filter(|edge| edge.is_built());
                next.extend(built.map(|edge| edge.pkg.as_str()));
            }
        }
        seen.into_iter().map(|id| self.package(id)).collect()
    }
}

fn deny() -> Deny {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deny.toml");
    let text = std::fs::read_to_string(path).expect("deny.toml is in the repository");
    toml::from_str(&text).expect("deny.toml has these keys")
}

/// Crates of other platforms are in it, which cargo downloads where they were never needed.
fn metadata() -> Metadata {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.expect("cargo runs: it started this test");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("format version 1 has these keys")
}

/// Whether one of `allowed` is enough for an SPDX expression: OR binds less than AND, `/` is an old OR, and what follows
/// WITH only permits more.
fn is_allowed(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let spaced = spaced.replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let answer = any_of(&mut rest, allowed);
    assert!(
        rest.is_empty(),
        "{expression}: cannot be read from {rest:?}"
    );
    answer
}

fn any_of(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut answer = all_of(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        answer |= all_of(words, allowed);
    }
    answer
}

fn all_of(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut answer = one(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        answer &= one(words, allowed);
    }
    answer
}

fn one(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let answer = any_of(words, allowed);
            let [")", rest @ ..] = *words else {
                panic!("a parenthesis is open before {words:?}");
            };
            *words = rest;
            answer
        }
        [license, "WITH", _, rest @ ..] | [license, rest @ ..] => {
            *words = rest;
            allowed(license)
        }
        [] => panic!("a licence is missing at the end"),
    }
}

#[test]
fn expressions_of_licences_are_read() {
    let allowed = |license: &str| ["MIT", "Zlib"].contains(&license);
    for (expression, expected) in [
        ("MIT", true),
        ("ISC", false),
        ("ISC OR MIT", true),
        ("ISC/MIT", true),
        ("MIT AND ISC", false),
        ("MIT AND ISC OR Zlib", true),
        ("MIT AND (ISC OR Zlib)", true),
        ("(ISC OR MIT) AND ISC", false),
        ("ISC WITH exception OR MIT", true),
        ("MIT WITH exception AND Zlib", true),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}

#[test]
fn every_licence_is_allowed() {
    let deny = deny();
    let metadata = metadata();
    let wrong = metadata.built().into_iter().filter(|package| {
        let mut exceptions = deny.licenses.exceptions.iter();
        let own = exceptions.find(|exception| exception.of == package.name);
        let allowed = |license: &str| {
            let own = own.into_iter().flat_map(|exception| &exception.allow);
            deny.licenses
                .allow
                .iter()
                .chain(own)
                .any(|one| one == license)
        };
        let license = package.license.as_deref();
        !license.is_some_and(|license| is_allowed(license, &allowed))
    });
    let wrong: Vec<_> = wrong
        .map(|package| format!("{}: {:?}", package.name, package.license))
        .collect();
    assert_eq!(wrong, [""; 0], "licences that deny.toml does not allow");
}

/// A version is stated for what comes from elsewhere, and that is crates.io.
#[test]
fn dependencies_come_from_the_registry_with_a_version() {
    let metadata = metadata();
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        let is_member = metadata.workspace_members.contains(&package.id);
        let source = package.source.as_deref();
        if !is_member && source != Some("registry+https://github.com/rust-lang/crates.io-index") {
            wrong.push(format!("{} is from {source:?}", package.name));
        }
        let own = package.dependencies.iter().filter(|_| is_member);
        for required in own.filter(|required| required.req == "*" && required.path.is_none()) {
            wrong.push(format!("{} takes any {}", package.name, required.name));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn crates_behind_a_wall_are_used_by_those_that_deny_toml_names() {
    let metadata = metadata();
    let mut wrong = Vec::new();
    for ban in deny().bans.deny {
        for node in &metadata.resolve.nodes {
            let user = &metadata.package(&node.id).name;
            let mut used = node.deps.iter();
            let uses = used.any(|edge| metadata.package(&edge.pkg).name == ban.of);
            if uses && !ban.wrappers.contains(user) {
                wrong.push(format!("{user} uses {}, but {}", ban.of, ban.reason));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Crates of others that a build of dbstow compiles here, with these arguments.
#[cfg(target_os = "linux")]
fn compiled(arguments: &[&str]) -> usize {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--package", "dbstow"]);
    cargo.args(["--edges", "normal,build", "--prefix", "none"]);
    cargo.args(["--format", "{p}"]).args(arguments);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.expect("cargo runs: it started this test");
    let listed = String::from_utf8(output.stdout).expect("names are text");
    // A name, a version; a folder where it is a member; (*) where it was listed before.
    let crates = listed.lines().filter(|line| !line.contains("(/"));
    let names: BTreeSet<String> = crates
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    names.len()
}

/// More is a decision: each takes time in every first build.
#[test]
#[cfg(target_os = "linux")]
fn few_crates_are_compiled() {
    let [all, lean] = [&[][..], &["--no-default-features"]].map(compiled);
    assert!((200..=283).contains(&all), "{all} crates");
    assert!((90..=120).contains(&lean), "{lean} crates without features");
}
