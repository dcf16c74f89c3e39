//! What is stored of a drill's recordings.

/// A recording is refused, or read back as it was written.
#[cfg(target_os = "linux")]
pub(super) fn read(text: &str) -> Result<(), String> {
    use lab::drill::Recording;
    let recording = Recording::parse(text)?;
    let again = Recording::parse(&recording.text()).expect("it is what a drill writes");
    assert_eq!(again, recording);
    Ok(())
}

/// Drills are of Linux.
#[cfg(not(target_os = "linux"))]
pub(super) fn read(_: &str) -> Result<(), String> {
    Ok(())
}
