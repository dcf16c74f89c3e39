//! Time limit for a server.

use model::Duration;

/// How long a server may take.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct ServerTimeout {
    /// Longest that the server may take for a login, and for the whole answer to a question of dbstow's own; statements of
    /// a workload have no limit [default: 30s]
    #[arg(long, value_name = "TIME", requires = "server", value_parser = some_time)]
    pub timeout: Option<Duration>,
}

impl ServerTimeout {
    /// The timeout for the server, and the interruption of a wait.
    pub(super) fn patience(
        &self,
        stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    ) -> engine::Patience {
        use engine::Patience;

        Patience::new(self.timeout.unwrap_or(Patience::DEFAULT), stop)
    }
}

/// A nonzero duration.
fn some_time(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(Duration::ZERO) => Err("no server answers in no time; give 1s or more".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}
