//! Where the files of a real-time trial are.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use reading::Reading;

/// Directories that stand for an arm's volumes, and what happens at them: modelled volumes under real
/// files (emulate), or real directories (measure).
pub trait Site: Sync {
    /// The directory of a volume, empty at first; the place is that of the volume in the arm.
    ///
    /// # Panics
    /// When there is no volume at that place.
    fn directory(&self, volume: usize) -> &Path;

    /// Counters so far.
    ///
    /// # Errors
    /// When they cannot be read, or the emulator is gone.
    fn reading(&self) -> io::Result<Reading>;

    /// What else is counted so far, by name with the unit as suffix; only their differences are recorded,
    /// among the engine's own counters.
    ///
    /// Real volumes count `device_bytes.<volumes>`, what was read and written at their disks;
    /// `other_bytes.<volumes>`, how much more that is than this program and what it started asked for; and
    /// `foreign_bytes.<volumes>`, what all other programs asked for, of any disk. Volumes that cannot be
    /// told apart share an entry, their names joined by `+`.
    ///
    /// # Errors
    /// When they cannot be read.
    fn counters(&self) -> io::Result<BTreeMap<String, f64>> {
        Ok(BTreeMap::new())
    }

    /// Writes back and forgets what the operating system caches of the volumes' files, and empties
    /// modelled host caches if `host_cache` says so. Gives what could not be done, for people, with the
    /// reason; nothing when all of it was.
    ///
    /// # Errors
    /// When the volumes are gone.
    fn go_cold(&self, host_cache: bool) -> io::Result<Vec<String>>;

    /// What is known about the place by name: kernel, filesystem, device, ..
    fn environment(&self) -> Vec<(String, String)>;
}
