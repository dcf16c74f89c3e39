//! The scripts that change something, with the checks they run first, and the one that verifies the result.

use crate::tsql::tempdb::TempdbPlan;
use crate::tsql::{Alter, FileChange, FilePath, FileSpec, Name, Statement};
use askama::Template;

use super::filters;
use super::placement::Placement;
use layout::Script;

/// A file of tempdb, and the paths at which the scripts expect it.
type KnownFile<'a> = (&'a Name, Vec<&'a FilePath>);

#[derive(Template)]
#[template(path = "layout/apply.sql", escape = "none")]
struct Apply<'a> {
    plan: &'a TempdbPlan,
    known: &'a [KnownFile<'a>],
}

#[derive(Template)]
#[template(path = "layout/size.sql", escape = "none")]
struct Size<'a> {
    plan: &'a TempdbPlan,
}

#[derive(Template)]
#[template(path = "layout/verify.sql", escape = "none")]
struct Verify<'a> {
    asked: Vec<&'a FileSpec>,
}

#[derive(Template)]
#[template(path = "layout/undo.sql", escape = "none")]
struct Undo<'a> {
    plan: &'a TempdbPlan,
    known: &'a [KnownFile<'a>],
}

#[derive(Template)]
#[template(path = "layout/undo-after-restart.sql", escape = "none")]
struct UndoAfterRestart<'a> {
    plan: &'a TempdbPlan,
}

#[derive(Template)]
#[template(path = "layout/rescue.sql", escape = "none")]
struct Rescue<'a> {
    plan: &'a TempdbPlan,
}

/// All of them.
pub(super) fn scripts(placement: &Placement<'_>) -> [Script; 6] {
    let plan = &placement.plan;
    let known = &known(placement);
    let asked = placement.to().collect();
    [
        Script::new("2-apply.sql", &Apply { plan, known }),
        Script::new("4-size.sql", &Size { plan }),
        Script::new("5-verify.sql", &Verify { asked }),
        Script::new("undo.sql", &Undo { plan, known }),
        Script::new("undo-after-restart.sql", &UndoAfterRestart { plan }),
        Script::new("rescue.sql", &Rescue { plan }),
    ]
}

/// Every file that exists now, after the move, or after a rescue.
fn known<'a>(placement: &'a Placement<'_>) -> Vec<KnownFile<'a>> {
    let mut files: Vec<KnownFile<'a>> = Vec::new();
    let from = placement
        .moved
        .from
        .iter()
        .map(|file| (&file.name, file.path.as_ref()));
    let to = placement.to().map(|file| (&file.name, file.path.as_ref()));
    let rescued = placement
        .plan
        .rescue
        .iter()
        .filter_map(|statement| match statement {
            Statement::Alter {
                alter:
                    Alter::Modify {
                        file,
                        change: FileChange::Path(path),
                    },
                ..
            } => Some((file, Some(path))),
            _ => None,
        });
    for (name, path) in from.chain(to).chain(rescued) {
        let at = files.iter().position(|(other, _)| *other == name);
        let at = at.unwrap_or_else(|| {
            files.push((name, Vec::new()));
            files.len() - 1
        });
        let paths = &mut files[at].1;
        paths.extend(path.filter(|path| !paths.contains(path)));
    }
    files
}
