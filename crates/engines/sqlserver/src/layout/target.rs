//! The server that scripts are for: from a capture, or assumed without one.

use crate::capture::{Capture, FORMAT, Product};
use layout::{CaptureFile, Folder, LayoutError, LayoutRequest, Platform, Style};

/// A server that scripts are for.
pub(super) struct Target {
    /// Its platform.
    pub(super) on: Platform,
    /// Its capture.
    pub(super) capture: Option<Capture>,
}

impl Target {
    /// The server of a capture, or one inferred from the request.
    ///
    /// # Errors
    /// When its platform is unknown or ambiguous, or when the capture cannot be used.
    pub(super) fn new(
        file: Option<&CaptureFile>,
        request: &LayoutRequest,
    ) -> Result<Target, LayoutError> {
        let Some(file) = file else {
            let (on, capture) = (request.platform()?, None);
            return Ok(Target { on, capture });
        };
        let capture = read(file)?;
        let on = of(&capture)?;
        match request.on {
            Some(asked) if asked != on => {
                let (asked, is) = (asked.to_string(), on.to_string());
                Err(LayoutError::Elsewhere { asked, is })
            }
            Some(_) | None => Ok(Target {
                on,
                capture: Some(capture),
            }),
        }
    }

    /// Its path syntax.
    pub(super) fn style(&self) -> Style {
        match self.on {
            Platform::Linux => Style::Unix,
            Platform::Windows | Platform::ManagedInstance | Platform::AzureSqlDatabase => {
                Style::Windows
            }
        }
    }

    /// Free bytes on the volume of a folder, and its mount point; `None`: unknown. T-SQL only sees volumes that hold a
    /// file of a database.
    pub(super) fn free(&self, folder: &Folder) -> Option<(&str, u64)> {
        let volumes = self.capture.iter().flat_map(|capture| &capture.volumes);
        let holding = volumes.filter(|volume| folder.is_under(&volume.mount_point));
        let volume = holding.max_by_key(|volume| volume.mount_point.len())?;
        let bytes = u64::try_from(volume.available_bytes).unwrap_or(0);
        Some((&volume.mount_point, bytes))
    }

    /// Whether the volume of a folder was declared to be empty after the machine was moved.
    pub(super) fn supplied_ephemeral(&self, folder: &Folder) -> bool {
        let supplied = self
            .capture
            .iter()
            .filter_map(|capture| capture.supplied.as_ref());
        let volumes = supplied.flat_map(|host| &host.volumes);
        let holding = volumes.filter(|volume| folder.is_under(&volume.mount_point));
        let volume = holding.max_by_key(|volume| volume.mount_point.len());
        volume.is_some_and(|volume| volume.ephemeral == Some(true))
    }
}

fn read(file: &CaptureFile) -> Result<Capture, LayoutError> {
    let text = file.text.trim_start_matches('\u{feff}');
    let capture: Capture = serde_json::from_str(text).map_err(|error| {
        LayoutError::Capture(format!(
            "{}: this is not a capture of a server: {error}; `dbstow doctor` writes one",
            file.name
        ))
    })?;
    if capture.format > FORMAT {
        return Err(LayoutError::Capture(format!(
            "the capture has format {}, and this program reads {FORMAT}; take a newer dbstow",
            capture.format
        )));
    }
    if capture.redacted {
        return Err(LayoutError::Capture(
            "the capture has its names replaced, so that scripts from it would name files that are not there; \
             take one that is not redacted"
                .to_owned(),
        ));
    }
    Ok(capture)
}

fn of(capture: &Capture) -> Result<Platform, LayoutError> {
    let refused = |what: &str| Err(LayoutError::Capture(what.to_owned()));
    match capture.identity.product() {
        Product::AzureDatabase => Ok(Platform::AzureSqlDatabase),
        Product::ManagedInstance => Ok(Platform::ManagedInstance),
        Product::Boxed => match capture.machine.platform.to_lowercase().as_str() {
            "windows" => Ok(Platform::Windows),
            "linux" => Ok(Platform::Linux),
            // Before 2017 there is no view for this, and only Windows.
            "" if capture.identity.major() < 14 => Ok(Platform::Windows),
            _ => refused(
                "the capture does not say whether the server runs on Windows or Linux; take it again with \
                 VIEW SERVER STATE",
            ),
        },
        Product::Babelfish => refused(
            "the capture is of Babelfish, which ignores where T-SQL puts files; use --engine postgres without --capture",
        ),
        Product::Other => refused(&format!(
            "the capture is of {}, whose files dbstow knows nothing of",
            capture.identity.edition
        )),
    }
}
