//! fio's output, for `dbstow calibrate` and the raw engine.

use raw::check_output;

/// Parses the output of a run.
pub(crate) fn read(text: &str) -> Result<(), String> {
    check_output(text).map_err(|error| error.to_string())
}
