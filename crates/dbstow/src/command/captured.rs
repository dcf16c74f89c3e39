//! A captured server of any product: taken from a server, or read from a file.

use std::path::Path;

use anyhow::Result;
use engine::EngineError;
use experiment::kind::Kind;
use experiment::spec::EngineName;
use files::input;
use rules::Captured;

use super::{ServerLogin, ServerTimeout, UsageError};
use crate::engines::{ENGINES, product_of_capture, product_of_server};

/// Queries a server for everything in a capture. Names are kept.
///
/// # Errors
/// When there is no server, it refuses the login, or does not identify itself; when this build does not have its engine.
pub(crate) fn take(
    server: &str,
    login: &ServerLogin,
    timeout: &ServerTimeout,
) -> Result<Box<dyn Captured>> {
    let engine = product_of_server(server).engine();
    if let Some(why) = ENGINES.left_out(engine) {
        let text = format!("{why}: give a capture that another one wrote, instead of --server");
        return Err(UsageError(text).into());
    }
    let engine = ENGINES.find(&EngineName::new(engine))?;
    // Ctrl-C ends the program, as there is nothing to clean up.
    let patience = timeout.patience(Default::default());
    let captured = engine.capture(server, &login.options, patience);
    captured.map_err(in_words)
}

/// Reads a capture's file.
///
/// # Errors
/// When it cannot be read, or is not a capture.
pub(crate) fn load(file: &Path) -> Result<Box<dyn Captured>> {
    let name = file.display().to_string();
    let text = input::named(file).map_err(|error| {
        UsageError(format!(
            "cannot read the capture {name}: {error}; give a file that `dbstow doctor --out` wrote, or a server \
             with --server"
        ))
    })?;
    Kind::Capture.check(&name, &text)?;
    let declared = rules::capture::product(&text);
    Ok(product_of_capture(declared.as_deref()).load(&name, &text)?)
}

/// Missing input detected before any attempt is a usage error.
fn in_words(error: EngineError) -> anyhow::Error {
    match error {
        EngineError::Missing(text) => UsageError(text).into(),
        EngineError::Failed { .. } => error.into(),
    }
}
