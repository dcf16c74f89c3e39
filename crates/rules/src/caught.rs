//! Runs code of client libraries that may panic on a server's data.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic on this thread is caught, and not a defect of dbstow.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` of a library; `None` where it panicked, without printing the panic. Anything it was about to change must
/// not be used afterwards.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                before(info);
            }
        }));
    });
    let outer = CAUGHT.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work)).ok();
    CAUGHT.set(outer);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_library_is_an_answer() {
        assert_eq!(caught(|| 7), Some(7));
        let nothing: Option<usize> = std::hint::black_box(None);
        assert_eq!(caught(|| nothing.expect("it is not there")), None);
    }
}
