//! Rules over captures of MariaDB and MySQL: each finds what it is for, is quiet where all is well, and knows its exceptions.
//!
//! The captures are made by hand; `dbstow`'s own tests take one from a real server.

mod logs;
mod rules;
mod server;
mod support;
mod temp;
mod volumes;
