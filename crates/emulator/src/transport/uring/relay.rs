//! Relays requests that a ring does not execute itself to the filesystem through a socket.
//!
//! The filesystem's session uses the socket as `/dev/fuse`: it reads requests from it and writes answers
//! to it, so that `fuser` decodes every kind of request.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use ::fuser::{BackgroundSession, Config, Filesystem, InitFlags, Session, SessionACL};
use fuse_abi::linux::{
    FUSE_INIT_EXT, FUSE_KERNEL_MINOR_VERSION, FUSE_KERNEL_VERSION, fuse_in_header, fuse_init_in,
    fuse_opcode,
};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};
use zerocopy::{FromZeros, IntoBytes};

use super::protocol::{Header, answered};
use super::slots::Slots;
use crate::front;

/// Longest answer: an extended attribute has up to 64 KiB, all others are shorter.
const MESSAGE_MAX: usize = (64 << 10) + 4096;

/// How much the kernel reads ahead: nothing, since files have no page cache.
const READ_AHEAD: u32 = 0;

/// One ring's way to the filesystem.
pub(super) struct Relay {
    /// The ring's end; closed once the session is gone.
    socket: OwnedFd,
    session: BackgroundSession,
    /// Slots whose requests were sent, by the requests' ids.
    sent: HashMap<u64, usize>,
    /// Slots whose requests must wait until the socket accepts more.
    unsent: VecDeque<usize>,
    /// The request being sent.
    request: Vec<u8>,
    /// Room for an answer.
    answer: Box<[u8]>,
}

impl Relay {
    /// Runs `filesystem` behind a socket, on the processors of this thread.
    ///
    /// # Errors
    /// When no socket or thread is available, or the filesystem does not start.
    pub(super) fn start<F: Filesystem>(
        filesystem: F,
        acl: SessionACL,
        offered: InitFlags,
    ) -> io::Result<Relay> {
        let flags = SocketFlags::CLOEXEC;
        let (socket, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        // The session reads its greeting as soon as it is created.
        send(&socket, &greeting(offered), SendFlags::NOSIGNAL)?;
        let session = Session::from_fd(filesystem, other, acl, Config::default())?;
        let mut answer = vec![0; MESSAGE_MAX].into_boxed_slice();
        let (_, length) = recv(&socket, &mut answer[..], RecvFlags::DONTWAIT)?;
        match answered(&answer[..length]) {
            Some((_, 0, _)) => {}
            _ => return Err(io::Error::other("the filesystem refused to start")),
        }
        Ok(Relay {
            socket,
            session: session.spawn()?,
            sent: HashMap::new(),
            unsent: VecDeque::new(),
            request: Vec::new(),
            answer,
        })
    }

    /// Readable when there are answers.
    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends the request in `slot` to the filesystem; returns the slots that are already answered, with an error.
    pub(super) fn send(&mut self, slots: &mut Slots, slot: usize) -> Vec<usize> {
        self.unsent.push_back(slot);
        self.send_waiting(slots)
    }

    fn send_waiting(&mut self, slots: &mut Slots) -> Vec<usize> {
        let mut failed = Vec::new();
        while let Some(slot) = self.unsent.pop_front() {
            let (header, payload) = slots.parts(slot);
            match self.try_send(header, payload) {
                Ok(()) => {
                    self.sent.insert(header.unique(), slot);
                }
                Err(Errno::AGAIN) => {
                    self.unsent.push_front(slot);
                    break;
                }
                Err(_) => {
                    header.answer(Err(front::Errno(Errno::IO.raw_os_error())));
                    failed.push(slot);
                }
            }
        }
        failed
    }

    fn try_send(&mut self, header: &Header, payload: &[u8]) -> Result<(), Errno> {
        let length = header.payload_length();
        let payload = payload.get(..length).ok_or(Errno::IO)?;
        header
            .message(payload, &mut self.request)
            .map_err(|front::Errno(code)| Errno::from_raw_os_error(code))?;
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        rustix::io::retry_on_intr(|| send(&self.socket, &self.request, flags))?;
        Ok(())
    }

    /// Moves the received answers into their slots, and returns those slots.
    pub(super) fn receive(&mut self, slots: &mut Slots) -> Vec<usize> {
        let mut answers = Vec::new();
        loop {
            let received = recv(&self.socket, &mut self.answer[..], RecvFlags::DONTWAIT);
            match received {
                Ok((_, length)) if length > 0 => {
                    answers.extend(self.take(slots, length));
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Ok(_) | Err(_) => {
                    answers.extend(self.fail(slots));
                    break;
                }
            }
        }
        answers.extend(self.send_waiting(slots));
        answers
    }

    /// Takes an answer of `length` bytes.
    fn take(&mut self, slots: &mut Slots, length: usize) -> Option<usize> {
        let (unique, error, data) = answered(&self.answer[..length])?;
        let slot = self.sent.remove(&unique)?;
        let (header, payload) = slots.parts(slot);
        let result = match (error, payload.get_mut(..data.len())) {
            (0, Some(room)) => {
                room.copy_from_slice(data);
                Ok(data.len())
            }
            (0, None) => Err(front::Errno(Errno::IO.raw_os_error())),
            (error, _) => Err(front::Errno(-error)),
        };
        header.answer(result);
        Some(slot)
    }

    /// The session is gone: what was sent will not be answered.
    fn fail(&mut self, slots: &mut Slots) -> Vec<usize> {
        let lost: Vec<_> = self.sent.drain().map(|(_, slot)| slot).collect();
        for slot in &lost {
            let (header, _) = slots.parts(*slot);
            header.answer(Err(front::Errno(Errno::IO.raw_os_error())));
        }
        lost
    }

    /// Ends the session and waits for its thread.
    ///
    /// # Errors
    /// When it ended with an error.
    pub(super) fn stop(self) -> io::Result<()> {
        let farewell = message(fuse_opcode::FUSE_DESTROY, &[]);
        // A session that is already gone cannot take it; its error is returned below.
        let _ = send(&self.socket, &farewell, SendFlags::NOSIGNAL);
        self.session.join()
    }
}

/// The first request that a filesystem gets: what the kernel offers.
fn greeting(offered: InitFlags) -> Vec<u8> {
    let bits = offered.bits();
    let init = fuse_init_in {
        major: FUSE_KERNEL_VERSION,
        minor: FUSE_KERNEL_MINOR_VERSION,
        max_readahead: READ_AHEAD,
        flags: bits as u32 | FUSE_INIT_EXT,
        flags2: (bits >> 32) as u32,
        unused: [0; 11],
    };
    message(fuse_opcode::FUSE_INIT, init.as_bytes())
}

fn message(code: fuse_opcode, own: &[u8]) -> Vec<u8> {
    let length = size_of::<fuse_in_header>() + own.len();
    let header = fuse_in_header {
        len: u32::try_from(length).expect("greetings and farewells are short"),
        opcode: code as u32,
        // Ids of requests begin at 2, and 0 means none.
        unique: 1,
        ..fuse_in_header::new_zeroed()
    };
    [header.as_bytes(), own].concat()
}
