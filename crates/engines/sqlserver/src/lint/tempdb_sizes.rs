//! tempdb: sizes and growth of its files, as of the next start and now.

use std::collections::BTreeSet;

use crate::capture::{Capture, File, FileInUse, FileKind, Growth, TEMPDB};

use super::files::growth_shown;
use super::locations::{place, places, tempdb_data, tempdb_missing};
use super::sources::{DBATOOLS_TEMPDB, FRK_SIZES, MANAGED_TEMPDB, RULESET, TEMPDB_PAGE};
use super::{Applies, Rule};
use crate::capture::Product;
use rules::shown::{bytes, count, percent, total};
use rules::{Finding, Location, Outcome, Severity};

/// Sizes that differ by less are considered equal: files are allocated in extents and rounded by their creators. The share is our
/// choice; none is published.
const ALIKE: f64 = 0.01;
/// From this difference on it matters more: First Responder Kit, issue 805 ("about 1 GB").
const APART_BYTES: i64 = 1 << 30;
/// Or from this factor on: the emptier file gets twice the writes.
const APART_FACTOR: i64 = 2;
/// Microsoft's ruleset calls files of at most this size not sized at all.
const INITIAL_MIN: i64 = 8 << 20;

const BOXED_AND_MANAGED: Applies = Applies {
    products: &[Product::Boxed, Product::ManagedInstance],
    ..Applies::BOXED
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tempdb-sizes-alike",
        title: "tempdb's data files will start with different sizes",
        severity: Severity::Medium,
        why: "medium, as in Microsoft's ruleset, where they differ by more than 1 GiB or twofold; low below that",
        says: "All data files have one size: writes go to the emptier file, so one large file takes most of them. \
               Up to 1 % of the largest is the same size (ours); beyond, 1 GiB parts low from medium.",
        sources: &[TEMPDB_PAGE, RULESET, DBATOOLS_TEMPDB, FRK_SIZES],
        applies: BOXED_AND_MANAGED,
        judge: sizes_alike,
    },
    Rule {
        id: "tempdb-skewed-in-use",
        title: "tempdb's data files have different sizes now",
        severity: Severity::Medium,
        why: "as tempdb-sizes-alike: it is the same cause, until the next start",
        says: "The data files in use have one size. They part when one grows alone, or when files are added to a server that runs.",
        sources: &[TEMPDB_PAGE, MANAGED_TEMPDB, FRK_SIZES],
        applies: BOXED_AND_MANAGED,
        judge: skewed_in_use,
    },
    Rule {
        id: "tempdb-grown",
        title: "tempdb is too small at every start",
        severity: Severity::Low,
        why: "low: it grows again after each start, which sessions wait for",
        says: "tempdb starts with the size that the usual work needs; growth is for surprises.",
        sources: &[TEMPDB_PAGE],
        applies: Applies::BOXED,
        judge: grown,
    },
    Rule {
        id: "tempdb-initial-size",
        title: "tempdb was never given a size",
        severity: Severity::Medium,
        why: "medium, as in Microsoft's ruleset",
        says: "The smallest data file is larger than 8 MiB, which is what setup leaves.",
        sources: &[RULESET, TEMPDB_PAGE],
        applies: Applies::BOXED,
        judge: initial_size,
    },
    Rule {
        id: "tempdb-growth-alike",
        title: "tempdb's data files grow by different steps",
        severity: Severity::Medium,
        why: "medium, as in Microsoft's ruleset: files that grow differently do not stay alike",
        says: "All data files of tempdb have the same growth.",
        sources: &[RULESET, MANAGED_TEMPDB],
        applies: BOXED_AND_MANAGED,
        judge: growth_alike,
    },
    Rule {
        id: "tempdb-growth-percent",
        title: "tempdb grows by per cent",
        severity: Severity::Low,
        why: "low: the steps become longer as it grows, and files that differ once differ more with every step",
        says: "Files of tempdb grow by a fixed amount.",
        sources: &[DBATOOLS_TEMPDB, RULESET],
        applies: BOXED_AND_MANAGED,
        judge: growth_percent,
    },
];

/// How far sizes are apart; `None`: they are alike.
fn apart(sizes: &[i64]) -> Option<Severity> {
    let (least, most) = (sizes.iter().min()?, sizes.iter().max()?);
    let difference = most - least;
    if difference as f64 <= *most as f64 * ALIKE {
        None
    } else if difference > APART_BYTES || *most >= least.saturating_mul(APART_FACTOR) {
        Some(Severity::Medium)
    } else {
        Some(Severity::Low)
    }
}

fn span(sizes: &[i64]) -> String {
    let (least, most) = (sizes.iter().min(), sizes.iter().max());
    format!(
        "{} to {}",
        bytes(least.copied().unwrap_or(0)),
        bytes(most.copied().unwrap_or(0))
    )
}

fn sizes_alike(capture: &Capture) -> Vec<Outcome> {
    let files = tempdb_data(capture);
    let sizes: Vec<i64> = files.iter().map(|file| file.size_bytes).collect();
    let Some(largest) = sizes.iter().max() else {
        return vec![tempdb_missing(capture)];
    };
    let Some(severity) = apart(&sizes) else {
        let value = format!("{} of {}", count(files.len(), "data file"), bytes(*largest));
        return vec![Outcome::fine(value)];
    };
    let message = format!("tempdb's data files will start with {}", span(&sizes));
    let mut finding = Finding::new(severity, message).at(places(capture, files.iter().copied()));
    for file in &files {
        finding = finding.with(&file.name, bytes(file.size_bytes));
    }
    vec![finding.remedy(format!(
        "give all of them one size, such as {} (ALTER DATABASE tempdb MODIFY FILE)",
        bytes(*largest)
    ))]
}

