//! Why an engine cannot do what is asked of it.

/// The failure of an engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// It is not on this machine, or not usable, with the remedy.
    #[error("{0}")]
    Missing(String),
    /// It refused, or ended; with its own message.
    #[error("{what}: {why}")]
    Failed {
        /// The operation.
        what: String,
        /// The cause.
        why: String,
    },
}

impl EngineError {
    /// The error that the operation `what` failed because of `why`.
    pub fn failed(what: impl Into<String>, why: impl ToString) -> EngineError {
        EngineError::Failed {
            what: what.into(),
            why: why.to_string(),
        }
    }
}
