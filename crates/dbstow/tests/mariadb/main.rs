//! A real MariaDB or MySQL.

mod lint_mariadb;
mod mariadb;
mod mariadb_external;
mod mariadb_recovers;
mod mysql;
mod record_mariadb;
