//! Hostile files, servers and users of the same machine.

mod attacks;
mod folders;
mod hostile;
mod hostile_drills;
mod hostile_plans;
mod hostile_servers;
mod private_files;
mod private_server;
