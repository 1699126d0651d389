//! A service behind a socket, and requests as bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use serve::Service;
use tokio::sync::oneshot::Sender;

/// A service that ends with the test.
pub struct Served {
    pub address: SocketAddr,
    pub service: Arc<Service>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A response in parts.
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Served {
    pub fn new(service: Service) -> Self {
        let service = Arc::new(service);
        let listening = serve::listen("127.0.0.1:0", false).unwrap();
        let address = listening.address();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let serving = Arc::clone(&service);
        let stopped = async { stopped.await.unwrap_or_default() };
        let thread = std::thread::spawn(move || listening.run_until(serving, stopped).unwrap());
        Self { address, service, stop: Some(stop), thread: Some(thread) }
    }

    /// Sends a whole request and reads the answer.
    pub fn send(&self, request: &[u8]) -> Option<Response> {
        self.exchange(request, false)
    }

    /// Sends bytes after which no others come, and reads what is answered, if anything is.
    pub fn send_all(&self, bytes: &[u8]) -> Option<Response> {
        self.exchange(bytes, true)
    }

    fn exchange(&self, bytes: &[u8], last: bool) -> Option<Response> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // It may answer and close before it has read all.
        let _ = stream.write_all(bytes);
        if last {
            let _ = stream.shutdown(Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8(answer[..end].to_vec()).unwrap().to_ascii_lowercase();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Response { status, head, body: answer[end + 4..].to_vec() })
    }

    /// A request with some further headers.
    pub fn ask(&self, method: &str, path: &str, headers: &str) -> Response {
        let request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n{headers}\r\n");
        self.send(request.as_bytes()).unwrap()
    }

    pub fn get(&self, path: &str) -> Response {
        self.ask("GET", path, &format!("host: {}\r\n", self.address))
    }
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
        self.thread.take().unwrap().join().unwrap();
    }
}
