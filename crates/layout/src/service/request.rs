//! What to change of a server of a managed service.

use super::fill::Names;
use super::server::Server;
use crate::error::LayoutError;

/// What to change.
#[derive(Clone, Debug)]
pub struct ServiceRequest<'a> {
    /// Its origin, as text.
    pub title: String,
    /// The server today; `None`: not known.
    pub today: Option<Server<'a>>,
    /// What it becomes.
    pub then: Server<'a>,
    /// What the service calls it.
    pub names: Names,
}

impl ServiceRequest<'_> {
    /// Refuses what is no change of a server.
    pub(super) fn check(&self) -> Result<(), LayoutError> {
        self.names.check()?;
        let Some(today) = &self.today else {
            return Ok(());
        };
        if !today.service.becomes(self.then.service) {
            return Err(LayoutError::Impossible(format!(
                "{} is on {}, and today's server on {}: one does not become the other in place; create a new server as the arm has it, and \
                 move the data with the product's own tools",
                self.title, self.then.service.title, today.service.title
            )));
        }
        Ok(())
    }
}
