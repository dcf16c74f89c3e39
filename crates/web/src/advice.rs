//! The answer to a question.

use advise::{Finalists, Names, Placed, Request, Step, System};
use analysis::report::advice::{Currency, page};
use analysis::report::backtest::misfit;
use import::Format;
use serde::{Deserialize, Serialize};

use crate::asked::Asked;
use crate::today::{PROFILE, PROFILE_OF_FINALISTS, Today};
use crate::{Refused, command, engines};

/// The answer: what `dbstow advise` writes, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The document, `advice.json`.
    pub json: String,
    /// The page, `advice.html`.
    pub html: String,
    /// The experiment of the finalists, `finalists.toml`.
    pub finalists: String,
    /// The command that repeats it.
    pub command: String,
    /// What the finalists leave out, as sentences.
    pub notes: Vec<String>,
}

/// Searches for the cheapest layout for the profile in the text `profile`, whose server has the layout in the text `today`.
/// `go_on` receives the progress, and ends the search by returning `false`: the answer is the best so far.
///
/// # Errors
/// When something that is given has a mistake, the profile does not fit today's layout, or nothing qualifies.
pub fn advise(
    profile: &str,
    today: &str,
    asked: &Asked,
    go_on: &mut dyn FnMut(Step) -> bool,
) -> Result<Answer, Refused> {
    let of = Today::new(profile, today)?;
    let (arm, stage, recording) = of.resolved.first();
    let recording = recording.expect("a back-test is of a profile");
    let is_perfmon = recording.profile.origin.tool == Format::Perfmon.name();
    let (system, system_why) = System::of(asked.system()?, arm.settings.machine.system, is_perfmon);
    let wishes = asked.wishes(system)?;
    let mut catalogue = of.run.inventory.catalogue.clone();
    let mut server = advise::Today {
        settings: &arm.settings,
        placed: Placed {
            machine: stage.machine.clone(),
            volumes: stage.volumes.clone(),
            places: stage.replay_places(&arm.settings.placement),
        },
        notes: &stage.notes,
        profile: &recording.profile,
    };
    let refused = |error: advise::AdviseError| Refused(error.to_string());
    let request = Request::new(&wishes, &server, &catalogue).map_err(refused)?;
    request.check_offers().map_err(refused)?;
    let cores_used = request.cores_used_today();
    let tested = of.backtest(&|_| {})?;
    if let Some(reasons) = misfit(&tested).filter(|_| !asked.untested) {
        let reasons = reasons.join("; ");
        return Err(Refused(format!(
            "the profile does not fit this layout: {reasons}"
        )));
    }
    advise::teach(&tested, &stage.disks, &mut catalogue);
    server.placed.volumes = tested.volumes_in_the_long_run();
    server.placed.machine.cores = cores_used;
    let request = Request::new(&wishes, &server, &catalogue).map_err(refused)?;
    let product = recording.profile.origin.product.as_deref();
    let names = Names {
        profile: PROFILE.to_owned(),
        finalists: command::FINALISTS.to_owned(),
        catalogues: Vec::new(),
        currency: Currency::default(),
        system_why,
        scripts: product.and_then(engines::scripts),
    };
    let mut document = request.advice(&tested, &names, go_on).map_err(refused)?;
    let finalists = Finalists {
        today: of.layout.text(),
        profile: PROFILE_OF_FINALISTS.to_owned(),
        window: None,
        temp_files_max: names.scripts.map_or(1, |scripts| scripts.temp_files_max),
    };
    let finalists = request.finalists(&tested, &finalists, &mut document, &mut |text| {
        of.check(text)
    });
    let finalists = finalists.map_err(refused)?;
    let left_out = finalists.left_out.iter();
    Ok(Answer {
        json: document.json(),
        html: page(&document),
        finalists: finalists.text,
        command: command::repeating(asked),
        notes: left_out
            .map(|left_out| {
                format!(
                    "finalists.toml leaves out {}: {}",
                    left_out.arm, left_out.why
                )
            })
            .collect(),
    })
}
