//! `--live` in a real pseudo-terminal, which `script` of Debian's essential packages makes.
#![cfg(all(target_os = "linux", feature = "live"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;
use std::io::{Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use testing::place::{Place, Running, dbstow, failed, is_alive, succeeds, wait_for};

/// A run in real time of about a second a trial, on modelled disks.
const RUN: &str = r#"name = "live"
question = "Is it shown?"

[machine]
cores = 2
memory = "1 GiB"

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
name = "write-only"
sessions = 2
duration = "1 s"
parameters = { rows = 2000 }

[engine]
memory = "1 MiB"

[protocol]
baseline = "one"
metric = "operations_per_s"
blocks = BLOCKS
"#;

/// What enters and leaves a terminal's second screen.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// A shell in a terminal, whose output is read continuously.
struct InTerminal {
    _program: Running,
    keys: ChildStdin,
    printed: Arc<Mutex<Vec<u8>>>,
}

impl InTerminal {
    fn start(place: &Place, command: &str) -> InTerminal {
        let command = format!("stty rows 30 cols 100; {command}; echo exit $?; stty -a; echo end");
        let mut child = Command::new("script")
            .args(["--quiet", "--command", &command, "/dev/null"])
            .current_dir(place.root())
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script is everywhere");
        let printed = Arc::<Mutex<Vec<u8>>>::default();
        let (mut output, into) = (child.stdout.take().unwrap(), Arc::clone(&printed));
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut chunk) {
                into.lock().unwrap().extend_from_slice(&chunk[..read]);
            }
        });
        InTerminal {
            keys: child.stdin.take().unwrap(),
            _program: Running(child),
            printed,
        }
    }

    fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned()
    }

    fn wait(&self, text: &str) {
        wait_for(text, || {
            let printed = self.printed();
            assert!(
                text == "end\r\n" || !printed.ends_with("end\r\n"),
                "{text}: {printed}"
            );
            printed.contains(text)
        });
    }

    fn press(&mut self, key: &[u8]) {
        self.keys.write_all(key).unwrap();
        self.keys.flush().unwrap();
    }

    /// Complete output, once the shell has ended; its terminal must be restored.
    fn end(self) -> String {
        self.wait("end\r\n");
        let printed = self.printed();
        let (_, settings) = printed.rsplit_once("exit ").expect("the program ended");
        let settings: Vec<&str> = settings.split_whitespace().collect();
        for setting in ["icanon", "echo", "isig"] {
            assert!(settings.contains(&setting), "no {setting}: {settings:?}");
        }
        assert_eq!(printed.matches(ENTER).count(), 1, "{printed:?}");
        assert_eq!(printed.matches(LEAVE).count(), 1, "{printed:?}");
        printed
    }
}

fn run(place: &Place, blocks: u32) -> String {
    fs::write(
        place.path("run.toml"),
        RUN.replace("BLOCKS", &blocks.to_string()),
    )
    .unwrap();
    format!(
        "{} run run.toml --mode emulate --backing . --out out --live",
        env!("CARGO_BIN_EXE_dbstow")
    )
}

#[test]
fn q_leaves_the_screen_and_the_run_goes_on() {
    let place = Place::new();
    let command = run(&place, 2);
    let mut terminal = InTerminal::start(&place, &command);
    terminal.wait(ENTER);
    terminal.wait("live: emulate, sqlite");
    terminal.wait("IOPS");

    terminal.press(b"q");

    terminal.wait(LEAVE);
    let printed = terminal.end();
    let (_, after) = printed.split_once(LEAVE).unwrap();
    assert!(
        after.contains("two vs one") || after.contains("two and one"),
        "{after}"
    );
    assert!(after.contains("exit 0"), "{after}");
}

