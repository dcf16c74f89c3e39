//! Errors and messages of SQL Server, by number.
//!
//! Numbers, classes and texts: Microsoft's list,
//! <https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors>, read
//! 2026-11. Messages of severity 10 there reach clients with 0
//! (<https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-error-severities>). The list
//! gives no states; here they are 1, except for 1105. Which error a statement raises, and in which order, is inferred
//! from the documentation of each statement; it was not observed on a server.

use crate::reply::{Item, Message};

/// The items of a statement, or the errors it raises.
pub(super) type Outcome = Result<Vec<Item>, Vec<Message>>;

/// Operating system messages, in the form in which SQL Server quotes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// The folder or volume does not exist.
    NotFound,
    /// The service's account may not write there.
    Denied,
    /// The volume is full.
    Full,
}

impl System {
    /// The server's wording. SQL Server on Linux maps Linux errors to Windows' messages, less exactly: users of 2017 and
    /// later report 2 for a missing folder, and 31 for a full disk.
    fn text(self, windows: bool) -> &'static str {
        match (self, windows) {
            (System::NotFound, true) => "3(The system cannot find the path specified.)",
            (System::NotFound, false) => "2(The system cannot find the file specified.)",
            (System::Denied, _) => "5(Access is denied.)",
            (System::Full, true) => "112(There is not enough space on the disk.)",
            (System::Full, false) => "31(A device attached to the system is not functioning.)",
        }
    }
}

pub(super) fn invalid_object(name: &str) -> Message {
    Message::error(208, format!("Invalid object name '{name}'."))
}

pub(super) fn permission_in_database(permission: &str, database: &str) -> Message {
    Message::error(
        262,
        format!("{permission} permission denied in database '{database}'."),
    )
    .class(14)
}

pub(super) fn state_denied(permission: &str) -> [Message; 2] {
    let text = format!("{permission} permission was denied on object 'server', database 'master'.");
    let then = "The user does not have permission to perform this action.";
    [
        Message::error(300, text).class(14),
        Message::error(297, then),
    ]
}

pub(super) fn no_database(name: &str) -> Message {
    let text =
        format!("Database '{name}' does not exist. Make sure that the name is entered correctly.");
    Message::error(911, text)
}

pub(super) fn recovering(database: &str) -> Message {
    let text =
        format!("Database '{database}' is being recovered. Waiting until recovery is finished.");
    Message::error(922, text).class(14)
}

pub(super) fn filegroup_full(database: &str) -> Message {
    let text = format!(
        "Could not allocate space for object 'dbo.t' in database '{database}' because the 'PRIMARY' filegroup is full. \
         Create disk space by deleting unneeded files, dropping objects in the filegroup, adding additional files to \
         the filegroup, or setting autogrowth on for existing files in the filegroup."
    );
    Message::error(1105, text).class(17).state(2)
}

pub(super) fn database_exists(name: &str) -> Message {
    Message::error(
        1801,
        format!("Database '{name}' already exists. Choose a different database name."),
    )
}

pub(super) fn create_failed() -> Message {
    let text = "CREATE DATABASE failed. Some file names listed could not be created. Check related errors.";
    Message::error(1802, text)
}

pub(super) fn no_tempdb() -> Message {
    let text = "Could not create tempdb. You may not have enough disk space available. Free additional disk space by \
                deleting other files on the tempdb drive and then restart SQL Server. Check for additional errors in \
                the operating system error log that may indicate why the tempdb files could not be initialized.";
    Message::info(1814, text)
}

pub(super) fn file_name_used(name: &str) -> Message {
    Message::error(
        1828,
        format!("The logical file name \"{name}\" is already in use. Choose a different name."),
    )
}

pub(super) fn dbcc_denied(login: &str, command: &str) -> Message {
    let text = format!("User '{login}' does not have permission to run DBCC {command}.");
    Message::error(2571, text).class(14)
}

pub(super) fn cannot_empty(file: &str) -> Message {
    let text = format!(
        "Cannot move all contents of file \"{file}\" to other places to complete the emptyfile operation."
    );
    Message::error(2555, text)
}

pub(super) fn cannot_drop(name: &str) -> Message {
    let text = format!(
        "Cannot drop the database '{name}', because it does not exist or you do not have permission."
    );
    Message::error(3701, text).class(11)
}

pub(super) fn in_use(name: &str) -> Message {
    Message::error(
        3702,
        format!("Cannot drop database \"{name}\" because it is currently in use."),
    )
}

pub(super) fn is_system(name: &str) -> Message {
    Message::error(
        3708,
        format!("Cannot drop the database '{name}' because it is a system database."),
    )
}

pub(super) fn not_supported() -> Message {
    let text = "This ALTER DATABASE statement is not supported. Correct the syntax and execute the statement again.";
    Message::error(5008, text)
}

pub(super) fn alter_denied(name: &str) -> Message {
    let text = format!(
        "User does not have permission to alter database '{name}', the database does not exist, or the database is \
         not in a state that allows access checks."
    );
    Message::error(5011, text).class(14)
}

pub(super) fn path_set(file: &str) -> Message {
    let text = format!(
        "The file \"{file}\" has been modified in the system catalog. The new path will be used the next time the \
         database is started."
    );
    Message::info(5018, text)
}

pub(super) fn file_is_not_there() -> Message {
    let text =
        "One or more files listed in the statement could not be found or could not be initialized.";
    Message::error(5009, text)
}

