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
    /// Whether a first answer, of fewer simulations, is enough.
    pub quick: bool,
    /// Whether to continue with a profile that does not fit.
    pub untested: bool,
}

/// What the user says of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Given {
    /// What is on which device, such as `data=D:`.
    pub devices: Vec<String>,
    /// The SQL Servers whose counters are used, where a file has those of several.
    pub instances: Vec<String>,
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
            quick: false,
            untested: false,
        }
    }
}

impl Asked {
    /// The operating system that was asked for.
    ///
    /// # Errors
    /// When it is another one.
    pub(crate) fn system(&self) -> Result<Option<System>, Refused> {
        match self.system.as_deref() {
            None => Ok(None),
            Some("linux") => Ok(Some(System::Linux)),
            Some("windows") => Ok(Some(System::Windows)),
            Some(other) => Err(Refused(format!(
                "system \"{other}\": give linux or windows, or leave it out"
            ))),
        }
    }

    /// What layouts may be bought, and what they have to keep.
    ///
    /// # Errors
    /// When a number is out of its range, or a capacity cannot be parsed or is 0.
    pub(crate) fn wishes(&self, system: System) -> Result<Wishes, Refused> {
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
            services: ServiceWish::default(),
            nominal: false,
            limits: Limits {
                slower_max: within("not slower", self.not_slower, [-99.0, 900.0])? / 100.0,
                budget: budget.transpose()?,
                simulations_max: SIMULATIONS_MAX,
                quick: self.quick,
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
