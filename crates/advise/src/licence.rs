//! The licence that is asked for: which edition, and how it is paid for.

use catalogue::{Catalogue, Edition, LicenceRate};
use model::Bytes;
use profile::Origin;
use thiserror::Error;

use super::system::System;

/// What is asked of the licence of the database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LicenceWish {
    /// The edition, such as `standard`; `None`: the recorded one.
    pub edition: Option<String>,
    /// How it is paid for; `None`: by the hour.
    pub how: Option<HowPaid>,
    /// Whether one of the replicas is passive, and needs no licence.
    pub passive_secondary: bool,
}

/// How a licence is to be paid for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HowPaid {
    /// By the hour, with the machine.
    Hourly,
    /// As licences of the user's own.
    Own {
        /// Dollars a year for each core, at least 0.
        usd_core_year: f64,
    },
}

/// The licence of the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Licence {
    /// Its edition, with what that can use.
    pub edition: Edition,
    /// How it is paid for.
    pub paid: Paid,
    /// Whether one of the replicas is passive, and needs no licence.
    pub passive_secondary: bool,
    /// The recorded edition, where it is a larger one.
    pub smaller_than: Option<String>,
    /// Whether the version, on which the edition's limits depend, was recorded.
    pub version_known: bool,
}

/// Why a licence cannot be as it is asked for.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LicenceError {
    /// The product needs no licence, or is not known.
    #[error("--{option}: {product} has no licence that is paid for by core; leave it out")]
    NotLicensed {
        /// The option.
        option: &'static str,
        /// The product, in a sentence.
        product: String,
    },
    /// Neither the request nor the profile says which edition.
    #[error(
        "--{option}: the profile does not say which edition of {product} runs; give --edition ({known})"
    )]
    NoEdition {
        /// The option.
        option: &'static str,
        /// The product.
        product: String,
        /// Its editions.
        known: String,
    },
    /// The product has no such edition.
    #[error("--edition {edition}: {product} has no such edition{version}; give one of {known}")]
    Edition {
        /// The requested one.
        edition: String,
        /// The product.
        product: String,
        /// The recorded version, in a phrase.
        version: String,
        /// Its editions.
        known: String,
    },
    /// A passive replica that would need a licence, or is none.
    #[error(
        "--passive-secondary: {0}; it is free for licences of your own with Software Assurance, on one replica: give --licence own \
         and --replicas 1 or more, or leave it out"
    )]
    Passive(&'static str),
}

impl LicenceWish {
    /// The licence of a server of `origin` in `cloud`; `None` where its product needs none, or neither the request nor the
    /// profile says which edition it has.
    ///
    /// # Errors
    /// What cannot be as it is asked for, with the remedy.
    pub(crate) fn licence(
        &self,
        origin: &Origin,
        catalogue: &Catalogue,
        (cloud, system): (&str, System),
        replicas: u32,
    ) -> Result<Option<Licence>, LicenceError> {
        let product = origin.product.as_deref().unwrap_or_default();
        let editions: Vec<&Edition> = catalogue.editions(product).collect();
        if editions.is_empty() {
            return match self.first_option() {
                None => Ok(None),
                Some(option) => Err(LicenceError::NotLicensed {
                    option,
                    product: match product {
                        "" => "a server whose product is not known".to_owned(),
                        product => product.to_owned(),
                    },
                }),
            };
        }
        let Some(edition) = self.edition(origin, product, &editions)? else {
            return match self.first_option() {
                None => Ok(None),
                Some(option) => Err(LicenceError::NoEdition {
                    option,
                    product: product.to_owned(),
                    known: names(&editions),
                }),
            };
        };
        if self.passive_secondary && !matches!(self.how, Some(HowPaid::Own { .. })) {
            return Err(LicenceError::Passive("the licence is paid by the hour"));
        }
        if self.passive_secondary && replicas == 0 {
            return Err(LicenceError::Passive("there is no replica"));
        }
        let rate = || catalogue.licence(edition, cloud, system == System::Windows);
        Ok(Some(Licence {
            edition: edition.clone(),
            paid: match self.how {
                Some(HowPaid::Own { usd_core_year }) => Paid::Own { usd_core_year },
                Some(HowPaid::Hourly) | None => Paid::Hourly(rate().cloned()),
            },
            passive_secondary: self.passive_secondary,
            smaller_than: recorded(origin, &editions)
                .filter(|recorded| recorded.lacks.len() < edition.lacks.len())
                .map(|recorded| recorded.title.clone()),
            version_known: major(origin).is_some(),
        }))
    }

