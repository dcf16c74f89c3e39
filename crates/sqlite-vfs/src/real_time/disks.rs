//! The real files: positional reads, writes and flushes, counted by volume, and paced where volumes are
//! modelled.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Bytes, Duration, Request};
use parking_lot::{Mutex, MutexGuard};

use super::aligned::Aligned;
use super::flushes::Flushes;
use super::setup::{Access, DatabaseSpec, PlacedFile};
use host::clock::Clock;
use paced::Pacer;
use reading::Latencies;
use reading::histogram;

/// Used to read a file of SQLite's pages to find out whether direct I/O works.
#[cfg(target_os = "linux")]
const PROBE: usize = 8192;

/// All real files of a database: data files first, then temporary ones, then the log.
pub struct Disks {
    files: Vec<RealFile>,
    volumes: Vec<Mutex<VolumeCount>>,
    clock: Clock,
    pacer: Option<Arc<Pacer>>,
}

struct RealFile {
    volume: usize,
    path: PathBuf,
    file: File,
    direct: bool,
    flushes: Flushes,
}

/// Requests of a database to one volume so far, as its sessions and writers saw them.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeCount {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Their latencies.
    pub latency: Latencies,
}

impl VolumeCount {
    fn new() -> VolumeCount {
        VolumeCount {
            reads: 0,
            writes: 0,
            flushes: 0,
            read_bytes: 0,
            write_bytes: 0,
            latency: Latencies {
                reads: histogram::empty(),
                writes: histogram::empty(),
                flushes: histogram::empty(),
            },
        }
    }
}

/// The error of a wait abandoned because the session was interrupted.
pub(super) fn interrupted() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "the session was interrupted")
}

impl Disks {
    /// Creates the files. With a `pacer`, requests take as long as its model specifies.
    ///
    /// # Errors
    /// When one of them already exists, or cannot be created.
    pub fn create(spec: &DatabaseSpec, pacer: Option<Arc<Pacer>>) -> io::Result<Disks> {
        let mut files = Vec::new();
        let groups = [(&spec.data, "data"), (&spec.temp, "temp")];
        for (group, name) in groups {
            for (number, file) in (1..).zip(group) {
                let path = file.directory.join(format!("{name}-{number}"));
                files.push(RealFile::create(path, file, spec.access)?);
            }
        }
        let path = spec.log.directory.join("log-1");
        let log = PlacedFile {
            size: None,
            ..spec.log.clone()
        };
        // Log writes begin and end anywhere; they are flushed at once anyway.
        files.push(RealFile::create(path, &log, Access::Cached)?);
        let volumes = files.iter().map(|file| file.volume + 1).max().unwrap_or(0);
        Ok(Disks {
            files,
            volumes: (0..volumes)
                .map(|_| Mutex::new(VolumeCount::new()))
                .collect(),
            clock: Clock::start(),
            pacer,
        })
    }

    /// Reads from `offset` in a file, which is `on_volume` bytes from the start of its volume; bytes beyond
    /// the end of the file are zero. `stop` ends a modelled wait.
    ///
    /// # Errors
    /// The error of the real file, or that `stop` ended it.
    ///
    /// # Panics
    /// When no file has that index.
    pub fn read(
        &self,
        file: usize,
        offset: u64,
        on_volume: u64,
        buffer: &mut Aligned,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let length = Bytes(buffer.len() as u64);
        let request = Request::read(on_volume, length);
        let latency = self.execute(file, request, stop, |real| read_at(real, buffer, offset))?;
        let mut count = self.count(file);
        count.reads += 1;
        count.read_bytes += length.0;
        histogram::record(&mut count.latency.reads, latency);
        Ok(())
    }

    /// Writes all of `data`. `stop` ends a modelled wait.
    ///
    /// # Errors
    /// The error of the real file, or that `stop` ended it.
    ///
    /// # Panics
    /// When no file has that index.
    pub fn write(
        &self,
        file: usize,
        offset: u64,
        on_volume: u64,
        data: &[u8],
        stop: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let length = Bytes(data.len() as u64);
        let request = Request::write(on_volume, length);
        let write = |real: &File| write_at(real, data, offset);
        let latency = self.execute(file, request, stop, write)?;
        let mut count = self.count(file);
        count.writes += 1;
        count.write_bytes += length.0;
        histogram::record(&mut count.latency.writes, latency);
        Ok(())
    }

    /// Makes what was written to a file durable. Sessions that call it while a flush is in progress share
    /// the next one: group commit.
    ///
    /// # Errors
    /// The error of the real file.
    ///
    /// # Panics
    /// When no file has that index.
    pub fn flush(&self, file: usize) -> io::Result<()> {
        self.files[file].flushes.once(|| self.flush_now(file))
    }

