//! Real files that feel like modelled volumes.
