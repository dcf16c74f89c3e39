//! Rules over captures of MariaDB and MySQL: each finds what it is for, is quiet where all is well, and knows its exceptions.
//!
//! Captures are made by hand, but for the one in `captures`; `dbstow`'s own tests take one from a real server.

mod captures;
mod logs;
mod rules;
mod server;
mod support;
mod temp;
mod volumes;
