//! What each session is currently doing, and how it is interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use super::spaces::Group;

/// The current activity of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Activity {
    /// Nothing: waiting for its client.
    #[default]
    Idle,
    /// Executing, or waiting for a processor.
    Computing,
    /// Reading a data file.
    ReadingData,
    /// Reading a temporary file.
    ReadingTemp,
    /// Reading the log.
    ReadingLog,
    /// Waiting for writes of data files, or for memory that they occupy.
    WritingData,
    /// The same for temporary files.
    WritingTemp,
    /// Writing or flushing the log.
    WritingLog,
    /// Waiting for a database that another session has locked.
    WaitingForDatabase,
    /// Waiting for an application lock.
    WaitingForLock,
}

impl Activity {
    const ALL: [Activity; 10] = [
        Activity::Idle,
        Activity::Computing,
        Activity::ReadingData,
        Activity::ReadingTemp,
        Activity::ReadingLog,
        Activity::WritingData,
        Activity::WritingTemp,
        Activity::WritingLog,
        Activity::WaitingForDatabase,
        Activity::WaitingForLock,
    ];

    pub(super) fn reading(group: Group) -> Activity {
        match group {
            Group::Data => Activity::ReadingData,
            Group::Temp => Activity::ReadingTemp,
            Group::Log => Activity::ReadingLog,
        }
    }

    pub(super) fn writing(group: Group) -> Activity {
        match group {
            Group::Data => Activity::WritingData,
            Group::Temp => Activity::WritingTemp,
            Group::Log => Activity::WritingLog,
        }
    }
}

/// A session as others see it.
pub(super) struct Status {
    pub(super) id: u32,
    activity: AtomicU8,
    /// How often all sessions of the database were interrupted.
    interrupts: Arc<AtomicU64>,
    /// That number when the current statement began.
    seen: AtomicU64,
}

impl Status {
    pub(super) fn new(id: u32, interrupts: &Arc<AtomicU64>) -> Status {
        Status {
            id,
            activity: AtomicU8::new(Activity::Idle as u8),
            interrupts: Arc::clone(interrupts),
            seen: AtomicU64::new(interrupts.load(Relaxed)),
        }
    }

    pub(super) fn activity(&self) -> Activity {
        Activity::ALL[usize::from(self.activity.load(Relaxed))]
    }

    /// Sets the activity of the session until the returned value is dropped.
    pub(super) fn doing(&self, activity: Activity) -> Doing<'_> {
        Doing {
            status: self,
            before: self.activity.swap(activity as u8, Relaxed),
        }
    }

    /// Begins a statement: earlier interrupts do not apply to it.
    pub(super) fn begin(&self) {
        self.seen.store(self.interrupts.load(Relaxed), Relaxed);
    }

    /// Whether the current statement must end.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupts.load(Relaxed) != self.seen.load(Relaxed)
    }
}

/// Keeps the activity set until it is dropped.
pub(super) struct Doing<'a> {
    status: &'a Status,
    before: u8,
}

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        self.status.activity.store(self.before, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_activity_is_found_by_its_number() {
        for (number, activity) in Activity::ALL.into_iter().enumerate() {
            assert_eq!(activity as usize, number);
        }
    }

    #[test]
    fn an_activity_ends_with_its_guard() {
        let status = Status::new(0, &Arc::default());
        let computing = status.doing(Activity::Computing);
        let reading = status.doing(Activity::ReadingData);
        assert_eq!(status.activity(), Activity::ReadingData);
        drop(reading);
        assert_eq!(status.activity(), Activity::Computing);
        drop(computing);
        assert_eq!(status.activity(), Activity::Idle);
    }
}
