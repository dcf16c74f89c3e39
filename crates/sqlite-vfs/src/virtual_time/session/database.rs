//! A session's databases: SQLite, set up as a front end to the modelled store.

use model::store::Role;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags, ffi};

use super::{Session, current};
use crate::virtual_time::files::VFS;
use crate::virtual_time::rows;

/// VM steps between two calls of the progress handler.
const STEPS: i32 = 100;

impl Session {
    /// Opens a database of this simulation; its tables belong to role `tables`.
    ///
    /// It is set up as a front end to the modelled store: a small cache of its own, a rollback journal in
    /// memory and no syncs, since the store has the buffer pool and the log. Temporary tables and spills
    /// always belong to [`Role::Temp`]. The functions `app_lock(key)` and `app_unlock(key)` take and
    /// release a lock in virtual time.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn open(&self, name: &str, tables: Role) -> rusqlite::Result<Connection> {
        self.open_with(name, tables, OpenFlags::empty())
    }

    /// The same for a database written by several sessions, each of which traces its acts ([`Session::trace`]).
    ///
    /// # Errors
    /// SQLite's error.
    pub fn open_shared(&self, name: &str, tables: Role) -> rusqlite::Result<Connection> {
        // One cache for all: with one each, every commit would invalidate all others.
        let name = self.world.shared_name(name);
        self.open_with(&name, tables, OpenFlags::SQLITE_OPEN_SHARED_CACHE)
    }

    fn open_with(&self, name: &str, tables: Role, also: OpenFlags) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | also;
        let mut connection =
            Connection::open_with_flags_and_vfs(file_name(name, tables), flags, VFS)?;
        let page = self.world.store.borrow().page_size().bytes().0;
        connection.execute_batch(&format!(
            "PRAGMA page_size = {page}; PRAGMA temp.page_size = {page}; PRAGMA journal_mode = MEMORY; \
             PRAGMA synchronous = OFF; PRAGMA cache_size = -512; PRAGMA temp.cache_size = -512; \
             PRAGMA temp_store = FILE; PRAGMA temp.journal_mode = MEMORY;",
        ))?;
        rusqlite::vtab::series::load_module(&connection)?;
        connection.progress_handler(
            STEPS,
            Some(|| {
                // A statement of a session that must end is interrupted.
                current().is_some_and(|session| {
                    session.steps.set(session.steps.get() + STEPS as u64);
                    session.stopping()
                })
            }),
        )?;
        lock_functions(&connection)?;
        rows::watch(&connection);
        Ok(connection)
    }

    /// Also locks rows of existing tables WITHOUT ROWID that sessions change while they trace.
    ///
    /// # Errors SQLite's error.
    pub fn watch_keys(&self, connection: &Connection) -> rusqlite::Result<()> {
        rows::watch_keys(connection)
    }
}

/// The name of a database's file, which says what its tables belong to.
pub(in crate::virtual_time) fn file_name(name: &str, tables: Role) -> String {
    match tables {
        Role::Data => format!("data/{name}"),
        Role::Temp => format!("temp/{name}"),
    }
}

/// Sets the rowid that `last_insert_rowid()` gives.
pub fn set_last_row(connection: &Connection, row: i64) {
    // SAFETY: an open connection, used on its own thread.
    unsafe { ffi::sqlite3_set_last_insert_rowid(connection.handle(), row) };
}

fn lock_functions(connection: &Connection) -> rusqlite::Result<()> {
    let function = |name: &str, act: fn(&Session, i64)| {
        connection.create_scalar_function(name, 1, FunctionFlags::SQLITE_UTF8, move |context| {
            let key: i64 = context.get(0)?;
            if let Some(session) = current() {
                act(&session, key);
            }
            Ok(1_i64)
        })
    };
    function("app_lock", Session::lock)?;
    function("app_unlock", Session::unlock)
}
