//! Which data file a page lives in, and where: extents allocated by proportional fill.

use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::page::{EXTENT, PageSize};
use crate::units::Bytes;

/// Where a file lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSpec {
    /// Index of the volume in the storage.
    pub volume: usize,
    /// Its fixed size; `None`: it grows as needed.
    pub size: Option<Bytes>,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Tables and indexes.
    Data,
    /// Temporary tables, spills of sorts and hashes, row versions.
    Temp,
}

/// A table space as the engine sees it: one run of pages, spread over the role's files in extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// All files of a role are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// The role.
    pub role: Role,
    /// Total capacity of its files.
    pub capacity: Bytes,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = match self.role {
            Role::Data => "data",
            Role::Temp => "temp",
        };
        write!(
            f,
            "the {role} files are full: they hold {} together; give them a larger file_size",
            self.capacity
        )
    }
}

/// Room reserved on a volume for a file that grows.
const GROWING: u64 = 1 << 40;

/// One file on a volume.
struct DataFile {
    volume: usize,
    /// Where it starts on the volume.
    base: u64,
    /// Extents it may have.
    capacity: u64,
    /// Extents in use.
    used: u64,
    /// Extents ever used.
    high: u32,
    /// Released extents.
    free: Vec<u32>,
}

/// Key of a file's first page: files are numbered from the first data file through the temporary ones.
pub(super) fn first_key(file: usize) -> u64 {
    (file as u64) << 40
}

/// Where a page lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAddress {
    /// The volume.
    pub volume: usize,
    /// The file, counted from the first data file through the temporary ones.
    pub file: u16,
    /// The page in that file.
    pub page: u64,
    base: u64,
    size: PageSize,
}

impl PageAddress {
    /// Unique over all files; neighbouring pages of a file have neighbouring keys.
    pub(super) fn key(&self) -> u64 {
        first_key(usize::from(self.file)) | self.page
    }

    /// Bytes from the start of the volume.
    pub fn offset(&self) -> u64 {
        self.base + self.size.of(self.page).0
    }

    pub(super) fn extent_start(&self) -> PageAddress {
        PageAddress {
            page: self.page / self.size.extent() * self.size.extent(),
            ..*self
        }
    }
}

/// All data files, and the spaces in them.
///
/// A store has its own; a real engine's files can be distributed by a separate instance, so that its pages
/// live where the modelled ones do.
pub struct Files {
    files: Vec<DataFile>,
    /// Files of each role are `0..temp_start` and `temp_start..log`.
    temp_start: usize,
    log: usize,
    /// End of each volume's last file.
    ends: Vec<u64>,
    page_size: PageSize,
    spaces: Vec<Space>,
    /// Fully released spaces, to be reused.
    unused: Vec<FileId>,
}

/// One table space: its extents, in page order.
struct Space {
    role: Role,
    extents: Vec<Option<(u16, u32)>>,
}

