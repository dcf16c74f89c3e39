//! What each session is doing at the moment, and how it is interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use super::spaces::Group;

/// What a session does at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Activity {
    /// Nothing: its client is to speak.
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
    /// Waiting for writes of data files, or for memory that they keep occupied.
    WritingData,
    /// The same of temporary files.
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
    /// That number when the present statement began.
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

    /// Says what the session does until the answer is dropped.
    pub(super) fn doing(&self, activity: Activity) -> Doing<'_> {
        Doing {
            status: self,
            before: self.activity.swap(activity as u8, Relaxed),
        }
    }

    /// A statement begins: interrupts before it are not meant for it.
    pub(super) fn begin(&self) {
        self.seen.store(self.interrupts.load(Relaxed), Relaxed);
    }

    /// Whether the present statement is to end.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupts.load(Relaxed) != self.seen.load(Relaxed)
    }
}

/// While it lives, the session does what was said.
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
