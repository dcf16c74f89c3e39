//! Untrusted text on the way to a terminal, and secrets on the way to a message: the program's output contains neither.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use experiment::plan::{Plan, Unchecked};
use serde_json::Value;
use sqlserver::capture::Capture;
use testing::folder::{Folder, Printed};

/// A title, a cleared screen, a forged line, reordered text, a control sequence in one character, and invisible text.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\rforged\u{202e}txt\u{9b}31m\u{200b}\u{e0041}";

/// The same in the notation that TOML and JSON share.
const ESCAPED: &str =
    "\\u001b]0;owned\\u0007\\u001b[2J\\rforged\\u202etxt\\u009b31m\\u200b\\uDB40\\uDC41";

const SMALL: &str = r#"name = "small"
question = "Which HOSTILE?"
[source]
title = "an article HOSTILE"
date = "2014"
note = "a note HOSTILE"
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
errors_max = 0.9
[published.one]
elapsed_s = "= HOSTILE"
"#;

/// Runs the program in `folder`. A terminal shows all of its output and interprets none.
fn dbstow<S: AsRef<OsStr>>(folder: &Folder, arguments: &[S]) -> Printed {
    let mut command = folder.dbstow(arguments);
    command
        .env_remove("SQLCMDPASSWORD")
        .env_remove("SQLCMDUSER");
    let printed = Printed::from(command.output().expect("it starts"));
    let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
    for text in [&printed.stdout, &printed.stderr] {
        let raw = |c: char| {
            c.is_control() && c != '\n' && c != '\t'
                || ['\u{202e}', '\u{200b}', '\u{e0041}'].contains(&c)
        };
        assert!(!text.contains(raw), "{arguments:?}: {text:?}");
    }
    printed
}

fn folder() -> Folder {
    // A carriage return and a tag have other notations in TOML.
    let escaped = ESCAPED.replace("\\uDB40\\uDC41", "\\U000e0041");
    let text = SMALL.replace("HOSTILE", &escaped);
    Folder::with(&[("small.toml", text)])
}

