//! A state of an earlier drill, checked again. The drill's folder is untrusted:
//!
//! ```text
//! recording, settings    names, numbers and references checked; settings from a list
//! images                 where they have to be, no links, `e2fsck -n`
//! mounted, server        nosuid, nodev, noexec; as a user without files of its own
//! ```

use analysis::report::drill::document::{Drill, Finding, Placement};
use engine::Engines;
use engine::drilled::Verdict;
use files::Folder;
use serde::Serialize;

use super::{DrillError, DrillSpec, DrilledEngine, Recorded, Tools};

/// A finding of an earlier drill, and what it needs to be checked again.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    /// What was drilled.
    pub engine: DrilledEngine,
    placement: &'a Placement,
    finding: &'a Finding,
    spec: DrillSpec,
}

/// Why a document has nothing to check again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It has no finding of this name, but these.
    #[error("{}", listed(.0))]
    NoFinding(Vec<String>),
    /// Its engine is none that is drilled.
    #[error("the document is damaged: there is no drill of {0}")]
    NoEngine(String),
    /// What disks do with acknowledged writes is unknown.
    #[error("the document is damaged: there is no write cache {0}")]
    NoWriteCache(String),
}

fn listed(known: &[String]) -> String {
    match known {
        [] => "it has none".to_owned(),
        known => format!("it has {}", known.join(", ")),
    }
}

/// The outcome, beside the drill's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// The finding.
    pub name: String,
    /// Its placement.
    pub placement: String,
    /// The name of the verdict.
    pub verdict: &'static str,
    /// The same as text.
    pub what: String,
    /// Whether it is that of the drill.
    pub as_found: bool,
    /// Hash of the volumes' content: see [`Recorded::digest`].
    pub digest: String,
    /// What was found in the drill, as text.
    #[serde(skip)]
    pub found: String,
}

impl<'a> Replay<'a> {
    /// The finding `name` of a drill by one of a program's engines.
    ///
    /// # Errors
    /// When there is none, or the document does not fit this program.
    pub fn of(document: &'a Drill, name: &str, engines: Engines) -> Result<Self, ReplayError> {
        let known = || {
            let placements = document.placements.iter();
            let findings = placements.flat_map(|placement| &placement.findings);
            findings.map(|finding| finding.name.clone()).collect()
        };
        let found = document.finding(name);
        let (placement, finding) = found.ok_or_else(|| ReplayError::NoFinding(known()))?;
        let asked = &document.asked;
        let engine = DrilledEngine::named(engines, &asked.engine);
        let spec = DrillSpec::of_state(asked);
        Ok(Replay {
            engine: engine.ok_or_else(|| ReplayError::NoEngine(asked.engine.clone()))?,
            placement,
            finding,
            spec: spec.ok_or_else(|| ReplayError::NoWriteCache(asked.write_cache.clone()))?,
        })
    }

    /// Starts the server on disks with the same content as in the drill, whose folder this is.
    ///
    /// # Errors
    /// When the folder has invalid or other content, or the server does not run even without a power cut.
    pub fn run(&self, tools: &Tools, folder: &Folder) -> Result<Replayed, DrillError> {
        folder.check_own()?;
        let recorded = folder.inner(self.placement.folder.as_ref())?;
        let recorded = Recorded::open(tools, &recorded)?;
        let (finding, spec) = (self.finding, &self.spec);
        let cut = recorded.state(&finding.cut, spec)?;
        let digest = recorded.digest(&cut, spec)?;
        if digest != finding.digest {
            return Err(DrillError::Changed {
                finding: finding.name.clone(),
                digest,
                expected: finding.digest.clone(),
            });
        }
        // A problem that keeps this machine's server from starting at all is not a finding.
        recorded.check(spec)?;
        let (verdict, _) = recorded.look(&cut, spec)?;
        Ok(self.replayed(&verdict, digest))
    }

    fn replayed(&self, verdict: &Verdict, digest: String) -> Replayed {
        Replayed {
            name: self.finding.name.clone(),
            placement: self.placement.name.clone(),
            verdict: verdict.name(),
            what: verdict.to_string(),
            as_found: verdict.name() == self.finding.verdict,
            digest,
            found: self.finding.what.clone(),
        }
    }
}

impl Replayed {
    /// The outcome beside the drill's, in two lines.
    pub fn text(&self) -> String {
        let same = format!("on disks that hold the same (SHA-256 {})", self.digest);
        let found = &self.found;
        let beside = match (self.as_found, self.what == *found) {
            (true, true) => format!("the same as in the drill, {same}"),
            (true, false) => format!("the same verdict as in the drill, {same}; there: {found}"),
            (false, _) => format!("in the drill: {found}"),
        };
        format!(
            "{}, {}: {}\n{beside}\n",
            self.name, self.placement, self.what
        )
    }
}
