//! The C side: `sqlite3_vfs` and `sqlite3_io_methods`, one table for every [`FileSystem`].
//!
//! The I/O methods stop at version 2, so that no memory map can bypass `xRead`, and at version 1 if
//! connections share no memory. A panic here would have to cross C frames and aborts instead.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use rusqlite::ffi;

use super::shared::Change;
use super::{Code, EPOCH_MS, File, FileSystem, Level, Purpose};

/// A file system registered with SQLite by name, until this is dropped.
///
/// Connections opened with it must be closed before that.
pub(crate) struct Registered<F: FileSystem> {
    vfs: NonNull<ffi::sqlite3_vfs>,
    name: CString,
    /// The table points to it.
    system: Arc<F>,
}

// SAFETY: the table is written once, before SQLite sees it, except for the link to the next one, which
// SQLite guards with a mutex of its own.
unsafe impl<F: FileSystem + Send + Sync> Send for Registered<F> {}
// SAFETY: as above.
unsafe impl<F: FileSystem + Send + Sync> Sync for Registered<F> {}

impl<F: FileSystem> Registered<F> {
    /// Registers `system` with SQLite as `name`.
    ///
    /// # Panics
    /// When SQLite refuses, which it does only when out of memory.
    pub(crate) fn new(name: CString, system: F) -> Registered<F> {
        let system = Arc::new(system);
        let table = Box::new(table::<F>(&name, Arc::as_ptr(&system)));
        let vfs = NonNull::from(Box::leak(table));
        // SAFETY: the table is complete, and with its name and system it stays where it is until it is
        // unregistered.
        let result = unsafe { ffi::sqlite3_vfs_register(vfs.as_ptr(), 0) };
        assert_eq!(result, ffi::SQLITE_OK, "SQLite registers no file system");
        Registered { vfs, name, system }
    }

    /// The name under which SQLite knows it.
    pub(crate) fn name(&self) -> &CStr {
        &self.name
    }

    /// The file system.
    pub(crate) fn system(&self) -> &F {
        &self.system
    }
}

impl<F: FileSystem> Drop for Registered<F> {
    fn drop(&mut self) {
        // SAFETY: it was registered, and no connection uses it any more; the box came from `new`.
        unsafe {
            ffi::sqlite3_vfs_unregister(self.vfs.as_ptr());
            drop(Box::from_raw(self.vfs.as_ptr()));
        }
    }
}

/// What SQLite allocates for an open file.
#[repr(C)]
struct Slot<T> {
    base: ffi::sqlite3_file,
    open: *mut T,
}

fn table<F: FileSystem>(name: &CStr, system: *const F) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: size_of::<Slot<F::File>>() as c_int,
        mxPathname: 1024,
        pNext: std::ptr::null_mut(),
        zName: name.as_ptr(),
        pAppData: system.cast_mut().cast(),
        xOpen: Some(open::<F>),
        xDelete: Some(delete::<F>),
        xAccess: Some(access::<F>),
        xFullPathname: Some(full_path_name),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(randomness),
        xSleep: Some(sleep::<F>),
        xCurrentTime: Some(current_time::<F>),
        xGetLastError: Some(last_error),
        xCurrentTimeInt64: Some(current_time_int64::<F>),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }
}

fn methods<T: File>() -> &'static ffi::sqlite3_io_methods {
    const {
        &ffi::sqlite3_io_methods {
            iVersion: if T::SHARES_MEMORY { 2 } else { 1 },
            xClose: Some(close::<T>),
            xRead: Some(read::<T>),
            xWrite: Some(write::<T>),
            xTruncate: Some(truncate::<T>),
            xSync: Some(sync::<T>),
            xFileSize: Some(file_size::<T>),
            xLock: Some(lock::<T>),
            xUnlock: Some(unlock::<T>),
            xCheckReservedLock: Some(check_reserved_lock::<T>),
            xFileControl: Some(file_control),
            xSectorSize: Some(sector_size),
            xDeviceCharacteristics: Some(device_characteristics),
            xShmMap: Some(shm_map::<T>),
            xShmLock: Some(shm_lock::<T>),
            xShmBarrier: Some(shm_barrier),
            xShmUnmap: Some(shm_unmap::<T>),
            xFetch: None,
            xUnfetch: None,
        }
    }
}

