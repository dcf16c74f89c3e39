//! MariaDB as a trial's engine: a private server, or databases in an existing one (`given`), where only tables can be placed.
//!
//! ```text
//!  data files   ─► datadir, and DATA DIRECTORY of tables  one directory each on its volume; tables that are declared
//!                                                         PARTITION BY HASH have a part in each, others are distributed in turn
//!  temp files   ─► tmpdir, in turn                        spilled sorts and temporary tables of the server's own;
//!                  innodb_temp_data_file_path             CREATE TEMPORARY TABLE, in the first directory alone
//!  log          ─► innodb_log_group_home_dir              the redo log
//!  binlog       ─► log_bin                                no binary log where the placement has none
//!  undo         ─► innodb_undo_directory                  with the data where the placement has none
//!  doublewrite  ─► innodb_data_home_dir                   the system tablespace, which holds the area; the same
//!  the rest     ─► datadir                                on the first data file's volume
//! ```

mod client;
mod counters;
mod engine;
mod external;
pub(crate) mod find;
pub(crate) mod instance;
#[cfg(target_os = "linux")]
mod logged;
#[cfg(target_os = "linux")]
mod objects;
pub(crate) mod places;
mod product;
mod provider;
mod rights;
mod server;
pub(crate) mod settings;
mod tables;
pub(crate) mod waits;

pub use ::engine::managed_server::Owner;
pub use find::Programs;
#[cfg(target_os = "linux")]
pub(crate) use product::least_owner;
pub use product::owner;
pub use provider::Provider;
pub use server::MariaDb;
