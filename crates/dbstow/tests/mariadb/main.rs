//! A real MariaDB or MySQL.

mod lint_mariadb;
mod mariadb;
mod mariadb_given;
mod mariadb_recovers;
mod mysql;
mod record_mariadb;
