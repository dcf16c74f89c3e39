//! Trials on many machines, and the figures for those who watch them.

mod metrics;
mod scheduler;
