//! A connection to PostgreSQL: its URL, login, TLS, and the messages.

pub(crate) mod address;
pub(crate) mod failure;
pub(crate) mod login;
pub(crate) mod sslmode;
pub(crate) mod target;
pub(crate) mod tls;
pub(crate) mod url;
pub(crate) mod wire;

pub use url::ServerUrl;
