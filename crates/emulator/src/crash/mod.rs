//! Which writes are on disk after a power cut, given every earlier write and flush.
//!
//! ```text
//! history ──► moment ───────────────────────────────► choice ──► state
//! events      when each volume stops; which writes      which      ranges of which writes
//!             are safe by then, and which are open      of these   every volume has
//! ```
//!
//! A write is *safe* once its disk has acknowledged it without a volatile cache, or has acknowledged a flush that began
//! after the write was acknowledged. Every other write that has arrived is *open*: the disk may have it, or not, or
//! some of its atomic units. A crash state is one choice for every open write. (Pillai and others, *All File Systems
//! Are Not Created Equal*, OSDI 2014, and Mohan and others, *Finding Crash-Consistency Bugs with Bounded Black-Box
//! Crash Testing*, OSDI 2018, construct states in the same way for one disk.)
//!
//! ```
//! use emulator::crash::{Action, Cache, Choice, Event, Moment, Rules};
//! use model::{Bytes, Instant};
//!
//! let at = Instant::from_nanos;
//! let event = |action, range, time| Event { volume: 0, action, range, arrived: at(time), done: at(time + 5), bytes_at: 0 };
//! let events = [
//!     event(Action::Write, 0..4096, 0),
//!     event(Action::Flush, 0..0, 10),
//!     event(Action::Write, 4096..8192, 20),
//! ];
//! let rules = [Rules::of_disk(Cache::Volatile, Bytes::kib(4))];
//! let moment = Moment::new(&events, &rules, &[at(100)]);
//! // The first write was flushed, the second was not.
//! assert_eq!(moment.open().len(), 1);
//! assert_eq!(moment.state(&Choice::Nothing).kept.len(), 1);
//! assert_eq!(moment.state(&Choice::Everything).kept.len(), 2);
//! ```

mod choice;
mod file;
mod history;
mod moment;

pub use choice::{Choice, choices, choices_of_one_disk};
pub use file::{History, HistoryError};
pub use history::{Action, Event};
pub use moment::{Cache, Kept, Moment, Piece, Rules, State};

#[cfg(test)]
mod tests;
