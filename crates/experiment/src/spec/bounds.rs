//! Upper bounds for experiments, checked before any memory is allocated.
//!
//! Each is well beyond what machines of the catalogue have, and small enough that no count or time of the model overflows. What
//! an experiment within these bounds requires of this machine is checked separately, by `lab::trial::memory_needed`.

use model::{Bytes, Duration};

use super::error::{Fault, listed};

/// Maximum number of disks of a volume: far more than any Storage Spaces pool or LVM stripe has.
pub(crate) const VOLUME_DISKS_MAX: u32 = 1024;

/// Maximum number of disks in all volumes of an arm; see [`model::storage::DISKS_MAX`].
pub(crate) const DISKS_MAX: usize = model::storage::DISKS_MAX;

/// Maximum number of virtual processors.
pub(crate) use model::cores::CORES_MAX;

/// Maximum number of sessions: each has a stack and a connection.
pub(crate) const SESSIONS_MAX: u32 = 10_000;

/// Maximum number of sessions derived from a profile: the limit of `profile`. They have no stacks.
pub(crate) const RECORDED_SESSIONS_MAX: u32 = 65_536;

/// Maximum number of trials of a plan, which stores each of them.
pub(crate) const TRIALS_MAX: usize = 100_000;

/// Maximum length of a name.
pub(crate) const NAME_MAX: usize = 64;

/// Largest file: 2^32 extents of 64 KiB, which is how the store numbers them.
pub(crate) const FILE_MAX: Bytes = Bytes::gib(256 << 10);

/// Maximum total size of files on one volume, so no offset overflows, even with growing files after the last one.
pub(crate) const VOLUME_MAX: Bytes = Bytes::gib(1 << 30);

/// Largest buffer pool of pages of 8 KiB: the store numbers them in 32 bits. Smaller pages are checked with their size.
pub(crate) const MEMORY_MAX: Bytes = Bytes::gib(31 << 10);

/// Largest unit of I/O: a gathered write, a read-ahead, an interleave.
pub(crate) const GATHER_MAX: Bytes = Bytes::gib(1);

/// Maximum number of pages in a doublewrite batch; servers allow up to 512.
pub(crate) const DOUBLEWRITE_MAX: u32 = 4096;

/// Largest memory of one sort; SQLite counts it in KiB in 32 bits.
pub(crate) const SORT_MAX: Bytes = Bytes::gib(1 << 10);

/// Maximum size of row versions for a changed row; servers' rows have up to about a page of 8 KiB.
pub(crate) const VERSION_MAX: Bytes = Bytes::mib(1);

/// Maximum log bytes for a changed row, including all its indexes.
pub(crate) const LOG_BYTES_PER_ROW_MAX: u64 = 1 << 20;

/// Lowest rate of operations per second that is not zero: one in 31 years.
pub(crate) const RATE_MIN: f64 = 1e-9;

/// Upper bound for rates of operations per second.
pub(crate) const RATE_MAX: f64 = 1e9;

/// Longest run, in virtual or real time: 31 years, as for any span of time.
pub(crate) const RUN_MAX: Duration = Duration::from_secs(1_000_000_000);

/// Highest rate of a limit: 2^50 per second is a petabyte per second.
pub(crate) const LIMIT_MAX: u64 = 1 << 50;

/// Suffix of the name of the baseline's twin.
pub(crate) const TWIN_SUFFIX: &str = " (twin)";

/// Suffix of an arm's variation with a warm host cache at the start, if it is cold by default.
pub(crate) const WARM_SUFFIX: &str = " (warm host cache)";

/// Suffix of the opposite variation.
pub(crate) const COLD_SUFFIX: &str = " (cold host cache)";

/// Rejects a number above `most`.
pub(crate) fn at_most<N: Into<u64>>(
    path: &[&str],
    value: Option<N>,
    most: u64,
) -> Result<(), Fault> {
    match value.map(Into::into) {
        Some(value) if value > most => {
            let key = path.join(".");
            let message = format!("{key} is {value}, and at most {most} can be modelled; lower it");
            Err(Fault::at(path, message))
        }
        Some(_) | None => Ok(()),
    }
}

