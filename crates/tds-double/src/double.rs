//! The listener, and what a test holds in its hand.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Mutex, MutexGuard};

use crate::connection::Connection;
use crate::journal::Journal;
use crate::model::Model;
use crate::port::Port;
#[cfg(target_os = "linux")]
use crate::tls::Certificate;
use crate::transport::Transport;

/// Whether the double encrypts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// It cannot: a client that has to, fails.
    #[default]
    None,
    /// It encrypts everything, with a certificate that signs itself: a client that cannot, fails. On Linux.
    Required,
}

/// A running double. Dropped, it stops.
pub struct Double<M: Model> {
    port: Port,
    model: Arc<Mutex<M>>,
    shared: Arc<Shared>,
    listening: Option<Listening>,
}

struct Listening {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
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

impl<M: Model> Double<M> {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// Where it cannot listen, or encryption is asked for and cannot be had.
    pub fn start(model: M, encryption: Encryption) -> io::Result<Double<M>> {
        Double::start_at(0, model, encryption)
    }

    /// Listens on this port of 127.0.0.1; 0 means a free one.
    ///
    /// # Errors
    /// Where it cannot listen, or encryption is asked for and cannot be had.
    pub fn start_at(port: u16, model: M, encryption: Encryption) -> io::Result<Double<M>> {
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
        let model = Arc::new(Mutex::new(model));
        let shared = Arc::new(Shared {
            model: model.clone(),
            journal: Mutex::new(Journal::new()),
            transactions: AtomicU64::new(0),
            sessions: AtomicU16::new(51), // those before are the server's own
            open: AtomicUsize::new(0),
            #[cfg(target_os = "linux")]
            certificate,
        });
        let mut double = Double {
            port: Port::take((Ipv4Addr::LOCALHOST, port).into())?,
            model,
            shared,
            listening: None,
        };
        double.come_back()?;
        Ok(double)
    }

    /// Where it listens. It stays the same when the double goes down and comes back.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// The model, to ask or to change. No client is answered meanwhile.
    pub fn model(&self) -> MutexGuard<'_, M> {
        self.model.lock()
    }

    /// Every text that arrived, in order: batches, and statements of `sp_executesql` and the prepared ones.
    pub fn heard(&self) -> Vec<String> {
        self.shared.journal().heard.clone()
    }

    /// Texts and procedures that nothing is scripted for.
    pub fn unscripted(&self) -> Vec<String> {
        self.shared.journal().unscripted.clone()
    }

    /// What clients did against the protocol, or with a part of it that the double does not have.
    pub fn violations(&self) -> Vec<String> {
        self.shared.journal().violations.clone()
    }

    /// How often a client gave up.
    pub fn attentions(&self) -> usize {
        self.shared.journal().attentions
    }

    /// Connections at the moment.
    pub fn open(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// The certificate in PEM, where the double encrypts.
    pub fn certificate(&self) -> Option<&str> {
        #[cfg(target_os = "linux")]
        return self.shared.certificate.as_ref().map(Certificate::pem);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Fails where a client said what nothing is scripted for, or broke the protocol.
    ///
    /// # Panics
    /// Then.
    pub fn settle(&self) {
        let (unscripted, violations) = (self.unscripted(), self.violations());
        assert!(
            unscripted.is_empty() && violations.is_empty(),
            "unscripted: {unscripted:#?}\nviolations: {violations:#?}"
        );
    }

    /// Cuts all connections and refuses new ones.
    pub fn go_down(&mut self) {
        let Some(Listening { stop, thread }) = self.listening.take() else {
            return;
        };
        stop.store(true, Ordering::SeqCst);
        // Wakes the listener. Where that fails it is gone already.
        let _ = TcpStream::connect(self.port.address());
        let joined = thread.join();
        assert!(
            joined.is_ok() || std::thread::panicking(),
            "the listener panicked"
        );
    }

    /// Listens again, on the same port.
    ///
    /// # Errors
    /// Where the system does not let it, or, but on Unix, another program has taken the port meanwhile.
    pub fn come_back(&mut self) -> io::Result<()> {
        if self.listening.is_some() {
            return Ok(());
        }
        let listener = self.port.listen()?;
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, stopped) = (self.shared.clone(), stop.clone());
        let thread = std::thread::spawn(move || listen(&listener, &shared, &stopped));
        self.listening = Some(Listening { stop, thread });
        Ok(())
    }
}

impl<M: Model> Drop for Double<M> {
    fn drop(&mut self) {
        self.go_down();
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>, stop: &AtomicBool) {
    let mut connections: Vec<(TcpStream, JoinHandle<()>)> = Vec::new();
    loop {
        let accepted = listener.accept();
        if stop.load(Ordering::SeqCst) {
            break;
        }
        connections.retain(|(_, thread)| !thread.is_finished());
        let Ok((socket, _)) = accepted else { continue };
        // Without it, small packets wait for the other side's acknowledgement.
        let handle = socket.set_nodelay(true).and_then(|()| socket.try_clone());
        let Ok(handle) = handle else { continue };
        let shared = shared.clone();
        let thread = std::thread::spawn(move || {
            let _open = Open::new(&shared);
            Connection::new(&shared, Transport::Plain(socket)).serve();
        });
        connections.push((handle, thread));
    }
    for (socket, thread) in connections {
        // It may have ended by itself.
        let _ = socket.shutdown(Shutdown::Both);
        // A model that panicked has said so; its client saw the connection end.
        let _ = thread.join();
    }
}

/// Counts a connection while it is there.
struct Open<'a>(&'a Shared);

impl<'a> Open<'a> {
    fn new(shared: &'a Shared) -> Open<'a> {
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
