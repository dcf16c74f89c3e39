//! What to change of a server of a managed service.

use catalogue::Catalogue;
use experiment::spec::Settings;

use super::fill::Names;
use super::server::Server;
use crate::error::LayoutError;

/// What a server is today.
#[derive(Clone, Debug)]
pub enum Today<'a> {
    /// That is not known.
    Unknown,
    /// A machine of this name.
    Machine(String),
    /// A server of a managed service.
    Server(Server<'a>),
}

impl<'a> Today<'a> {
    /// Today's arm, where there is one.
    pub fn of(settings: Option<&Settings>, catalogue: &'a Catalogue) -> Today<'a> {
        let Some(settings) = settings else {
            return Today::Unknown;
        };
        let machine = || settings.machine.kind.as_deref().unwrap_or("a machine");
        let server = Server::of(settings, catalogue);
        server.map_or_else(|| Today::Machine(machine().to_owned()), Today::Server)
    }

    /// The server, where it is one.
    pub(super) fn server(&self) -> Option<&Server<'a>> {
        match self {
            Today::Server(server) => Some(server),
            Today::Unknown | Today::Machine(_) => None,
        }
    }
}

/// What to change.
#[derive(Clone, Debug)]
pub struct ServiceRequest<'a> {
    /// Its origin, as text.
    pub title: String,
    /// What it is today.
    pub today: Today<'a>,
    /// What it becomes.
    pub then: Server<'a>,
    /// What the service calls it.
    pub names: Names,
}

impl ServiceRequest<'_> {
    /// Refuses a service that today's server does not become in place.
    pub(super) fn check(&self) -> Result<(), LayoutError> {
        self.names.check()?;
        let is_on = match &self.today {
            Today::Unknown => return Ok(()),
            Today::Server(today) if today.service.becomes(self.then.service) => return Ok(()),
            Today::Server(today) => &today.service.title,
            Today::Machine(name) => name,
        };
        Err(LayoutError::Impossible(format!(
            "{} is on {}, and today's server on {is_on}: one does not become the other in place; create a new server as the arm has it, and \
             move the data with the product's own tools",
            self.title, self.then.service.title
        )))
    }
}
