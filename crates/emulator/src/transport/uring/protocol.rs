//! The protocol between the kernel and a ring: headers in shared memory, and commands.
//!
//! Source: `struct fuse_uring_req_header`, `fuse_uring_ent_in_out` and `fuse_uring_cmd_req` of
//! `include/uapi/linux/fuse.h`, Linux 6.14, and `fs/fuse/dev_uring.c`, read 2026-11-21. All other
//! structures come from the crate `fuse-abi`.

use std::os::fd::{AsRawFd, BorrowedFd};

use fuse_abi::linux::{
    FUSE_FSYNC_FDATASYNC, fuse_fsync_in, fuse_in_header, fuse_opcode, fuse_out_header,
    fuse_read_in, fuse_write_in, fuse_write_out,
};
use io_uring::opcode::UringCmd80;
use io_uring::squeue::Entry128;
use io_uring::types::Fd;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::super::super::front::Errno;

/// Longest answer to a request for directory entries: a longer one does not fit a socket's buffer, and a
/// shorter one only makes the kernel ask again.
const DIRECTORY_MAX: u32 = 32 << 10;

/// A request without its data.
#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
pub(super) struct Header {
    /// `fuse_in_header` on the way in, `fuse_out_header` on the way out.
    common: [u8; 128],
    /// The operation's own header, on the way in.
    operation: [u8; 128],
    entry: EntryHeader,
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
pub(super) struct EntryHeader {
    flags: u64,
    commit_id: u64,
    /// Bytes of data that accompany this header.
    payload_size: u32,
    padding: u32,
    reserved: u64,
}

/// A request as a ring handles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Reads `length` bytes of an open file.
    Read {
        handle: u64,
        offset: u64,
        length: usize,
    },
    /// Writes the first `length` bytes of the data.
    Write {
        handle: u64,
        offset: u64,
        length: usize,
    },
    /// Makes an open file durable.
    Sync { handle: u64, data_only: bool },
    /// A request for the filesystem.
    Other,
}

impl Header {
    /// The requested operation.
    pub(super) fn operation(&self) -> Operation {
        let code = self.request().opcode;
        if code == fuse_opcode::FUSE_READ as u32 {
            let read: fuse_read_in = self.own();
            Operation::Read {
                handle: read.fh,
                offset: read.offset,
                length: read.size as usize,
            }
        } else if code == fuse_opcode::FUSE_WRITE as u32 {
            let write: fuse_write_in = self.own();
            Operation::Write {
                handle: write.fh,
                offset: write.offset,
                length: write.size as usize,
            }
        } else if code == fuse_opcode::FUSE_FSYNC as u32 {
            let sync: fuse_fsync_in = self.own();
            Operation::Sync {
                handle: sync.fh,
                data_only: sync.fsync_flags & FUSE_FSYNC_FDATASYNC != 0,
            }
        } else {
            Operation::Other
        }
    }

    /// The kernel's id of the request.
    pub(super) fn unique(&self) -> u64 {
        self.request().unique
    }

    /// The id for the commit of the answer.
    pub(super) fn commit_id(&self) -> u64 {
        self.entry.commit_id
    }

    /// Bytes of data that came with the request.
    pub(super) fn payload_length(&self) -> usize {
        self.entry.payload_size as usize
    }

    /// Answers the request with the first `length` bytes of the data, or with an error.
    pub(super) fn answer(&mut self, result: Result<usize, Errno>) {
        let (length, error) = match result {
            Ok(length) => (length, 0),
            Err(Errno(code)) => (0, -code),
        };
        let length =
            u32::try_from(length).expect("answers fit their slot, which is far below 4 GiB");
        let header = fuse_out_header {
            len: size_of::<fuse_out_header>() as u32 + length,
            error,
            unique: self.unique(),
        };
        let fits = header.write_to_prefix(&mut self.common);
        fits.expect("a header of 16 bytes fits 128");
        self.entry.payload_size = length;
    }

