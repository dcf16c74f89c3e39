//! Locations of files, free space, how files fill, and the effects of a restart.

use super::error::{self, System};
use super::state::{
    COMMITS, COMMITS_OF_TEMPDB, Database, File, FileState, Io, TEMPDB, Volume, Work, counters,
};
use super::text::PAGE;
use super::{START_MS, SqlServer};
use crate::reply::Message;

/// Why a server did not start: the message in its error log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotStarted(pub Vec<Message>);

/// Pages go to the file with the most free space; where none has any, files grow in turn.
fn fill(server: &mut SqlServer, name: &str, mut pages: u64) -> Result<(), Message> {
    while pages > 0 {
        let data = server
            .named(name)
            .files
            .iter()
            .filter(|(_, file)| !file.log);
        let room = |file: &File| file.now.pages - file.used_pages;
        let (found, free) = data
            .map(|(id, file)| (*id, room(file)))
            .max_by_key(|(_, free)| *free)
            .expect("a data file");
        if free > 0 {
            let taken = free.min(pages).min(8.max(pages / 8));
            server
                .named(name)
                .files
                .get_mut(&found)
                .expect("found")
                .used_pages += taken;
            pages -= taken;
            continue;
        }
        let files: Vec<(i64, File)> = server.named(name).files.clone().into_iter().collect();
        let grown = files
            .iter()
            .filter(|(_, file)| !file.log)
            .find_map(|(id, file)| {
                let pages = file.grown()?;
                let free = server
                    .volume_of(&file.now.path)
                    .map_or(0, |volume| server.free(volume));
                ((pages - file.now.pages) * PAGE <= free).then_some((*id, pages))
            });
        let (id, larger) = grown.ok_or_else(|| error::filegroup_full(name))?;
        // Growth of a file is lost at tempdb's next start, but persists elsewhere.
        let tempdb = server.id_of(name) == Some(TEMPDB);
        let file = server.named(name).files.get_mut(&id).expect("found");
        file.now.pages = larger;
        if !tempdb {
            file.next.pages = larger;
        }
    }
    Ok(())
}

impl SqlServer {
    /// Applies a text's work.
    pub(super) fn work(&mut self, work: &Work) -> Result<(), Message> {
        for (is_log, ios) in [(false, &work.data), (true, &work.log)] {
            for (name, io) in ios {
                for file in self
                    .named(name)
                    .files
                    .values_mut()
                    .filter(|file| file.log == is_log)
                {
                    file.io.add(*io);
                }
            }
        }
        for (kind, wait) in &work.waits {
            let all = self.waits.entry(kind.clone()).or_default();
            all.tasks += wait.tasks;
            all.wait_ms += wait.wait_ms;
            all.signal_ms += wait.signal_ms;
        }
        for (name, commits) in &work.commits {
            self.count(COMMITS, *commits);
            if self.id_of(name) == Some(TEMPDB) {
                self.count(COMMITS_OF_TEMPDB, *commits);
            }
        }
        self.processor_ms += work.session_reads[3];
        let read = self.session_reads.get_or_insert_default();
        for (sum, more) in read.iter_mut().zip(work.session_reads) {
            *sum += more;
        }
        for (name, pages) in &work.cached_pages {
            self.named(name).clean_pages += pages;
        }
        for (name, pages) in &work.dirty_pages {
            self.named(name).dirty_pages += pages;
        }
        for (name, pages) in &work.filled_pages {
            fill(self, name, *pages)?;
        }
        Ok(())
    }

