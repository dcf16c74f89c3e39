//! PostgreSQL's logs of statements, of which a rehearsal plays every session.

/// Reads a log, whichever form it has: what it has is complete enough to be played.
#[cfg(target_os = "linux")]
pub(super) fn read(text: &str) -> Result<(), String> {
    use engine::logged::LogRequest;
    let asked = LogRequest {
        database: Some("shop".to_owned()),
        ..LogRequest::default()
    };
    // What is asked for changes what is left out, and not whether it is a log.
    let _ = postgres::rehearse::read_log(&mut text.as_bytes(), &asked);
    let log = postgres::rehearse::read_log(&mut text.as_bytes(), &LogRequest::default());
    let log = log.map_err(|error| error.to_string())?;
    for session in &log.sessions {
        assert!(!session.statements.is_empty());
        for statement in &session.statements {
            assert!(statement.end_us.is_none_or(|end| end >= statement.start_us));
        }
    }
    Ok(())
}

/// Rehearsals run only on Linux.
#[cfg(not(target_os = "linux"))]
pub(super) fn read(_: &str) -> Result<(), String> {
    Ok(())
}
