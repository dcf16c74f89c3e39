//! A connection to MariaDB or MySQL: its URL, login, TLS, and the packets.

pub(crate) mod column;
pub(crate) mod failure;
pub(crate) mod login;
mod option_file;
pub(crate) mod parse;
mod tls;
pub(crate) mod url;
pub(crate) mod wire;

pub use url::ServerUrl;
