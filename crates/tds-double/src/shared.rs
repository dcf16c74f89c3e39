//! State shared by all connections of a double.

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
    /// Not supported: a client that requires it fails.
    #[default]
    None,
    /// Everything is encrypted, with a self-signed certificate: a client without TLS fails. On Linux.
    Required,
}

/// State used by all connections.
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
    /// The initial state.
    ///
    /// # Errors
    /// When encryption is requested but unavailable.
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
            sessions: AtomicU16::new(51), // lower numbers belong to the server itself
            open: AtomicUsize::new(0),
            #[cfg(target_os = "linux")]
            certificate,
        })
    }

    /// The certificate in PEM, when the double encrypts.
    pub(crate) fn pem(&self) -> Option<&str> {
        #[cfg(target_os = "linux")]
        return self.certificate.as_ref().map(Certificate::pem);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Current connections.
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

/// Counts a connection while it exists.
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
