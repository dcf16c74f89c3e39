//! SQLite's file locks, within one simulation.
//!
//! The five levels and their conflicts: <https://www.sqlite.org/lockingv3.html>.

/// A connection's level of lock on a file, in SQLite's order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// None.
    #[default]
    Unlocked,
    /// Reading.
    Shared,
    /// About to write; one at a time, readers continue.
    Reserved,
    /// Waiting for the readers to finish; new ones are refused.
    Pending,
    /// Writing; excludes all others.
    Exclusive,
}

impl Level {
    /// The level that SQLite numbers `number`.
    pub(crate) fn from_sqlite(number: i32) -> Level {
        match number {
            0 => Level::Unlocked,
            1 => Level::Shared,
            2 => Level::Reserved,
            3 => Level::Pending,
            _ => Level::Exclusive,
        }
    }
}

/// The locks on one file.
#[derive(Default)]
pub(crate) struct Locks {
    shared: u32,
    reserved: bool,
    pending: bool,
    exclusive: bool,
}

impl Locks {
    /// Whether a connection is about to write.
    pub(crate) fn reserved(&self) -> bool {
        self.reserved
    }

    /// Raises one connection from `held` towards `wanted`; returns the level reached, and whether it is
    /// the one wanted.
    pub(crate) fn raise(&mut self, held: Level, wanted: Level) -> (Level, bool) {
        if held >= wanted {
            return (held, true);
        }
        match wanted {
            Level::Unlocked => (held, true),
            Level::Shared if self.pending || self.exclusive => (held, false),
            Level::Shared => {
                self.shared += 1;
                (Level::Shared, true)
            }
            Level::Reserved if self.reserved => (held, false),
            Level::Reserved => {
                self.reserved = true;
                (Level::Reserved, true)
            }
            Level::Pending | Level::Exclusive => self.raise_to_exclusive(held),
        }
    }

    fn raise_to_exclusive(&mut self, held: Level) -> (Level, bool) {
        if held < Level::Reserved {
            if self.reserved {
                return (held, false);
            }
            self.reserved = true;
        }
        self.pending = true;
        // The one remaining shared lock is our own.
        if self.shared > 1 {
            return (Level::Pending, false);
        }
        self.exclusive = true;
        (Level::Exclusive, true)
    }

    /// Lowers one connection from `held` to `wanted`.
    pub(crate) fn lower(&mut self, held: Level, wanted: Level) {
        if held >= Level::Reserved && wanted < Level::Reserved {
            (self.reserved, self.pending, self.exclusive) = (false, false, false);
        }
        if held >= Level::Shared && wanted < Level::Shared {
            self.shared -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_waits_for_readers_and_lets_no_new_ones_in() {
        let mut locks = Locks::default();
        assert_eq!(
            locks.raise(Level::Unlocked, Level::Shared),
            (Level::Shared, true)
        );
        assert_eq!(
            locks.raise(Level::Unlocked, Level::Shared),
            (Level::Shared, true)
        );
        assert_eq!(
            locks.raise(Level::Shared, Level::Reserved),
            (Level::Reserved, true)
        );
        assert_eq!(
            locks.raise(Level::Reserved, Level::Exclusive),
            (Level::Pending, false)
        );
        assert_eq!(
            locks.raise(Level::Unlocked, Level::Shared),
            (Level::Unlocked, false)
        );
        locks.lower(Level::Shared, Level::Unlocked);
        assert_eq!(
            locks.raise(Level::Pending, Level::Exclusive),
            (Level::Exclusive, true)
        );
        locks.lower(Level::Exclusive, Level::Unlocked);
        assert_eq!(
            locks.raise(Level::Unlocked, Level::Shared),
            (Level::Shared, true)
        );
    }
}