    /// The first option that asks for something of a licence.
    fn first_option(&self) -> Option<&'static str> {
        match self {
            LicenceWish {
                edition: Some(_), ..
            } => Some("edition"),
            LicenceWish { how: Some(_), .. } => Some("licence"),
            LicenceWish {
                passive_secondary: true,
                ..
            } => Some("passive-secondary"),
            LicenceWish { .. } => None,
        }
    }

    /// The requested edition, or else the recorded one, in the recorded version, or else in the first that there is.
    fn edition<'a>(
        &self,
        origin: &Origin,
        product: &str,
        editions: &[&'a Edition],
    ) -> Result<Option<&'a Edition>, LicenceError> {
        let major = major(origin);
        let of_version = |edition: &&&Edition| major.is_none_or(|major| edition.holds_for(major));
        let Some(wanted) = &self.edition else {
            return Ok(recorded(origin, editions));
        };
        let mut known = editions.iter().filter(of_version);
        let found = known.find(|edition| edition.name.eq_ignore_ascii_case(wanted));
        let refused = || LicenceError::Edition {
            edition: wanted.clone(),
            product: product.to_owned(),
            version: origin
                .version
                .as_ref()
                .map_or_else(String::new, |version| format!(" in version {version}")),
            known: {
                let known = editions.iter().filter(of_version).copied();
                names(&known.collect::<Vec<_>>())
            },
        };
        found.copied().map(Some).ok_or_else(refused)
    }
}

/// The edition of a server, in its version, where both are known.
fn recorded<'a>(origin: &Origin, editions: &[&'a Edition]) -> Option<&'a Edition> {
    let text = origin.edition.as_deref()?;
    let major = major(origin);
    let of_version = |edition: &&&Edition| major.is_none_or(|major| edition.holds_for(major));
    let mut known = editions.iter().filter(of_version);
    known.find(|edition| edition.is_called(text)).copied()
}

/// The major version of a server.
fn major(origin: &Origin) -> Option<u32> {
    origin
        .version
        .as_ref()?
        .split('.')
        .next()?
        .trim()
        .parse()
        .ok()
}

fn names(editions: &[&Edition]) -> String {
    let mut names: Vec<&str> = editions
        .iter()
        .map(|edition| edition.name.as_str())
        .collect();
    names.dedup();
    names.join(", ")
}

impl Licence {
    /// Product and edition.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.edition.product, self.edition.title)
    }

    /// What the edition cannot use of what is needed, and what it may not be used for; sentences. `memory` is the server's, `data` the
    /// size of its data.
    pub(crate) fn notes(&self, memory: Bytes, data: Bytes) -> Vec<String> {
        let name = self.name();
        let edition = &self.edition;
        let mut all = Vec::new();
        if edition.not_for_production {
            all.push(format!(
                "{name} may not be used in production: give the edition that will run (--edition)."
            ));
        }
        if let Some(recorded) = &self.smaller_than {
            all.push(format!(
                "The server has {recorded}; {} has no {}. What it would read and write so was not recorded.",
                edition.title,
                edition.lacks.join(", no ")
            ));
        }
        if let Some(most) = edition.memory_max.filter(|most| *most < memory) {
            all.push(format!(
                "{name} keeps at most {most} of data in memory, of a machine's {memory} or more: the rest is paid for and idle. A \
                 server that had more reads more than was recorded."
            ));
        }
        if let Some(most) = edition.database_max.filter(|most| *most < data) {
            all.push(format!(
                "{name} takes at most {most} a database; there are {data} of data."
            ));
        }
        all
    }

    /// What is taken for granted; sentences.
    pub(crate) fn assumptions(&self) -> Vec<String> {
        let name = self.name();
        let edition = &self.edition;
        let mut all = Vec::new();
        if let Paid::Hourly(Some(rate)) = &self.paid {
            all.extend(rate.assumed.iter().map(|text| format!("{name}: {text}.")));
            if !rate.counts_switched_on && rate.usd_hour_core > 0.0 {
                all.push(format!(
                    "{name}: whether its price falls with the cores that a machine shows is not published, so that machines have all of \
                     theirs; licences of your own (--licence own) are searched with fewer."
                ));
            }
        }
        if let Some(cores) = edition.cores_max {
            all.push(format!(
                "{name} uses at most {cores} processors; its limit on sockets is left out, as how clouds present these is not known."
            ));
        }
        if !self.version_known && (edition.cores_max.is_some() || edition.until.is_some()) {
            let until = edition
                .until
                .map_or_else(String::new, |until| format!(" to {until}"));
            all.push(format!(
                "{name}: the version was not recorded; its limits are those of versions {}{until}.",
                edition.from
            ));
        }
        all
    }
}