#[test]
fn a_run_that_ends_shows_its_verdicts_and_leaves_the_screen() {
    let place = Place::new();
    let command = run(&place, 2);
    let terminal = InTerminal::start(&place, &command);
    let printed = terminal.end();
    let (screen, after) = printed.split_once(LEAVE).unwrap();
    assert!(
        screen.contains("MB/s") && screen.contains("disk.d.1."),
        "{screen}"
    );
    // That of the first block, while the second runs, such as "1.00x the operations per second".
    assert!(has_ratio(screen), "{screen:?}");
    // What would have been printed beside the bar comes when the screen is left.
    assert!(after.contains("takes at least 4 s"), "{after}");
    assert!(after.contains("Records: out"), "{after}");
}

/// Whether a number with an x, as of a verdict, is among the words: between them, only the cursor moves.
fn has_ratio(screen: &str) -> bool {
    let words =
        screen.split(|character: char| !character.is_ascii_digit() && !".x".contains(character));
    let mut numbers = words.filter_map(|word| word.strip_suffix('x'));
    numbers.any(|number| number.parse::<f64>().is_ok())
}

#[test]
fn a_key_after_the_screen_is_for_whoever_reads_next() {
    let place = Place::new();
    let command = run(&place, 1) + "; read line; echo got-$line";
    let mut terminal = InTerminal::start(&place, &command);
    // It is printed once the terminal is as it was.
    terminal.wait("takes at least 2 s");

    terminal.press(b"early\n");

    let printed = terminal.end();
    assert!(printed.contains("got-early"), "{printed}");
}

#[test]
fn ctrl_c_leaves_the_screen_and_stops_the_run() {
    let place = Place::new();
    let command = run(&place, 50);
    let mut terminal = InTerminal::start(&place, &command);
    terminal.wait("IOPS");

    terminal.press(b"\x03");

    let printed = terminal.end();
    let (_, after) = printed.split_once(LEAVE).unwrap();
    assert!(after.contains("stopping and cleaning up"), "{after}");
    assert!(
        after.contains("interrupted; finished trials are kept"),
        "{after}"
    );
    assert!(after.contains("exit 1"), "{after}");
}

#[test]
fn a_signal_leaves_the_screen_too() {
    let place = Place::new();
    let command = run(&place, 50);
    let command = format!("sh -c 'echo $$ > pid; exec {command}'");
    let terminal = InTerminal::start(&place, &command);
    terminal.wait("IOPS");

    let pid = fs::read_to_string(place.path("pid")).unwrap();
    let status = Command::new("kill").args(["-TERM", pid.trim()]).status();

    assert!(status.unwrap().success());
    let printed = terminal.end();
    assert!(
        printed.contains("interrupted; finished trials are kept"),
        "{printed}"
    );
}

#[test]
fn a_terminal_that_is_closed_ends_the_run() {
    let place = Place::new();
    let command = run(&place, 50);
    let command = format!("sh -c 'echo $$ > pid; exec {command}'");
    let terminal = InTerminal::start(&place, &command);
    terminal.wait("IOPS");
    let pid = fs::read_to_string(place.path("pid")).unwrap();

    drop(terminal);

    wait_for("its end", || !is_alive(pid.trim()));
}

#[test]
fn a_mount_stays_when_its_screen_is_left() {
    let place = Place::new();
    let directory = place.text("disk");
    let command = format!(
        "{} mount azure.premium.p30 {directory} --size 1GiB --front file --live",
        env!("CARGO_BIN_EXE_dbstow")
    );
    let mut terminal = InTerminal::start(&place, &command);
    terminal.wait("modelled disks");
    // Between words, only the cursor moves.
    terminal.wait("IOPS");

    terminal.press(b"q");

    let printed = terminal.end();
    assert!(printed.contains("exit 0"), "{printed}");
    assert_eq!(place.mounts().len(), 1);
    succeeds(&["unmount", &directory]);
}

#[test]
fn without_a_terminal_there_is_one_error() {
    let place = Place::new();
    run(&place, 1);
    let run = place.text("run.toml");
    let (code, said) = failed(&mut dbstow(&["run", &run, "--live"]));
    assert_eq!((code, said.lines().count()), (2, 1), "{said}");
    assert!(said.contains("--live needs a terminal"), "{said}");
}
