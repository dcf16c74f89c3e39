//! Stored recordings of a drill.

/// A recording is refused, or reads back as written.
#[cfg(target_os = "linux")]
pub(super) fn read(text: &str) -> Result<(), String> {
    use drill::Recording;
    let recording = Recording::parse(text)?;
    let again = Recording::parse(&recording.text()).expect("it is what a drill writes");
    assert_eq!(again, recording);
    Ok(())
}

/// Drills run only on Linux.
#[cfg(not(target_os = "linux"))]
pub(super) fn read(_: &str) -> Result<(), String> {
    Ok(())
}
