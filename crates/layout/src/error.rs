//! Layout requests that cannot be fulfilled.

/// A mistake in a layout request, with its remedy.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// A volume has no folder.
    #[error("volume \"{volume}\" has no folder; add --volume {volume}={example}")]
    NoFolder {
        /// The volume.
        volume: String,
        /// An example of a folder there.
        example: &'static str,
    },
    /// A folder was given for a volume that holds none of the requested files.
    #[error("--volume {volume}=..: no file that is asked for lives there ({used})")]
    Unused {
        /// The volume.
        volume: String,
        /// Those that hold one.
        used: String,
    },
    /// An invalid folder.
    #[error("--volume {volume}={folder}: {why}")]
    Folder {
        /// The volume.
        volume: String,
        /// The given folder.
        folder: String,
        /// What is wrong with it, and the remedy.
        why: String,
    },
    /// The server's platform is unknown.
    #[error(
        "whether the server runs on Windows or Linux is not known; add --capture FILE, which `dbstow doctor` \
         writes, or --on"
    )]
    Where,
    /// The capture contradicts the request.
    #[error(
        "--on {asked}: the capture is of a server on {is}; leave --on out, or take another capture"
    )]
    Elsewhere {
        /// The requested value.
        asked: String,
        /// The actual value.
        is: String,
    },
    /// A capture that cannot be used here.
    #[error("{0}")]
    Capture(String),
    /// A request that this kind of server does not support.
    #[error("{0}")]
    Impossible(String),
    /// Too little space.
    #[error(
        "{volume} has {free} free, and the new files need {needed}; ask for smaller files (--size, --log-size), \
         or another volume"
    )]
    Space {
        /// Its mount point.
        volume: String,
        /// Free space.
        free: String,
        /// Required space.
        needed: String,
    },
    /// A database is missing in the request, or exists already.
    #[error("{0}")]
    Database(String),
}
