//! The question, as the page's form has it.

use std::collections::BTreeMap;

use advise::{HowPaid, LicenceWish, Limits, ServiceWish, System, TempOn, Wishes};
use model::Bytes;
use reading::Role;
use serde::{Deserialize, Serialize};

use crate::Refused;

/// Most simulations of layouts, as of the program.
const SIMULATIONS_MAX: u64 = 10_000;

/// The question. What is absent is as the program's option is by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdviceForm {
    /// Only of this cloud: `azure`, `aws`, `gcp`; `None`: today's.
    pub cloud: Option<String>,
    /// Only prices of this region.
    pub region: Option<String>,
    /// Only machines whose name has this in it.
    pub machine: Option<String>,
    /// Only the machine of today.
    pub keep_machine: bool,
    /// Machines with Arm processors too.
    pub arm: bool,
    /// Earlier generations of machines too, where they save little.
    pub any_generation: bool,
    /// Only these disks of the catalogue; empty: all.
    pub disks: Vec<String>,
    /// Most disks to attach.
    pub disks_max: Option<u32>,
    /// Where temporary files may be: `any`, `local` or `remote`.
    pub temp_on: Option<String>,
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
    /// How it is paid for: `payg` or `own`; `None`: by the hour, where the edition is known.
    pub licence: Option<String>,
    /// What licences of one's own cost, in US dollars a year for a core.
    pub licence_price: Option<f64>,
    /// Whether one of the replicas is passive, and needs no licence.
    pub passive_secondary: bool,
    /// Further servers with the same machine and disks, up to 100.
    pub replicas: u32,
    /// How long machines are committed to: `1y` or `3y`; `None`: on demand.
    pub term: Option<String>,
    /// Days for which backups are kept, up to ten years.
    pub backup_days: u32,
    /// What is taken off list prices, in percent, below 100.
    pub discount: Option<f64>,
    /// Own prices in place of list prices.
    pub prices: Option<Prices>,
    /// Whether every disk and price is taken as typical, and none is drawn.
    pub nominal: bool,
    /// The operating system that machines are priced with, `linux` or `windows`; `None`: as recorded.
    pub system: Option<String>,
    /// Whether a bound alone answers: below which price no layout can be fast enough.
    pub quick: bool,
    /// Whether to continue with a profile that does not fit.
    pub untested: bool,
}

/// A file of own prices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Its name.
    pub name: String,
    /// CSV with the columns name, usd and per.
    pub text: String,
}

/// What the user says of files. What is absent is as the program's option is by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImportOptions {
    /// What is on which device, such as `data=D:`.
    pub devices: Vec<String>,
    /// The SQL Servers whose counters are used, where a file has those of several.
    pub instances: Vec<String>,
    /// What wrote the files, by the program's name of it.
    pub format: Option<String>,
    /// When the first record was taken, for files without dates.
    pub start: Option<String>,
    /// The time between records, for files without times.
    pub interval: Option<String>,
    /// How far local times are ahead of UTC, such as `+01:00`.
    pub utc_offset: Option<String>,
    /// The order of day and month: `dmy` or `mdy`.
    pub dates: Option<String>,
    /// The server's machine, or its class of a managed service, of whose processors the files have a share.
    pub machine: Option<String>,
}

impl Default for AdviceForm {
    fn default() -> AdviceForm {
        AdviceForm {
            cloud: None,
            region: None,
            machine: None,
            keep_machine: false,
            arm: false,
            any_generation: false,
            disks: Vec::new(),
            disks_max: None,
            temp_on: None,
            budget: None,
            not_slower: 5.0,
            growth: 1.0,
            capacity: BTreeMap::new(),
            edition: None,
            licence: None,
            licence_price: None,
            passive_secondary: false,
            replicas: 0,
            term: None,
            backup_days: 0,
            discount: None,
            prices: None,
            nominal: false,
            system: None,
            quick: false,
            untested: false,
        }
    }
}

impl AdviceForm {
    /// The operating system that was asked for.
    ///
    /// # Errors
    /// When it is another one.
    pub(crate) fn system(&self) -> Result<Option<System>, Refused> {
        let known = [("linux", System::Linux), ("windows", System::Windows)];
        one_of("system", self.system.as_deref(), &known)
    }

