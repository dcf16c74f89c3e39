//! The question, and its answer.

use std::collections::BTreeMap;

use advise::{
    Finalists, HowPaid, LicenceWish, Limits, Names, Placed, Request, Step, System, TempOn, Wishes,
};
use analysis::report::advice::{Currency, page};
use analysis::report::backtest::misfit;
use import::Format;
use model::Bytes;
use reading::Role;
use serde::{Deserialize, Serialize};

use crate::today::{PROFILE, PROFILE_OF_FINALISTS, Today};
use crate::{Refused, command, engines};

/// Most simulations of layouts, as of the program.
const SIMULATIONS_MAX: u64 = 10_000;

/// The question. What is absent is as the program's option is by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asked {
    /// Only of this cloud: `azure`, `aws`, `gcp`; `None`: today's.
    pub cloud: Option<String>,
    /// Only prices of this region.
    pub region: Option<String>,
    /// Most US dollars a month, above zero.
    pub budget: Option<f64>,
    /// How much longer than today operations may take, in percent, below 900.
    pub not_slower: f64,
    /// Times today's sessions and space, from 0.1 to 100.
    pub growth: f64,
    /// Space that files need, such as `60GiB`, by role: `data`, `temp`, `log`.
    pub capacity: BTreeMap<String, String>,
    /// Edition of a database whose licence is paid for by core.
    pub edition: Option<String>,
    /// What licences of one's own cost, in US dollars a year for a core; `None`: by the hour, where the edition is known.
    pub own_licence: Option<f64>,
    /// The operating system that machines are priced with, `linux` or `windows`; `None`: as recorded.
    pub system: Option<String>,
    /// Whether to continue with a profile that does not fit.
    pub untested: bool,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked {
            cloud: None,
            region: None,
            budget: None,
            not_slower: 5.0,
            growth: 1.0,
            capacity: BTreeMap::new(),
            edition: None,
            own_licence: None,
            system: None,
            untested: false,
        }
    }
}

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

impl Asked {
    fn system(&self) -> Result<Option<System>, Refused> {
        match self.system.as_deref() {
            None => Ok(None),
            Some("linux") => Ok(Some(System::Linux)),
            Some("windows") => Ok(Some(System::Windows)),
            Some(other) => Err(Refused(format!(
                "system \"{other}\": give linux or windows, or leave it out"
            ))),
        }
    }

    fn wishes(&self, system: System) -> Result<Wishes, Refused> {
        let within = |name: &str, value: f64, [least, most]: [f64; 2]| match (least..=most)
            .contains(&value)
        {
            true => Ok(value),
            false => Err(Refused(format!("{name} {value}: give {least} to {most}"))),
        };
        let how = match self.own_licence {
            None => None,
            Some(usd) => Some(HowPaid::Own {
                usd_core_year: within("price of a licence", usd, [0.0, 1e6])?,
            }),
        };
        let budget = self.budget.map(|usd| within("budget", usd, [1.0, 1e12]));
        Ok(Wishes {
            cloud: self.cloud.clone(),
            region: self.region.clone(),
            machine_pattern: None,
            keep_machine: false,
            arm: false,
            any_generation: false,
            system,
            disks: Vec::new(),
            disks_max: None,
            temp: TempOn::Any,
            capacity: self.capacity()?,
            growth: within("growth", self.growth, [0.1, 100.0])?,
            licence: LicenceWish {
                edition: self.edition.clone(),
                how,
                passive_secondary: false,
            },
            replicas: 0,
            commitment_years: None,
            backup_days: 0,
            limits: Limits {
                slower_max: within("not slower", self.not_slower, [-99.0, 900.0])? / 100.0,
                budget: budget.transpose()?,
                simulations_max: SIMULATIONS_MAX,
                quick: false,
            },
        })
    }

    fn capacity(&self) -> Result<BTreeMap<Role, Bytes>, Refused> {
        let given = self.capacity.iter().map(|(name, size)| {
            let at = |problem: String| Refused(format!("capacity of {name}, {size}: {problem}"));
            let role = Role::COMMON.into_iter().find(|role| role.name() == name);
            let role = role.ok_or_else(|| at("there are data, temp and log".to_owned()))?;
            let bytes: Bytes = size.parse().map_err(|error| at(format!("{error}")))?;
            match bytes == Bytes::ZERO {
                true => Err(at("it is 0; give what the files take".to_owned())),
                false => Ok((role, bytes)),
            }
        });
        given.collect()
    }
}
