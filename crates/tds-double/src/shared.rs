//! What all connections of a double share.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

use crate::journal::Journal;
use crate::model::Model;
#[cfg(target_os = "linux")]
use crate::tls::Certificate;

/// Whether the double encrypts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// It cannot: a client that has to, fails.
    #[default]
    None,
    /// It encrypts everything, with a certificate that signs itself: a client that cannot, fails. On Linux.
    Required,
}

/// What all connections use.
pub(crate) struct Shared {
    model: Arc<Mutex<dyn Model>>,
    journal: Mutex<Journal>,
    pub(crate) transactions: AtomicU64,
    pub(crate) sessions: AtomicU16,
    open: AtomicUsize,
    #[cfg(target_os = "linux")]
    pub(crate) certificate: Option<Certificate>,
}

impl Shared {
    /// Nothing has happened yet.
    ///
    /// # Errors
    /// Where encryption is asked for and cannot be had.
    pub(crate) fn new(model: Arc<Mutex<dyn Model>>, encryption: Encryption) -> io::Result<Shared> {
        #[cfg(target_os = "linux")]
        let certificate = match encryption {
            Encryption::None => None,
            Encryption::Required => Some(Certificate::new().map_err(io::Error::other)?),
        };
        #[cfg(not(target_os = "linux"))]
        if encryption == Encryption::Required {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "TLS is for Linux",
            ));
        }
        Ok(Shared {
            model,
            journal: Mutex::new(Journal::new()),
            transactions: AtomicU64::new(0),
            sessions: AtomicU16::new(51), // those before are the server's own
            open: AtomicUsize::new(0),
            #[cfg(target_os = "linux")]
            certificate,
        })
    }

    /// The certificate in PEM, where the double encrypts.
    pub(crate) fn pem(&self) -> Option<&str> {
        #[cfg(target_os = "linux")]
        return self.certificate.as_ref().map(Certificate::pem);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Connections at the moment.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    pub(crate) fn model(&self) -> MutexGuard<'_, dyn Model> {
        self.model.lock()
    }

    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock()
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn encrypts(&self) -> bool {
        self.certificate.is_some()
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn encrypts(&self) -> bool {
        false
    }
}

/// Counts a connection while it is there.
pub(crate) struct Open<'a>(&'a Shared);

impl<'a> Open<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Open<'a> {
        shared.open.fetch_add(1, Ordering::SeqCst);
        Open(shared)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let text = "the model or the double panicked; see the test's output".to_owned();
            self.0.journal().violations.push(text);
        }
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}