/// Rejects a size above `most`.
pub(crate) fn size_at_most(path: &[&str], value: Option<Bytes>, most: Bytes) -> Result<(), Fault> {
    match value {
        Some(value) if value > most => {
            let key = path.join(".");
            let message = format!("{key} is {value}, and at most {most} can be modelled; lower it");
            Err(Fault::at(path, message))
        }
        Some(_) | None => Ok(()),
    }
}

/// Rejects a span of time that is longer than any run.
pub(crate) fn span_at_most(path: &[&str], value: Option<Duration>) -> Result<(), Fault> {
    match value {
        Some(value) if value > RUN_MAX => {
            let key = path.join(".");
            let message =
                format!("{key} is {value}, and at most {RUN_MAX} can be modelled; lower it");
            Err(Fault::at(path, message))
        }
        Some(_) | None => Ok(()),
    }
}

/// Rejects a number or size of zero.
pub(crate) fn not_zero<N: Into<u64>>(path: &[&str], value: Option<N>) -> Result<(), Fault> {
    match value.map(Into::into) {
        Some(0) => {
            let key = path.join(".");
            Err(Fault::at(
                path,
                format!("{key} is zero; give at least 1, or leave it out"),
            ))
        }
        Some(_) | None => Ok(()),
    }
}

/// Rejects a name that is not valid in a dotted key or as a file name.
pub(crate) fn named(path: &[&str], name: &str) -> Result<(), Fault> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(allowed) {
        return Ok(());
    }
    let message = format!(
        "{} is not a name; use 1 to {NAME_MAX} of the letters a-z, digits, \"-\" and \"_\"",
        listed([name])
    );
    Err(Fault::at(path, message))
}

/// Rejects invalid names of an experiment, a placement or a volume in a document written by another run of this program.
///
/// # Errors
/// The rule for names.
pub fn check_name(name: &str) -> Result<(), String> {
    named(&[], name).map_err(|fault| fault.message)
}

/// Rejects an invalid name of an arm, and one whose records would collide with those of another arm's twin or variation. This
/// applies in every mode, with and without `--aa`, so that the same arms can be compared in all of them.
pub(crate) fn arm_named(path: &[&str], name: &str) -> Result<(), Fault> {
    named(path, name)?;
    // Some file systems ignore case.
    let file = name.to_ascii_lowercase();
    for suffix in [TWIN_SUFFIX, WARM_SUFFIX, COLD_SUFFIX] {
        let Some(other @ 1..) = file.strip_suffix(&in_file_name(suffix)).map(str::len) else {
            continue;
        };
        let other = &name[..other];
        let message = format!(
            "the records of arm \"{name}\" would have the files of \"{other}{suffix}\", which dbstow makes of an arm \
             \"{other}\"; rename \"{name}\""
        );
        return Err(Fault::at(path, message));
    }
    Ok(())
}

/// A name as used in file names.
pub(crate) fn in_file_name(name: &str) -> String {
    let fit = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.chars().map(|c| if fit(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_whose_records_would_have_the_files_of_another_is_refused_with_both() {
        for (name, other) in [
            ("p30__twin_", "p30 (twin)"),
            ("p30__warm_host_cache_", "p30 (warm host cache)"),
            ("p30__cold_host_cache_", "p30 (cold host cache)"),
            ("P30__Twin_", "P30 (twin)"),
        ] {
            let fault = arm_named(&["arm", name], name).expect_err(name);
            for part in [name, other, "rename"] {
                assert!(fault.message.contains(part), "{name}: {}", fault.message);
            }
        }
        for name in [
            "p30",
            "twin",
            "p30_twin_",
            "p30__twin",
            "p30-warm_host_cache_",
        ] {
            assert_eq!(arm_named(&["arm", name], name), Ok(()), "{name}");
        }
    }
}
