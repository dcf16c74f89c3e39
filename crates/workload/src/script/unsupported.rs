//! Commands of pgbench's language that dbstow does not support.

use super::ScriptProblem;

const NO_RESULTS: &str = "results of statements do not become variables; \
     compute the value with `\\set`, or use a subquery";
const NO_SHELL: &str = "scripts start no other programs; compute the value with `\\set`";
const NO_PIPELINE: &str = "statements run one at a time; remove this line";

/// The pgbench commands that dbstow does not support, and what to do instead.
const UNSUPPORTED: [(&str, &str); 7] = [
    ("\\gset", NO_RESULTS),
    ("\\aset", NO_RESULTS),
    ("\\shell", NO_SHELL),
    ("\\setshell", NO_SHELL),
    ("\\startpipeline", NO_PIPELINE),
    ("\\syncpipeline", NO_PIPELINE),
    ("\\endpipeline", NO_PIPELINE),
];

/// The error for `command` if it is a pgbench command that dbstow does not support.
pub(super) fn unsupported(command: &str) -> Option<ScriptProblem> {
    let (_, remedy) = UNSUPPORTED.iter().find(|(known, _)| *known == command)?;
    Some(ScriptProblem::Unsupported {
        command: command.to_owned(),
        remedy,
    })
}
