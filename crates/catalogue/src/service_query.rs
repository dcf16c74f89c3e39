//! Which services are asked for, and which a machine or a disk belongs to.

use super::catalogue::Catalogue;
use super::error::CatalogueError;
use super::service::{LOCAL, Service};

impl Catalogue {
    /// All services, by name.
    pub fn services(&self) -> impl Iterator<Item = &Service> {
        self.services.values()
    }

    /// The services that `pattern` means: the one of this name, or all whose name, title or names of classes contain it, ignoring
    /// case; not empty.
    ///
    /// # Errors
    /// When there is none; the error lists the nearest names.
    pub fn find_services(&self, pattern: &str) -> Result<Vec<&Service>, CatalogueError> {
        if let Some(one) = self.services.get(pattern) {
            return Ok(vec![one]);
        }
        let wanted = pattern.to_lowercase();
        let is_found = |service: &&Service| {
            let texts = [&service.name, &service.title, &service.types];
            (texts.iter()).any(|text| text.to_lowercase().contains(&wanted))
        };
        let found: Vec<&Service> = self.services().filter(is_found).collect();
        match found.is_empty() {
            true => Err(CatalogueError::unknown(
                "service",
                pattern,
                self.services.keys(),
            )),
            false => Ok(found),
        }
    }

    /// The service that a machine is a class of.
    pub fn service_of(&self, machine: &str) -> Option<&Service> {
        self.services()
            .find(|one| one.classes.contains_key(machine))
    }

    /// The services whose storage a disk is; empty for disks that machines are given.
    pub fn services_with<'a>(&'a self, disk: &'a str) -> impl Iterator<Item = &'a Service> {
        self.services()
            .filter(move |one| disk != LOCAL && one.storage_of(disk).is_some())
    }
}