    /// Writes the request, with its data, to `message` as a read of `/dev/fuse` would have returned it.
    ///
    /// # Errors
    /// `EIO` when its lengths contradict each other.
    pub(super) fn message(&self, payload: &[u8], message: &mut Vec<u8>) -> Result<(), Errno> {
        let request = self.request();
        let whole = request.len as usize;
        let own = whole.checked_sub(size_of::<fuse_in_header>() + payload.len());
        let own = own.and_then(|length| self.operation.get(..length));
        let own = own.ok_or(Errno(rustix::io::Errno::IO.raw_os_error()))?;
        message.clear();
        message.extend_from_slice(request.as_bytes());
        message.extend_from_slice(own);
        message.extend_from_slice(payload);
        shorten_directory(request.opcode, message);
        Ok(())
    }

    fn request(&self) -> fuse_in_header {
        let (header, _) =
            FromBytes::read_from_prefix(&self.common).expect("a header of 40 bytes fits 128");
        header
    }

    /// The operation's own header.
    fn own<T: FromBytes>(&self) -> T {
        let (own, _) = T::read_from_prefix(&self.operation)
            .expect("no operation's header is longer than the 128 bytes for it");
        own
    }
}

/// Limits the size in a request for directory entries to what an answer may have.
fn shorten_directory(code: u32, message: &mut [u8]) {
    let directory = [fuse_opcode::FUSE_READDIR, fuse_opcode::FUSE_READDIRPLUS];
    if !directory.iter().any(|own| *own as u32 == code) {
        return;
    }
    let own = &mut message[size_of::<fuse_in_header>()..];
    if let Ok((read, _)) = fuse_read_in::mut_from_prefix(own) {
        read.size = read.size.min(DIRECTORY_MAX);
    }
}

/// The answer to a write of `length` bytes, as data.
pub(super) fn written(length: usize, payload: &mut [u8]) -> usize {
    let answer = fuse_write_out {
        size: u32::try_from(length).unwrap_or(u32::MAX),
        padding: 0,
    };
    let fits = answer.write_to_prefix(payload);
    fits.expect("8 bytes fit every slot");
    size_of::<fuse_write_out>()
}

/// A filesystem's answer, as it would have written it to `/dev/fuse`: the request's id, its error or 0, and
/// its data; `None` for anything else, such as a notification.
pub(super) fn answered(message: &[u8]) -> Option<(u64, i32, &[u8])> {
    let (header, data) = fuse_out_header::read_from_prefix(message).ok()?;
    (header.unique != 0).then_some((header.unique, header.error, data))
}

/// Two pieces of memory, as `struct iovec`s: the header's and the data's.
#[repr(C)]
pub(super) struct Vectors(pub(super) [Vector; 2]);

/// `struct iovec`.
#[repr(C)]
pub(super) struct Vector {
    pub(super) start: *mut u8,
    pub(super) length: usize,
}

/// `FUSE_IO_URING_CMD_REGISTER`
const REGISTER: u32 = 1;

/// `FUSE_IO_URING_CMD_COMMIT_AND_FETCH`
const COMMIT_AND_FETCH: u32 = 2;

/// Data of a command: `struct fuse_uring_cmd_req`.
#[repr(C)]
#[derive(IntoBytes, Immutable)]
struct Command {
    flags: u64,
    commit_id: u64,
    queue: u16,
    padding: [u8; 6],
}

/// Gives the kernel a slot of `queue`; completes with the first request.
pub(super) fn register(device: BorrowedFd<'_>, queue: u16, vectors: &Vectors) -> Entry128 {
    let start: *const Vectors = vectors;
    let command = command(device, REGISTER, queue, 0).addr(Some(start as u64));
    let mut entry = command.build();
    set_length(&mut entry, 2);
    entry
}

/// Commits the answer in a slot, and returns the slot to the kernel; completes with the next request.
pub(super) fn commit(device: BorrowedFd<'_>, queue: u16, commit_id: u64) -> Entry128 {
    command(device, COMMIT_AND_FETCH, queue, commit_id).build()
}

fn command(device: BorrowedFd<'_>, code: u32, queue: u16, commit_id: u64) -> UringCmd80 {
    let command = Command {
        flags: 0,
        commit_id,
        queue,
        padding: [0; 6],
    };
    let mut bytes = [0; 80];
    let fits = command.write_to_prefix(&mut bytes);
    fits.expect("24 bytes fit 80");
    UringCmd80::new(Fd(device.as_raw_fd()), code).cmd(bytes)
}

