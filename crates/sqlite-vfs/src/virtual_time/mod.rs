//! SQLite in virtual time: sessions are coroutines on one thread, and the model determines time.
//!
//! ```text
//!  session (coroutine)      VFS                      scheduler
//!  ── SQL ──► SQLite ──► page access ──► CPU burst on a virtual core
//!                                   └──► store: done, or wait until t ──► heap of (t, order)
//!  ◄──────────────────────────────────── resumed when nothing earlier is left
//! ```
//!
//! Only one session runs at a time, always the one whose time is earliest, so requests reach the
//! store in the order of virtual time, and the same seed gives the same run. The cost of execution is
//! not measured but counted (VM steps, page requests, statements), for the same reason.
//!
//! A session is suspended only inside the VFS and [`Session`]'s own waits, where SQLite
//! holds no mutex; it is always run to its end, since unwinding through SQLite's frames is not possible. A simulation
//! that has to stop makes every further file access fail.
//!
//! Sessions that write to one database trace their transactions ([`Session::trace`]): SQLite executes each of them at
//! once, and only then does the session replay it. Sessions with databases of their own may replay too, what was
//! executed for all trials that execute the same ([`Tape`]).

mod files;
mod image;
mod inode;
mod rows;
mod scheduler;
mod session;
mod spool;
mod tape;
mod touches;
mod trace;
mod world;

pub use image::{Image, Parts};
pub use model::CpuCosts;
pub use scheduler::{Body, RunError, Simulation, check_stacks};
pub use session::{DatabaseName, Session, TapingSession, set_last_row};
pub use spool::{Held, temporary_space};
pub use tape::{Tape, TapeFiles};
