//! A network between dbstow and a server, which can fall silent: nothing arrives, and nothing ends either.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use host::clock::Clock;
use model::Duration;

/// It lives as long as the test's process.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    silent: Arc<AtomicBool>,
}

impl Relay {
    /// Passes everything on to `server`.
    pub(crate) fn to(server: SocketAddr) -> Relay {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let silent = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&silent);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else {
                    continue;
                };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone(), to.try_clone());
                    let (from, to) = (from.expect("a socket"), to.expect("a socket"));
                    let silent = Arc::clone(&shared);
                    thread::spawn(move || pass_on(from, to, &silent));
                }
            }
        });
        Relay { address, silent }
    }

    /// From now on nothing arrives.
    pub(crate) fn fall_silent(&self) {
        self.silent.store(true, Ordering::SeqCst);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, silent: &AtomicBool) {
    let mut bytes = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        while silent.load(Ordering::SeqCst) {
            Clock::sleep(Duration::from_millis(50));
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}
