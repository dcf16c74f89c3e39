//! Commands that start no server: arguments, files, messages.

mod attached;
mod calibrate;
mod cli;
mod completion;
mod doctor;
mod experiments;
mod host_cache;
mod import;
mod keys;
mod layout;
mod limits;
mod lint;
mod man;
mod names;
mod no_verdict;
mod numbers;
mod paths;
mod service_lint;
mod services;
mod sixth;
mod stress;
mod tsql;
mod until;
mod wrong_file;
