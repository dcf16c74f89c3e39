//! A strict test double of SQL Server, at protocol level.
//!
//! It speaks TDS 7.4 as described by [MS-TDS], so that real clients accept it, and answers only what it is scripted for:
//! any other text fails with error 50001 and is recorded, so that a test can fail on it. Clients' protocol violations are
//! recorded too. Nothing measured on it says anything about SQL Server.
//!
//! [`Script`] answers by exact text; [`server::SqlServer`] has a state of databases, files, counters and logins that
//! texts change and queries show.
//!
//! ```text
//! client ──► transport ──► packet ──► request ──► Model::answer ──► encode ──► transport ──► client
//!            plain, TLS    messages   texts,       plain code         tokens
//!                                     parameters
//! ```
//!
//! `mssql-mock-tds` 0.3 is a double by the authors of the client `mssql-tds`. It is not used here: its server answers
//! everything unknown with an empty success, has one result set per batch, loses requests of more than a packet and
//! overflows at replies of 64 KiB, so that only its token builders would remain. Those lack float, bit, `nvarchar(max)`,
//! columns that are never NULL, and errors in the middle of a batch; and a double that shares its authors and much of its
//! code with a client under test repeats their mistakes instead of finding them. This one was written from the
//! specification, and is tested with clients of four makers (`tests/foreign.rs`).
//!
//! Not implemented: TDS 8.0, encryption of the login alone (it encrypts everything or nothing), MARS, cursors, bulk load,
//! Windows logins, Always Encrypted, session recovery, decimals and dates. A text is not checked when it is prepared,
//! only when it is executed. There are no folders: a volume holds any path on it.
//!
//! [MS-TDS]: https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/b46a581a-39de-4745-b076-ec4dbb7d13ec
//!
//! ```
//! use tds_double::{Credentials, Double, Encryption, Reply, Script};
//!
//! let script = Script::new(Credentials::new("sa", "secret")).on("CHECKPOINT", Reply::new().done());
//! let double = Double::start(script, Encryption::None).expect("a free port");
//! println!("connect to {}", double.address());
//! // .. a client works ..
//! double.settle(); // nothing unscripted, nothing against the protocol
//! ```

mod connection;
mod double;
mod encode;
pub mod fixed;
mod handshake;
mod journal;
mod login;
mod model;
mod packet;
mod port;
mod prelogin;
mod procedures;
mod reply;
mod request;
mod script;
mod served;
pub mod server;
mod shared;
#[cfg(target_os = "linux")]
mod tls;
mod transport;
mod value;
mod wire;

pub use double::Double;
pub use journal::HEARD;
pub use login::{Login, Proof};
pub use model::{Admitted, Form, Identity, Model, Question, Refusal, Session};
pub use reply::{Column, Item, Message, Reply, Rows, Transaction};
pub use script::{Credentials, Script};
pub use shared::Encryption;
pub use value::{Kind, Parameter, Value};
