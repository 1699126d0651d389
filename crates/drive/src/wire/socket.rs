//! A blocking socket, unix or TCP.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use crate::wire::Breaker;

/// How long a TCP connection may take to be established.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// A server's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A server's socket file, for example `/run/x/.s.PGSQL.5432`.
    Unix(PathBuf),
    /// A host name or address and a port.
    Tcp(String, u16),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "socket {}", path.display()),
            Address::Tcp(host, port) => f.write_str(&reference::host_and_port(host, *port)),
        }
    }
}

/// A connected socket.
#[derive(Debug)]
pub enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    pub fn connect(address: &Address) -> io::Result<Socket> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Socket::Unix),
            Address::Tcp(host, port) => {
                use std::net::ToSocketAddrs;
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, CONNECT_LIMIT) {
                        Ok(socket) => {
                            socket.set_nodelay(true)?;
                            return Ok(Socket::Tcp(socket));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    /// Shuts the connection down in both directions. An error means that it is already gone, which
    /// is fine.
    pub fn breaker(&self) -> io::Result<Breaker> {
        Ok(match self {
            Socket::Unix(socket) => {
                let socket = socket.try_clone()?;
                Box::new(move || drop(socket.shutdown(Shutdown::Both)))
            }
            Socket::Tcp(socket) => {
                let socket = socket.try_clone()?;
                Box::new(move || drop(socket.shutdown(Shutdown::Both)))
            }
        })
    }

    pub fn fd(&self) -> RawFd {
        match self {
            Socket::Unix(socket) => socket.as_raw_fd(),
            Socket::Tcp(socket) => socket.as_raw_fd(),
        }
    }

    /// True if the other end is certainly on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Socket::Unix(_) => true,
            Socket::Tcp(socket) => socket.peer_addr().is_ok_and(|peer| peer.ip().is_loopback()),
        }
    }

    /// Sends all of `bytes`: one system call unless the kernel's buffer is full.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Socket::Unix(socket) => socket.write_all(bytes),
            Socket::Tcp(socket) => socket.write_all(bytes),
        }
    }

    /// Waits for at least one byte. The end of the stream is an error.
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Socket::Unix(socket) => socket.read(buffer),
                Socket::Tcp(socket) => socket.read(buffer),
            };
            match read {
                Ok(0) => {
                    let text = "the server closed the connection";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_as_in_urls() {
        assert_eq!(Address::Tcp("::1".to_owned(), 5432).to_string(), "[::1]:5432");
        assert_eq!(Address::Tcp("db".to_owned(), 5432).to_string(), "db:5432");
    }
}
