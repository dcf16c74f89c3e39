//! Replies held until they are due: one heap, one thread; no thread sleeps per request.
//!
//! A sleeping thread per request would cost more than the request. Over io_uring, the thread of each ring has its own heap, so
//! that a reply leaves from the processor that asked.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::{io, thread};

use model::{Duration, Instant};
use parking_lot::{Condvar, Mutex};

use super::pace::{self, Pace, Tally};

/// A reply that can be sent from any thread.
pub(crate) trait Reply: Send + 'static {
    /// Sends it.
    fn send(self);
}

/// Pending replies, and the thread that sends them. Dropping it sends the remaining ones, and ends the thread.
pub(crate) struct Deadlines<R: Reply> {
    shared: Arc<Shared<R>>,
    pace: Arc<Pace>,
    /// Counts replies that are sent at once; the thread has its own tally.
    at_once: Arc<Tally>,
    thread: Option<JoinHandle<()>>,
}

struct Shared<R> {
    waiting: Mutex<Waiting<R>>,
    changed: Condvar,
}

struct Waiting<R> {
    heap: BinaryHeap<Reverse<Parked<R>>>,
    /// Replies parked so far: those due at the same instant are sent in this order.
    count: u64,
    closed: bool,
}

struct Parked<R> {
    send_at: Instant,
    number: u64,
    reply: R,
}

impl<R: Reply> Deadlines<R> {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the operating system cannot start one.
    pub(crate) fn start(pace: Arc<Pace>) -> io::Result<Deadlines<R>> {
        let shared = Arc::new(Shared {
            waiting: Mutex::new(Waiting {
                heap: BinaryHeap::new(),
                count: 0,
                closed: false,
            }),
            changed: Condvar::new(),
        });
        let thread = thread::Builder::new()
            .name("dbstow-replies".into())
            .spawn({
                let (shared, pace, tally) = (Arc::clone(&shared), Arc::clone(&pace), pace.tally());
                move || shared.send_all(&pace, &tally)
            })?;
        Ok(Deadlines {
            shared,
            at_once: pace.tally(),
            pace,
            thread: Some(thread),
        })
    }

    /// Sends `reply` when it is due; at once without an instant, or if it is already due.
    pub(crate) fn reply(&self, due: Option<Instant>, reply: R) {
        let Some(due) = due else {
            self.at_once.answered_at_once(false);
            return reply.send();
        };
        let now = self.pace.clock().now();
        let send_at = self.pace.send_at(due);
        if send_at <= now {
            let late = self.pace.is_late(due, now);
            self.at_once.answered_at_once(late);
            return reply.send();
        }
        self.shared.park(send_at, reply);
    }
}

impl<R: Reply> Drop for Deadlines<R> {
    fn drop(&mut self) {
        self.shared.waiting.lock().closed = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It ends on its own; a panic was reported by the thread itself.
            let _ = thread.join();
        }
    }
}

impl<R: Reply> Shared<R> {
    fn park(&self, send_at: Instant, reply: R) {
        let mut waiting = self.waiting.lock();
        let first = waiting
            .heap
            .peek()
            .is_none_or(|Reverse(first)| send_at < first.send_at);
        let number = waiting.count;
        waiting.count += 1;
        waiting.heap.push(Reverse(Parked {
            send_at,
            number,
            reply,
        }));
        drop(waiting);
        if first {
            self.changed.notify_one();
        }
    }

    /// Sends every reply when it is due, until closed.
    fn send_all(&self, pace: &Pace, tally: &Tally) {
        pace::exact_timers();
        while let Some(parked) = self.next(pace) {
            tally.waited(parked.send_at, pace.clock().now());
            parked.reply.send();
        }
    }

    /// Waits until the first reply is due; `None` once closed and empty.
    fn next(&self, pace: &Pace) -> Option<Parked<R>> {
        let mut waiting = self.waiting.lock();
        loop {
            let first = waiting.heap.peek().map(|Reverse(first)| first.send_at);
            let wait = first.map(|send_at| pace.alarm(send_at).since(pace.clock().now()));
            match wait {
                Some(wait) if wait > Duration::ZERO && !waiting.closed => {
                    let wait = std::time::Duration::from_nanos(wait.as_nanos());
                    self.changed.wait_for(&mut waiting, wait);
                }
                Some(_) => return waiting.heap.pop().map(|Reverse(first)| first),
                None if waiting.closed => return None,
                None => {
                    self.changed.wait(&mut waiting);
                }
            }
        }
    }
}

impl<R> Parked<R> {
    fn key(&self) -> (Instant, u64) {
        (self.send_at, self.number)
    }
}

impl<R> PartialEq for Parked<R> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<R> Eq for Parked<R> {}

impl<R> PartialOrd for Parked<R> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<R> Ord for Parked<R> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::clock::Clock;

    /// A reply that records its name when it is sent.
    struct Noted(&'static str, Arc<Mutex<Vec<&'static str>>>);

    impl Reply for Noted {
        fn send(self) {
            self.1.lock().push(self.0);
        }
    }

    #[test]
    fn replies_are_sent_in_the_order_of_their_instants_and_none_is_lost() {
        let clock = Clock::start();
        let pace = Arc::new(Pace::exact(clock));
        let deadlines = Deadlines::start(Arc::clone(&pace)).unwrap();
        let sent = Arc::default();
        let reply = |name| Noted(name, Arc::clone(&sent));
        let in_ms = |ms| Some(clock.now() + Duration::from_millis(ms));

        deadlines.reply(in_ms(60), reply("third"));
        deadlines.reply(in_ms(30), reply("second"));
        deadlines.reply(in_ms(60_000), reply("left over"));
        deadlines.reply(None, reply("first"));
        Clock::sleep(Duration::from_millis(150));
        assert_eq!(*sent.lock(), ["first", "second", "third"]);

        drop(deadlines);
        assert_eq!(sent.lock().last(), Some(&"left over"));
        let pacing = pace.reading("test");
        assert_eq!((pacing.requests, pacing.error.len()), (4, 3));
    }

    #[test]
    fn a_reply_whose_instant_has_passed_is_sent_at_once_and_is_late() {
        let clock = Clock::start();
        let pace = Arc::new(Pace::exact(clock));
        let deadlines = Deadlines::start(Arc::clone(&pace)).unwrap();
        let sent = Arc::default();
        let due = clock.now();
        Clock::sleep(Duration::from_millis(1));
        deadlines.reply(Some(due), Noted("now", Arc::clone(&sent)));
        assert_eq!(*sent.lock(), ["now"]);
        let pacing = pace.reading("test");
        assert_eq!((pacing.requests, pacing.late), (1, 1));
    }
}
