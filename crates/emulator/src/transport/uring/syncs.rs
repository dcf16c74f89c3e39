//! Flushes, in their own thread: a real disk may take long over one, and a ring that waited for it
//! would delay the replies to all sessions.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;
use rustix::event::{EventfdFlags, eventfd};

use crate::front::{DataPath, Done, Errno};

/// A ring's thread for flushes. Dropping it waits for those in progress.
pub(super) struct Syncs {
    orders: Option<Sender<Order>>,
    finished: Arc<Finished>,
    thread: Option<JoinHandle<()>>,
}

struct Order {
    slot: usize,
    handle: u64,
    data_only: bool,
}

/// Completed flushes, and how the ring is notified.
struct Finished {
    results: Mutex<Vec<(usize, Result<Done, Errno>)>>,
    /// Readable when there are results.
    bell: OwnedFd,
}

impl Syncs {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the operating system cannot start one.
    pub(super) fn start(data: Arc<dyn DataPath>) -> io::Result<Syncs> {
        let (orders, inbox) = mpsc::channel();
        let finished = Arc::new(Finished {
            results: Mutex::default(),
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        });
        let thread = thread::Builder::new().name("dbstow-sync".into()).spawn({
            let finished = Arc::clone(&finished);
            move || finished.serve(&*data, &inbox)
        })?;
        Ok(Syncs {
            orders: Some(orders),
            finished,
            thread: Some(thread),
        })
    }

    /// Readable when flushes are done.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.finished.bell.as_fd()
    }

    /// Makes an open file durable, for the request in `slot`.
    ///
    /// # Errors
    /// `EIO` when the thread is gone.
    pub(super) fn order(&self, slot: usize, handle: u64, data_only: bool) -> Result<(), Errno> {
        let order = Order {
            slot,
            handle,
            data_only,
        };
        let sent = self.orders.as_ref().map(|orders| orders.send(order));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(Errno(rustix::io::Errno::IO.raw_os_error())),
        }
    }

    /// Flushes that are done, with the slots of their requests.
    pub(super) fn finished(&self) -> Vec<(usize, Result<Done, Errno>)> {
        // Clears the notification; without one the read fails, and there is nothing to take.
        let _ = rustix::io::read(&self.finished.bell, &mut [0; 8]);
        std::mem::take(&mut *self.finished.results.lock())
    }
}

impl Finished {
    fn serve(&self, data: &dyn DataPath, inbox: &Receiver<Order>) {
        while let Ok(order) = inbox.recv() {
            let result = data.sync(order.handle, order.data_only);
            self.results.lock().push((order.slot, result));
            // Fails only after 2^64 unread notifications.
            let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        }
    }
}

impl Drop for Syncs {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // It ends on its own; a panic was reported by the thread itself.
            let _ = thread.join();
        }
    }
}
