//! The open sessions of a database.

use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::InterruptHandle;

use super::activity::Activity;
use super::files::SessionState;

/// Open sessions, as seen from any thread.
#[derive(Default)]
pub(super) struct Members(Mutex<Vec<Member>>);

struct Member {
    session: Arc<SessionState>,
    interrupt: InterruptHandle,
}

impl Members {
    pub(super) fn add(&self, session: Arc<SessionState>, interrupt: InterruptHandle) {
        self.0.lock().push(Member { session, interrupt });
    }

    pub(super) fn remove(&self, session: u32) {
        let other = |member: &Member| member.session.status.id != session;
        self.0.lock().retain(other);
    }

    /// What each session is currently doing, by its number.
    pub(super) fn activities(&self) -> Vec<(u32, Activity)> {
        let members = self.0.lock();
        let statuses = members.iter().map(|member| &member.session.status);
        statuses
            .map(|status| (status.id, status.activity()))
            .collect()
    }

    /// Interrupts SQLite's current statements.
    pub(super) fn interrupt(&self) {
        for member in self.0.lock().iter() {
            member.interrupt.interrupt();
        }
    }
}
