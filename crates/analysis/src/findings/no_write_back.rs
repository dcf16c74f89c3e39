//! Emulated runs whose engine bypassed the write-back cache that it counts on.

use super::trials::Trials;
use super::warnings::warning;
use super::{Findings, Warning};
use experiment::record::Note;

/// Warns of what such a run cannot show.
pub(super) fn warnings(trials: &Trials, findings: &Findings) -> Option<Warning> {
    let noted = is_noted(trials);
    let engine = findings
        .engine
        .as_ref()
        .map_or("the engine", |engine| &engine.name);
    noted.then(|| {
        warning(
            "no-write-back",
            format!(
                "{engine} ran on modelled disks in file mode, which have no write-back: each of its writes reached the \
                 disk at once, where a filesystem's cache would have gathered them. A placement with slow writes looks \
                 worse than it is, and results of block mode cannot be compared with these. Run as root (block mode, \
                 --front block)."
            ),
        )
    })
}

/// Whether a trial noted it.
pub(super) fn is_noted(trials: &Trials) -> bool {
    let mut notes = trials.all_finished().flat_map(|record| &record.notes);
    notes.any(|note| matches!(note, Note::NoWriteBack(_)))
}

#[cfg(test)]
mod tests {
    use super::super::make;
    use experiment::examples::{emulated, in_mode};
    use experiment::record::{EngineRecord, NOT_LIMITED, Note, PAGE_CACHE};

    #[test]
    fn it_is_reported_instead_of_a_page_cache_that_was_not_there() {
        let (question, mut records) = in_mode("emulate", emulated);
        let ids = |records: &[_]| -> Vec<String> {
            let warnings = make(&question, records).warnings.into_iter();
            warnings.map(|warning| warning.id).collect()
        };
        for record in &mut records {
            let settings = [(PAGE_CACHE.to_owned(), format!("{NOT_LIMITED} (not root)"))];
            record.engine = Some(EngineRecord {
                settings: settings.into(),
                ..EngineRecord::default()
            });
        }
        assert!(ids(&records).contains(&"page-cache".to_owned()));

        for record in &mut records {
            record.notes.push(Note::NoWriteBack("file tree".to_owned()));
        }

        let ids = ids(&records);
        assert!(ids.contains(&"no-write-back".to_owned()), "{ids:?}");
        assert!(!ids.contains(&"page-cache".to_owned()), "{ids:?}");
    }
}
