//! fio's iolog, versions 2 and 3: when requests were issued, and to which file. It has no latencies.
//!
//! Version 3 has microseconds since the start of the job. In version 2 `wait` lines carry the time: fio 3.33 replays them
//! as milliseconds since its start, whatever its manual says.

use model::Duration;
use reading::Role;

use super::buckets::{Buckets, Course, Kind, Request};
use super::devices::{self, Found};
use super::error::ImportError;
use super::source::{Options, Source};
use super::text::excerpt;
use profile::Draft;

/// The version that a first line names.
pub(super) fn version(first: &str) -> Option<u8> {
    let version = first.trim().strip_prefix("fio version ")?;
    version.strip_suffix(" iolog")?.parse().ok()
}

/// One line with a request.
struct Line<'a> {
    at: Duration,
    file: &'a str,
    kind: Kind,
    bytes: u64,
}

/// Reads logs of jobs that ran concurrently.
///
/// # Errors
/// When a line cannot be read, a log has no times, or the roles of the files are ambiguous.
pub(super) fn read(sources: &[Source], options: &Options) -> Result<Draft, ImportError> {
    let first = sources.first().map_or("", |source| source.file);
    let wrong = |message: String| ImportError::file(first, message);
    let mut draft = Draft::of("fio iolog");
    let mut lines: Vec<Line> = Vec::new();
    for source in sources {
        lines.extend(parse(source, &mut draft)?);
    }
    if sources.len() > 1 {
        draft.assume("The logs are of jobs that started together.");
    }
    let mut names: Vec<&str> = lines.iter().map(|line| line.file).collect();
    names.sort_unstable();
    names.dedup();
    let found: Vec<Found> = names
        .iter()
        .map(|name| Found {
            name,
            is_active: true,
        })
        .collect();
    let roles = devices::assign_roles(&options.devices, &found, is_same, &mut draft);
    let roles = roles.map_err(|mistake| mistake.of(first))?;
    devices::assume_shared(&options.devices, None, &mut draft);
    // They are files, not disks.
    draft.volumes.clear();
    let role = |file: &str| -> Option<Role> { roles[names.binary_search(&file).ok()?] };
    let mut buckets = Buckets::new(options, false).map_err(wrong)?;
    for line in &lines {
        if let Some(role) = role(line.file) {
            buckets.add(Request {
                at: line.at,
                role,
                kind: line.kind,
                bytes: line.bytes,
                waited: Duration::ZERO,
            });
        }
    }
    buckets.finish(options, &mut draft).map_err(wrong)?;
    Ok(draft)
}

/// `shop.dat` is any path that ends in it.
fn is_same(asked: &str, found: &str) -> bool {
    let folder = found.strip_suffix(asked);
    folder.is_some_and(|folder| folder.is_empty() || folder.ends_with(['/', '\\']))
}

fn parse<'a>(source: &Source<'a>, draft: &mut Draft) -> Result<Vec<Line<'a>>, ImportError> {
    let mut numbered = (1..).zip(source.text.lines());
    let header = numbered.next().map_or("", |(_, line)| line);
    let version = version(header).filter(|version| matches!(version, 2 | 3));
    let Some(version) = version else {
        let message = format!(
            "`{}` is not the first line of a supported iolog (versions 2 and 3)",
            excerpt(header)
        );
        return Err(ImportError::line(source.file, 1, message));
    };
    let cut_off = match source.text.ends_with('\n') {
        true => None,
        false => Some(source.text.lines().count()),
    };
    let mut clock = Clock::default();
    let mut course = Course::default();
    let mut lines = Vec::new();
    for (number, text) in numbered.filter(|(_, text)| !text.trim().is_empty()) {
        let is_last = cut_off == Some(number);
        let parsed = match version {
            3 => text.split_once(' ').and_then(|(at, rest)| {
                let at = Duration::from_micros(at.parse().ok()?);
                Some((at, entry(rest)?))
            }),
            _ => entry(text).map(|entry| (clock.now, entry)),
        };
        let wrong = |message: String| ImportError::line(source.file, number, message);
        match parsed {
            _ if is_last => draft.assume("The last line is truncated and left out."),
            None => {
                let message = format!(
                    "`{}` is not a line of an iolog; record it again",
                    excerpt(text)
                );
                return Err(wrong(message));
            }
            Some((
                _,
                Entry {
                    file: _,
                    action: Action::Wait(ms),
                },
            )) => clock.wait(ms).map_err(wrong)?,
            Some((
                _,
                Entry {
                    file: _,
                    action: Action::Other,
                },
            )) => {}
            Some((
                at,
                Entry {
                    file,
                    action: Action::Request(kind, bytes),
                },
            )) => {
                course.pass(number, at).map_err(wrong)?;
                let line = Line {
                    at,
                    file,
                    kind,
                    bytes,
                };
                lines.push(line);
            }
        }
    }
    if version == 2 && clock.waits == 0 {
        let message = "it has no times (`wait`), only an order; record it with fio 3.31 or later (--write_iolog)";
        return Err(ImportError::file(source.file, message));
    }
    if version == 2 {
        draft.assume("`wait` is taken as milliseconds since the start, as fio 3.33 replays it.");
    }
    Ok(lines)
}

/// The time in a log of version 2.
#[derive(Default)]
struct Clock {
    now: Duration,
    waits: usize,
}

impl Clock {
    fn wait(&mut self, ms: u64) -> Result<(), String> {
        let next = Duration::from_millis(ms);
        if next < self.now {
            return Err(format!(
                "waits go back in time (`wait {ms}`), so that their reference is unclear; record it with fio 3.31 or later"
            ));
        }
        self.now = next;
        self.waits += 1;
        Ok(())
    }
}

struct Entry<'a> {
    file: &'a str,
    action: Action,
}

enum Action {
    Request(Kind, u64),
    /// Milliseconds.
    Wait(u64),
    /// Files are opened and closed, ranges discarded.
    Other,
}

/// Reads `file action` or `file action offset length`; names may hold blanks.
fn entry(text: &str) -> Option<Entry<'_>> {
    let text = text.trim_end();
    if let Some((file, "add" | "open" | "close")) = text.rsplit_once(' ') {
        return Some(Entry {
            file,
            action: Action::Other,
        });
    }
    if let Some((rest, number)) = text.rsplit_once(' ')
        && let Some((file, "wait")) = rest.rsplit_once(' ')
    {
        let action = Action::Wait(number.parse().ok()?);
        return Some(Entry { file, action });
    }
    let mut parts = text.rsplitn(4, ' ');
    let length: u64 = parts.next()?.parse().ok()?;
    let offset: u64 = parts.next()?.parse().ok()?;
    let action = match parts.next()? {
        "read" => Action::Request(Kind::Read, length),
        "write" => Action::Request(Kind::Write, length),
        // The offset is that of the request before it.
        "sync" | "datasync" => Action::Request(Kind::Flush, 0),
        "wait" => Action::Wait(offset),
        "trim" => Action::Other,
        _ => return None,
    };
    let file = parts.next()?;
    Some(Entry { file, action })
}
