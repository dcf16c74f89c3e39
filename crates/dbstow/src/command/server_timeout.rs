//! How to log in to a SQL Server.

use std::path::PathBuf;

use model::Duration;

use super::choice::{ENCRYPTIONS, one_of};
use engine::{EncryptKind, LoginOptions};

/// How to log in to a SQL Server. No password is taken here: it would be in the list of processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "SQL Server: login (a password comes from SQLCMDPASSWORD)")]
pub struct ServerLogin {
    /// Log in with the access token in this environment variable
    #[arg(long, value_name = "NAME", conflicts_with = "access_token_file")]
    pub access_token_env: Option<String>,
    /// Log in with the access token in this file
    #[arg(long, value_name = "FILE")]
    pub access_token_file: Option<PathBuf>,
    /// How the connection is protected [default: mandatory]
    #[arg(long, value_parser = one_of(ENCRYPTIONS))]
    pub encrypt: Option<EncryptKind>,
    /// Accept a certificate that is not trusted, such as that of a new server
    #[arg(long)]
    pub trust_server_certificate: bool,
}

/// How long a server may take.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct ServerTimeout {
    /// Longest that the server may take for a login, and for the whole answer to a question of dbstow's own; statements of
    /// a workload have no limit [default: 30s]
    #[arg(long, value_name = "TIME", requires = "server", value_parser = some_time)]
    pub timeout: Option<Duration>,
}

impl ServerTimeout {
    /// How long to wait for the server, and what ends the wait.
    #[cfg(any(
        feature = "sqlserver",
        all(unix, any(feature = "mariadb", feature = "postgres"))
    ))]
    pub(super) fn patience(
        &self,
        stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    ) -> engine::Patience {
        use engine::Patience;

        Patience::new(self.timeout.unwrap_or(Patience::DEFAULT), stop)
    }
}

/// A time that is not zero.
fn some_time(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(Duration::ZERO) => Err("no server answers in no time; give 1s or more".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

impl ServerLogin {
    /// What was given.
    pub fn options(&self) -> LoginOptions {
        LoginOptions {
            token_env: self.access_token_env.clone(),
            token_file: self.access_token_file.clone(),
            encrypt: self.encrypt,
            trust_certificate: self.trust_server_certificate,
        }
    }
}
