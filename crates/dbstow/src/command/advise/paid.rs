//! What is paid besides or instead of list prices: the licence of the database, replicas, a commitment, backups.

use advise::{HowPaid, LicenceWish};
use clap::ValueEnum;

use crate::command::UsageError;

/// Maximum number of replicas.
const REPLICAS_MAX: i64 = 100;

/// Maximum number of days of backups: ten years.
const BACKUP_DAYS_MAX: i64 = 3_650;

/// Maximum price of a licence, in dollars a year for a core.
const LICENCE_USD_MAX: f64 = 1e6;

/// Arguments of `advise` about what is paid.
#[derive(Clone, Debug, clap::Args)]
pub struct BillArgs {
    /// Edition of a database whose licence is paid for by core, such as standard [default: as recorded]
    #[arg(long, value_name = "NAME")]
    pub edition: Option<String>,
    /// How that licence is paid for [default: payg, where the edition is known]
    #[arg(long, value_enum)]
    pub licence: Option<LicenceModel>,
    /// What licences of your own cost: dollars a year for each core [default: 0]
    #[arg(long, value_name = "USD", requires = "licence", value_parser = dollars_a_year)]
    pub licence_price: Option<f64>,
    /// One of the replicas is passive, and needs no licence
    #[arg(long)]
    pub passive_secondary: bool,
    /// Further servers with the same machine and disks
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=REPLICAS_MAX))]
    pub replicas: u32,
    /// Earlier generations of machines too, where they save less than 10 %
    #[arg(long)]
    pub any_generation: bool,
    /// Answer in seconds, by a bound alone: below which price no layout can be fast enough. None is simulated
    #[arg(long)]
    pub quick: bool,
    /// Take latencies and limits of disks as published exactly, instead of drawing what is not known of them: intervals show chance alone
    #[arg(long, conflicts_with = "quick")]
    pub nominal: bool,
    /// How long machines are committed to [default: on demand]
    #[arg(long, value_enum)]
    pub term: Option<Term>,
    /// Days for which backups are kept, as snapshots
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=BACKUP_DAYS_MAX))]
    pub backup_days: u32,
}

/// For how long machines are committed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Term {
    /// One year
    #[value(name = "1y")]
    OneYear,
    /// Three years
    #[value(name = "3y")]
    ThreeYears,
}

impl Term {
    pub(super) fn years(self) -> u32 {
        match self {
            Term::OneYear => 1,
            Term::ThreeYears => 3,
        }
    }
}

/// How a licence is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LicenceModel {
    /// By the hour, with the machine
    Payg,
    /// Licences of your own
    Own,
}

impl BillArgs {
    /// What is asked of the licence.
    ///
    /// # Errors
    /// When a price of licences of one's own is given for one by the hour.
    pub(super) fn licence(&self) -> Result<LicenceWish, UsageError> {
        let how = match (self.licence, self.licence_price) {
            (None, _) => None,
            (Some(LicenceModel::Own), usd) => Some(HowPaid::Own {
                usd_core_year: usd.unwrap_or_default(),
            }),
            (Some(LicenceModel::Payg), None) => Some(HowPaid::Hourly),
            (Some(LicenceModel::Payg), Some(usd)) => {
                return Err(UsageError(format!(
                    "--licence-price {usd}: it is the price of licences of your own; give --licence own, or leave it out"
                )));
            }
        };
        Ok(LicenceWish {
            edition: self.edition.clone(),
            how,
            passive_secondary: self.passive_secondary,
        })
    }
}

fn dollars_a_year(text: &str) -> Result<f64, String> {
    match text.trim().trim_start_matches('$').parse::<f64>() {
        Ok(usd) if (0.0..=LICENCE_USD_MAX).contains(&usd) => Ok(usd),
        Ok(_) | Err(_) => Err(format!(
            "give dollars a year for a core, such as 1800, from 0 to {LICENCE_USD_MAX:e}"
        )),
    }
}
