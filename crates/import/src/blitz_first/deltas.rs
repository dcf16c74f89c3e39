//! sp_BlitzFirst's view: differences between snapshots.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use model::Duration;

use super::{Clock, DELTAS, Rows, dates, draft, table};
use crate::error::ImportError;
use crate::table::Row;
use crate::twice::{Range, Twice};
use crate::{Options, Source};
use profile::{Draft, Interval, Requests, Span, add};

/// Reads the view: differences, which omits intervals around a restart.
///
/// # Errors
/// As [`super::read`].
pub(crate) fn read_deltas(source: &Source, options: &Options) -> Result<Draft, ImportError> {
    const MEGABYTE: f64 = 1_048_576.0;
    let mut draft = draft();
    draft.assume("Bytes are rounded to megabytes by the view.");
    let table = table(source, &DELTAS, &mut draft)?;
    let rows = Rows::of(&table)?;
    rows.check_server(source.file, &mut BTreeSet::new())?;
    let elapsed = table.column("elapsedseconds")?;
    let (read, written) = (
        table.column("megabytes_read")?,
        table.column("megabytes_written")?,
    );
    check_means(&rows, &mut draft);
    let dates = dates(std::slice::from_ref(&rows), options, &mut draft)?;
    let mut clock = Clock::of(std::slice::from_ref(&rows));
    let mut spans: BTreeMap<Timestamp, Span> = BTreeMap::new();
    let mut seen = BTreeMap::new();
    for row in &table.rows {
        let requests = |count, megabytes, waited_ms| -> Result<Requests, ImportError> {
            let waited = rows.number(row, waited_ms)? / 1e3;
            Ok(Requests {
                count: Some(rows.number(row, count)?),
                bytes: Some(rows.number(row, megabytes)? * MEGABYTE),
                waited: Some(Duration::from_secs_f64(waited)),
            })
        };
        let reads = requests(rows.reads, read, rows.read_ms)?;
        let writes = requests(rows.writes, written, rows.write_ms)?;
        let until = rows.at(row, (&dates, options.start), &mut clock, &mut draft)?;
        let cell = |at: usize| row.1.get(at).unwrap_or_default().trim();
        let file = (until, cell(rows.database), cell(rows.file));
        if let Some(before) = seen.insert(file, &row.1) {
            rows.repeated(row, before == &row.1, &mut draft)?;
            continue;
        }
        let seconds = rows.number(row, elapsed)?;
        let length = Duration::from_secs_f64(seconds).as_nanos();
        let from = Timestamp::from_nanosecond(until.as_nanosecond() - i128::from(length));
        let from = from.map_err(|_| {
            let message = format!(
                "`ElapsedSeconds` is {seconds}, so that the row begins before there were dates; export the table again"
            );
            table.error(row.0, message)
        })?;
        let span = spans.entry(until).or_insert(Span {
            from,
            until,
            figures: Interval::default(),
        });
        let io = span.figures.roles.entry(rows.role(&row.1)).or_default();
        add(&mut io.reads, reads);
        add(&mut io.writes, writes);
    }
    draft.spans = spans.into_values().collect();
    Ok(draft)
}

/// Notes where the view's mean latencies are not its times over its counts.
fn check_means(rows: &Rows, draft: &mut Draft) {
    for (kind, waited, count) in [
        ("read", rows.read_ms, rows.reads),
        ("write", rows.write_ms, rows.writes),
    ] {
        let column = format!("io_stall_{kind}_ms_average");
        let Some(mean) = rows.table.find(&[&column]) else {
            continue;
        };
        let of = |row: &Row| {
            let number = |at| rows.number(row, at).ok();
            let count = number(count)?;
            // Some versions truncate the mean to whole milliseconds.
            let (least, most) = (count * number(mean)?, count * (number(mean)? + 1.0));
            Some(Twice::of(
                Range::exact(number(waited)?),
                Range::between(least, most),
            ))
        };
        let twice = rows.table.rows.iter().filter_map(of);
        if twice.fold(Twice::default(), Twice::and).differs(1.1, 0.0) {
            draft.assume(format!(
                "`{column}` is not time waited over requests; the times count, and may be wrong."
            ));
        }
    }
}
