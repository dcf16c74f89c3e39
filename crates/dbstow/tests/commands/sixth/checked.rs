//! The product from outside, linted by one rule and laid out by one script.

use std::collections::BTreeSet;

use experiment::spec::Role;
use layout::{CaptureFile, LayoutError, LayoutProvider, LayoutRequest, Moves, Script, Style};
use rules::{Checked, Finding, Identity, Outcome, Rule, RuleInfo, Selection, Server, Severity};

/// What a server of it said about itself.
pub(crate) struct Capture {
    pub(crate) data: String,
    pub(crate) log: String,
}

static APART: Rule<Capture, ()> = Rule {
    id: "kv-log-beside-data",
    title: "The log is in the folder of the data",
    severity: Severity::Medium,
    why: "each put waits for the log, and shares its disk with pages",
    says: "The log has a folder of its own.",
    sources: &[],
    applies: (),
    judge: |capture| match capture.log == capture.data {
        true => {
            vec![Finding::new(Severity::Medium, "log and data share a folder").remedy("Move it.")]
        }
        false => vec![Outcome::fine(&capture.log)],
    },
};

impl Server for Capture {
    fn identity(&self) -> Identity {
        Identity {
            product: "kv",
            title: "KeyValue",
            ..Identity::default()
        }
    }
    fn rules(&self) -> Vec<RuleInfo> {
        vec![APART.info("KeyValue".to_owned())]
    }
    fn check(&self, selection: &Selection, _: &BTreeSet<String>) -> Vec<Checked> {
        let rules = [&APART].into_iter().filter(|rule| selection.has(rule.id));
        let judged = rules::judge(rules, self, |()| None).into_iter();
        let info = |rule: &Rule<Capture, ()>| rule.info("KeyValue".to_owned());
        judged.map(|judged| judged.checked(info)).collect()
    }
}

#[derive(Debug)]
pub(crate) struct Layout;

impl LayoutProvider for Layout {
    fn name(&self) -> &'static str {
        "kv"
    }
    fn product(&self) -> &'static str {
        "KeyValue"
    }
    fn roles(&self) -> &'static [Role] {
        &[Role::Data, Role::Log]
    }
    fn moves(&self) -> Moves {
        Moves {
            roles: self.roles(),
            what: None,
            arguments: &["--role", "data,log"],
            temp_files_max: 1,
            needs_server: false,
        }
    }
    fn scripts(
        &self,
        request: &LayoutRequest,
        _: Option<&CaptureFile>,
    ) -> Result<Vec<Script>, LayoutError> {
        let mut text = "#!/bin/sh\nset -eu\n".to_owned();
        for (role, file) in [(Role::Data, "kv.data"), (Role::Log, "kv.log")] {
            let folder = request.folder(&request.files(role)[0].volume, Style::Unix)?;
            let folder = shell_words::quote(folder.text());
            text.push_str(&format!("mv -- {file} {folder}\n"));
        }
        Ok(vec![Script {
            name: "1-move.sh".to_owned(),
            text,
        }])
    }
}
