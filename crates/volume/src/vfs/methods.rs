//! The C side: `sqlite3_vfs` and `sqlite3_io_methods`.
//!
//! Version 1 of the I/O methods, so that there is no memory map that would pass `xRead` by and no shared
//! memory for a write-ahead log, which the store models. A panic here would have to cross C frames and
//! aborts instead.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::rc::Rc;
use std::slice;
use std::sync::Once;

use model::store::{FileId, PAGE, Role};
use rusqlite::ffi;

use super::Inode;
use super::lock::Level;
use crate::virtual_time::current;

/// Reads and writes shorter than a sector are counters and headers; a real engine has none.
const FREE_BELOW: usize = 512;

/// What SQLite allocates for an open file.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    open: *mut Open,
}

/// An open file.
struct Open {
    inode: Rc<Inode>,
    level: Level,
}

/// Makes the file system known to SQLite, once in a process.
pub(crate) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let vfs = Box::leak(Box::new(vfs()));
        // SAFETY: the structure is complete and lives for ever.
        let result = unsafe { ffi::sqlite3_vfs_register(vfs, 0) };
        assert_eq!(
            result,
            ffi::SQLITE_OK,
            "SQLite refuses to register a file system"
        );
    });
}

fn vfs() -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: size_of::<File>() as c_int,
        mxPathname: 1024,
        pNext: std::ptr::null_mut(),
        zName: super::NAME.as_ptr(),
        pAppData: std::ptr::null_mut(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_path_name),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: Some(last_error),
        xCurrentTimeInt64: Some(current_time_int64),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

/// # Safety
/// `file` is one that [`open`] filled and [`close`] has not yet seen.
unsafe fn opened<'a>(file: *mut ffi::sqlite3_file) -> &'a mut Open {
    // SAFETY: as the caller promises; SQLite uses a file from one thread at a time.
    unsafe { &mut *(*file.cast::<File>()).open }
}

/// # Safety
/// `name` is null or a C string.
unsafe fn text<'a>(name: *const c_char) -> Option<std::borrow::Cow<'a, str>> {
    // SAFETY: as the caller promises.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy())
}

