//! A real PostgreSQL.

mod managed;
mod postgres;
mod postgres_external;
mod postgres_tls;
mod postgres_versions;
mod record;
mod record_versions;
