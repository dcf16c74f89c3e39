//! Modelled disks under real programs, and the drill.

mod drill;
mod emulator;
mod full_disk;
mod kill_points;
mod live;
mod lost;
mod measured;
mod mount;
mod raw;
mod real_time;
mod rehearse;
mod rehearse_dump;
mod rehearse_mariadb;
mod rehearse_resumed;
mod rehearse_sessions;
mod rehearse_tablespaces;
