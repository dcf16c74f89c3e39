//! Commands that change a server of a managed service in place, and those that roll it back. What a service takes, and what is documented
//! of the time meanwhile, is data of the catalogue.
//!
//! ```text
//! arm, today's arm ──► Server, Server ──► steps: what differs ──► commands, and what cannot be done in place
//! ```

mod fill;
mod request;
mod scripts;
mod server;
mod steps;
#[cfg(test)]
mod tests;
mod volumes;
mod way;

pub use fill::Names;
pub use request::{ServiceRequest, Today};
pub use scripts::scripts;
pub use server::{Held, Server};