/// The role of a file, from SQLite's flags: `None` for journals, which the modelled log stands for.
fn role(name: Option<&str>, flags: c_int) -> Option<Role> {
    let journals = ffi::SQLITE_OPEN_MAIN_JOURNAL
        | ffi::SQLITE_OPEN_SUBJOURNAL
        | ffi::SQLITE_OPEN_SUPER_JOURNAL;
    if flags & journals != 0 {
        return None;
    }
    match name {
        Some(name) if name.starts_with("data/") => Some(Role::Data),
        Some(_) | None => Some(Role::Temp),
    }
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite hands over a name or null, and room for a `File`.
    let (name, file) = unsafe { (text(name), &mut *file.cast::<File>()) };
    file.base.pMethods = std::ptr::null();
    let Some(session) = current() else {
        return ffi::SQLITE_CANTOPEN;
    };
    let world = session.world();
    let role = role(name.as_deref(), flags);
    let inode = match name {
        None => Rc::new(Inode::new(world, role)),
        Some(name) => {
            let known = world.files.borrow().get(name.as_ref()).cloned();
            match known {
                Some(inode) => inode,
                None if flags & ffi::SQLITE_OPEN_CREATE == 0 => return ffi::SQLITE_CANTOPEN,
                None => {
                    let inode = Rc::new(Inode::new(world, role));
                    world
                        .files
                        .borrow_mut()
                        .insert(name.into_owned(), Rc::clone(&inode));
                    inode
                }
            }
        }
    };
    file.open = Box::into_raw(Box::new(Open {
        inode,
        level: Level::Unlocked,
    }));
    file.base.pMethods = &METHODS;
    if !out_flags.is_null() {
        // SAFETY: not null, so it points to an int of the caller.
        unsafe { *out_flags = flags };
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes each file once; the box came from `open`.
    let open = unsafe { Box::from_raw((*file.cast::<File>()).open) };
    lower(&open.inode, open.level, Level::Unlocked);
    // SAFETY: the file is SQLite's own.
    unsafe { (*file).pMethods = std::ptr::null() };
    ffi::SQLITE_OK
}

/// The pages a range touches, if it costs anything.
fn pages(
    inode: &Inode,
    offset: i64,
    length: usize,
) -> Option<(FileId, std::ops::RangeInclusive<u64>)> {
    let place = inode.place.filter(|_| length >= FREE_BELOW)?;
    let first = offset as u64 / PAGE.0;
    Some((place, first..=(offset as u64 + length as u64 - 1) / PAGE.0))
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buffer: *mut c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: an open file, and a buffer of `length` bytes.
    let (open, buffer) = unsafe {
        (
            opened(file),
            slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize),
        )
    };
    if let Some(session) = current() {
        if session.stopping() {
            return ffi::SQLITE_IOERR_READ;
        }
        if let Some((place, pages)) = pages(&open.inode, offset, buffer.len()) {
            pages.for_each(|page| session.read_page(place, page));
        }
    }
    let inode = &open.inode;
    let result = inode
        .world
        .spool
        .borrow_mut()
        .read(&inode.bytes.borrow(), offset as u64, buffer);
    match result {
        Ok(there) if there == buffer.len() => ffi::SQLITE_OK,
        Ok(_) => ffi::SQLITE_IOERR_SHORT_READ,
        Err(_) => ffi::SQLITE_IOERR_READ,
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    buffer: *const c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: an open file, and a buffer of `length` bytes.
    let (open, buffer) = unsafe {
        (
            opened(file),
            slice::from_raw_parts(buffer.cast::<u8>(), length as usize),
        )
    };
    if let Some(session) = current() {
        if session.stopping() {
            return ffi::SQLITE_IOERR_WRITE;
        }
        if let Some((place, mut pages)) = pages(&open.inode, offset, buffer.len())
            && pages
                .try_for_each(|page| session.write_page(place, page))
                .is_err()
        {
            return ffi::SQLITE_FULL;
        }
    }
    let inode = &open.inode;
    let result =
        inode
            .world
            .spool
            .borrow_mut()
            .write(&mut inode.bytes.borrow_mut(), offset as u64, buffer);
    if result.is_ok() {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_IOERR_WRITE
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, length: i64) -> c_int {
    // SAFETY: an open file.
    unsafe { opened(file) }.inode.truncate(length as u64);
    ffi::SQLITE_OK
}

/// Durability is the modelled log's business.
unsafe extern "C" fn sync(_: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: an open file, and an integer of the caller.
    unsafe { *size = opened(file).inode.bytes.borrow().length as i64 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { opened(file) };
    let (level, reached) = open
        .inode
        .locks
        .borrow_mut()
        .raise(open.level, Level::from_sqlite(level));
    open.level = level;
    if reached {
        return ffi::SQLITE_OK;
    }
    if let Some(session) = current() {
        session.found_busy(&open.inode);
    }
    ffi::SQLITE_BUSY
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { opened(file) };
    let level = Level::from_sqlite(level);
    if level < open.level {
        lower(&open.inode, open.level, level);
        open.level = level;
    }
    ffi::SQLITE_OK
}

fn lower(inode: &Inode, held: Level, wanted: Level) {
    inode.locks.borrow_mut().lower(held, wanted);
    if let Some(session) = current() {
        inode.released(&session);
    }
}

unsafe extern "C" fn check_reserved_lock(
    file: *mut ffi::sqlite3_file,
    reserved: *mut c_int,
) -> c_int {
    // SAFETY: an open file, and an integer of the caller.
    unsafe { *reserved = c_int::from(opened(file).inode.locks.borrow().reserved()) };
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

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, _: c_int) -> c_int {
    // SAFETY: a name.
    let name = unsafe { text(name) };
    let gone = current()
        .zip(name)
        .and_then(|(session, name)| session.world().files.borrow_mut().remove(name.as_ref()));
    if gone.is_some() {
        ffi::SQLITE_OK
    } else {
        ffi::SQLITE_IOERR_DELETE_NOENT
    }
}

unsafe extern "C" fn access(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    _: c_int,
    there: *mut c_int,
) -> c_int {
    // SAFETY: a name, and an integer of the caller.
    let name = unsafe { text(name) };
    let known = current().zip(name).is_some_and(|(session, name)| {
        session
            .world()
            .files
            .borrow()
            .get(name.as_ref())
            .is_some_and(|inode| inode.bytes.borrow().length > 0)
    });
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

/// SQLite seeds its own generator with this, once in a process: the same bytes every time.
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

unsafe extern "C" fn sleep(_: *mut ffi::sqlite3_vfs, us: c_int) -> c_int {
    if let Some(session) = current() {
        session.sleep(model::Duration::from_micros(us.unsigned_abs().into()));
    }
    us
}

/// Milliseconds of the Julian day number of 2026-01-01, where virtual time begins.
const EPOCH_MS: i64 = 212_633_985_600_000;

fn julian_ms() -> i64 {
    let passed = current().map_or(0, |session| session.now().as_nanos() / 1_000_000);
    EPOCH_MS + passed as i64
}

unsafe extern "C" fn current_time(_: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    // SAFETY: a number of the caller.
    unsafe { *out = julian_ms() as f64 / 86_400_000.0 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn current_time_int64(_: *mut ffi::sqlite3_vfs, out: *mut i64) -> c_int {
    // SAFETY: an integer of the caller.
    unsafe { *out = julian_ms() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn last_error(_: *mut ffi::sqlite3_vfs, _: c_int, _: *mut c_char) -> c_int {
    0
}
