//! What tells one server, and one login, from another.

/// Server and login: for a greeting, and for redaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Greeting {
    /// The server's own name.
    pub server: String,
    /// What distinguishes it from others of that name: an identifier that setup creates for msdb; empty if missing.
    pub instance: String,
    /// The login's current database.
    pub database: String,
    /// The login.
    pub login: String,
}
