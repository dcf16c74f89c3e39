//! The files: a README, the commands, and those that roll them back.

use askama::Template;
use catalogue::{Change, Shell};

use super::request::ServiceRequest;
use super::steps::way;
use super::way::Way;
use crate::error::LayoutError;
use crate::quote as filters;
use crate::script::{README, Script};

#[derive(Template)]
#[template(path = "service/readme.md", escape = "none")]
struct Readme<'a> {
    request: &'a ServiceRequest<'a>,
    change: &'a Change,
    apply: &'a Way,
    apply_file: &'static str,
    /// The commands that roll it back, with their file; `None` where today's server is not known.
    back: Option<(&'a Way, &'static str)>,
    runs: &'static str,
}

#[derive(Template)]
#[template(path = "service/commands", escape = "none")]
struct Commands<'a> {
    request: &'a ServiceRequest<'a>,
    what: &'static str,
    header: &'static str,
    fails: &'static str,
    way: &'a Way,
}

/// All files for what is requested.
///
/// # Errors
/// When the service does not change like that, or a name is missing.
pub fn scripts(request: &ServiceRequest<'_>) -> Result<Vec<Script>, LayoutError> {
    request.check()?;
    let today = request.today.server();
    let apply = way(today, &request.then, &request.names)?;
    if apply.steps.is_empty() && apply.left.is_empty() {
        return Err(LayoutError::Impossible(format!(
            "{} is what the server has today: there is nothing to change; name another arm",
            request.title
        )));
    }
    let back = today.map(|today| way(Some(&request.then), today, &request.names));
    let back = back.transpose()?;
    let Some(change) = &request.then.service.change else {
        unreachable!("without it there is no way");
    };
    let (names, header, fails, runs) = match change.shell {
        Shell::Sh => (
            ["1-apply.sh", "2-rollback.sh"],
            "#!/bin/sh",
            "set -eu",
            "sh FILE",
        ),
        Shell::Powershell => (
            ["1-apply.ps1", "2-rollback.ps1"],
            "#Requires -Modules Az.Sql",
            "$ErrorActionPreference = 'Stop'",
            "pwsh FILE",
        ),
    };
    let commands = |what, way| Commands {
        request,
        what,
        header,
        fails,
        way,
    };
    let readme = Readme {
        request,
        change,
        apply: &apply,
        apply_file: names[0],
        back: back.as_ref().map(|back| (back, names[1])),
        runs,
    };
    let mut scripts = vec![Script::new(README, &readme)];
    let is_run = |way: &&Way| !way.commands.is_empty();
    if let Some(way) = Some(&apply).filter(is_run) {
        scripts.push(Script::new(names[0], &commands("Changes the server", way)));
    }
    if let Some(way) = back.as_ref().filter(is_run) {
        scripts.push(Script::new(
            names[1],
            &commands("Rolls the server back", way),
        ));
    }
    Ok(scripts)
}
