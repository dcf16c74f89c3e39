//! Which real file a page of one of SQLite's files lives in, and where.

use model::store::{FileId, FileSpec, Files, Full, PAGE, PageSize, Role};

use super::setup::{DatabaseSpec, PlacedFile};

/// What a file of SQLite is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Group {
    /// Tables and indexes.
    Data,
    /// Temporary space.
    Temp,
    /// The log.
    Log,
}

/// One of SQLite's files, distributed to real ones in extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Space {
    pub(super) group: Group,
    id: FileId,
}

/// A page of a space.
pub(super) type Key = (Space, u64);

/// Bytes of a page.
pub(super) const PAGE_SIZE: usize = PAGE.0 as usize;

/// Where a page lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// Index of the real file: data files, then temporary ones, then the log.
    pub(super) file: usize,
    /// Where it starts there.
    pub(super) offset: u64,
    /// Where it starts on its volume.
    pub(super) on_volume: u64,
}

/// All files of SQLite: extents are distributed as the modelled store distributes them.
pub(super) struct Spaces {
    main: Files,
    log: Files,
    log_file: usize,
    /// Where the log starts on its volume.
    log_base: u64,
}

impl Spaces {
    pub(super) fn new(spec: &DatabaseSpec) -> Spaces {
        let file = |file: &PlacedFile| FileSpec {
            volume: file.volume,
            size: file.size,
        };
        let files = |files: &[PlacedFile]| files.iter().map(file).collect::<Vec<_>>();
        let log = FileSpec {
            volume: spec.log.volume,
            size: None,
        };
        let main = Files::new(
            PageSize::DEFAULT,
            &files(&spec.data),
            &files(&spec.temp),
            log,
        );
        Spaces {
            log_file: spec.data.len() + spec.temp.len(),
            log_base: main.log_place().1,
            main,
            // The logs of all databases share one file, as tables share theirs.
            log: Files::new(PageSize::DEFAULT, &[log], &[], log),
        }
    }

    pub(super) fn create(&mut self, group: Group) -> Space {
        let id = match group {
            Group::Data => self.main.create(Role::Data),
            Group::Temp => self.main.create(Role::Temp),
            Group::Log => self.log.create(Role::Data),
        };
        Space { group, id }
    }

    /// Where a page lives, if its extent was ever written.
    pub(super) fn find(&self, space: Space, page: u64) -> Option<At> {
        match space.group {
            Group::Data | Group::Temp => self.main.find(space.id, page).map(At::main),
            Group::Log => self
                .log
                .find(space.id, page)
                .map(|place| self.in_log(place.page)),
        }
    }

    /// Where a page lives; allocates an extent if it has none.
    pub(super) fn place(&mut self, space: Space, page: u64) -> Result<At, Full> {
        match space.group {
            Group::Data | Group::Temp => self.main.place(space.id, page).map(At::main),
            Group::Log => {
                let place = self.log.place(space.id, page)?;
                Ok(self.in_log(place.page))
            }
        }
    }

    /// Releases the extents that lie wholly at or after page `first`.
    pub(super) fn release(&mut self, space: Space, first: u64) {
        let files = self.files(space.group);
        files.release(space.id, first, |_| {});
    }

    /// Releases everything; the space no longer exists.
    pub(super) fn forget(&mut self, space: Space) {
        self.release(space, 0);
        self.files(space.group).forget(space.id);
    }

    fn files(&mut self, group: Group) -> &mut Files {
        match group {
            Group::Data | Group::Temp => &mut self.main,
            Group::Log => &mut self.log,
        }
    }

    fn in_log(&self, page: u64) -> At {
        At {
            file: self.log_file,
            offset: page * PAGE.0,
            on_volume: self.log_base + page * PAGE.0,
        }
    }
}

impl At {
    fn main(place: model::store::PageAddress) -> At {
        At {
            file: usize::from(place.file),
            offset: place.page * PAGE.0,
            on_volume: place.offset(),
        }
    }
}
