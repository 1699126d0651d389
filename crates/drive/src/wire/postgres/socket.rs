//! A blocking socket, unix or TCP.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::target::Address;
use crate::wire::Breaker;

/// How long a TCP connection may take to come about.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

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

    pub fn breaker(&self) -> io::Result<Breaker> {
        Ok(match self {
            Socket::Unix(socket) => Breaker::Unix(socket.try_clone()?),
            Socket::Tcp(socket) => Breaker::Tcp(socket.try_clone()?),
        })
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
