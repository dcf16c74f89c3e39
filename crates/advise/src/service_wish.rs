//! Which managed services are asked for, and which of a cloud these are.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalogue::{Catalogue, Service};

use super::error::AdviseError;
use super::services::Services;
use super::today::Today;

/// Which services are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServiceWish {
    /// Today's, where today's machine is a class of one; otherwise machines alone.
    #[default]
    AsToday,
    /// None: machines alone.
    None,
    /// Every one of the product, beside machines.
    Any,
    /// Those of this kind, beside machines.
    Family(String),
}

impl ServiceWish {
    /// The services that are meant in a cloud.
    ///
    /// # Errors
    /// When there are none, or it is not known of which product.
    pub(crate) fn services(
        &self,
        today: &Today<'_>,
        cloud: &str,
        catalogue: &Catalogue,
    ) -> Result<Services, AdviseError> {
        let now = today.machine().and_then(|name| catalogue.service_of(name));
        let family = match self {
            ServiceWish::None => return Ok(Services::default()),
            ServiceWish::AsToday => {
                let offered = now.map(|service| (service.name.clone(), Arc::new(service.clone())));
                return Ok(Services {
                    alone: offered.is_some(),
                    offered: offered.into_iter().collect(),
                    not_modelled: Vec::new(),
                });
            }
            ServiceWish::Any => None,
            ServiceWish::Family(family) => Some(family),
        };
        let recorded = today.profile.origin.product.as_ref();
        let product = now
            .and_then(|service| service.product.as_ref())
            .or(recorded);
        let product = product.ok_or(AdviseError::ServiceProduct)?;
        let of_family = |service: &&Service| family.is_none_or(|family| *family == service.family);
        let is_of_product = |service: &&Service| {
            service.product.as_ref() == Some(product) && begins(&service.types, cloud)
        };
        let all: Vec<&Service> = catalogue.services().filter(is_of_product).collect();
        let modelled = all
            .iter()
            .copied()
            .filter(of_family)
            .filter(|service| !service.classes.is_empty());
        let offered: BTreeMap<String, Arc<Service>> = modelled
            .map(|service| (service.name.clone(), Arc::new(service.clone())))
            .collect();
        let why_not = |service: &&Service| {
            let why = service.not_modelled.clone()?;
            Some((service.title.clone(), why))
        };
        if offered.is_empty() {
            return Err(AdviseError::NoService {
                wish: family.cloned().unwrap_or_else(|| "any".to_owned()),
                product: product.clone(),
                cloud: cloud.to_owned(),
                why: match all
                    .iter()
                    .copied()
                    .filter(of_family)
                    .find_map(|one| why_not(&one))
                {
                    Some((title, why)) => format!(" ({title} is not modelled: {why})"),
                    None => String::new(),
                },
                known: known(catalogue, product),
            });
        }
        Ok(Services {
            offered,
            alone: false,
            not_modelled: all.iter().filter_map(why_not).collect(),
        })
    }
}

/// Whether the name of a type begins with that of a cloud.
fn begins(types: &str, cloud: &str) -> bool {
    types
        .split_once('.')
        .is_some_and(|(begins, _)| begins.eq_ignore_ascii_case(cloud))
}

/// The kinds of services of a product, each with its cloud.
fn known(catalogue: &Catalogue, product: &str) -> String {
    let own = catalogue.services().filter(|service| {
        service.product.as_deref() == Some(product) && service.not_modelled.is_none()
    });
    let mut names: Vec<String> = own
        .map(|service| {
            let cloud = service.types.split('.').next().unwrap_or_default();
            format!("{} ({cloud})", service.family)
        })
        .collect();
    names.dedup();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}
