//! Where the files of a real-time trial are.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use reading::Reading;

/// Directories that represent an arm's volumes, and their activity: modelled volumes under real files
/// (emulate), or real directories (measure).
pub trait Site: Sync {
    /// The directory of a volume, empty at first; `volume` is its index in the arm.
    ///
    /// # Panics
    /// When no volume has that index.
    fn directory(&self, volume: usize) -> &Path;

    /// Counters so far.
    ///
    /// # Errors
    /// When they cannot be read, or the emulator is gone.
    fn reading(&self) -> io::Result<Reading>;

    /// Further counters by name, with the unit as suffix; only their differences are recorded, among the
    /// engine's own counters.
    ///
    /// Real volumes count `device_bytes.<volumes>`, bytes read and written at their disks;
    /// `other_bytes.<volumes>`, the part of these that neither this program nor its children requested;
    /// and `foreign_bytes.<volumes>`, what all other programs requested, on any disk. Volumes that cannot
    /// be distinguished share an entry, their names joined by `+`.
    ///
    /// # Errors
    /// When they cannot be read.
    fn counters(&self) -> io::Result<BTreeMap<String, f64>> {
        Ok(BTreeMap::new())
    }

    /// Writes back and drops what the operating system caches of the volumes' files, and empties
    /// modelled host caches if `host_cache` is set. Returns human-readable messages on what could not
    /// be done and why; empty if everything was.
    ///
    /// # Errors
    /// When the volumes no longer exist.
    fn go_cold(&self, host_cache: bool) -> io::Result<Vec<String>>;

    /// Facts about the place by name: kernel, filesystem, device, ..
    fn environment(&self) -> Vec<(String, String)>;
}