/// # Safety
/// `file` was filled by [`open`] and not yet passed to [`close`].
unsafe fn opened<'a, T: File>(file: *mut ffi::sqlite3_file) -> &'a mut T {
    // SAFETY: as the caller promises; SQLite uses a file from one thread at a time.
    unsafe { &mut *(*file.cast::<Slot<T>>()).open }
}

/// # Safety
/// `vfs` was created by [`table`] for `F`, and is still registered.
unsafe fn system<'a, F: FileSystem>(vfs: *mut ffi::sqlite3_vfs) -> &'a F {
    // SAFETY: as the caller promises.
    unsafe { &*(*vfs).pAppData.cast::<F>() }
}

/// # Safety
/// `name` is null or a C string.
unsafe fn text<'a>(name: *const c_char) -> Option<std::borrow::Cow<'a, str>> {
    // SAFETY: as the caller promises.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy())
}

fn code(result: Result<(), Code>) -> c_int {
    match result {
        Ok(()) => ffi::SQLITE_OK,
        Err(Code(code)) => code,
    }
}

unsafe extern "C" fn open<F: FileSystem>(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite hands over its table, a name or null, and room for a slot.
    let (system, name, file) = unsafe {
        (
            system::<F>(vfs),
            text(name),
            &mut *file.cast::<Slot<F::File>>(),
        )
    };
    file.base.pMethods = std::ptr::null();
    let create = flags & ffi::SQLITE_OPEN_CREATE != 0;
    match system.open(name.as_deref(), Purpose::of(flags), create) {
        Ok(open) => file.open = Box::into_raw(Box::new(open)),
        Err(Code(code)) => return code,
    }
    file.base.pMethods = methods::<F::File>();
    if !out_flags.is_null() {
        // SAFETY: not null, so it points to an int of the caller.
        unsafe { *out_flags = flags };
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close<T: File>(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes each file once; the box came from `open`.
    drop(unsafe { Box::from_raw((*file.cast::<Slot<T>>()).open) });
    // SAFETY: the file is SQLite's own.
    unsafe { (*file).pMethods = std::ptr::null() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn read<T: File>(
    file: *mut ffi::sqlite3_file,
    buffer: *mut c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: an open file, and a buffer of `length` bytes, which SQLite has initialised or reads only
    // after they were written.
    let (open, buffer) = unsafe {
        (
            opened::<T>(file),
            slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize),
        )
    };
    match open.read(buffer, offset as u64) {
        Ok(there) if there == buffer.len() => ffi::SQLITE_OK,
        Ok(_) => ffi::SQLITE_IOERR_SHORT_READ,
        Err(Code(code)) => code,
    }
}

unsafe extern "C" fn write<T: File>(
    file: *mut ffi::sqlite3_file,
    buffer: *const c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: an open file, and a buffer of `length` bytes.
    let (open, buffer) = unsafe {
        (
            opened::<T>(file),
            slice::from_raw_parts(buffer.cast::<u8>(), length as usize),
        )
    };
    code(open.write(buffer, offset as u64))
}

unsafe extern "C" fn truncate<T: File>(file: *mut ffi::sqlite3_file, length: i64) -> c_int {
    // SAFETY: an open file.
    code(unsafe { opened::<T>(file) }.truncate(length as u64))
}

unsafe extern "C" fn sync<T: File>(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: an open file.
    code(unsafe { opened::<T>(file) }.sync())
}

unsafe extern "C" fn file_size<T: File>(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: an open file, and an integer of the caller.
    unsafe { *size = opened::<T>(file).length() as i64 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn lock<T: File>(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { opened::<T>(file) };
    if open.lock(Level::from_sqlite(level)) {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_BUSY
    }
}

unsafe extern "C" fn unlock<T: File>(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: an open file.
    unsafe { opened::<T>(file) }.unlock(Level::from_sqlite(level));
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock<T: File>(
    file: *mut ffi::sqlite3_file,
    reserved: *mut c_int,
) -> c_int {
    // SAFETY: an open file, and an integer of the caller.
    unsafe { *reserved = c_int::from(opened::<T>(file).reserved()) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    4096
}

unsafe extern "C" fn device_characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map<T: File>(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    size: c_int,
    make: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { opened::<T>(file) };
    let Some(memory) = open.shared() else {
        return ffi::SQLITE_IOERR_SHMMAP;
    };
    let region = memory.region(region as usize, size as usize, make != 0);
    let start = region.map_or(std::ptr::null_mut(), |start| start.as_ptr().cast());
    // SAFETY: a pointer of the caller.
    unsafe { *out = start };
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_lock<T: File>(
    file: *mut ffi::sqlite3_file,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { opened::<T>(file) };
    let possible = open.lock_shared(Change {
        first: first as usize,
        count: count as usize,
        take: flags & ffi::SQLITE_SHM_LOCK != 0,
        exclusive: flags & ffi::SQLITE_SHM_EXCLUSIVE != 0,
    });
    if possible {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_BUSY
    }
}

unsafe extern "C" fn shm_barrier(_: *mut ffi::sqlite3_file) {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap<T: File>(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    if delete != 0 {
        // SAFETY: an open file.
        let open = unsafe { opened::<T>(file) };
        if let Some(memory) = open.shared() {
            memory.clear();
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete<F: FileSystem>(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    _: c_int,
) -> c_int {
    // SAFETY: SQLite's table, and a name.
    let (system, name) = unsafe { (system::<F>(vfs), text(name)) };
    if name.is_some_and(|name| system.delete(&name)) {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_IOERR_DELETE_NOENT
    }
}

unsafe extern "C" fn access<F: FileSystem>(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    _: c_int,
    there: *mut c_int,
) -> c_int {
    // SAFETY: SQLite's table, and a name.
    let (system, name) = unsafe { (system::<F>(vfs), text(name)) };
    let known = name.is_some_and(|name| system.exists(&name));
    // SAFETY: an integer of the caller.
    unsafe { *there = c_int::from(known) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_path_name(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: a name, and `room` bytes of the caller.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes_with_nul();
        if name.len() > room as usize {
            return ffi::SQLITE_CANTOPEN;
        }
        std::ptr::copy_nonoverlapping(name.as_ptr().cast::<c_char>(), out, name.len());
    }
    ffi::SQLITE_OK
}

/// SQLite seeds its own generator with this, once per process: the same bytes every time.
unsafe extern "C" fn randomness(
    _: *mut ffi::sqlite3_vfs,
    length: c_int,
    out: *mut c_char,
) -> c_int {
    let mut random = model::random::stream(0, "sqlite");
    // SAFETY: `length` bytes of the caller.
    let out = unsafe { slice::from_raw_parts_mut(out.cast::<u8>(), length as usize) };
    rand::Rng::fill_bytes(&mut random, out);
    length
}

unsafe extern "C" fn sleep<F: FileSystem>(vfs: *mut ffi::sqlite3_vfs, us: c_int) -> c_int {
    // SAFETY: SQLite's table.
    let system = unsafe { system::<F>(vfs) };
    system.sleep(model::Duration::from_micros(us.unsigned_abs().into()));
    us
}

/// # Safety
/// As for [`system`].
unsafe fn julian_ms<F: FileSystem>(vfs: *mut ffi::sqlite3_vfs) -> i64 {
    // SAFETY: as the caller promises.
    let now = unsafe { system::<F>(vfs) }.now();
    EPOCH_MS + (now.as_nanos() / 1_000_000) as i64
}

unsafe extern "C" fn current_time<F: FileSystem>(
    vfs: *mut ffi::sqlite3_vfs,
    out: *mut f64,
) -> c_int {
    // SAFETY: SQLite's table, and a number of the caller.
    unsafe { *out = julian_ms::<F>(vfs) as f64 / 86_400_000.0 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn current_time_int64<F: FileSystem>(
    vfs: *mut ffi::sqlite3_vfs,
    out: *mut i64,
) -> c_int {
    // SAFETY: SQLite's table, and an integer of the caller.
    unsafe { *out = julian_ms::<F>(vfs) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn last_error(_: *mut ffi::sqlite3_vfs, _: c_int, _: *mut c_char) -> c_int {
    0
}
