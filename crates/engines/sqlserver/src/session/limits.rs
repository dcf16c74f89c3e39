//! Limits on our time and memory for a server. The client library limits neither the size of a response nor its messages, and may
//! panic.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use mssql_tds::error::Error;
use rules::caught;
use tokio::time::{Instant, sleep_until};

use super::{ANSWER_LIMIT, Failure};

/// Time limit of a server, and the stop flag.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Time limit for a login, and for the whole response to one of our own queries.
    pub answer: Duration,
    /// Set when the user requests a stop.
    pub stop: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            answer: ANSWER_LIMIT,
            stop: Arc::default(),
        }
    }
}

/// Polling interval for the end of a wait.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Extra time of the whole response beyond the library's own limit, which is in whole seconds: minimum and maximum.
const GRACE_MIN: Duration = Duration::from_secs(2);
const GRACE_MAX: Duration = Duration::from_secs(5);

/// Maximum memory of a response: rows, their cells, and messages. The largest capture takes some MiB.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Memory of a row, a cell or a message besides its text.
const PART_BYTES: usize = 64;

/// Maximum growth of this process during a response: data that the library buffers before returning it, such as a series of
/// messages, is not visible otherwise. Other parts of this process grow too, but not that much during a response.
const GROWTH_MAX: usize = 4 * ANSWER_BYTES_MAX;

/// Remaining memory for a response.
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new() -> Budget {
        Budget(ANSWER_BYTES_MAX)
    }

    /// Takes memory for a part with `bytes` of text.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Error> {
        let left = self.0.checked_sub(bytes.saturating_add(PART_BYTES));
        self.0 = left.ok_or_else(|| Error::ProtocolError(too_large()))?;
        Ok(())
    }
}

fn too_large() -> String {
    format!(
        "the answer takes more than {} MiB, so that no more of it was read; check what answers at that address",
        ANSWER_BYTES_MAX >> 20
    )
}

/// Conditions that end a wait.
pub(super) struct Watch {
    until: Option<Instant>,
    /// Ends it at once.
    stop: Option<Arc<AtomicBool>>,
    /// Ends it some time later.
    cancelled: Option<(Arc<AtomicBool>, Duration)>,
    /// Memory of this process when it began, if monitored.
    resident: Option<usize>,
}

impl Watch {
    /// For one of our own queries. The library has a limit per wait, after which the connection is still usable; this one is on
    /// the whole response, and a little later.
    pub(super) fn of_question(limits: &Limits, limit: Duration) -> Watch {
        Watch {
            until: Some(Instant::now() + limit + limit.clamp(GRACE_MIN, GRACE_MAX)),
            stop: Some(Arc::clone(&limits.stop)),
            cancelled: None,
            resident: resident(),
        }
    }

    /// For a statement, without a time limit, but ending soon after it was cancelled.
    pub(super) fn of_statement(limits: &Limits, cancelled: Arc<AtomicBool>) -> Watch {
        Watch {
            until: None,
            stop: None,
            cancelled: Some((cancelled, limits.answer)),
            resident: None,
        }
    }

    fn look(&mut self) -> Result<(), Failure> {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        if self.stop.as_ref().is_some_and(is_set) {
            return Err(Failure::Cancelled);
        }
        let cancelled = self.cancelled.as_ref().filter(|(flag, _)| is_set(flag));
        if let Some((_, limit)) = cancelled {
            self.until.get_or_insert_with(|| Instant::now() + *limit);
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Err(Failure::Timeout);
        }
        if let (Some(before), Some(now)) = (self.resident, self.resident.and_then(|_| resident()))
            && now > before + GROWTH_MAX
        {
            return Err(Failure::OutOfStep(format!(
                "dbstow's memory grew by more than {} MiB while this was answered, so that no more of it was read; check what \
                 answers at that address, or run fewer sessions",
                GROWTH_MAX >> 20
            )));
        }
        Ok(())
    }
}

/// Memory of this process, in bytes; `None` if it is not available.
fn resident() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        /// Linux counts in pages, which have at least this many bytes.
        const PAGE: usize = 4096;
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: usize = text.split_whitespace().nth(1)?.parse().ok()?;
        Some(pages * PAGE)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Waits for `work` of the library until `watch` ends. It is then dropped, including its unfinished operation.
///
/// # Errors
/// When `watch` ended, or the library panicked.
pub(super) async fn watched<T>(
    work: impl Future<Output = T>,
    mut watch: Watch,
) -> Result<T, Failure> {
    let mut work = pin!(work);
    let mut timer = pin!(sleep_until(Instant::now() + LOOK_EVERY));
    let mut next = Instant::now() + LOOK_EVERY;
    poll_fn(move |context| {
        // First, so that it wakes this task also where the library has used the task's share.
        let _ = timer.as_mut().poll(context);
        match caught(|| work.as_mut().poll(context)) {
            None => {
                return Poll::Ready(Err(Failure::OutOfStep(
                    "the client library failed over the server's answer; check what answers at that address".to_owned(),
                )));
            }
            Some(Poll::Ready(done)) => return Poll::Ready(Ok(done)),
            Some(Poll::Pending) => {}
        }
        let now = Instant::now();
        if now >= next {
            if let Err(failure) = watch.look() {
                return Poll::Ready(Err(failure));
            }
            next = now + LOOK_EVERY;
            timer.as_mut().reset(next);
            let _ = timer.as_mut().poll(context);
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    fn run<T>(work: impl Future<Output = T>, watch: Watch) -> Result<T, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(watched(work, watch))
    }

    #[test]
    fn what_never_ends_is_ended() {
        let limits = Limits::default();
        let watch = || Watch::of_question(&limits, Duration::from_millis(1));
        assert_eq!(run(async { 7 }, watch()), Ok(7));
        assert_eq!(
            run(std::future::pending::<()>(), watch()),
            Err(Failure::Timeout)
        );
        let busy = poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert_eq!(run(busy, watch()), Err(Failure::Timeout));
        limits.stop.store(true, Ordering::Relaxed);
        let long = Watch::of_question(&limits, Duration::from_secs(3600));
        assert_eq!(
            run(std::future::pending::<()>(), long),
            Err(Failure::Cancelled)
        );
    }

    #[test]
    fn a_panic_of_the_library_is_a_lost_connection() {
        let nothing: Option<usize> = std::hint::black_box(None);
        let work = async { nothing.expect("it is not there") };
        let watch = Watch::of_question(&Limits::default(), Duration::from_secs(60));
        let failure = run(work, watch).expect_err("it panics");
        assert!(failure.to_string().contains("client library"), "{failure}");
    }
}
