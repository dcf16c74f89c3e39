//! Memory aligned as required by direct I/O.

use std::ops::{Deref, DerefMut};

/// Enough for every block size that drives have.
const ALIGNMENT: usize = 4096;

/// Bytes that begin at a multiple of 4 KiB.
#[derive(Default)]
pub struct Aligned {
    storage: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// `length` zeros.
    pub fn zeros(length: usize) -> Aligned {
        let mut aligned = Aligned::default();
        aligned.resize(length);
        aligned
    }

    /// Makes it `length` bytes long; the content is unspecified.
    pub fn resize(&mut self, length: usize) {
        if self.storage.len() < length + ALIGNMENT {
            self.storage = vec![0; length + ALIGNMENT];
            self.start = self.storage.as_ptr().align_offset(ALIGNMENT);
        }
        self.length = length;
    }
}

impl Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.storage[self.start..][..self.length]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.storage[self.start..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_aligned_however_often_it_grows() {
        let mut aligned = Aligned::zeros(1);
        for length in [100, 8192, 65_536, 512] {
            aligned.resize(length);
            assert_eq!(aligned.len(), length);
            assert_eq!(aligned.as_ptr() as usize % ALIGNMENT, 0);
        }
    }
}
