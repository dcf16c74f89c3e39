//! A captured MariaDB or MySQL for a terminal: what it is, where its files are, on which storage, and its settings.

use super::{Capture, Places};
use rules::Captured;
use rules::capture::to_json;
use table::quantity::percent;
use table::{Cell, Column, Table, Width, wrapped};

impl Captured for Capture {
    fn report(&self) -> String {
        let sections = [heading(self), directories(self), settings(self)];
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

    fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }
}

fn heading(capture: &Capture) -> String {
    let Capture {
        version, edition, ..
    } = capture;
    let product = capture.product.name();
    let mut text = wrapped("", &format!("{product} {version}, {edition}"));
    text.push_str(&wrapped("platform: ", &capture.platform));
    let up = match capture.counter("Uptime") {
        Some(seconds) => format!("; up for {:.1} h", seconds as f64 / 3600.0),
        None => String::new(),
    };
    text.push_str(&wrapped("taken: ", &format!("{}{up}", capture.taken)));
    if capture.redacted {
        text.push_str(&wrapped(
            "",
            "names of folders are stand-ins: this capture was redacted",
        ));
    }
    if !capture.unseen.is_empty() {
        text.push_str(&wrapped("volumes: not seen; ", &capture.unseen));
    }
    text
}

/// One row per directory that holds files.
struct Row<'a> {
    what: &'static str,
    path: &'a str,
}

fn directories(capture: &Capture) -> String {
    let places = Places::of(capture);
    let single = [
        ("data", &places.data),
        ("redo log", &places.redo),
        ("binary log", &places.binlog),
        ("undo", &places.undo),
        ("doublewrite", &places.doublewrite),
        ("temporary tables", &places.temp_tablespace),
    ];
    let single = single.into_iter().filter_map(|(what, path)| {
        let path = path.as_deref()?;
        Some(Row { what, path })
    });
    let temp = places.temp.iter().map(|path| Row {
        what: "temporary files",
        path,
    });
    let rows: Vec<Row> = single.chain(temp).collect();
    if rows.is_empty() {
        return String::new();
    }
    let volume = |row: &Row| capture.volume(row.path);
    let columns = [
        Column::text("files", |row: &Row| row.what),
        Column::text("directory", |row: &Row| row.path.to_owned()),
        Column::text("mount point", |row: &Row| {
            volume(row).map(|volume| volume.mount_point.clone())
        }),
        Column::text("file system", |row: &Row| {
            volume(row).map(|volume| volume.file_system.clone())
        }),
        Column::text("disks", |row: &Row| {
            volume(row).map(|volume| volume.disks.join(", "))
        }),
        Column::figure("free", |row: &Row| {
            let free = volume(row)?.available_bytes;
            Some(Cell::Bytes(i64::try_from(free).unwrap_or(i64::MAX)))
        }),
        Column::figure("free", |row: &Row| {
            let volume = volume(row)?;
            let share = volume.available_bytes as f64 / volume.total_bytes.max(1) as f64;
            Some(percent(share))
        }),
    ];
    Table::of(rows, columns).text(Width::default())
}

fn settings(capture: &Capture) -> String {
    type Row<'a> = (&'a String, &'a String);
    let columns = [
        Column::text("setting", |(name, _): &Row| name.to_string()),
        Column::text("value", |(_, value): &Row| value.to_string()),
    ];
    Table::of(&capture.variables, columns).text(Width::default())
}