pub(super) fn is_primary() -> Message {
    Message::error(
        5020,
        "The primary data or log file cannot be removed from a database.",
    )
}

pub(super) fn name_set(name: &str) -> Message {
    Message::info(5021, format!("The file name '{name}' has been set."))
}

pub(super) fn no_property(file: &str) -> Message {
    let text = format!(
        "MODIFY FILE failed for file \"{file}\". At least one property per file must be specified."
    );
    Message::error(5038, text)
}

pub(super) fn not_larger() -> Message {
    Message::error(
        5039,
        "MODIFY FILE failed. Specified size is less than or equal to current size.",
    )
}

pub(super) fn larger_than_max() -> Message {
    Message::error(5040, "MODIFY FILE failed. Size is greater than MAXSIZE.")
}

pub(super) fn no_file(file: &str) -> Message {
    Message::error(
        5041,
        format!("MODIFY FILE failed. File '{file}' does not exist."),
    )
}

pub(super) fn not_empty(file: &str) -> Message {
    Message::error(
        5042,
        format!("The file '{file}' cannot be removed because it is not empty."),
    )
}

pub(super) fn removed(file: &str) -> Message {
    Message::info(5044, format!("The file '{file}' has been removed."))
}

pub(super) fn worktables() -> Message {
    let text = "Could not cleanup worktable IAM chains to allow shrink or remove file operation. Please try again when \
                tempdb is idle.";
    Message::error(5054, text)
}

pub(super) fn page_header(page: i64) -> Message {
    let text = format!(
        "Table error: Object ID 0, index ID -1, partition ID 0, alloc unit ID 0 (type unknown), page ID (1:{page}) \
         contains an incorrect page ID in its page header. The PageId in the page header = (0:0)."
    );
    Message::error(8909, text)
}

pub(super) fn option_refused(option: &str, database: &str) -> Message {
    Message::error(
        5058,
        format!("Option '{option}' cannot be set in database '{database}'."),
    )
}

pub(super) fn alter_failed() -> Message {
    Message::error(5069, "ALTER DATABASE statement failed.")
}

pub(super) fn max_below_size(file: &str) -> Message {
    Message::error(
        5103,
        format!("MAXSIZE cannot be less than SIZE for file '{file}'."),
    )
}

/// A missing folder has a separate number.
pub(super) fn cannot_create(system: System, windows: bool, path: &str) -> Message {
    let reason = system.text(windows);
    if system == System::NotFound {
        let text = format!(
            "Directory lookup for the file \"{path}\" failed with the operating system error {reason}."
        );
        return Message::error(5133, text);
    }
    let text = format!(
        "CREATE FILE encountered operating system error {reason} while attempting to open or create the physical file \
         '{path}'."
    );
    Message::error(5123, text)
}

pub(super) fn cannot_expand(windows: bool, path: &str) -> Message {
    let reason = System::Full.text(windows);
    let text = format!(
        "MODIFY FILE encountered operating system error {reason} while attempting to expand the physical file '{path}'."
    );
    Message::error(5149, text)
}

pub(super) fn path_used(path: &str) -> Message {
    let text = format!(
        "Cannot create file '{path}' because it already exists. Change the file path or the file name, and retry the \
         operation."
    );
    Message::error(5170, text)
}

pub(super) fn no_reconfigure() -> Message {
    Message::error(
        5812,
        "You do not have permission to run the RECONFIGURE statement.",
    )
    .class(14)
}

pub(super) fn no_such_file(file: &str, database: &str) -> Message {
    let text = format!(
        "Could not locate file '{file}' for database '{database}' in sys.database_files. The file either does not \
         exist, or was dropped."
    );
    Message::error(8985, text)
}

pub(super) fn no_setting(name: &str) -> Message {
    let text = format!(
        "The configuration option '{name}' does not exist, or it may be an advanced option."
    );
    Message::error(15123, text)
}

pub(super) fn may_not() -> Message {
    Message::error(
        15247,
        "User does not have permission to perform this action.",
    )
}

pub(super) fn setting_changed(name: &str, old: i64, new: i64) -> Message {
    let text = format!(
        "Configuration option '{name}' changed from {old} to {new}. Run the RECONFIGURE statement to install."
    );
    Message::info(15457, text)
}

pub(super) fn no_use() -> Message {
    let text = "USE statement is not supported to switch between databases. Use a new connection to connect to a \
                different database.";
    Message::error(40508, text)
}

pub(super) fn not_in_azure(statement: &str) -> Message {
    Message::error(
        40510,
        format!("Statement '{statement}' is not supported in this version of SQL Server."),
    )
}

pub(super) fn no_files_in_create() -> Message {
    let text = "Specifying files and filegroups in CREATE DATABASE statement is not supported on SQL Database Managed \
                Instance.";
    Message::error(41918, text)
}

pub(super) fn cannot_open_backup(windows: bool, path: &str) -> Message {
    let why = System::NotFound.text(windows);
    Message::error(
        3201,
        format!("Cannot open backup device '{path}'. Operating system error {why}."),
    )
}

pub(super) fn no_backup_at(path: &str, position: u64) -> Message {
    Message::error(
        3287,
        format!(
            "The file ID {position} on device '{path}' is incorrectly formed and can not be read."
        ),
    )
}

pub(super) fn later_backup(backup: i64, server: u8) -> Message {
    Message::error(
        3169,
        format!(
            "The database was backed up on a server running version {backup}. That version is incompatible with this server, which is \
             running version {server}."
        ),
    )
}
