//! Replies of a front whose reads, writes and flushes come through [`fuser::Filesystem`].

use std::io;
use std::sync::Arc;

use fuser::{ReplyData, ReplyEmpty, ReplyWrite};

use model::Instant;

use super::super::deadlines::{Deadlines, Reply};
use super::super::front::{DataPath, Done, Errno};
use super::super::pace::Pace;

/// Carries reads, writes and flushes out at once, and answers them when they are due.
///
/// A front has one, and hands it what its [`fuser::Filesystem`] is asked. One thread serves all fronts of
/// an emulation.
#[derive(Clone)]
pub(crate) struct Replies(Arc<Deadlines<Answer>>);

enum Answer {
    Data(ReplyData, Vec<u8>),
    Written(ReplyWrite, u32),
    Done(ReplyEmpty),
}

impl Replies {
    /// Starts the thread that sends what has to wait.
    ///
    /// # Errors
    /// When the operating system gives none.
    pub(crate) fn start(pace: Arc<Pace>) -> io::Result<Replies> {
        Ok(Replies(Arc::new(Deadlines::start(pace)?)))
    }

    /// Reads `length` bytes of an open file.
    pub(crate) fn read(
        &self,
        data: &impl DataPath,
        handle: u64,
        offset: u64,
        length: u32,
        reply: ReplyData,
    ) {
        let mut buffer = vec![0; length as usize];
        match data.read(handle, offset, &mut buffer) {
            Ok(done) => {
                buffer.truncate(done.length);
                self.0.reply(done.due, Answer::Data(reply, buffer));
            }
            Err(Errno(code)) => reply.error(fuser::Errno::from_i32(code)),
        }
    }

    /// Writes `bytes` to an open file.
    pub(crate) fn write(
        &self,
        data: &impl DataPath,
        handle: u64,
        offset: u64,
        bytes: &[u8],
        reply: ReplyWrite,
    ) {
        match data.write(handle, offset, bytes) {
            Ok(Done { length, due }) => {
                // No longer than one request, which is counted in 32 bits.
                let length = u32::try_from(length).unwrap_or(u32::MAX);
                self.0.reply(due, Answer::Written(reply, length));
            }
            Err(Errno(code)) => reply.error(fuser::Errno::from_i32(code)),
        }
    }

    /// Makes an open file durable.
    pub(crate) fn sync(
        &self,
        data: &impl DataPath,
        handle: u64,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        match data.sync(handle, data_only) {
            Ok(done) => self.0.reply(done.due, Answer::Done(reply)),
            Err(Errno(code)) => reply.error(fuser::Errno::from_i32(code)),
        }
    }
}

impl Replies {
    /// Answers something that is done when it is due.
    pub(crate) fn done(&self, due: Instant, reply: ReplyEmpty) {
        self.0.reply(Some(due), Answer::Done(reply));
    }
}

impl Reply for Answer {
    fn send(self) {
        match self {
            Answer::Data(reply, bytes) => reply.data(&bytes),
            Answer::Written(reply, length) => reply.written(length),
            Answer::Done(reply) => reply.ok(),
        }
    }
}