fn skewed_in_use(capture: &Capture) -> Vec<Outcome> {
    let used: Vec<&FileInUse> = in_use(capture).collect();
    let sizes: Vec<i64> = used.iter().map(|file| file.size_bytes).collect();
    let Some(largest) = sizes.iter().max() else {
        return vec![in_use_missing()];
    };
    let Some(severity) = apart(&sizes) else {
        return vec![Outcome::fine(format!(
            "{} of {}",
            count(used.len(), "data file"),
            bytes(*largest)
        ))];
    };
    let message = format!("tempdb's data files now have {}", span(&sizes));
    let mut finding = Finding::new(severity, message).at(used.iter().map(|file| Location {
        database: Some(capture.database(TEMPDB)),
        file: Some(file.name.clone()),
        path: Some(file.path.clone()),
        volume: None,
    }));
    for file in &used {
        finding = finding.with(&file.name, bytes(file.size_bytes));
    }
    vec![finding.remedy("give all of them the size of the largest; a restart makes them even as well, if they start alike")]
}

fn grown(capture: &Capture) -> Vec<Outcome> {
    let files = tempdb_data(capture);
    if files.is_empty() {
        return vec![tempdb_missing(capture)];
    }
    if in_use(capture).next().is_none() {
        return vec![in_use_missing()];
    }
    let started = total(files.iter().map(|file| file.size_bytes));
    let now = total(in_use(capture).map(|file| file.size_bytes));
    if now as f64 <= started as f64 * (1.0 + ALIKE) {
        let value = format!("{} since the last start, no growth", bytes(now));
        return vec![Outcome::fine(value)];
    }
    let message = format!(
        "tempdb has grown from {} to {} since the last start",
        bytes(started),
        bytes(now)
    );
    vec![
        Finding::new(Severity::Low, message)
            .with("data files at the next start", bytes(started))
            .with("data files now", bytes(now))
            .with("growth", percent(now as f64 / started.max(1) as f64 - 1.0))
            .at(places(capture, files))
            .remedy(format!(
                "if that was usual work, let it start with {} in all; if it was one query, look for that query instead",
                bytes(now)
            )),
    ]
}

fn initial_size(capture: &Capture) -> Vec<Outcome> {
    let files = tempdb_data(capture);
    let Some(smallest) = files.iter().min_by_key(|file| file.size_bytes) else {
        return vec![tempdb_missing(capture)];
    };
    let size = bytes(smallest.size_bytes);
    if smallest.size_bytes > INITIAL_MIN {
        return vec![Outcome::fine(format!("the smallest data file has {size}"))];
    }
    let message = format!("{} starts with {size}, as setup leaves it", smallest.name);
    vec![
        Finding::new(Severity::Medium, message)
            .with(&smallest.name, size)
            .at([place(capture, smallest)])
            .remedy("give all data files the size that a usual day needs; tempdb_space of the capture says what is in use now"),
    ]
}

fn growth_alike(capture: &Capture) -> Vec<Outcome> {
    let files = tempdb_data(capture);
    if files.is_empty() {
        return vec![tempdb_missing(capture)];
    }
    let kinds: BTreeSet<String> = files.iter().map(|file| growth_shown(file.growth)).collect();
    let kinds: Vec<String> = kinds.into_iter().collect();
    if let [growth] = &*kinds {
        return vec![Outcome::fine(format!("all grow {growth}"))];
    }
    let message = format!(
        "some of tempdb's data files grow {}",
        kinds.join(", others ")
    );
    let mut finding =
        Finding::new(Severity::Medium, message).at(places(capture, files.iter().copied()));
    for file in &files {
        finding = finding.with(&file.name, growth_shown(file.growth));
    }
    vec![
        finding.remedy(
            "give all of them one growth (ALTER DATABASE tempdb MODIFY FILE .. FILEGROWTH)",
        ),
    ]
}

fn growth_percent(capture: &Capture) -> Vec<Outcome> {
    let by_percent: Vec<&File> = capture
        .tempdb()
        .filter(|file| matches!(file.growth, Growth::Percent(_)))
        .collect();
    if capture.tempdb().next().is_none() {
        return vec![tempdb_missing(capture)];
    }
    if by_percent.is_empty() {
        return vec![Outcome::fine("no file of tempdb grows by per cent")];
    }
    let message = match by_percent.len() {
        1 => "1 file of tempdb grows by per cent".to_owned(),
        more => format!("{more} files of tempdb grow by per cent"),
    };
    let mut finding =
        Finding::new(Severity::Low, message).at(places(capture, by_percent.iter().copied()));
    for file in &by_percent {
        finding = finding.with(&file.name, growth_shown(file.growth));
    }
    vec![finding.remedy("give it a fixed amount, such as 64 MB or 512 MB")]
}

/// Files of tempdb in use that hold rows.
fn in_use(capture: &Capture) -> impl Iterator<Item = &FileInUse> {
    let used = capture.tempdb_in_use.iter();
    used.filter(|file| file.kind == FileKind::Rows)
}

fn in_use_missing() -> Outcome {
    Outcome::cannot_tell(
        "the files of tempdb in use",
        "capture again as a login that may read tempdb.sys.database_files",
    )
}
