//! A port that the double keeps while it is down, so that clients of a restarted server find it at the same address.

use std::io;
use std::net::{SocketAddr, TcpListener};

/// A port of this machine.
pub(crate) struct Port {
    address: SocketAddr,
    /// Bound but not listening, so that connections are refused and no other program gets the port.
    #[cfg(unix)]
    _keeper: std::os::fd::OwnedFd,
}

#[cfg(unix)]
impl Port {
    /// Binds `address`; with port 0 a free one.
    pub(crate) fn take(address: SocketAddr) -> io::Result<Port> {
        let keeper = bound(address)?;
        let taken = SocketAddr::try_from(rustix::net::getsockname(&keeper)?)?;
        Ok(Port {
            address: taken,
            _keeper: keeper,
        })
    }

    pub(crate) fn listen(&self) -> io::Result<TcpListener> {
        let socket = bound(self.address)?;
        rustix::net::listen(&socket, 128)?;
        Ok(TcpListener::from(socket))
    }
}

/// A socket that shares its port with other sockets of this user that set the same option.
#[cfg(unix)]
fn bound(address: SocketAddr) -> io::Result<std::os::fd::OwnedFd> {
    use rustix::net::{AddressFamily, SocketType, socket, sockopt};

    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    // A free port must not belong to another double: with the option already set, the system could choose one of theirs.
    if address.port() == 0 {
        rustix::net::bind(&socket, &address)?;
        sockopt::set_socket_reuseport(&socket, true)?;
    } else {
        sockopt::set_socket_reuseport(&socket, true)?;
        rustix::net::bind(&socket, &address)?;
    }
    Ok(socket)
}

#[cfg(not(unix))]
impl Port {
    /// Binds `address`; with port 0 a free one, which others may take while it is not listening.
    pub(crate) fn take(address: SocketAddr) -> io::Result<Port> {
        let address = TcpListener::bind(address)?.local_addr()?;
        Ok(Port { address })
    }

    pub(crate) fn listen(&self) -> io::Result<TcpListener> {
        TcpListener::bind(self.address)
    }
}

impl Port {
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpStream};

    use super::*;

    #[cfg(unix)]
    #[test]
    fn every_double_has_a_port_of_its_own() {
        let take = || Port::take((Ipv4Addr::LOCALHOST, 0).into()).expect("a free port");
        // Enough for two of them to collide if shared ports were handed out too.
        let ports: Vec<Port> = (0..400).map(|_| take()).collect();
        let different: std::collections::BTreeSet<SocketAddr> =
            ports.iter().map(Port::address).collect();
        assert_eq!(different.len(), ports.len());
        ports[0].listen().expect("it is ours");
    }

    #[cfg(unix)]
    #[test]
    fn a_port_is_kept_and_refuses_while_nobody_listens() {
        let port = Port::take((Ipv4Addr::LOCALHOST, 0).into()).expect("a free port");
        for _ in 0..2 {
            let listener = port.listen().expect("it is ours");
            let client = TcpStream::connect(port.address()).expect("it listens");
            // The side that closes first leaves the port in TIME_WAIT.
            drop(listener.accept().expect("a client"));
            drop((listener, client));
            let refused = TcpStream::connect(port.address()).expect_err("nobody listens");
            assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
            let taken = TcpListener::bind(port.address()).expect_err("it is not free");
            assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        }
    }
}