    /// What layouts may be bought, and what they have to keep; their operating system is not decided yet.
    ///
    /// # Errors
    /// When a number is out of its range, a capacity cannot be parsed or is 0, or a choice is none of those that there are.
    pub(crate) fn wishes(&self) -> Result<Wishes, Refused> {
        if self.keep_machine && self.machine.is_some() {
            let message = "only today's machine, and only machines with a name: give one of them";
            return Err(Refused(message.to_owned()));
        }
        if self.quick && self.nominal {
            let message = "only a bound, and disks exactly as published: a bound draws nothing; choose one of them";
            return Err(Refused(message.to_owned()));
        }
        let budget = self.budget.map(|usd| within("budget", usd, [0.01, 1e12]));
        let places = [
            ("any", TempOn::Any),
            ("local", TempOn::Local),
            ("remote", TempOn::Remote),
        ];
        let disks_max = self
            .disks_max
            .map(|most| counted("disks", most, [1, 1_000]));
        Ok(Wishes {
            cloud: self.cloud.clone(),
            region: self.region.clone(),
            machine_pattern: self.machine.clone(),
            keep_machine: self.keep_machine,
            arm: self.arm,
            any_generation: self.any_generation,
            system: System::default(),
            disks: self.disks.clone(),
            disks_max: disks_max.transpose()?,
            temp: one_of("temporary files", self.temp_on.as_deref(), &places)?.unwrap_or_default(),
            capacity: self.capacity()?,
            growth: within("growth", self.growth, [0.1, 100.0])?,
            licence: LicenceWish {
                edition: self.edition.clone(),
                how: self.how_paid()?,
                passive_secondary: self.passive_secondary,
            },
            replicas: counted("replicas", self.replicas, [0, 100])?,
            commitment_years: one_of("term", self.term.as_deref(), &[("1y", 1), ("3y", 3)])?,
            backup_days: counted("days of backups", self.backup_days, [0, 3_650])?,
            nominal: self.nominal,
            services: ServiceWish::default(),
            limits: Limits {
                slower_max: percent("not slower", self.not_slower, 9.0)?,
                budget: budget.transpose()?,
                simulations_max: SIMULATIONS_MAX,
                quick: self.quick,
            },
        })
    }

    /// The share that is taken off list prices.
    ///
    /// # Errors
    /// When it is out of its range.
    pub(crate) fn discount_share(&self) -> Result<Option<f64>, Refused> {
        let share = |off| percent("discount", off, 1.0);
        self.discount.map(share).transpose()
    }

    fn how_paid(&self) -> Result<Option<HowPaid>, Refused> {
        let price = self.licence_price;
        let price = price.map(|usd| within("price of a licence", usd, [0.0, 1e6]));
        let price = price.transpose()?;
        let own = HowPaid::Own {
            usd_core_year: price.unwrap_or_default(),
        };
        let known = [("payg", HowPaid::Hourly), ("own", own)];
        let how = one_of("licence", self.licence.as_deref(), &known)?;
        match (price, self.licence.as_deref()) {
            (Some(usd), Some("payg") | None) => Err(Refused(format!(
                "price of a licence {usd}: it is that of licences of your own; choose these, or leave it out"
            ))),
            (_, _) => Ok(how),
        }
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

/// A number between `least` and `most`.
fn within(name: &str, value: f64, [least, most]: [f64; 2]) -> Result<f64, Refused> {
    match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(Refused(format!("{name} {value}: give {least} to {most}"))),
    }
}

/// A percentage as a share below `end`, as the program reads it.
fn percent(name: &str, percent: f64, end: f64) -> Result<f64, Refused> {
    let share = experiment::spec::percentage(&format!("{percent}%"), end);
    share.map_err(|problem| Refused(format!("{name} {percent} %: {problem}")))
}

/// A whole number between `least` and `most`.
fn counted(name: &str, value: u32, [least, most]: [u32; 2]) -> Result<u32, Refused> {
    match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(Refused(format!("{name} {value}: give {least} to {most}"))),
    }
}

/// The meaning of a choice, if one was made.
fn one_of<T: Clone>(
    what: &str,
    chosen: Option<&str>,
    known: &[(&str, T)],
) -> Result<Option<T>, Refused> {
    let Some(chosen) = chosen else {
        return Ok(None);
    };
    match known.iter().find(|(name, _)| *name == chosen) {
        Some((_, meaning)) => Ok(Some(meaning.clone())),
        None => {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let names = names.join(" or ");
            Err(Refused(format!(
                "{what} \"{chosen}\": give {names}, or leave it out"
            )))
        }
    }
}
