//! The sessions that a database has open.

use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::InterruptHandle;

use super::activity::Activity;
use super::files::Session;

/// Open sessions, from any thread's point of view.
#[derive(Default)]
pub(super) struct Members(Mutex<Vec<Member>>);

struct Member {
    session: Arc<Session>,
    interrupt: InterruptHandle,
}

impl Members {
    pub(super) fn add(&self, session: Arc<Session>, interrupt: InterruptHandle) {
        self.0.lock().push(Member { session, interrupt });
    }

    pub(super) fn remove(&self, session: u32) {
        let other = |member: &Member| member.session.status.id != session;
        self.0.lock().retain(other);
    }

    /// What each session does at this moment, by its number.
    pub(super) fn activities(&self) -> Vec<(u32, Activity)> {
        let members = self.0.lock();
        let statuses = members.iter().map(|member| &member.session.status);
        statuses
            .map(|status| (status.id, status.activity()))
            .collect()
    }

    /// Ends SQLite's statements under way.
    pub(super) fn interrupt(&self) {
        for member in self.0.lock().iter() {
            member.interrupt.interrupt();
        }
    }
}
