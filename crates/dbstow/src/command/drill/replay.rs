//! `dbstow drill --replay`: replays a state of an earlier drill, from an untrusted folder.
//!
//! ```text
//! folder ──► document, finding      checked, regular files beneath a handle of the folder
//!        ──► --trust-images?        not without: what comes next cannot be made safe
//!        ──► recording, settings    names, numbers and references checked; settings from a list
//!        ──► images                 where they have to be, no links, `e2fsck -n`
//!        ──► mounted, server        nosuid, nodev, noexec; as a user without files of its own
//! ```

use std::path::Path;

use analysis::report::drill::document::{Drill, Finding, Placement};
use anyhow::{Result, bail};
use clap::ValueEnum as _;
use drill::{Atomic, DrillSpec, Origin, Recorded, Verdict};
use files::Folder;
use model::{Bytes, Duration};

use super::args::WriteCache;
use super::document::verdict_name;
use super::{Args, Engine, close};
use crate::command::listing::ListFormat;
use crate::command::{UsageError, drilled};

/// Rechecks a state of an earlier drill.
///
/// # Errors
/// When the folder is not a drill's, is not trusted, has invalid content, or the verdict differs from the drill's.
pub(super) fn run(args: &Args, name: &str, folder: &Path) -> Result<()> {
    let document = drilled::read(folder, &format!("--replay {name}"))?;
    let (placement, finding) = found(&document, name, folder)?;
    let damaged = |why: String| mistake(name, &format!("the document is damaged: {why}"));
    let asked = &document.asked;
    let engine = Engine::named(&asked.engine)
        .ok_or_else(|| damaged(format!("there is no drill of {}", asked.engine)))?;
    let write_cache = WriteCache::from_str(&asked.write_cache, false).map_err(damaged)?;
    if !args.trust_images {
        return Err(mistake(name, &untrusted(folder, engine)).into());
    }
    let spec = DrillSpec {
        cache: write_cache.rule(Duration::from_secs_f64(asked.write_back_s)),
        atomic: asked
            .atomic_bytes
            .map_or(Atomic::OfDisk, |unit| Atomic::Bytes(Bytes(unit))),
        ..args.spec()
    };
    let tools = args.tools(engine, Origin::Folder)?;
    let own = Folder::open(folder)?;
    own.check_own()?;
    let recorded = Recorded::open(&tools, &own.inner(placement.folder.as_ref())?)?;
    let looked = looked(recorded, finding, &spec);
    close(&tools);
    let verdict = looked?;
    tell(args.format, placement, finding, &verdict)?;
    match verdict_name(&verdict) == finding.verdict {
        true => Ok(()),
        false => bail!("the state had another verdict than in the drill"),
    }
}

fn mistake(name: &str, why: &str) -> UsageError {
    UsageError(format!("--replay {name}: {why}"))
}

/// The finding of this name, and its placement.
fn found<'a>(
    document: &'a Drill,
    name: &str,
    folder: &Path,
) -> Result<(&'a Placement, &'a Finding), UsageError> {
    document.finding(name).ok_or_else(|| {
        let known = document
            .placements
            .iter()
            .flat_map(|placement| &placement.findings);
        let known: Vec<&str> = known.map(|finding| finding.name.as_str()).collect();
        let known = match known.is_empty() {
            true => "it has none".to_owned(),
            false => format!("it has {}", known.join(", ")),
        };
        let folder = folder.display();
        mistake(
            name,
            &format!("there is no such finding in {folder}; {known}"),
        )
    })
}

/// The server's outcome in the finding's state, on disks with the same content as in the drill.
fn looked(recorded: Recorded, finding: &Finding, spec: &DrillSpec) -> Result<Verdict> {
    let cut = recorded.state(&finding.cut, spec)?;
    let digest = recorded.digest(&cut, spec)?;
    if digest != finding.digest {
        bail!(
            "{}: the disks' contents differ from the drill's (SHA-256 {digest}, expected {}): the folder was changed",
            finding.name,
            finding.digest
        );
    }
    // A problem that keeps this machine's server from starting at all is not a finding.
    recorded.check(spec)?;
    Ok(recorded.look(&cut, spec)?.0)
}

/// Prints the outcome beside the drill's.
fn tell(
    format: ListFormat,
    placement: &Placement,
    finding: &Finding,
    verdict: &Verdict,
) -> Result<()> {
    let is_same = verdict_name(verdict) == finding.verdict;
    let digest = &finding.digest;
    let text = format!(
        "{}, {}: {verdict}\n{}\n",
        finding.name,
        placement.name,
        match (is_same, verdict.to_string() == finding.what) {
            (true, true) =>
                format!("the same as in the drill, on disks that hold the same (SHA-256 {digest})"),
            (true, false) => format!(
                "the same verdict as in the drill, on disks that hold the same (SHA-256 {digest}); there: {}",
                finding.what
            ),
            (false, _) => format!("in the drill: {}", finding.what),
        }
    );
    let printed = match format {
        ListFormat::Text => text,
        ListFormat::Json => {
            let again = serde_json::json!({
                "name": finding.name,
                "placement": placement.name,
                "verdict": verdict_name(verdict),
                "what": verdict.to_string(),
                "as_found": is_same,
                "digest": digest,
            });
            format!("{again:#}\n")
        }
    };
    format.print(&printed)?;
    Ok(())
}

/// What a replay would trust, and the option that allows it.
fn untrusted(folder: &Path, engine: Engine) -> String {
    let executes = engine.drill.executes();
    format!(
        "anybody may have made {}, and a replay trusts it: the kernel mounts the file systems in it, and {executes}; if you made \
         it, or trust who did, add --trust-images",
        folder.display()
    )
}
