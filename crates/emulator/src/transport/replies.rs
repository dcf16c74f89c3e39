//! Replies of a front whose reads, writes and flushes come through [`fuser::Filesystem`].

use std::io;
use std::sync::Arc;

use fuser::{ReplyData, ReplyEmpty, ReplyWrite};
use parking_lot::Mutex;

use model::Instant;

use super::super::deadlines::{Deadlines, Reply};
use super::super::front::{DataPath, Done, Errno};
use super::super::pace::Pace;

/// Executes reads, writes and flushes at once, and answers them when they are due.
///
/// A front has one, and passes it the requests of its [`fuser::Filesystem`]. One thread serves all fronts
/// of an emulation.
#[derive(Clone)]
pub(crate) struct Replies {
    deadlines: Arc<Deadlines<Answer>>,
    spare: Arc<Spare>,
}

enum Answer {
    Data(ReplyData, Buffer),
    Written(ReplyWrite, u32),
    Done(ReplyEmpty),
}

impl Replies {
    /// Starts the thread that sends delayed replies.
    ///
    /// # Errors
    /// When the operating system cannot start one.
    pub(crate) fn start(pace: Arc<Pace>) -> io::Result<Replies> {
        Ok(Replies {
            deadlines: Arc::new(Deadlines::start(pace)?),
            spare: Arc::default(),
        })
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
        let mut buffer = Spare::take(&self.spare, length as usize);
        match data.read(handle, offset, buffer.bytes()) {
            Ok(done) => {
                buffer.length = done.length;
                self.deadlines.reply(done.due, Answer::Data(reply, buffer));
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
                // No longer than one request, whose length has 32 bits.
                let length = u32::try_from(length).unwrap_or(u32::MAX);
                self.deadlines.reply(due, Answer::Written(reply, length));
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
            Ok(done) => self.deadlines.reply(done.due, Answer::Done(reply)),
            Err(Errno(code)) => reply.error(fuser::Errno::from_i32(code)),
        }
    }
}

impl Replies {
    /// Answers a completed operation when it is due.
    pub(crate) fn done(&self, due: Instant, reply: ReplyEmpty) {
        self.deadlines.reply(Some(due), Answer::Done(reply));
    }
}

impl Reply for Answer {
    fn send(self) {
        match self {
            Answer::Data(reply, mut buffer) => reply.data(buffer.bytes()),
            Answer::Written(reply, length) => reply.written(length),
            Answer::Done(reply) => reply.ok(),
        }
    }
}

/// Unused buffers: creating and clearing a new one for each read would cost a long read more than the reading.
#[derive(Default)]
struct Spare(Mutex<Vec<Vec<u8>>>);

/// Most spare buffers kept; more are in use only while more replies are pending.
const SPARE_MAX: usize = 64;

/// A buffer that is returned when dropped.
struct Buffer {
    memory: Vec<u8>,
    length: usize,
    spare: Arc<Spare>,
}

impl Spare {
    fn take(spare: &Arc<Spare>, length: usize) -> Buffer {
        let mut memory = spare.0.lock().pop().unwrap_or_default();
        if memory.len() < length {
            memory.resize(length, 0);
        }
        Buffer {
            memory,
            length,
            spare: Arc::clone(spare),
        }
    }
}

impl Buffer {
    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[..self.length]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut spare = self.spare.0.lock();
        if spare.len() < SPARE_MAX {
            spare.push(std::mem::take(&mut self.memory));
        }
    }
}
