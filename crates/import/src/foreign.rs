//! Files that are recognised but not supported: each with its name, the reason, and what to use instead.

use super::table;

/// Message for a file of a known tool that cannot be imported; `None` for any other.
pub(super) fn recognised(file: &str, head: &str) -> Option<String> {
    let (what, remedy) = text(head)
        .or_else(|| result(head))
        .or_else(|| statistics(head))
        .or_else(|| collection(file))?;
    Some(format!("this is {what}; {remedy}"))
}

type Found = Option<(&'static str, &'static str)>;

/// Human-readable output of iostat and sar. Its columns, units and times depend on version, options and locale.
fn text(head: &str) -> Found {
    let lines = || head.lines().map(str::trim_start);
    let is_banner = lines()
        .next()
        .is_some_and(|line| line.starts_with("Linux ") && line.contains("CPU)"));
    let has = |names: &[&str]| {
        lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            names.iter().all(|name| words.contains(name))
        })
    };
    let is_iostat = lines().any(|line| line.starts_with("avg-cpu:"))
        || has(&["Device", "%util"])
        || has(&["Device:", "%util"]);
    let is_iostat = is_iostat || is_banner && (has(&["Device", "tps"]) || has(&["Device:", "tps"]));
    let is_sar = has(&["DEV", "tps", "%util"])
        || is_banner && (has(&["%user", "%idle"]) || has(&["tps", "rtps"]));
    if is_iostat {
        Some((
            "the text of iostat, which is not read",
            "record JSON with `S_TIME_FORMAT=ISO iostat -x -t -o JSON 10 > iostat.json` (sysstat 12)",
        ))
    } else if is_sar {
        Some((
            "the text of sar, which is not read",
            "export its file as JSON with `sadf -j /var/log/sysstat/saDD -- -d -u -b > sar.json`",
        ))
    } else {
        None
    }
}

/// Benchmark results: what disks delivered, not what a server requested.
fn result(head: &str) -> Found {
    const BENCHMARK: &str = "it says what disks could do, and not what a server asks of them: record the server, or describe \
                             the disk with `dbstow calibrate`";
    let first = head.lines().find(|line| !line.trim().is_empty());
    let first = first.unwrap_or_default().trim();
    let is_terse = first
        .split(';')
        .nth(1)
        .is_some_and(|cell| cell.starts_with("fio-"));
    if is_log_of_fio(first) {
        Some((
            "a log of fio (write_bw_log, write_iops_log or write_lat_log)",
            BENCHMARK,
        ))
    } else if head.contains("Run status group ") || head.contains("(g=0): rw=") || is_terse {
        Some(("a result of fio as text", BENCHMARK))
    } else if head.contains("Command Line:") && head.contains("timespan:") {
        Some(("a result of diskspd as text", BENCHMARK))
    } else if head.contains("\"fio version\"") {
        Some(("a result of fio (--output-format=json)", BENCHMARK))
    } else if head.contains("<Results>")
        && (head.contains("<TimeSpan>") || head.contains("<Profile>"))
    {
        Some(("a result of diskspd (-Rxml)", BENCHMARK))
    } else {
        None
    }
}

/// `time, value, direction, block size, ..`: <https://fio.readthedocs.io/en/latest/fio_doc.html#log-file-formats>.
fn is_log_of_fio(line: &str) -> bool {
    let cells: Vec<&str> = line.split(", ").collect();
    let direction = cells.get(2).and_then(|cell| cell.parse::<u8>().ok());
    let is_number = |cell: &&str| cell.starts_with("0x") || cell.parse::<u64>().is_ok();
    cells.len() >= 4
        && direction.is_some_and(|direction| direction <= 2)
        && cells.iter().all(is_number)
}

/// Statistics that lack required figures.
fn statistics(head: &str) -> Found {
    let first = head.lines().find(|line| !line.trim().is_empty())?;
    let header = table::header_names(first);
    let has = |name: &str| header.iter().any(|cell| cell == name);
    let is_screen = header.first().is_some_and(|cell| {
        cell.starts_with("physical reads") || cell.starts_with("physical writes")
    });
    let lower = head.to_lowercase();
    let is_number = |cell: &String| cell.parse::<i64>().is_ok();
    // `select *`, of which the last column is a handle, has 12 columns, or 14 with those of the resource governor.
    let is_view = matches!(header.len(), 12 | 14)
        && header.iter().any(|cell| cell.starts_with("0x"))
        && header.iter().filter(|cell| is_number(cell)).count() + 1 == header.len();
    if is_view {
        Some((
            "rows of sys.dm_io_virtual_file_stats without column names",
            "export them with names (Management Studio: Query Options, Results, Grid, Include column headers)",
        ))
    } else if lower
        .lines()
        .any(|line| line.contains(" swpd ") && line.contains(" bo "))
    {
        Some((
            "the text of vmstat, which has blocks and no requests",
            "record with `S_TIME_FORMAT=ISO iostat -x -t -o JSON 10 > iostat.json` (sysstat 12)",
        ))
    } else if !head.trim_start().starts_with('{')
        && ["volumereadops", "volumewriteops"]
            .iter()
            .any(|name| lower.contains(name))
    {
        Some((
            "a CSV of CloudWatch, which names neither statistic nor unit",
            "give answers to `aws cloudwatch get-metric-statistics --statistics Sum`, one for each metric of the volume",
        ))
    } else if lower.contains("disk read operations/sec")
        || lower.contains("disk write operations/sec")
    {
        Some((
            "a CSV of Azure Monitor, which is not read",
            "record the server with `dbstow record`, or its disks with `typeperf` or iostat",
        ))
    } else if head.contains("\"MetricDataResults\"") {
        Some((
            "an answer of CloudWatch to get-metric-data about a volume of EBS, which names no statistic",
            "give answers to `aws cloudwatch get-metric-statistics --statistics Sum`, one for each metric of the volume",
        ))
    } else if is_screen || has("pattern") && has("sample time") && has("avg stall (ms)") {
        Some((
            "what sp_BlitzFirst shows of its slowest files, which are not all",
            "export the table that it writes (@OutputTableNameFileStats)",
        ))
    } else if has("readlatency") && has("writelatency") && !has("num_of_reads") {
        Some((
            "means of sys.dm_io_virtual_file_stats, without counts or times",
            "export the view itself, three times or more (select * from sys.dm_io_virtual_file_stats(null, null))",
        ))
    } else {
        None
    }
}

/// Files that accompany the one with the counters.
fn collection(file: &str) -> Found {
    let file = file.to_lowercase();
    let is_other = [
        "_commondblevel_counters.csv",
        "_commoninstancelevel_counters.csv",
    ];
    is_other.iter().any(|end| file.ends_with(end)).then_some((
        "the description of a server by Microsoft's data collection",
        "give the file `.._PerformanceAggregated_Counters.csv` beside it",
    ))
}