/// How a licence is paid for.
#[derive(Clone, Debug, PartialEq)]
pub enum Paid {
    /// By the hour, with the machine. `None`: the price is not known; the licence is listed, and not in the sum.
    Hourly(Option<LicenceRate>),
    /// To the vendor of the database: dollars a year for each core of licences of the user's own.
    Own {
        /// Dollars a year.
        usd_core_year: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The licensed product of the catalogue.
    const PRODUCT: &str = "SQL Server";

    fn origin(product: &str, version: Option<&str>, edition: Option<&str>) -> Origin {
        Origin {
            product: Some(product.to_owned()),
            version: version.map(str::to_owned),
            edition: edition.map(str::to_owned),
            ..Origin::default()
        }
    }

    fn licence(wish: &LicenceWish, origin: &Origin) -> Result<Option<Licence>, LicenceError> {
        let catalogue = Catalogue::builtin();
        wish.licence(origin, &catalogue, ("azure", System::Windows), 0)
    }

    fn edition(name: &str) -> LicenceWish {
        LicenceWish {
            edition: Some(name.to_owned()),
            ..LicenceWish::default()
        }
    }

    #[test]
    fn the_edition_is_the_recorded_one_unless_another_is_asked_for_and_its_limits_are_of_the_version()
     {
        let cores = |wish: &LicenceWish, version, recorded| {
            let found = licence(wish, &origin(PRODUCT, version, recorded));
            let found = found.expect("it is one").expect("it is known");
            (found.edition.name.clone(), found.edition.cores_max)
        };
        let recorded = Some("Standard Edition (64-bit)");
        let as_recorded = LicenceWish::default();
        let standard = |cores| ("standard".to_owned(), Some(cores));
        assert_eq!(
            cores(&as_recorded, Some("16.0.4085.2"), recorded),
            standard(24)
        );
        assert_eq!(
            cores(&as_recorded, Some("17.0.1000.7"), recorded),
            standard(32)
        );
        // Without a version, the tighter limit.
        assert_eq!(cores(&edition("Standard"), None, None), standard(24));
        let core_based = Some("Enterprise Edition: Core-based Licensing (64-bit)");
        assert_eq!(
            cores(&as_recorded, Some("15.0.4000.1"), core_based),
            ("enterprise".to_owned(), None)
        );
    }

    #[test]
    fn a_smaller_edition_than_the_recorded_one_says_what_it_lacks() {
        let notes = |wish: &str, recorded| {
            let origin = origin(PRODUCT, Some("16.0.4085.2"), Some(recorded));
            let found = licence(&edition(wish), &origin).expect("it is one");
            let found = found.expect("it is known");
            found.notes(Bytes::gib(64), Bytes::gib(600)).join(" ")
        };
        let smaller = notes(
            "standard",
            "Enterprise Edition: Core-based Licensing (64-bit)",
        );
        assert!(
            smaller.contains("The server has Enterprise; Standard has no online index builds"),
            "{smaller}"
        );
        assert_eq!(notes("standard", "Standard Edition (64-bit)"), "");
        assert_eq!(notes("enterprise", "Standard Edition (64-bit)"), "");
    }

    #[test]
    fn an_edition_that_is_not_known_is_not_guessed() {
        let none = licence(&LicenceWish::default(), &origin(PRODUCT, None, None));
        assert_eq!(none, Ok(None));
        let none = licence(&LicenceWish::default(), &origin("PostgreSQL", None, None));
        assert_eq!(none, Ok(None));
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_remedy() {
        let refused = |wish: &LicenceWish, origin: &Origin| {
            licence(wish, origin).expect_err("it cannot be").to_string()
        };
        let error = refused(&edition("standard"), &origin("PostgreSQL", None, None));
        assert!(
            error.starts_with("--edition: PostgreSQL has no licence"),
            "{error}"
        );
        let error = refused(&edition("web"), &origin(PRODUCT, Some("17.0.1"), None));
        assert!(error.contains("in version 17.0.1"), "{error}");
        assert!(
            error.ends_with("enterprise, standard, express, developer"),
            "{error}"
        );
        let own = LicenceWish {
            how: Some(HowPaid::Own { usd_core_year: 0.0 }),
            ..LicenceWish::default()
        };
        let error = refused(&own, &origin(PRODUCT, None, None));
        assert!(
            error.contains("give --edition (enterprise, standard"),
            "{error}"
        );
        let passive = LicenceWish {
            passive_secondary: true,
            ..edition("standard")
        };
        let error = refused(&passive, &origin(PRODUCT, None, None));
        assert!(error.contains("paid by the hour"), "{error}");
        let passive = LicenceWish {
            how: Some(HowPaid::Own { usd_core_year: 0.0 }),
            ..passive
        };
        let error = refused(&passive, &origin(PRODUCT, None, None));
        assert!(error.contains("there is no replica"), "{error}");
    }
}
