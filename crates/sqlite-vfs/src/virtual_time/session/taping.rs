//! A session that tapes its operations, and one that replays them.

use std::rc::Rc;

use model::store::{FileId, Full, Role};

use super::{Session, enter, file_name, leave};
use crate::virtual_time::scheduler::Simulation;
use crate::virtual_time::tape::{Numbers, Recorder, Tape, TapeFiles, TapedAct, Work};
use crate::virtual_time::trace::Freed;

/// The name under which a database was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseName<'a> {
    /// By [`Session::open`].
    Own(&'a str),
    /// By [`Session::open_shared`].
    Shared(&'a str),
}

/// A session outside of a run that executes operations without time, and tapes what they do.
pub struct TapingSession(Rc<Session>);

impl TapingSession {
    /// The session, for its connection.
    pub fn session(&self) -> &Session {
        &self.0
    }

    /// Executes an operation, and returns its tape; `None` if it depends on the time.
    pub fn tape<T>(&self, operation: impl FnOnce() -> T) -> (T, Option<Tape>) {
        enter(&self.0);
        let result = operation();
        leave();
        let mut recorder = self.0.tape.borrow_mut();
        let recorder = recorder.as_mut().expect("it tapes until it is dropped");
        let tape = recorder.acts.take();
        (result, (!recorder.asked_time).then_some(tape))
    }
}

impl Simulation {
    /// Session `id`, which tapes what it does in its database; `None` if that was not opened.
    pub fn taping_session(
        &self,
        id: u32,
        database: DatabaseName<'_>,
        tables: Role,
    ) -> Option<TapingSession> {
        let mut recorder = Recorder::default();
        recorder.numbers.create(self.database(database, tables)?);
        let session = self.session(id, self.now());
        session.tape.replace(Some(recorder));
        Some(TapingSession(Rc::new(session)))
    }

    /// The files of a session that replays what was taped in its database; `None` if there is none of that name.
    pub fn tape_files(&self, database: DatabaseName<'_>, tables: Role) -> Option<TapeFiles> {
        self.database(database, tables).map(TapeFiles::of)
    }

    /// Frees what a session that replayed has left besides its database.
    pub fn close(&self, files: TapeFiles) {
        for file in files.into_temporary() {
            self.world.free(Freed::File(file));
        }
    }

    /// The place of a database.
    fn database(&self, name: DatabaseName<'_>, tables: Role) -> Option<FileId> {
        let name = match name {
            DatabaseName::Own(name) => file_name(name, tables),
            DatabaseName::Shared(name) => file_name(&self.world.shared_name(name), tables),
        };
        self.files.borrow().get(&name)?.place()
    }
}

impl Session {
    /// Replays an operation: does what is on its tape, in its own time.
    ///
    /// # Errors
    /// When the files of a role are full. Nothing that follows would be what an execution does.
    pub fn replay_tape(&self, tape: &Tape, files: &mut TapeFiles) -> Result<(), Full> {
        for (work, act) in tape.acts() {
            if self.stopping() {
                return Ok(());
            }
            self.put_back(work);
            match act {
                TapedAct::Read(file, page) => self.read_page(files.at(file), page),
                TapedAct::Write(file, page) => self.write_page(files.at(file), page)?,
                TapedAct::Commit(rows) => self.commit(rows)?,
                TapedAct::RollBack => self.roll_back(),
                TapedAct::Settle => self.settle(),
                TapedAct::Sleep(span) => self.sleep(span),
                TapedAct::Lock(key) => self.lock(key),
                TapedAct::Unlock(key) => self.unlock(key),
                TapedAct::UnlockAll => self.unlock_all(),
                TapedAct::Create(file, role) => files.create(file, self.world().create(role)),
                TapedAct::Free(file) => self.free(Freed::File(files.free(file))),
                TapedAct::FreeFrom(file, first) => self.free(Freed::From(files.at(file), first)),
                TapedAct::Trace => self.trace(),
                TapedAct::Replay => self.replay()?,
                TapedAct::Change(row) => self.change(|| Some(row)),
            }
        }
        Ok(())
    }

    pub(super) fn tapes(&self) -> bool {
        self.tape.borrow().is_some()
    }

    /// Tapes an act and the work before it, if it tapes; returns whether it did.
    pub(super) fn taped(&self, act: impl FnOnce(&Numbers) -> TapedAct) -> bool {
        if !self.tapes() {
            return false;
        }
        let work = Work {
            rows: self.unlogged_rows.take(),
            ..self.take_counts()
        };
        if let Some(recorder) = self.tape.borrow_mut().as_mut() {
            recorder.acts.push(work, act(&recorder.numbers));
        }
        true
    }

    /// A transaction on a shared database begins on the tape, or ends.
    pub(super) fn tape_transaction(&self, begins: bool) {
        if let Some(recorder) = self.tape.borrow_mut().as_mut() {
            recorder.is_tracing = begins;
        }
    }

    /// SQLite created a file.
    pub(in crate::virtual_time) fn created(&self, file: FileId, role: Role) {
        if let Some(recorder) = self.tape.borrow_mut().as_mut() {
            let number = recorder.numbers.create(file);
            recorder
                .acts
                .push(Work::default(), TapedAct::Create(number, role));
        }
    }

    /// SQLite freed pages.
    pub(super) fn freed(&self, pages: Freed) {
        if let Some(recorder) = self.tape.borrow_mut().as_mut() {
            let act = recorder.numbers.freed(pages);
            recorder.acts.push(Work::default(), act);
        }
    }

    /// SQLite asks for the time.
    pub(in crate::virtual_time) fn asked_time(&self) -> model::Instant {
        if let Some(recorder) = self.tape.borrow_mut().as_mut() {
            recorder.asked_time = true;
        }
        self.now()
    }
}
