//! A recording of 200 MB: it is read in slices, and the page stays below 1 GB.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::browser::Page;

/// Writes performance counters with so many columns and rows, of which the first are of a disk and of SQL Server.
fn write(path: &Path, columns: usize, rows: usize) {
    let mut file = BufWriter::new(fs::File::create(path).unwrap());
    let of_use = [
        r"LogicalDisk(D:)\Disk Reads/sec",
        r"LogicalDisk(D:)\Disk Writes/sec",
        r"LogicalDisk(D:)\Disk Read Bytes/sec",
        r"LogicalDisk(D:)\Disk Write Bytes/sec",
        r"LogicalDisk(D:)\Avg. Disk sec/Read",
        r"LogicalDisk(D:)\Avg. Disk sec/Write",
        r"SQLServer:SQL Statistics\Batch Requests/sec",
    ];
    let values = ["400", "50", "3276800", "1048576", "0.003", "0.004", "100"];
    write!(file, "\"(PDH-CSV 4.0) (UTC)(0)\"").unwrap();
    for name in of_use {
        write!(file, ",\"\\\\DB\\{name}\"").unwrap();
    }
    for other in of_use.len()..columns {
        write!(file, ",\"\\\\DB\\Process(p{other})\\Handle Count\"").unwrap();
    }
    for row in 0..rows {
        let [day, hour, minute, second] =
            [row / 5_760 + 1, row / 240 % 24, row / 4 % 60, row * 15 % 60];
        write!(
            file,
            "\r\n\"11/{day:02}/2026 {hour:02}:{minute:02}:{second:02}.000\""
        )
        .unwrap();
        for value in values {
            write!(file, ",\"{value}\"").unwrap();
        }
        for other in of_use.len()..columns {
            write!(file, ",\"{:.12}\"", (row * other) as f64 / 7.0).unwrap();
        }
    }
    write!(file, "\r\n").unwrap();
    file.into_inner().unwrap();
}

/// The largest memory that a process below `parent` has had, in MB.
fn peak_mb(parent: u32) -> u64 {
    let status = |pid: u32| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |status: &str, name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.unwrap_or_default()
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_below = |pid: &u32| {
        let mut at = *pid;
        while at > 1 && at != parent {
            at = field(&status(at), "PPid:") as u32;
        }
        at == parent
    };
    let peaks = processes
        .filter(is_below)
        .map(|pid| field(&status(pid), "VmHWM:") * 1024 / 1_000_000);
    peaks.max().unwrap_or_default()
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn a_recording_of_200_mb_is_read_in_slices_below_1_gb() {
    let page = Page::open();
    let path = page.folder.path("large.csv");
    // 600 cells of about 22 bytes in a row, every 15 seconds for 2 1/2 days.
    write(&path, 600, 15_300);
    let bytes = fs::metadata(&path).unwrap().len();
    assert!((190_000_000..225_000_000).contains(&bytes), "{bytes} bytes");
    let started = std::time::Instant::now();
    page.choose(&[&path]);
    page.wait_for("document.getElementById('read').value > 0.05");
    assert!(page.is_shown("read"));
    page.wait_for("['reading', 'unread'].some(id => /^Read: |device/.test(document.getElementById(id).textContent))");
    if page.text("unread").contains("device") {
        page.click("input[value='data=d:']");
        page.click("#choices button");
        page.wait_for("document.getElementById('reading').textContent.startsWith('Read: ')");
    }
    assert_eq!(page.text("unread"), "");
    let peak = peak_mb(page.process());
    println!(
        "{bytes} bytes: {} ms, {peak} MB",
        started.elapsed().as_millis()
    );
    assert!(peak < 1_000, "{peak} MB");
    assert!(!page.is_shown("read"));
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn a_larger_file_is_refused_unread() {
    let page = Page::open();
    let path = page.folder.path("large.csv");
    let large = fs::File::create(&path).unwrap();
    large.set_len(300 << 20).unwrap();
    page.choose(&[&path]);
    let said = page.wait_for_text("unread");
    assert!(
        said.contains("300 MiB") && said.contains("dbstow import"),
        "{said}"
    );
    assert_eq!(page.complaints(), [""; 0]);
}
