//! The answer to a question.

use advise::{Finalists, LeftOut, Names, Server, Step};
use analysis::report::advice::{Currency, page};
use analysis::report::backtest::misfit;
use serde::{Deserialize, Serialize};

use crate::form::AdviceForm;
use crate::today::{PROFILE, PROFILE_OF_FINALISTS, Today};
use crate::what_if::{Adjustable, Sliders};
use crate::{Refused, command, engines};

/// The answer: what `dbstow advise` writes, byte for byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Layouts of which something can be changed.
    pub layouts: Vec<Adjustable>,
    /// The place of the advised one among them, or of the first.
    pub chosen: usize,
    /// Whether the model does not reproduce the recording on today's layout.
    pub untested: bool,
}

/// An answer, and what its layouts can be tried with.
#[derive(Debug)]
pub struct Advised {
    /// The answer.
    pub answer: Answer,
    /// For its layouts.
    pub sliders: Sliders,
}

/// Searches for the cheapest layout for the profile in the text `profile`, whose server has the layout in the text `today`.
/// `go_on` receives the progress, and ends the search by returning `false`: the answer is the best so far.
///
/// # Errors
/// When something that is given has a mistake, the profile does not fit today's layout, or nothing qualifies.
pub fn advise(
    profile: &str,
    today: &str,
    form: &AdviceForm,
    go_on: &mut dyn FnMut(Step) -> bool,
) -> Result<Advised, Refused> {
    let of = Today::new(profile, today)?;
    let refused = |error: advise::AdviseError| Refused(error.to_string());
    let catalogue = of.catalogue(form)?;
    let server = Server::new(&of.resolved, form.wishes()?, form.system()?, catalogue);
    let server = server.map_err(refused)?;
    let tested = of.backtest(&|_| {})?;
    if let Some(reasons) = misfit(&tested).filter(|_| !form.untested) {
        let reasons = reasons.join("; ");
        return Err(Refused(format!(
            "the profile does not fit this layout: {reasons}"
        )));
    }
    let server = server.tested(&tested).map_err(refused)?;
    let request = server.request().map_err(refused)?;
    let names = Names {
        profile: PROFILE.to_owned(),
        finalists: command::FINALISTS.to_owned(),
        catalogues: Vec::new(),
        currency: Currency::default(),
        system_why: server.system_why(),
        scripts: server.product().and_then(engines::scripts),
        rehearsal: None,
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
    let notes =
        left_out.map(|LeftOut { arm, why }| format!("finalists.toml leaves out {arm}: {why}"));
    let what_if = request.what_if(&tested, &document).map_err(refused)?;
    let sliders = Sliders::new(what_if, &document);
    Ok(Advised {
        answer: Answer {
            json: document.json(),
            html: page(&document),
            notes: notes.collect(),
            finalists: finalists.text,
            command: command::repeating(form),
            layouts: sliders.adjustable(),
            chosen: sliders.chosen(),
            untested: !document.backtest.fits,
        },
        sliders,
    })
}
