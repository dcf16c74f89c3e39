//! What the benchmarks of emulated volumes share: mounts, fio and medians.
#![allow(dead_code, reason = "each benchmark uses its part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use comfy_table::{CellAlignment, Table, presets};

/// What a program printed, which must have succeeded.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("cannot run {program}: install it"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ensure!(
        output.status.success(),
        "{program} {}: {}{}",
        arguments.join(" "),
        text(&output.stdout),
        text(&output.stderr)
    );
    Ok(text(&output.stdout))
}

/// Volumes mounted by `dbstow mount`; unmounted when dropped.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// Mounts the volumes of `spec` at `directory`.
    pub(crate) fn new(spec: &str, directory: &Path, options: &[&str]) -> Result<Mount> {
        let place = text(directory)?;
        let dbstow = env!("CARGO_BIN_EXE_dbstow");
        run(dbstow, &[&["mount", spec, place], options].concat())?;
        Ok(Mount(directory.to_owned()))
    }

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        &self.0
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmounted = Command::new(env!("CARGO_BIN_EXE_dbstow"))
            .arg("unmount")
            .arg(&self.0)
            .output();
        let failed = |why: String| eprintln!("{} is not unmounted: {why}", self.0.display());
        match unmounted {
            Ok(output) if output.status.success() => {}
            Ok(output) => failed(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => failed(error.to_string()),
        }
    }
}

/// What fio achieved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Achieved {
    /// Requests per second.
    pub(crate) iops: f64,
    /// Mean latency, submission to completion.
    pub(crate) latency_us: f64,
}

/// Lets fio do one kind of request to `file` for a number of seconds.
pub(crate) fn fio(file: &Path, seconds: u32, options: &[&str]) -> Result<Achieved> {
    let file = format!("--filename={}", text(file)?);
    let runtime = format!("--runtime={seconds}");
    let common = [
        "--name=bench",
        "--time_based",
        "--group_reporting",
        "--thread",
        // What is in the page cache stays there.
        "--invalidate=0",
        "--output-format=json",
        &file,
        &runtime,
    ];
    let output = run("fio", &[&common, options].concat())?;
    // Notes may come before the JSON.
    let start = output.find('{').context("fio prints no JSON")?;
    let output: serde_json::Value = serde_json::from_str(&output[start..])?;
    let job = &output["jobs"][0];
    let number = |direction: &str, of: &[&str]| {
        let value = of.iter().fold(&job[direction], |value, key| &value[*key]);
        value.as_f64().unwrap_or(0.0)
    };
    let direction = match number("read", &["total_ios"]) > 0.0 {
        true => "read",
        false => "write",
    };
    Ok(Achieved {
        iops: number(direction, &["iops"]),
        latency_us: number(direction, &["lat_ns", "mean"]) / 1_000.0,
    })
}

/// A file of `length` bytes that lie in memory.
pub(crate) fn fill(file: &Path, length: usize) -> Result<()> {
    let bytes: Vec<u8> = (0..length).map(|place| (place % 251) as u8).collect();
    fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

/// The median; NaN for an empty slice.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A table with its first `left` columns to the left, and numbers to the right.
pub(crate) fn table(left: usize, head: Vec<String>, rows: Vec<Vec<String>>) -> Table {
    let columns = head.len();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head);
    table.add_rows(rows);
    for column in left..columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A path as text.
pub(crate) fn text(path: &Path) -> Result<&str> {
    path.to_str()
        .with_context(|| format!("{} is not text", path.display()))
}

/// Whether other processes keep the machine busy, which belongs beside every figure.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = load.split(' ').next().unwrap_or("?").to_owned();
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    format!("load {first} on {processors} processors")
}