/// Sets the entry's `len`, which the crate `io-uring` leaves 0 in a command.
fn set_length(entry: &mut Entry128, length: u32) {
    /// Offset of `len` in `struct io_uring_sqe`.
    const PLACE: usize = 24;
    let start: *mut Entry128 = entry;
    // SAFETY: an entry is `struct io_uring_sqe`, `repr(C)`, 128 bytes long and aligned to 8; every value
    // of its `len` is valid.
    unsafe { start.cast::<u8>().add(PLACE).cast::<u32>().write(length) };
}

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;

    fn header(code: fuse_opcode, length: usize, own: &[u8], payload_length: usize) -> Header {
        let mut header = Header::new_zeroed();
        let request = fuse_in_header {
            len: u32::try_from(length).unwrap(),
            opcode: code as u32,
            unique: 78,
            ..fuse_in_header::new_zeroed()
        };
        request.write_to_prefix(&mut header.common).unwrap();
        header.operation[..own.len()].copy_from_slice(own);
        header.entry.payload_size = u32::try_from(payload_length).unwrap();
        header.entry.commit_id = 78;
        header
    }

    #[test]
    fn headers_are_as_long_as_the_kernels() {
        assert_eq!(size_of::<Header>(), 288);
        assert_eq!(size_of::<Command>(), 24);
        assert_eq!(size_of::<Entry128>(), 128);
    }

    #[test]
    fn a_read_says_what_it_wants() {
        let own = fuse_read_in {
            fh: 5,
            offset: 8192,
            size: 4096,
            ..fuse_read_in::new_zeroed()
        };

        let header = header(fuse_opcode::FUSE_READ, 80, own.as_bytes(), 0);

        let read = Operation::Read {
            handle: 5,
            offset: 8192,
            length: 4096,
        };
        assert_eq!(header.operation(), read);
    }

    #[test]
    fn an_answer_keeps_the_request_s_number_and_names_its_data() {
        let mut header = header(fuse_opcode::FUSE_READ, 80, &[], 0);

        header.answer(Ok(512));

        let (answer, _) = fuse_out_header::read_from_prefix(&header.common).unwrap();
        assert_eq!((answer.len, answer.error, answer.unique), (528, 0, 78));
        assert_eq!(header.payload_length(), 512);
    }

    #[test]
    fn an_error_goes_out_negative_and_without_data() {
        let mut header = header(fuse_opcode::FUSE_WRITE, 80, &[], 100);

        header.answer(Err(Errno(28)));

        let (answer, _) = fuse_out_header::read_from_prefix(&header.common).unwrap();
        assert_eq!((answer.len, answer.error), (16, -28));
        assert_eq!(header.payload_length(), 0);
    }

    #[test]
    fn a_message_is_header_own_header_and_data_in_a_row() {
        let header = header(fuse_opcode::FUSE_RENAME, 40 + 8 + 6, &[7; 8], 6);
        let mut message = Vec::new();

        header.message(b"old\0n\0", &mut message).unwrap();

        assert_eq!(message.len(), 54);
        assert_eq!(&message[40..], b"\x07\x07\x07\x07\x07\x07\x07\x07old\0n\0");
    }

    #[test]
    fn lengths_that_contradict_each_other_are_an_error_not_a_panic() {
        let short = header(fuse_opcode::FUSE_RENAME, 41, &[], 6);
        let long = header(fuse_opcode::FUSE_RENAME, 40 + 129, &[], 0);

        assert!(short.message(&[0; 6], &mut Vec::new()).is_err());
        assert!(long.message(&[], &mut Vec::new()).is_err());
    }

    #[test]
    fn a_directory_is_asked_for_no_more_than_a_socket_carries() {
        let own = fuse_read_in {
            size: 1 << 20,
            ..fuse_read_in::new_zeroed()
        };
        let header = header(fuse_opcode::FUSE_READDIRPLUS, 80, own.as_bytes(), 0);
        let mut message = Vec::new();

        header.message(&[], &mut message).unwrap();

        let (read, _) = fuse_read_in::read_from_prefix(&message[40..]).unwrap();
        assert_eq!(read.size, DIRECTORY_MAX);
    }
}
