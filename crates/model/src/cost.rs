//! What execution costs: counted, never measured, so that a run can be repeated exactly.

use super::Duration;

/// CPU time per unit of work.
///
/// The defaults are in the range of a server core of the 2010s; an experiment specifies its own. One
/// term would not do: the time per VM step varies from 8 to 104 ns between queries, by how many pages they touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuCosts {
    /// Per statement: parsing, planning, and the round trip to the client.
    pub statement: Duration,
    /// Per page requested from the engine's cache.
    pub logical_read: Duration,
    /// Per step of the program that a statement is compiled to (SQLite's virtual machine).
    pub vm_step: Duration,
}

impl Default for CpuCosts {
    fn default() -> CpuCosts {
        CpuCosts {
            statement: Duration::from_micros(20),
            logical_read: Duration::from_nanos(500),
            vm_step: Duration::from_nanos(50),
        }
    }
}
