//! What a session waits for.

use crate::request::Completion;
use crate::time::Instant;

/// Whether a request to the store is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Done.
    Done,
    /// Not yet: return at that time and retry.
    Wait(Wait),
}

/// What a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The end of the wait.
    pub until: Instant,
    /// The cause.
    pub cause: Cause,
    /// The part of that request that falls within the wait.
    pub part: Completion,
}

/// The cause of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A page to be read.
    Read,
    /// A dirty page to be written, so that its frame can be used or the log overwritten.
    Write,
    /// Log records to be durable, in the log or the binary log.
    Log,
}

impl Wait {
    pub(super) fn new(now: Instant, cause: Cause, completion: Completion) -> Wait {
        let wait = completion.done.since(now);
        let part = match cause {
            Cause::Read => completion.tail(wait),
            Cause::Write | Cause::Log => completion.in_proportion(wait),
        };
        Wait {
            until: completion.done,
            cause,
            part,
        }
    }
}
