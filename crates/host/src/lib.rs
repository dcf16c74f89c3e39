//! The host: its clock, its processes, its real disks, and what a killed process left on it.
//!
//! Nothing in this crate knows a model of a disk; it asks the operating system, and acts on it. What only one of them offers is
//! done there and omitted elsewhere, with the reason where a user looks for it.

// Time, and signals.
pub mod clock;
pub mod hangup;

// Child processes, and what outlives a killed one.
pub mod child;
#[cfg(target_os = "linux")]
pub mod orphans;
#[cfg(not(target_os = "linux"))]
#[path = "orphans/elsewhere.rs"]
pub mod orphans;

// Mounts and devices of emulated volumes.
#[cfg(target_os = "linux")]
pub mod apart;
#[cfg(target_os = "linux")]
pub mod loop_device;
#[cfg(target_os = "linux")]
pub mod mounts;

// Processes without a network.
#[cfg(target_os = "linux")]
pub mod network;

// The volumes of a trial: real or modelled, and real ones.
pub mod plain;
pub mod site;
