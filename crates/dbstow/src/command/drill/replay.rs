//! `dbstow drill --replay`: checks a state of an earlier drill again, from an untrusted folder.
//!
//! ```text
//! folder ──► document, finding      checked, regular files beneath a handle of the folder
//!        ──► --trust-images?        not without: what comes next cannot be made safe
//!        ──► lab::drill::Replay     recording, images, server
//! ```

use std::path::Path;

use anyhow::{Result, bail};
use drill::{DrilledEngine, Origin, Replay, ReplayError};
use files::Folder;

use super::args::Args;
use super::close::close;
use crate::command::listing::ListFormat;
use crate::command::{UsageError, drilled};
use crate::engines::ENGINES;

/// Rechecks a state of an earlier drill.
///
/// # Errors
/// When the folder is not a drill's, is not trusted, has invalid content, or the verdict differs from the drill's.
pub(super) fn run(args: &Args, name: &str, folder: &Path) -> Result<()> {
    let document = drilled::read(folder, &format!("--replay {name}"))?;
    let mistake = |why: &str| UsageError(format!("--replay {name}: {why}"));
    let replay = Replay::of(&document, name, ENGINES).map_err(|error| match error {
        ReplayError::NoFinding(_) => mistake(&format!(
            "there is no such finding in {}; {error}",
            folder.display()
        )),
        ReplayError::NoEngine(_) | ReplayError::NoWriteCache(_) => mistake(&error.to_string()),
    })?;
    if !args.trust_images {
        return Err(mistake(&untrusted(folder, replay.engine)).into());
    }
    let tools = args.tools(replay.engine, Origin::Folder)?;
    let replayed = replay.run(&tools, &Folder::open(folder)?);
    close(&tools);
    let replayed = replayed?;
    args.format.print(&match args.format {
        ListFormat::Text => replayed.text(),
        ListFormat::Json => format!("{:#}\n", serde_json::to_value(&replayed)?),
    })?;
    match replayed.as_found {
        true => Ok(()),
        false => bail!("the state had another verdict than in the drill"),
    }
}

/// What a replay would trust, and the option that allows it.
fn untrusted(folder: &Path, engine: DrilledEngine) -> String {
    let executes = engine.drill.executes();
    format!(
        "any user may have made {}, and a replay trusts it: the kernel mounts the file systems in it, and {executes}; if you made \
         it, or trust who did, add --trust-images",
        folder.display()
    )
}
