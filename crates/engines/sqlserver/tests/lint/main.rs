//! Rules over captures: each finds what it is for, is quiet where all is well, and knows its exceptions.
//!
//! The captures are made by hand (`captures/README.md`); nothing here ran on a SQL Server.

mod azure;
mod captures;
mod files;
mod latency;
mod managed;
mod rules;
mod settings;
mod support;
mod tempdb;
mod volumes;