    /// Stops and starts. Pending changes take effect, tempdb is recreated, and counters are reset.
    ///
    /// # Errors
    /// Where a file of tempdb cannot be created: the server stays down, as SQL Server does.
    pub fn restart(&mut self) -> Result<(), NotStarted> {
        let tempdb = self.databases.remove(&TEMPDB).expect("tempdb");
        let mut made = Database {
            files: Default::default(),
            clean_pages: 0,
            dirty_pages: 0,
            ..tempdb.clone()
        };
        let mut errors = Vec::new();
        self.databases.insert(TEMPDB, made.clone());
        for (id, file) in &tempdb.files {
            let FileState { name, path, pages } = &file.next;
            match self.check_new(path, *pages) {
                Ok(()) => {
                    let mut fresh = File::new(file.log, name, path, *pages);
                    (fresh.max, fresh.growth) = (file.max, file.growth);
                    made.files.insert(*id, fresh);
                    self.databases.insert(TEMPDB, made.clone());
                }
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            self.databases.insert(TEMPDB, tempdb);
            errors.push(error::no_tempdb());
            return Err(NotStarted(errors));
        }
        self.starts += 1;
        self.recovering = self.tempdb_recovers;
        if std::mem::take(&mut self.refused_in_use) {
            self.tempdb_in_use = false;
        }
        self.waits.clear();
        self.plan_cache.clear();
        self.session_reads = None;
        self.processor_ms = START_MS;
        self.performance.extend(counters());
        for database in self.databases.values_mut() {
            (database.clean_pages, database.dirty_pages) = (0, 0);
            for file in database.files.values_mut() {
                file.io = Io::default();
                // The file was not copied to its new location: the database cannot be opened.
                if file.now.path != file.next.path {
                    database.options.insert("RECOVERY_PENDING".to_owned());
                }
            }
        }
        Ok(())
    }

    /// The volume of a path: the longest mount point that is a prefix of it.
    pub fn volume_of(&self, path: &str) -> Option<&Volume> {
        let windows = self.is_windows();
        let fold = |text: &str| {
            if windows {
                text.to_lowercase()
            } else {
                text.to_owned()
            }
        };
        let path = fold(path);
        let on = self
            .volumes
            .iter()
            .filter(|volume| path.starts_with(&fold(&volume.mount_point)));
        on.max_by_key(|volume| volume.mount_point.len())
    }

    /// Free space of a volume.
    pub fn free(&self, volume: &Volume) -> u64 {
        let files = self
            .databases
            .values()
            .flat_map(|database| database.files.values());
        let on = files.filter(|file| self.volume_of(&file.now.path) == Some(volume));
        let used: u64 = on.map(|file| file.now.pages * PAGE).sum();
        volume.total_bytes.saturating_sub(volume.other_bytes + used)
    }

    /// Default location of files without a path: beside master's.
    pub(super) fn folder(&self) -> String {
        let path = &self.databases[&1].files[&1].now.path;
        let end = path.rfind(['\\', '/']).expect("a path with a folder");
        path[..=end].to_owned()
    }

    pub(super) fn is_windows(&self) -> bool {
        self.edition.platform == "Windows"
    }

    /// Whether a file can be created.
    pub(super) fn check_new(&self, path: &str, pages: u64) -> Result<(), Message> {
        let fault = |system| error::cannot_create(system, self.is_windows(), path);
        let volume = self
            .volume_of(path)
            .ok_or_else(|| fault(System::NotFound))?;
        if !volume.writable {
            return Err(fault(System::Denied));
        }
        let mut files = self
            .databases
            .values()
            .flat_map(|database| database.files.values());
        let mut others = self.in_the_way.iter();
        if files.any(|file| file.now.path.eq_ignore_ascii_case(path))
            || others.any(|others| path.starts_with(others))
        {
            return Err(error::path_used(path));
        }
        match pages * PAGE > self.free(volume) {
            true => Err(fault(System::Full)),
            false => Ok(()),
        }
    }

    pub(super) fn file_mut(&mut self, database: i64, file: i64) -> &mut File {
        let database = self.databases.get_mut(&database).expect("looked up before");
        database.files.get_mut(&file).expect("looked up before")
    }

    /// A database that a test names.
    fn named(&mut self, name: &str) -> &mut Database {
        let id = self
            .id_of(name)
            .unwrap_or_else(|| panic!("there is no database {name}"));
        self.databases.get_mut(&id).expect("looked up before")
    }
}