    fn flush_now(&self, file: usize) -> io::Result<()> {
        let latency = self.execute(file, Request::flush(), &|| false, File::sync_data)?;
        let mut count = self.count(file);
        count.flushes += 1;
        histogram::record(&mut count.latency.flushes, latency);
        Ok(())
    }

    /// The number of files.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Requests to each volume so far, by index.
    pub fn counts(&self) -> Vec<VolumeCount> {
        let count = |count: &Mutex<VolumeCount>| count.lock().clone();
        self.volumes.iter().map(count).collect()
    }

    /// Names of the page files that go through the operating system's cache.
    pub(super) fn cached(&self) -> impl Iterator<Item = &Path> {
        let pages = &self.files[..self.files.len() - 1];
        pages
            .iter()
            .filter(|file| !file.direct)
            .map(|file| file.path.as_path())
    }

    /// Removes the files.
    ///
    /// # Errors
    /// The first that could not be removed, with its name.
    pub(super) fn remove(&self) -> io::Result<()> {
        let mut failed = Ok(());
        for file in &self.files {
            if let Err(error) = std::fs::remove_file(&file.path)
                && failed.is_ok()
            {
                failed = Err(named(&file.path, &error));
            }
        }
        failed
    }

    /// Executes a request on the real file and, if volumes are modelled, waits until the model is
    /// done too; returns how long it took.
    fn execute<T>(
        &self,
        file: usize,
        request: Request,
        stop: &dyn Fn() -> bool,
        act: impl FnOnce(&File) -> io::Result<T>,
    ) -> io::Result<Duration> {
        let file = &self.files[file];
        let began = self.clock.now();
        let paced = self.pacer.as_ref().map(|pacer| (pacer, pacer.now()));
        act(&file.file).map_err(|error| named(&file.path, &error))?;
        if let Some((pacer, arrived)) = paced {
            let due = pacer.submit(arrived, file.volume, request);
            if !pacer.wait(due, stop) {
                return Err(interrupted());
            }
        }
        Ok(self.clock.now() - began)
    }

    fn count(&self, file: usize) -> MutexGuard<'_, VolumeCount> {
        let volume = &self.volumes[self.files[file].volume];
        volume.lock()
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl RealFile {
    fn create(path: PathBuf, placed: &PlacedFile, access: Access) -> io::Result<RealFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let file = files::new_private(&path).map_err(io::Error::other)?;
        if let Some(size) = placed.size {
            reserve(&file, size, access).map_err(|error| named(&path, &error))?;
        }
        let direct = match access {
            Access::Direct => open_direct(&path, &mut options),
            Access::Cached => None,
        };
        Ok(RealFile {
            volume: placed.volume,
            direct: direct.is_some(),
            file: direct.unwrap_or(file),
            path,
            flushes: Flushes::default(),
        })
    }
}

/// Sets the size of a file: allocated on a real disk, sparse if the volume is modelled.
#[cfg(target_os = "linux")]
fn reserve(file: &File, size: Bytes, access: Access) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;

    if access == Access::Direct {
        match fallocate(file, FallocateFlags::empty(), 0, size.0) {
            // A filesystem that cannot preallocate gets a sparse file.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            result => return Ok(result?),
        }
    }
    file.set_len(size.0)
}

#[cfg(not(target_os = "linux"))]
fn reserve(file: &File, size: Bytes, _: Access) -> io::Result<()> {
    file.set_len(size.0)
}

/// The file opened past the operating system's cache; `None` if that does not work: some filesystems
/// refuse on open, some on read.
#[cfg(target_os = "linux")]
fn open_direct(path: &Path, options: &mut OpenOptions) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;

    let flag = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).ok()?;
    let file = options.custom_flags(flag).open(path).ok()?;
    let mut probe = Aligned::zeros(PROBE);
    read_at(&file, &mut probe, 0).ok()?;
    Some(file)
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_: &Path, _: &mut OpenOptions) -> Option<File> {
    None
}

/// Reads as much as exists; zeroes the rest of `buffer`.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let mut there = 0;
    while there < buffer.len() {
        match read_some(file, &mut buffer[there..], offset + there as u64) {
            Ok(0) => break,
            Ok(more) => there += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer[there..].fill(0);
    Ok(())
}

#[cfg(unix)]
fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(unix)]
fn write_at(file: &File, data: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, data, offset)
}

#[cfg(windows)]
fn write_at(file: &File, mut data: &[u8], mut offset: u64) -> io::Result<()> {
    while !data.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, data, offset)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        data = &data[written..];
        offset += written as u64;
    }
    Ok(())
}
