//! What a user takes away is what the program writes.

use std::fs;
use std::time::Instant;

use assert_cmd::Command;
use testing::folder::Folder;

use super::browser::Page;
use super::{file, perfmon};

/// What the program writes in `folder`, which has a profile and a layout, given the command line that the page shows.
pub(crate) fn written(folder: &Folder, command: &str) -> [Vec<u8>; 3] {
    let words = shell_words::split(command).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_dbstow"));
    let started = Instant::now();
    program
        .args(&words[1..])
        .current_dir(folder.root())
        .assert()
        .success();
    println!("program: {} ms", started.elapsed().as_millis());
    ["advice.html", "advice.json", "finalists.toml"]
        .map(|name| fs::read(folder.path(format!("profile-advice/{name}"))).unwrap())
}

/// Fails at the first line in which a file that was taken away differs from the one that `command` wrote.
pub(crate) fn assert_same(taken: &[Vec<u8>; 3], written: &[Vec<u8>; 3], command: &str) {
    for (taken, written) in taken.iter().zip(written) {
        let [taken, written] = [taken, written].map(|bytes| String::from_utf8_lossy(bytes));
        let differs = taken
            .lines()
            .zip(written.lines())
            .find(|(one, other)| one != other);
        assert_eq!(differs, None, "{command} writes something else");
        assert!(taken == written, "{command} writes more or less");
    }
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn the_example_is_answered_byte_for_byte_as_by_the_program_without_a_request() {
    let page = Page::open();
    page.click(".example");
    assert_eq!(page.wait_for_text("reading"), "Read: a profile.");
    page.wait_for("document.getElementById('fit').textContent.includes('fits')");
    assert_eq!(page.text("unread"), "");

    let started = Instant::now();
    page.click("#search");
    page.wait_for_answer();
    println!("page: {} ms", started.elapsed().as_millis());
    let taken = ["to-html", "to-json", "to-finalists"].map(|id| page.download(id));
    let [profile, today] = ["to-profile", "to-today"].map(|id| page.download(id));
    assert!(profile == fs::read(file("examples/shop.toml")).unwrap());
    assert!(today == fs::read(file("examples/today.toml")).unwrap());

    let command = page.text("command");
    assert_same(&taken, &written(&page.folder, &command), &command);
    assert_eq!(page.complaints(), [""; 0]);
    assert_eq!(page.requests(), [""; 0]);
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn dropped_counters_become_a_bill_by_clicks() {
    let page = Page::open();
    // Ten minutes of one busy volume, and another that only the system uses.
    page.drop("counters.csv", &counters());
    let unread = page.wait_for_text("unread");
    assert!(unread.contains("2 devices with requests"), "{unread}");
    assert!(page.is_shown("devices"));
    page.click("input[value='data=d:']");
    page.click("input[value='log=d:']");
    page.click("#choices button");
    page.wait_for("document.getElementById('reading').textContent.startsWith('Read: ')");
    assert_eq!(page.text("unread"), "");
    assert!(page.is_shown("profile"));

    // As soon as machine and disks are there, the recording is replayed on them.
    page.fill("#machine", "azure.E2bds_v5");
    assert_eq!(page.text("fit"), "");
    page.fill("#disk-data", "azure.premium.p30");
    page.wait_for("['fit', 'misfit'].some(id => /fit(s)? this layout/.test(document.getElementById(id).textContent))");
    assert!(page.is_shown("tested"));
    let figures = page.ask(
        "document.getElementById('tested').open = true, document.getElementById('figures').srcdoc",
    );
    assert!(
        figures
            .as_str()
            .is_some_and(|page| page.contains("<section id=\"figures\">"))
    );
    page.fill("[name=data]", "60GiB");
    page.fill("[name=log]", "20GiB");
    page.click("[name=quick]");
    page.click("[name=untested]");
    page.click("#search");
    page.wait_for_answer();
    let html = page.ask("document.getElementById('advice').srcdoc");
    assert!(
        html.as_str()
            .unwrap()
            .contains("What the chosen layout costs")
    );
    let fits = page.text("misfit").is_empty();
    let marked = page.ask("!document.getElementById('untested').hidden");
    assert_eq!(marked, !fits);

    // Both commands: the import, and the question.
    let command = page.text("command");
    let lines: Vec<&str> = command.lines().collect();
    assert_eq!(
        lines[0],
        "dbstow import counters.csv --device data=d: --device log=d: --out profile.toml"
    );
    assert!(lines[1].starts_with("dbstow advise profile.toml --today today.toml"));
    let profile = page.download("to-profile");
    page.download("to-today");
    page.folder.write("counters.csv", counters());
    let words = shell_words::split(lines[0]).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_dbstow"));
    let words = words[1..].iter().map(String::as_str);
    // The page's own is there already.
    program
        .args(words.chain(["--force"]))
        .current_dir(page.folder.root());
    program.assert().success();
    assert!(profile == fs::read(page.folder.path("profile.toml")).unwrap());
    let taken = ["to-html", "to-json", "to-finalists"].map(|id| page.download(id));
    assert_same(&taken, &written(&page.folder, lines[1]), lines[1]);
    assert_eq!(page.complaints(), [""; 0]);
    assert_eq!(page.requests(), [""; 0]);
}

/// Performance counters of a server with 20 commits a second, of two volumes.
fn counters() -> String {
    let names = [
        "LogicalDisk(D:)\\Disk Reads/sec",
        "LogicalDisk(D:)\\Disk Writes/sec",
        "LogicalDisk(D:)\\Disk Read Bytes/sec",
        "LogicalDisk(D:)\\Disk Write Bytes/sec",
        "LogicalDisk(D:)\\Avg. Disk sec/Read",
        "LogicalDisk(D:)\\Avg. Disk sec/Write",
        "LogicalDisk(C:)\\Disk Reads/sec",
        "LogicalDisk(C:)\\Disk Writes/sec",
        "LogicalDisk(C:)\\Disk Read Bytes/sec",
        "LogicalDisk(C:)\\Disk Write Bytes/sec",
        "LogicalDisk(C:)\\Avg. Disk sec/Read",
        "LogicalDisk(C:)\\Avg. Disk sec/Write",
        "SQLServer:SQL Statistics\\Batch Requests/sec",
        "SQLServer:Databases(_Total)\\Transactions/sec",
        "SQLServer:General Statistics\\User Connections",
        "Processor(_Total)\\% Processor Time",
        "Processor(0)\\% Processor Time",
        "Processor(1)\\% Processor Time",
    ];
    let values = [
        "400", "50", "3276800", "1048576", "0.003", "0.004", "1", "2", "4096", "8192", "0.002",
        "0.002", "100", "20", "16", "30", "30", "30",
    ];
    let mut text = String::from("\"(PDH-CSV 4.0) (UTC)(0)\"");
    for name in names {
        text += &format!(",\"\\\\DB\\{name}\"");
    }
    for second in 0..40 {
        let [minute, second] = [second * 15 / 60, second * 15 % 60];
        text += &format!("\r\n\"11/24/2026 10:{minute:02}:{second:02}.000\"");
        for value in values {
            text += &format!(",\"{value}\"");
        }
    }
    text + "\r\n"
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn german_decimals_are_read_like_others() {
    let page = Page::open();
    page.choose(&[&perfmon("relog-decimal-comma-utf16.csv")]);
    page.wait_for_text("unread");
    page.click("input[value='data=d:']");
    page.click("#choices button");
    page.wait_for("document.getElementById('reading').textContent.startsWith('Read: ')");
    page.click("#choices button");
    page.wait_for("document.getElementById('reading').textContent.startsWith('Read: ')");
    let html = page.ask("document.getElementById('profile').srcdoc");
    assert!(html.as_str().unwrap().contains("SQL Server"));
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn of_two_instances_one_is_chosen() {
    let page = Page::open();
    page.choose(&[&perfmon("two-instances.csv")]);
    let unread = page.wait_for_text("unread");
    assert!(unread.contains("2 SQL Servers"), "{unread}");
    assert!(page.is_shown("instances") && !page.is_shown("devices"));
    page.click("input[value='A']");
    page.click("#choices button");
    page.wait_for("document.getElementById('reading').textContent.startsWith('Read: ')");
    assert!(
        page.text("notes").contains("SQL Server B are not used"),
        "{}",
        page.text("notes")
    );
}