impl Files {
    /// Empty files; each volume's follow one another in this order.
    pub fn new(page_size: PageSize, data: &[FileSpec], temp: &[FileSpec], log: FileSpec) -> Files {
        let mut ends: Vec<u64> = Vec::new();
        let files = data.iter().chain(temp).chain([&log]);
        let files = files
            .map(|spec| {
                let base = base(&mut ends, *spec);
                let capacity = spec.size.map_or(GROWING, |size| size.0) / EXTENT.0;
                DataFile {
                    volume: spec.volume,
                    base,
                    capacity,
                    used: 0,
                    high: 0,
                    free: Vec::new(),
                }
            })
            .collect();
        let log = data.len() + temp.len();
        Files {
            files,
            temp_start: data.len(),
            log,
            ends,
            page_size,
            spaces: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// Volume and start of the log file.
    pub fn log_place(&self) -> (usize, u64) {
        (self.files[self.log].volume, self.files[self.log].base)
    }

    /// Volume of the first file.
    pub(super) fn first_volume(&self) -> usize {
        self.files[0].volume
    }

    /// Reserves room for a file without pages, behind the other files of its volume; returns its volume and start.
    pub(super) fn append(&mut self, file: FileSpec) -> (usize, u64) {
        let base = base(&mut self.ends, file);
        (file.volume, base)
    }

    /// Creates a table space without pages.
    ///
    /// # Panics
    /// When 2^32 of them exist.
    pub fn create(&mut self, role: Role) -> FileId {
        let space = Space {
            role,
            extents: Vec::new(),
        };
        match self.unused.pop() {
            Some(id) => {
                self.spaces[id.0 as usize] = space;
                id
            }
            None => {
                self.spaces.push(space);
                FileId(u32::try_from(self.spaces.len() - 1).expect("fewer than 2^32 files"))
            }
        }
    }

    pub(super) fn role(&self, file: FileId) -> Role {
        self.spaces[file.0 as usize].role
    }

    /// Where a page lives, if it was ever written.
    pub fn find(&self, file: FileId, page: u64) -> Option<PageAddress> {
        let extents = &self.spaces[file.0 as usize].extents;
        let (number, extent) = (*extents.get((page / self.page_size.extent()) as usize)?)?;
        Some(self.at(
            number,
            u64::from(extent) * self.page_size.extent() + page % self.page_size.extent(),
        ))
    }

    pub(super) fn by_key(&self, key: u64) -> PageAddress {
        self.at((key >> 40) as u16, key & ((1 << 40) - 1))
    }

    fn at(&self, file: u16, page: u64) -> PageAddress {
        let DataFile { volume, base, .. } = self.files[usize::from(file)];
        PageAddress {
            volume,
            file,
            page,
            base,
            size: self.page_size,
        }
    }

    /// Where a page lives; allocates an extent if it has none.
    ///
    /// # Errors
    /// When all files of the role are full.
    pub fn place(&mut self, file: FileId, page: u64) -> Result<PageAddress, Full> {
        if let Some(place) = self.find(file, page) {
            return Ok(place);
        }
        let role = self.spaces[file.0 as usize].role;
        let extent = self.allocate(role)?;
        let extents = &mut self.spaces[file.0 as usize].extents;
        let index = (page / self.page_size.extent()) as usize;
        extents.resize(extents.len().max(index + 1), None);
        extents[index] = Some(extent);
        Ok(self.at(
            extent.0,
            u64::from(extent.1) * self.page_size.extent() + page % self.page_size.extent(),
        ))
    }

    /// The next extent goes to the file with the largest share of its space free, the first among
    /// equals:
    /// equal files are filled in turn, unequal ones in proportion to their size.
    ///
    /// Source: proportional fill, <https://learn.microsoft.com/sql/relational-databases/pages-and-extents-architecture-guide>.
    fn allocate(&mut self, role: Role) -> Result<(u16, u32), Full> {
        let range = match role {
            Role::Data => 0..self.temp_start,
            Role::Temp => self.temp_start..self.log,
        };
        let fullness = |file: &DataFile, other: &DataFile| {
            (u128::from(file.used) * u128::from(other.capacity))
                .cmp(&(u128::from(other.used) * u128::from(file.capacity)))
        };
        let room = range
            .clone()
            .filter(|index| self.files[*index].used < self.files[*index].capacity);
        let chosen = room.min_by(|a, b| fullness(&self.files[*a], &self.files[*b]).then(a.cmp(b)));
        let Some(chosen) = chosen else {
            let extents: u64 = self.files[range].iter().map(|file| file.capacity).sum();
            return Err(Full {
                role,
                capacity: Bytes(extents * EXTENT.0),
            });
        };
        let file = &mut self.files[chosen];
        file.used += 1;
        let extent = file.free.pop().unwrap_or_else(|| {
            file.high += 1;
            file.high - 1
        });
        Ok((
            u16::try_from(chosen).expect("fewer than 2^16 data files"),
            extent,
        ))
    }

    /// Releases the extents that lie wholly at or after page `first`, calling `page` for every page in them.
    pub fn release(&mut self, file: FileId, first: u64, mut page: impl FnMut(u64)) {
        let keep = first.div_ceil(self.page_size.extent()) as usize;
        let extents = &mut self.spaces[file.0 as usize].extents;
        let gone = extents.split_off(keep.min(extents.len()));
        for (number, extent) in gone.into_iter().flatten() {
            let start = self.at(number, u64::from(extent) * self.page_size.extent());
            (0..self.page_size.extent()).for_each(|n| page(start.key() + n));
            let data_file = &mut self.files[usize::from(number)];
            data_file.used -= 1;
            data_file.free.push(extent);
        }
    }

    /// Allows a released file's id to be reused.
    pub fn forget(&mut self, file: FileId) {
        self.unused.push(file);
    }
}

/// Start of a file placed behind the existing files of its volume; moves the volume's end past it.
fn base(ends: &mut Vec<u64>, file: FileSpec) -> u64 {
    ends.resize(ends.len().max(file.volume + 1), 0);
    let base = ends[file.volume];
    let size = file.size.map_or(GROWING, |size| size.0);
    ends[file.volume] = base.saturating_add(size);
    base
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::EXTENT_PAGES;

    fn files(sizes: &[u64]) -> Files {
        let temp: Vec<_> = sizes
            .iter()
            .map(|mib| FileSpec {
                volume: 0,
                size: Some(Bytes::mib(*mib)),
            })
            .collect();
        Files::new(
            PageSize::DEFAULT,
            &[],
            &temp,
            FileSpec {
                volume: 0,
                size: None,
            },
        )
    }

    fn filled(files: &mut Files, extents: u64) -> Vec<u64> {
        let space = files.create(Role::Temp);
        for extent in 0..extents {
            files
                .place(space, extent * EXTENT_PAGES)
                .expect("there is room");
        }
        files.files[..files.log]
            .iter()
            .map(|file| file.used)
            .collect()
    }

    #[test]
    fn equal_files_are_filled_in_turn() {
        assert_eq!(filled(&mut files(&[8, 8, 8, 8]), 10), [3, 3, 2, 2]);
    }

    #[test]
    fn unequal_files_are_filled_in_proportion() {
        assert_eq!(filled(&mut files(&[24, 8]), 16), [12, 4]);
    }

    #[test]
    fn full_files_say_so_with_their_capacity() {
        let mut files = files(&[1, 1]);
        let space = files.create(Role::Temp);
        // 2 MiB are 32 extents.
        let full = (0..33).find_map(|extent| files.place(space, extent * EXTENT_PAGES).err());
        assert_eq!(
            full,
            Some(Full {
                role: Role::Temp,
                capacity: Bytes::mib(2)
            })
        );
    }

    #[test]
    fn released_extents_are_used_again() {
        let mut files = files(&[1]);
        let space = files.create(Role::Temp);
        (0..16).for_each(|extent| assert!(files.place(space, extent * EXTENT_PAGES).is_ok()));
        let mut pages = 0;
        files.release(space, 0, |_| pages += 1);
        assert_eq!(pages, 128);
        let again = files.create(Role::Temp);
        // 1 MiB are 128 pages: in the file, and not behind its end.
        let place = files.place(again, 0).expect("there is room again");
        assert!(place.page < 128, "page {}", place.page);
    }

    #[test]
    fn an_extent_is_released_once_all_of_it_is() {
        let mut files = files(&[1]);
        let space = files.create(Role::Temp);
        (0..2).for_each(|extent| {
            files.place(space, extent * EXTENT_PAGES).expect("room");
        });
        let mut released = |first| {
            let mut pages = 0;
            files.release(space, first, |_| pages += 1);
            pages
        };
        // From page 9 on, the second extent stays for page 8; from page 1 on, only the second is released.
        assert_eq!(released(9), 0);
        assert_eq!(released(1), 8);
        assert_eq!(released(0), 8);
    }

    #[test]
    fn files_of_a_volume_follow_one_another() {
        let mut files = files(&[1, 2]);
        let space = files.create(Role::Temp);
        let starts = [0, 1].map(|extent| {
            let place = files.place(space, extent * EXTENT_PAGES).expect("room");
            (place.file, place.offset())
        });
        // The second file starts behind the 1 MiB of the first, and the log behind the 3 MiB of both.
        assert_eq!(starts, [(0, 0), (1, 1 << 20)]);
        assert_eq!(files.log_place(), (0, 3 << 20));
    }

    #[test]
    fn the_id_of_a_forgotten_file_is_given_again_without_its_pages() {
        let mut files = files(&[1]);
        let first = files.create(Role::Temp);
        files.place(first, 0).expect("room");
        files.release(first, 0, |_| {});
        files.forget(first);
        let again = files.create(Role::Temp);
        assert_eq!(again, first);
        assert_eq!(files.find(again, 0), None);
        assert_ne!(files.create(Role::Temp), first);
    }
}
