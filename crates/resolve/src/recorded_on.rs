//! The machine or the class that counters were recorded on, as a profile has it.

use catalogue::{Catalogue, CatalogueError};
use profile::Machine;

/// The machine or class of a managed service of this name.
///
/// # Errors
/// When there is none; the error lists the nearest names.
pub fn recorded_on(name: &str, catalogue: &Catalogue) -> Result<Machine, CatalogueError> {
    let entry = catalogue.machine(name)?;
    Ok(Machine {
        name: Some(entry.name.clone()),
        processors: Some(entry.spec.cores),
        memory: Some(entry.spec.memory),
        cache: None,
    })
}
