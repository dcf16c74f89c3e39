//! A drill that runs, and what it found.

use std::path::Path;

use analysis::report::drill::document::Drill;

use super::document::document;
use super::request::ResolvedDrill;
use super::{DrillError, Step, Tools, drill};

impl ResolvedDrill {
    /// Drills the placements, each recorded in its own folder within `folder`, and returns what was found; results before an
    /// error are kept.
    ///
    /// # Errors
    /// When a server did not run, something could not be written, or the user pressed Ctrl-C, before any result.
    pub fn run(
        &self,
        tools: &Tools,
        folder: &Path,
        observe: &(dyn Fn(Step<'_>) + Sync),
    ) -> Result<DrillResult, DrillError> {
        let drilled = drill(tools, &self.placements, &self.spec, folder, observe)?;
        Ok(DrillResult {
            document: document(self, &drilled),
            failed: drilled.failed,
        })
    }
}

/// What a drill found.
#[derive(Debug)]
pub struct DrillResult {
    /// The document; not complete if an error or the user ended the drill early.
    pub document: Drill,
    /// The error that ended it early.
    pub failed: Option<DrillError>,
}
