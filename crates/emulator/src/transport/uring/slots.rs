//! Memory that a ring shares with the kernel: a header and space for data for every request in progress.
//!
//! A slot belongs to either the kernel or the ring, never to both: it is the kernel's from the command
//! that gives it away until that command completes. Ownership is checked at every access.

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use zerocopy::FromBytes;

use super::protocol::{Header, Vector, Vectors};

/// Distance between headers: keeps them out of each other's cache lines.
const HEADER_STRIDE: usize = 512;

/// All slots of a ring.
pub(super) struct Slots {
    start: NonNull<u8>,
    /// Bytes mapped.
    length: usize,
    /// Bytes of data in a slot.
    payload_length: usize,
    /// Whether the ring currently owns a slot.
    owned: Vec<bool>,
    /// Addresses of the slots for the kernel, which reads them when they are registered.
    vectors: Vec<Vectors>,
}

impl Slots {
    /// `count` slots with space for `payload_length` bytes of data each; memory is allocated on use.
    ///
    /// # Errors
    /// When there is not enough address space.
    pub(super) fn new(count: usize, payload_length: usize) -> io::Result<Slots> {
        let page = rustix::param::page_size();
        let payload_length = payload_length.next_multiple_of(page);
        let headers = (count * HEADER_STRIDE).next_multiple_of(page);
        let length = headers + count * payload_length;
        let start = map(length)?;
        let vectors = (0..count).map(|slot| {
            // SAFETY: both places are within the `length` bytes mapped at `start`.
            let (header, payload) = unsafe {
                (
                    start.as_ptr().add(slot * HEADER_STRIDE),
                    start.as_ptr().add(headers + slot * payload_length),
                )
            };
            let vector = |start, length| Vector { start, length };
            Vectors([
                vector(header, size_of::<Header>()),
                vector(payload, payload_length),
            ])
        });
        Ok(Slots {
            start,
            length,
            payload_length,
            owned: vec![true; count],
            vectors: vectors.collect(),
        })
    }

    /// The number of slots.
    pub(super) fn count(&self) -> usize {
        self.owned.len()
    }

    /// Gives the slot to the kernel; returns its addresses.
    ///
    /// # Panics
    /// When the kernel already owns it.
    pub(super) fn give(&mut self, slot: usize) -> &Vectors {
        let owned = std::mem::replace(&mut self.owned[slot], false);
        assert!(owned, "slot {slot} was given to the kernel twice");
        &self.vectors[slot]
    }

    /// Takes the slot back from the kernel.
    ///
    /// # Panics
    /// When the kernel did not own it.
    pub(super) fn take(&mut self, slot: usize) {
        let owned = std::mem::replace(&mut self.owned[slot], true);
        assert!(!owned, "slot {slot} came back from the kernel twice");
    }

    /// A slot's header and the room for its data.
    ///
    /// # Panics
    /// When the kernel owns the slot.
    pub(super) fn parts(&mut self, slot: usize) -> (&mut Header, &mut [u8]) {
        assert!(self.owned[slot], "slot {slot} is the kernel's");
        let Vectors([header, payload]) = &self.vectors[slot];
        // SAFETY: both point to memory mapped until `self` is dropped, which is initialised (zero at
        // first); no two slots overlap, nor do the two parts; the kernel does not own the slot, so
        // nothing else reads or writes it; and `&mut self` keeps it from being borrowed twice.
        let (header, payload) = unsafe {
            (
                std::slice::from_raw_parts_mut(header.start, header.length),
                std::slice::from_raw_parts_mut(payload.start, payload.length),
            )
        };
        let header = Header::mut_from_bytes(header)
            .unwrap_or_else(|_| unreachable!("headers have their length, and are aligned to 512"));
        debug_assert_eq!(payload.len(), self.payload_length);
        (header, payload)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value alone, and its owner has closed the ring before
        // dropping it, so the kernel writes to it no more. (If it did, it would find no memory there,
        // and fail the request.)
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// New zeroed memory, which is only allocated on use.
fn map(length: usize) -> io::Result<NonNull<u8>> {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
    let start = unsafe { mmap_anonymous(ptr::null_mut(), length, protection, flags) }?;
    // SAFETY: the range is the one just mapped. Without this, each slot used would take 2 MiB where
    // the system hands out huge pages; otherwise the advice fails and is not needed.
    let _ = unsafe { madvise(start, length, Advice::LinuxNoHugepage) };
    NonNull::new(start.cast()).ok_or_else(|| io::Error::other("memory mapped at address 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_do_not_overlap() {
        let mut slots = Slots::new(3, 8192).unwrap();
        for slot in 0..3 {
            let (header, payload) = slots.parts(slot);
            assert_eq!(header.payload_length(), 0);
            payload.fill(1 + slot as u8);
            header.answer(Ok(slot + 1));
        }
        for slot in 0..3 {
            let (header, payload) = slots.parts(slot);
            assert_eq!(header.payload_length(), slot + 1);
            assert!(payload.iter().all(|byte| *byte == 1 + slot as u8));
        }
    }

    #[test]
    #[should_panic = "slot 1 is the kernel's"]
    fn a_slot_that_was_given_away_cannot_be_touched() {
        let mut slots = Slots::new(2, 8192).unwrap();
        slots.give(1);
        slots.parts(1);
    }
}