/// Appends [`HOSTILE`] to every string in `value` that is one of `names`, including keys.
fn spoil(value: &mut Value, names: &[&str]) {
    match value {
        Value::String(text) if names.contains(&text.as_str()) => text.push_str(HOSTILE),
        Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, names)),
        Value::Object(entries) => {
            let old = std::mem::take(entries);
            for (mut key, mut entry) in old {
                if names.contains(&key.as_str()) {
                    key.push_str(HOSTILE);
                }
                spoil(&mut entry, names);
                entries.insert(key, entry);
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("it is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Results in which every free text is hostile, with a matching plan: what an attacker could make. One trial failed, one
/// file is damaged, one of another format.
fn hostile_results(folder: &Folder) {
    let ran = dbstow(folder, &["run", "small.toml", "--out", "r"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("\\x1b]0;owned\\x07"), "{}", ran.stdout);
    let texts = ["read-only", "d.1", "azure.premium.p30"];
    let root = folder.path("r");
    let mut head = read(&root.join("dbstow.json"));
    spoil(&mut head, &texts);
    head["plan"]["overrides"] = serde_json::json!([[HOSTILE, HOSTILE]]);
    head["plan"]["catalogues"] = serde_json::json!([HOSTILE]);
    head["plan"]["place"] = serde_json::json!({ format!("backing{HOSTILE}"): HOSTILE });
    let plan = forged(&mut head);
    fs::write(root.join("dbstow.json"), head.to_string()).expect("the folder is ours");
    let records = root.join("records");
    for (number, entry) in records.read_dir().expect("records").flatten().enumerate() {
        let mut record = read(&entry.path());
        spoil(&mut record, &texts);
        for limit in record["limits"].as_array_mut().expect("limits") {
            let name = limit["name"].as_str().expect("a name");
            limit["name"] = name.replace("d.1", &format!("d.1{HOSTILE}")).into();
        }
        record["plan"] = plan["digest"].clone();
        record["notes"] = vec![format!("not cold: {HOSTILE}"), HOSTILE.to_owned()].into();
        record["environment"] = serde_json::json!({ format!("kernel{HOSTILE}"): HOSTILE });
        record["errors"] = serde_json::json!({ "count": 3, "first": [HOSTILE] });
        if number == 0 {
            record["outcome"] = serde_json::json!({ "status": "failed", "error": HOSTILE });
        }
        fs::write(entry.path(), record.to_string()).expect("the folder is ours");
    }
    let damaged = format!("900-{}.json", HOSTILE.replace('/', ""));
    fs::write(records.join(damaged), "{").expect("the folder is ours");
    let other = serde_json::json!({ "schema": HOSTILE }).to_string();
    fs::write(records.join("901.json"), other).expect("the folder is ours");
}

/// Makes the digest of the plan in `head` go with it.
fn forged(head: &mut Value) -> Value {
    let plan = Unchecked::<Plan>::read(&head["plan"].to_string()).expect("a plan still");
    head["plan"] = serde_json::from_str(&plan.forged().to_json()).expect("a plan is JSON");
    head["plan"].clone()
}

#[test]
fn results_with_names_that_no_experiment_has_are_refused_in_words_that_are_fit_for_a_terminal() {
    let folder = folder();
    let ran = dbstow(&folder, &["run", "small.toml", "--out", "r"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let file = folder.path("r/dbstow.json");
    let original = read(&file);
    for name in ["one", "two", "small", "d"] {
        let mut head = original.clone();
        spoil(&mut head["plan"], &[name]);
        forged(&mut head);
        fs::write(&file, head.to_string()).expect("the folder is ours");
        let report = dbstow(&folder, &["report", "r"]);
        assert_eq!(report.code, 2, "{name}: {}", report.stdout);
        let refused = format!("\"{name}\\x1b]0;owned");
        assert!(
            report.stderr.contains(&refused),
            "{name}: {}",
            report.stderr
        );
        assert!(
            report.stderr.contains("is not a name"),
            "{name}: {}",
            report.stderr
        );
    }
}

#[test]
fn every_report_of_hostile_results_is_fit_for_a_terminal() {
    let folder = folder();
    hostile_results(&folder);
    for arguments in [
        &["report", "r"][..],
        &["report", "r", "--full"],
        &["report", "r", "--format", "markdown"],
        &["report", "r", "--format", "csv"],
        &["report", "r", "--html", "page.html"],
        &["report", "r", "r"],
        &["report", "r", "r", "--format", "markdown"],
        &["report", "r", "r", "--html", "both.html"],
    ] {
        let printed = dbstow(&folder, arguments);
        assert_eq!(printed.code, 0, "{}", printed.stderr);
        assert!(printed.stdout.contains("\\u{202e}"), "{}", printed.stdout);
    }
    let json = dbstow(&folder, &["report", "r", "--format", "json"]);
    let document: Value = serde_json::from_str(&json.stdout).expect("it is JSON still");
    // Its content is unchanged.
    let said = document["source"].as_str().expect("it has one");
    assert!(said.contains(HOSTILE), "{said}");
    let text = dbstow(&folder, &["report", "r", "--full"]).stdout;
    for part in ["900-", "its format is", "left out"] {
        assert!(text.contains(part), "{text}");
    }
}

/// Characters special to Markdown and HTML.
const MARKUP: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>[x](javascript:alert(3))|`code`*b*\n# no\n- no";

#[test]
fn nothing_of_a_results_folder_is_markup() {
    let folder = folder();
    // Notation of TOML for line feeds.
    let markup = MARKUP.replace('\n', "\\n");
    folder.write("small.toml", SMALL.replace("HOSTILE", &markup));
    let ran = dbstow(&folder, &["run", "small.toml", "--out", "r"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let records = folder.path("r/records");
    for entry in records.read_dir().expect("records").flatten() {
        let mut record = read(&entry.path());
        record["notes"] = vec![format!("not cold: {MARKUP}"), MARKUP.to_owned()].into();
        record["environment"] = serde_json::json!({ format!("kernel{MARKUP}"): MARKUP });
        record["errors"] = serde_json::json!({ "count": 1, "first": [MARKUP] });
        fs::write(entry.path(), record.to_string()).expect("the folder is ours");
    }
    for arguments in [
        &["report", "r", "--format", "markdown"][..],
        &["report", "r", "r", "--format", "markdown"],
    ] {
        let printed = dbstow(&folder, arguments);
        assert_eq!(printed.code, 0, "{}", printed.stderr);
        for line in printed.stdout.lines() {
            let (quote, row) = (line.starts_with('>'), line.starts_with("| "));
            // The rest, without characters escaped by a backslash.
            let mut bare = String::new();
            let mut signs = line.strip_prefix('>').unwrap_or(line).chars();
            while let Some(sign) = signs.next() {
                match sign {
                    '\\' => drop(signs.next()),
                    sign => bare.push(sign),
                }
            }
            assert!(!bare.contains(['<', '>', '[', ']', '`']), "{line}");
            assert!(row || !bare.contains('|'), "{line}");
            assert!(
                quote || !line.starts_with("# no") && !line.starts_with("- no"),
                "{line}"
            );
        }
    }
    let text = dbstow(&folder, &["report", "r", "--format", "markdown"]).stdout;
    assert!(text.matches("&lt;script&gt;").count() > 3, "{text}");
}

#[test]
fn plans_checks_and_lists_are_fit_for_a_terminal() {
    let folder = folder();
    let own = r#"[source.s]
title = "HOSTILE"
date = "2026"
note = "HOSTILE"
[disk."own.x"]
class = "azure-premium"
title = "HOSTILE"
size = "4 GiB"
iops = 120
throughput = "25 MB/s"
confidence = "documented"
sources = ["s"]
notes = ["HOSTILE"]
"#;
    let catalogue = own.replace("HOSTILE", &ESCAPED.replace("\\uDB40\\uDC41", "\\U000e0041"));
    folder.write("own.toml", catalogue);
    let missing = format!("{}.toml", HOSTILE.replace('/', ""));
    for (arguments, code) in [
        (&["plan", "small.toml"][..], 0),
        (&["plan", "small.toml", "--json"], 0),
        (&["check", "small.toml"], 0),
        (&["experiments"], 0),
        (&["workloads"], 0),
        (&["disks"], 0),
        (&["machines"], 0),
        (&["--help"], 0),
        (&["--version"], 0),
        (&["completions", "bash"], 0),
        (&["completions", "zsh"], 0),
        (&["experiments", HOSTILE], 2),
        (&["workloads", HOSTILE], 2),
        (&["disks", HOSTILE], 2),
        (&["machines", HOSTILE], 2),
        (&["check", HOSTILE], 2),
        (&["check", &missing], 2),
        (&["plan", "small.toml", "--set", &format!("{HOSTILE}=1")], 2),
        (
            &[
                "plan",
                "small.toml",
                "--set",
                &format!("protocol.metric={HOSTILE}"),
            ],
            2,
        ),
        (&["plan", "small.toml", "--mode", HOSTILE], 2),
        (&["plan", "small.toml", "--workload", HOSTILE], 2),
        (
            &["plan", "small.toml", "--disk", &format!("d={HOSTILE}")],
            2,
        ),
        (&["plan", "small.toml", "--disk", "d=own.toml"], 0),
        (&["disks", "own", "--catalogue", "own.toml"], 0),
        (&["disks", "own.x", "--catalogue", "own.toml"], 0),
        (
            &[
                "disks",
                "own.x",
                "--catalogue",
                "own.toml",
                "--format",
                "json",
            ],
            0,
        ),
        (
            &["run", "small.toml", "--volume", &format!("{HOSTILE}=/tmp")],
            2,
        ),
        (&["report", HOSTILE], 2),
        (&["lint", HOSTILE], 2),
        (&["lint", "--rule", HOSTILE, "small.toml"], 2),
        (&["doctor", HOSTILE], 2),
        (&["doctor", "small.toml"], 2),
        (&["doctor", "--server", HOSTILE], 2),
        (&[HOSTILE], 2),
        (&["check", "small.toml", &format!("--{HOSTILE}")], 2),
    ] {
        let printed = dbstow(&folder, arguments);
        let Printed { stdout, stderr, .. } = &printed;
        assert_eq!(printed.code, code, "{arguments:?}: {stdout}{stderr}");
    }
}

#[test]
fn mistakes_in_hostile_files_are_told_in_text_that_is_fit_for_a_terminal() {
    let folder = folder();
    let toml = ESCAPED.replace("\\uDB40\\uDC41", "\\U000e0041");
    let small = folder.read("small.toml");
    let spoilt = [
        small.replace("name = \"small\"", &format!("name = \"{toml}\"")),
        small.replace("cores = 4", &format!("cores = 4\n\"{toml}\" = 1")),
        small.replace("[volume.d]", &format!("[volume.\"{toml}\"]")),
        small.replace("[placement.one]", &format!("[placement.\"{toml}\"]")),
        small.replace("azure.premium.p30", &toml),
        small.replace("\"read-only\"", &format!("\"{toml}\"")),
        small.replace("rows = 1_000", &format!("\"{toml}\" = 1")),
        small.replace("\"elapsed_s\"", &format!("\"{toml}\"")),
        // Raw, as no TOML has it.
        format!("{small}\n{HOSTILE}"),
    ];
    for text in spoilt {
        folder.write("spoilt.toml", &text);
        let printed = dbstow(&folder, &["check", "spoilt.toml"]);
        assert_eq!(printed.code, 2, "{text}: {}", printed.stdout);
    }
    folder.make_folder("load");
    for (file, script) in [
        (
            format!("name = \"{toml}\"\nabout = \"{toml}\""),
            String::new(),
        ),
        (
            format!(
                "name = \"x\"\nabout = \"{toml}\"\ndatabase = \"shared\"\ntables = \"data\"\n[run]\noperations = 1\nscripts = [{{ file = \"a.sql\" }}]\n\"{toml}\" = 1\n"
            ),
            String::new(),
        ),
        (
            format!(
                "name = \"x\"\nabout = \"{toml}\"\ndatabase = \"shared\"\ntables = \"data\"\n[run]\noperations = 1\nscripts = [{{ file = \"{toml}\" }}]\n"
            ),
            String::new(),
        ),
        (
            format!(
                "name = \"x\"\nabout = \"{toml}\"\ndatabase = \"shared\"\ntables = \"data\"\n[run]\noperations = 1\nscripts = [{{ file = \"a.sql\" }}]\n"
            ),
            format!("\\{HOSTILE}\nselect :{HOSTILE};\n"),
        ),
    ] {
        folder.write("load/workload.toml", &file);
        folder.write("load/a.sql", script);
        for arguments in [
            &["workloads", "./load"][..],
            &["check", "small.toml", "--workload", "./load"],
        ] {
            let printed = dbstow(&folder, arguments);
            assert_ne!(printed.code, 0, "{file}: {}", printed.stdout);
        }
    }
}

/// The capture in `text`, with [`HOSTILE`] appended to every free text.
fn spoilt_capture(text: &str) -> String {
    let mut capture: Value = serde_json::from_str(text).expect("a capture is JSON");
    let mut places = Vec::new();
    strings_in(&capture, "", &mut places);
    for place in places {
        let mut tried = capture.clone();
        let string = tried.pointer_mut(&place).expect("it was found there");
        let spoilt = format!("{}{HOSTILE}", string.as_str().unwrap_or_default());
        *string = spoilt.into();
        if Capture::from_json("x", &tried.to_string()).is_ok() {
            capture = tried;
        }
    }
    capture.to_string()
}

fn strings_in(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                strings_in(item, &format!("{path}/{at}"), found);
            }
        }
        Value::Object(entries) => {
            for (key, entry) in entries {
                let key = key.replace('~', "~0").replace('/', "~1");
                strings_in(entry, &format!("{path}/{key}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_hostile_capture_is_shown_in_text_that_is_fit_for_a_terminal() {
    let folder = folder();
    let captures =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../engines/sqlserver/tests/captures");
    let entries = captures.read_dir().expect("captures for tests").flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).expect("it is there");
        let spoilt = spoilt_capture(&text);
        assert!(spoilt.matches("owned").count() > 3, "{}", file.display());
        folder.write("capture.json", spoilt);
        for arguments in [
            &["doctor", "capture.json"][..],
            &["doctor", "capture.json", "--plain", "--format", "json"],
            &["lint", "capture.json"],
            &["lint", "capture.json", "--format", "json"],
            &["lint", "capture.json", "--format", "sarif"],
        ] {
            let printed = dbstow(&folder, arguments);
            assert_eq!(printed.code, 0, "{arguments:?}: {}", printed.stderr);
            if arguments.contains(&"--format") {
                let json: Result<Value, _> = serde_json::from_str(&printed.stdout);
                json.expect("it is JSON still");
            }
        }
    }
}

#[test]
fn a_password_on_the_command_line_is_in_no_message() {
    const SECRET: &str = "hunter2 @:/?x";
    let folder = folder();
    for url in [
        format!("postgresql://ann:{SECRET}@db/sales"),
        format!("mysql://ann:{SECRET}@db:99999/sales"),
        format!("sqlserver://sa:{SECRET}@db1"),
        format!("sqlserver://sa:{SECRET}@db1:port"),
    ] {
        for arguments in [
            &["doctor", "--server", &url][..],
            &["lint", "--server", &url],
            &["doctor", &url],
            &["lint", &url],
            &["check", &url],
            &["run", &url],
            &["report", &url],
            &["disks", &url],
            &["plan", "small.toml", &url],
            &["check", "small.toml", "--workload", &url],
            &[
                "run",
                "small.toml",
                "--mode",
                "measure",
                "--engine",
                "postgres",
                "--volume",
                "d=/tmp",
                "--server",
                &url,
            ],
            &[
                "run",
                "small.toml",
                "--mode",
                "measure",
                "--engine",
                "sqlserver",
                "--volume",
                "d=/tmp",
                "--server",
                &url,
            ],
            &[
                "plan",
                "small.toml",
                "--mode",
                "measure",
                "--engine",
                "postgres",
                "--volume",
                "d=/tmp",
                "--server",
                &url,
            ],
        ] {
            let printed = dbstow(&folder, arguments);
            for text in [&printed.stdout, &printed.stderr] {
                assert!(!text.contains("hunter2"), "{arguments:?}: {text}");
            }
        }
    }
}

#[test]
fn a_workload_reads_beneath_its_folder_unless_it_is_allowed_more() {
    let folder = folder();
    folder.make_folder("load");
    folder.write("outside.sql", "select 1;\n");
    let toml = "name = \"x\"\nabout = \"x\"\ndatabase = \"shared\"\ntables = \"data\"\n[run]\noperations = 1\nscripts = [{ file = \"../outside.sql\" }]\n";
    folder.write("load/workload.toml", toml);
    for arguments in [
        &["workloads", "./load"][..],
        &["check", "small.toml", "--workload", "./load"],
        &["plan", "small.toml", "--workload", "./load"],
        &["run", "small.toml", "--workload", "./load"],
    ] {
        let refused = dbstow(&folder, arguments);
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.stdout);
        assert!(
            refused.stderr.contains("--allow-outside"),
            "{}",
            refused.stderr
        );
    }
    let allowed = dbstow(&folder, &["workloads", "./load", "--allow-outside"]);
    assert_eq!(allowed.code, 0, "{}", allowed.stderr);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_workload_is_refused_and_one_of_the_users_is_read() {
    let folder = folder();
    folder.make_folder("load");
    let toml = "name = \"x\"\nabout = \"x\"\ndatabase = \"shared\"\ntables = \"data\"\n[run]\noperations = 1\nscripts = [{ file = \"a.sql\" }]\n";
    folder.write("load/workload.toml", toml);
    let mode = nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR;
    nix::unistd::mkfifo(&folder.path("load/a.sql"), mode).expect("it can be made");

    let refused = dbstow(&folder, &["workloads", "./load"]);
    assert!(
        refused.stderr.contains("not a regular file"),
        "{}",
        refused.stderr
    );

    let small = fs::read(folder.path("small.toml")).expect("it is there");
    let mut command = folder.dbstow(&["check", "/dev/stdin"]);
    command.write_stdin(small).assert().success();
}
