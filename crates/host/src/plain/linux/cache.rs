//! Drops a directory's files from the page cache.

use std::fs::{self, File};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use model::Bytes;
use rustix::fs::{Advice, fadvise, statfs, syncfs};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Bytes of a file that are checked with one call.
const WINDOW: Bytes = Bytes::gib(1);

/// Filesystems whose files only exist in memory, by the magic number of `statfs`.
///
/// Source: `TMPFS_MAGIC` and `RAMFS_MAGIC` of Linux's `include/uapi/linux/magic.h`, 6.18.
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// ZFS, which keeps its own cache beside the page cache (`ZFS_SUPER_MAGIC` of OpenZFS).
const ZFS: i64 = 0x2fc1_2fc1;

/// Writes back the whole filesystem of `directory` and drops the cached pages of the files below it.
/// Returns what could not be done.
///
/// # Errors
/// When the directory cannot be read or written back.
pub(crate) fn forget(directory: &Path) -> io::Result<Vec<String>> {
    let folder = File::open(directory)?;
    syncfs(&folder)?;
    let kind = statfs(directory)?.f_type as i64;
    if IN_MEMORY.contains(&kind) {
        return Ok(vec![
            "its files are in memory (tmpfs): there is nothing to go cold".into(),
        ]);
    }
    let mut left = LeftInCache::default();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                left.add(&entry.path());
            }
        }
    }
    let own_cache = (kind == ZFS).then(|| "ZFS keeps a cache of its own, which stays".into());
    Ok(left.words().into_iter().chain(own_cache).collect())
}

/// What remained in the page cache.
#[derive(Default)]
struct LeftInCache {
    files: usize,
    cached: u64,
    size: u64,
    warm: Option<PathBuf>,
    refused: Vec<(PathBuf, io::Error)>,
}

impl LeftInCache {
    fn add(&mut self, file: &Path) {
        match forget_file(file) {
            Ok((0, _)) => {}
            Ok((cached, size)) => {
                self.files += 1;
                self.cached += cached;
                self.size += size;
                self.warm.get_or_insert_with(|| file.to_owned());
            }
            // A file that was removed in the meantime keeps nothing.
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) => self.refused.push((file.to_owned(), why)),
        }
    }

    fn words(self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(first) = self.warm {
            words.push(format!(
                "{} of {} stayed in the page cache, in {} files, first {}",
                Bytes(self.cached),
                Bytes(self.size),
                self.files,
                first.display()
            ));
        }
        if let Some((file, why)) = self.refused.first() {
            words.push(format!(
                "{} files could not be let go, first {}: {why}",
                self.refused.len(),
                file.display()
            ));
        }
        words
    }
}

/// Drops one file from the cache; returns its bytes that are still cached, and its size.
fn forget_file(path: &Path) -> io::Result<(u64, u64)> {
    let file = File::open(path)?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    let size = file.metadata()?.len();
    if cached(&file, size)? == 0 {
        return Ok((0, size));
    }
    // Pages on their way through the kernel's per-processor lists are dropped the second time.
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok((cached(&file, size)?, size))
}

/// Bytes of the first `size` of `file` that are in the page cache.
fn cached(file: &File, size: u64) -> io::Result<u64> {
    let page = rustix::param::page_size() as u64;
    let mut pages = 0;
    let mut offset = 0;
    while offset < size {
        let length = (size - offset).min(WINDOW.0);
        pages += pages_cached(file, offset, length as usize, page as usize)?;
        offset += length;
    }
    Ok((pages * page).min(size))
}

fn pages_cached(file: &File, offset: u64, length: usize, page: usize) -> io::Result<u64> {
    let Some(length) = NonZeroUsize::new(length) else {
        return Ok(0);
    };
    let mut resident = vec![0_u8; length.get().div_ceil(page)];
    let (protection, flags) = (ProtFlags::empty(), MapFlags::SHARED);
    // SAFETY: a new mapping at an address of the kernel's choice, which nothing reads or writes.
    let map = unsafe {
        mmap(
            std::ptr::null_mut(),
            length.get(),
            protection,
            flags,
            file,
            offset,
        )?
    };
    // SAFETY: the range is mapped, and `resident` has a byte for each of its pages.
    let asked = unsafe { libc::mincore(map, length.get(), resident.as_mut_ptr()) };
    let answer = if asked == 0 {
        Ok(resident.iter().filter(|page| **page & 1 == 1).count() as u64)
    } else {
        Err(io::Error::last_os_error())
    };
    // SAFETY: the mapping is the one made above, and nothing refers to it.
    unsafe { munmap(map, length.get())? };
    answer
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_cached_is_counted_in_whole_pages() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 10_000]).unwrap();

        // Just written: 2 whole pages of 4096 bytes and a part of the third, or all in one larger page.
        assert_eq!(cached(&file, 10_000).unwrap(), 10_000);
        assert_eq!(cached(&file, 0).unwrap(), 0);
    }

    #[test]
    fn a_page_that_a_program_has_mapped_stays_and_is_reported() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = directory.path().join("mapped");
        fs::write(&path, [1; 8_192]).unwrap();
        let file = File::open(&path).unwrap();
        let (null, flags) = (std::ptr::null_mut(), MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: a new mapping at an address of the kernel's choice, which nothing reads or writes.
        let map = unsafe { mmap(null, 8_192, ProtFlags::READ, flags, &file, 0) }.unwrap();

        let left = forget(directory.path()).unwrap();
        // SAFETY: the mapping is the one made above, and nothing refers to it.
        unsafe { munmap(map, 8_192) }.unwrap();
        let left_unmapped = forget(directory.path()).unwrap();

        assert!(left[0].contains("8 KiB of 8 KiB stayed"), "{left:?}");
        assert!(left[0].ends_with("mapped"), "{left:?}");
        assert_eq!(left_unmapped, [""; 0]);
    }
}
