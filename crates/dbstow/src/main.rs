//! The dbstow program.
fn main() {}
