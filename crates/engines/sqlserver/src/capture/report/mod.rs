//! A captured SQL Server for a terminal: what it is, what dbstow can do with it, where its files are, and which queries
//! it did not answer.

mod able;
mod files;
#[cfg(test)]
mod tests;

use super::{Capture, Machine, MountedVolume};
use rules::Captured;
use rules::capture::to_json;
use table::quantity::{bytes, percent};
use table::{Cell, Column, Table, Width, wrapped};

/// To what extent support for SQL Server has been verified.
const CHECKED: &str = "SQL Server: T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on SQL Server";

impl Captured for Capture {
    fn report(&self) -> String {
        let sections = [
            heading(self),
            able::table_of(self),
            files::all(self),
            files::tempdb(self),
            volumes(self),
            settings(self),
            services(self),
            unanswered(self),
        ];
        let written: Vec<String> = sections
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        written.join("\n")
    }

    fn json(&self, plain: bool) -> String {
        match plain {
            true => to_json(self),
            false => to_json(&self.redacted()),
        }
    }
}

fn heading(capture: &Capture) -> String {
    let identity = &capture.identity;
    let product = format!(
        "{} ({}), {}",
        identity.title(),
        identity.version,
        identity.edition
    );
    let mut text = wrapped("", &product);
    if let Some(asked) = &capture.asked {
        let who = format!("{} in {} of {}", asked.login, asked.database, asked.server);
        text.push_str(&wrapped("asked as: ", &who));
    }
    let host = host(&capture.machine);
    if !host.is_empty() {
        text.push_str(&wrapped("host: ", &host));
    }
    let started = match &*capture.machine.started {
        "" => String::new(),
        started => format!("; the service started {started}"),
    };
    text.push_str(&wrapped("taken: ", &format!("{}{started}", capture.taken)));
    text.push_str(&wrapped("", CHECKED));
    if capture.redacted {
        text.push_str(&wrapped(
            "",
            "names are stand-ins: this capture was redacted",
        ));
    }
    text
}

/// `Windows (Windows Server 2022), 16 processors, 128 GiB of memory, of which the server means to take 96 GiB`.
fn host(machine: &Machine) -> String {
    let platform = match (&*machine.platform, &*machine.system) {
        ("", "") => None,
        (platform, "") => Some(platform.to_owned()),
        ("", system) => Some(system.to_owned()),
        (platform, system) => Some(format!("{platform} ({system})")),
    };
    let processors = machine
        .processors
        .map(|count| format!("{count} processors"));
    let memory = machine
        .memory_bytes
        .map(|memory| format!("{} of memory", bytes(memory)));
    let target = machine
        .memory_target_bytes
        .map(|target| format!("the server means to take {}", bytes(target)));
    let kind = match &*machine.virtual_machine {
        "" => None,
        kind if kind.eq_ignore_ascii_case("none") => Some("no virtual machine".to_owned()),
        kind => Some(format!("virtual machine: {kind}")),
    };
    let known = [platform, processors, memory, target, kind];
    known.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn volumes(capture: &Capture) -> String {
    let columns = [
        Column::text("volume", |volume: &&MountedVolume| {
            volume.mount_point.clone()
        }),
        Column::text("label", |volume: &&MountedVolume| volume.label.clone()),
        Column::text("file system", |volume: &&MountedVolume| {
            volume.file_system.clone()
        }),
        Column::figure("size", |volume: &&MountedVolume| {
            Cell::Bytes(volume.total_bytes)
        }),
        Column::figure("free", |volume: &&MountedVolume| {
            Cell::Bytes(volume.available_bytes)
        }),
        Column::figure("free", |volume: &&MountedVolume| {
            percent(volume.available_bytes as f64 / volume.total_bytes.max(1) as f64)
        }),
        Column::figure("files", |volume: &&MountedVolume| {
            Cell::Count(volume.files.len() as u64)
        }),
    ];
    Table::of(&capture.volumes, columns).text(Width::default())
}

fn settings(capture: &Capture) -> String {
    let settings = capture.settings.iter();
    let settings = settings.map(|(name, value)| (name.as_str(), value.to_string()));
    let in_memory = capture.identity.tempdb_metadata_in_memory.map(|in_memory| {
        let value = if in_memory { "yes" } else { "no" };
        ("tempdb's system tables in memory", value.to_owned())
    });
    let flags: Vec<String> = capture.trace_flags.iter().map(i64::to_string).collect();
    let flags = (!flags.is_empty()).then(|| ("trace flags", flags.join(", ")));
    type Row<'a> = (&'a str, String);
    let columns = [
        Column::text("setting", |(name, _): &Row| *name),
        Column::figure("value", |(_, value): &Row| value.clone()),
    ];
    let rows = settings.chain(in_memory).chain(flags);
    Table::of(rows, columns).text(Width::default())
}

fn services(capture: &Capture) -> String {
    let mut text = String::new();
    for service in &capture.services {
        let instant = match service.instant_file_initialization {
            Some(true) => "; makes files without zeroing them",
            Some(false) => "; zeroes files when it makes them",
            None => "",
        };
        let line = format!("{} runs as {}{instant}", service.name, service.account);
        text.push_str(&wrapped("service: ", &line));
    }
    text
}

/// Queries refused with the same message, or unsupported by the server, share a line.
fn unanswered(capture: &Capture) -> String {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for unanswered in &capture.unanswered {
        let why = unanswered.why.trim_end_matches('.');
        let reason = match &*unanswered.remedy {
            "" => why.to_owned(),
            remedy => format!("{why}; what helps: {remedy}"),
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, questions)) => questions.push(&unanswered.question),
            None => reasons.push((reason, vec![&unanswered.question])),
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut text = String::from("Without an answer\n");
    for (reason, questions) in reasons {
        let line = format!("{}: {reason}", questions.join(", "));
        text.push_str(&wrapped("- ", &line));
    }
    text
}
