//! The listener, and the handle that a test holds.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Mutex, MutexGuard};

use crate::model::Model;
use crate::port::Port;
use crate::served;
use crate::shared::{Encryption, Open, Shared};
use crate::transport::Transport;

/// A running double. Dropping it stops it.
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

impl<M: Model> Double<M> {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When it cannot listen, or encryption is requested but unavailable.
    pub fn start(model: M, encryption: Encryption) -> io::Result<Double<M>> {
        Double::start_at(0, model, encryption)
    }

    /// Listens on this port of 127.0.0.1; 0 means a free one.
    ///
    /// # Errors
    /// When it cannot listen, or encryption is requested but unavailable.
    pub fn start_at(port: u16, model: M, encryption: Encryption) -> io::Result<Double<M>> {
        let model = Arc::new(Mutex::new(model));
        let shared = Arc::new(Shared::new(model.clone(), encryption)?);
        let mut double = Double {
            port: Port::take((Ipv4Addr::LOCALHOST, port).into())?,
            model,
            shared,
            listening: None,
        };
        double.come_back()?;
        Ok(double)
    }

    /// The address it listens on, which stays the same when the double goes down and comes back.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// The model, to query or to change. No client is answered meanwhile.
    pub fn model(&self) -> MutexGuard<'_, M> {
        self.model.lock()
    }

    /// Every text that arrived, in order: batches, and statements of `sp_executesql` and the prepared ones.
    pub fn heard(&self) -> Vec<String> {
        self.shared.journal().heard.clone()
    }

    /// Texts and procedures without a scripted reply.
    pub fn unscripted(&self) -> Vec<String> {
        self.shared.journal().unscripted.clone()
    }

    /// Clients' protocol violations, and their uses of features that the double does not implement.
    pub fn violations(&self) -> Vec<String> {
        self.shared.journal().violations.clone()
    }

    /// Number of cancellations by clients.
    pub fn attentions(&self) -> usize {
        self.shared.journal().attentions
    }

    /// Number of logins sent without TLS, whether accepted or not.
    pub fn logins_in_clear_text(&self) -> usize {
        self.shared.journal().logins_in_clear_text
    }

    /// Current connections.
    pub fn open(&self) -> usize {
        self.shared.open()
    }

    /// The certificate in PEM, when the double encrypts.
    pub fn certificate(&self) -> Option<&str> {
        self.shared.pem()
    }

    /// Fails when a client sent an unscripted text, or broke the protocol.
    ///
    /// # Panics
    /// In these cases.
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
        // Wakes the listener; repeated if the system refused that, or it would wait forever.
        while TcpStream::connect(self.port.address()).is_err() && !thread.is_finished() {
            std::thread::yield_now();
        }
        let joined = thread.join();
        assert!(
            joined.is_ok() || std::thread::panicking(),
            "the listener panicked"
        );
    }

    /// Listens again, on the same port.
    ///
    /// # Errors
    /// When the system refuses, or, except on Unix, another program has taken the port meanwhile.
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
            served::serve(&shared, Transport::Plain(socket));
        });
        connections.push((handle, thread));
    }
    stop_listening(listener);
    for (socket, thread) in connections {
        // It may have ended already.
        let _ = socket.shutdown(Shutdown::Both);
        // A panic of the model was already reported; its client saw the connection end.
        let _ = thread.join();
    }
}

/// Stops accepting connections, even where a child process that another thread is just starting still has the socket:
/// such a listener would receive some of the connections meant for the next one, and accept none.
#[cfg(unix)]
fn stop_listening(listener: &TcpListener) {
    // Where the system does not support this for listeners, closing it must suffice.
    let _ = rustix::net::shutdown(listener, rustix::net::Shutdown::Both);
}

#[cfg(not(unix))]
fn stop_listening(_listener: &TcpListener) {}
