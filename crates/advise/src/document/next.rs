//! What to run next.

use analysis::report::advice::document::{self, Next};
use catalogue::{NAMED, Service};
use experiment::shell;

use super::DocumentBuilder;
use crate::finalists::{BEST_VALUE, CHEAPEST, volume_name};
use crate::request::UNKNOWN;

impl DocumentBuilder<'_> {
    /// Commands, each with its purpose.
    pub(super) fn next(
        &self,
        today: &document::Layout,
        cheapest: Option<&document::Layout>,
        best_value: Option<&document::Layout>,
    ) -> Vec<Next> {
        let file = self.names.finalists.as_str();
        let next = |what: &str, words: Vec<String>| Next {
            what: what.to_owned(),
            command: shell::line(["dbstow".to_owned()].into_iter().chain(words)),
            arm: None,
        };
        let catalogues = || {
            let files = self.names.catalogues.iter();
            files.flat_map(|file| ["--catalogue".to_owned(), file.clone()])
        };
        let mut simulate = words(&["run", file]);
        simulate.extend(catalogues());
        let scripts = self.names.scripts.unwrap_or(UNKNOWN);
        let engine = scripts.engine;
        let rehearse = self.names.rehearsal.as_ref().map(|rehearsal| {
            let mut rehearse = words(&["rehearse", rehearsal.option, &rehearsal.database]);
            rehearse.extend(words(&["--statements", &rehearsal.statements]));
            rehearse.extend(words(&["--layout", file, "--out", &rehearsal.out]));
            if rehearsal.on_server {
                rehearse.extend(words(&["--server", "SERVER", "--volume", "NAME=FOLDER"]));
            }
            rehearse.extend(catalogues());
            let what = match rehearsal.on_server {
                true => {
                    "rehearse your own statements on the finalists, on a server with a folder for each of their volumes (--volume for each)"
                }
                false => "rehearse your own statements on the finalists",
            };
            next(what, rehearse)
        });
        let mut emulate = words(&["run", file, "--mode", "emulate", "--engine", engine]);
        if scripts.needs_server {
            emulate.extend(words(&["--server", "SERVER"]));
        }
        emulate.extend(words(&["--workload", "FOLDER"]));
        emulate.extend(words(&["--set", "workload.duration=60s"]));
        if let Some(sessions) = self.request.sessions() {
            emulate.extend(words(&["--set", &format!("workload.sessions={sessions}")]));
        }
        emulate.extend(words(&["--set", "engine.memory=SIZE"]));
        emulate.extend(catalogues());
        let simulate = next("compare the finalists, simulated", simulate);
        let mut all = match rehearse {
            // What was asked for is on the screen.
            Some(rehearse) => vec![rehearse, simulate],
            None => {
                let what = "run your own workload on modelled disks before paying";
                vec![simulate, next(what, emulate)]
            }
        };
        // No files are moved for what a bound allows.
        let is_moved = |cheapest: &&document::Layout| {
            !cheapest.time_is_least
                && self.kept_for(today, cheapest).is_none()
                && self.service_of(cheapest).is_none()
        };
        if let Some(cheapest) = cheapest.filter(is_moved) {
            let mut layout = words(&["layout", file, "--arm", CHEAPEST]);
            layout.extend(words(&["--engine", engine]));
            layout.extend(words(scripts.arguments));
            let moved = |volume: &&document::Volume| {
                volume.roles.iter().any(|role| scripts.roles.contains(role))
            };
            for volume in cheapest.volumes.iter().filter(moved) {
                let name = volume_name(CHEAPEST, volume);
                layout.extend(["--volume".to_owned(), format!("{name}=FOLDER")]);
            }
            layout.extend(catalogues());
            let of = scripts
                .what
                .map_or_else(String::new, |what| format!("{what} on "));
            let purpose =
                format!("generate apply and rollback scripts for {of}the cheapest layout");
            all.push(Next {
                arm: Some(CHEAPEST.to_owned()),
                ..next(&purpose, layout)
            });
        }
        all.extend(
            self.in_place(today, cheapest, best_value)
                .map(|(arm, service)| {
                    let mut layout = words(&["layout", file, "--arm", arm]);
                    for (word, option) in NAMED {
                        let needs = service
                            .change
                            .as_ref()
                            .is_some_and(|change| change.needs(word));
                        if needs {
                            layout.extend(words(&[option, "NAME"]));
                        }
                    }
                    layout.extend(catalogues());
                    Next {
                        arm: Some(arm.to_owned()),
                        ..next(
                            "write the service's commands that change the server, and those that roll it back",
                            layout,
                        )
                    }
                }),
        );
        all
    }

    /// The arm that today's server becomes by commands of its service, with the service: that of the answer, or, where that is to stay,
    /// of the best value.
    fn in_place(
        &self,
        today: &document::Layout,
        cheapest: Option<&document::Layout>,
        best_value: Option<&document::Layout>,
    ) -> Option<(&'static str, &Service)> {
        let from = self.service_of(today)?;
        let arms = [(CHEAPEST, cheapest), (BEST_VALUE, best_value)];
        let (arm, layout) = arms.into_iter().find_map(|(arm, layout)| {
            let is_other = |layout: &&document::Layout| {
                let is_kept = arm == CHEAPEST && self.kept_for(today, layout).is_some();
                !layout.time_is_least && !is_kept && !is_same(today, layout)
            };
            Some((arm, layout.filter(is_other)?))
        })?;
        let to = self.service_of(layout)?;
        from.becomes(to).then_some((arm, to))
    }
}

/// Whether two layouts are the same purchase, whatever their volumes are called.
fn is_same(today: &document::Layout, other: &document::Layout) -> bool {
    let of = |layout: &document::Layout| {
        let volumes = layout.volumes.iter();
        let volumes = volumes.map(|volume| {
            let rates = (volume.size, volume.iops, volume.throughput);
            (volume.disk.clone(), volume.count, rates)
        });
        (layout.machine.clone(), volumes.collect::<Vec<_>>())
    };
    of(today) == of(other)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
