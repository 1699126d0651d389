//! The socket, its connections, and how a service ends.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::Error;
use crate::http::router;
use crate::prepare::prepare;
use crate::service::Service;

/// Documents that are made, and pieces that are stored, at once. They wait for each other at the
/// store, but not for readers that are slow.
const AT_ONCE: usize = 6;
/// Connections at once; others wait to be accepted.
const CONNECTIONS: usize = 512;
/// How long the head of a request may take, also that of the next.
const HEAD: Duration = Duration::from_secs(30);
/// How long a connection is kept, whatever it does: several times what the slowest piece takes.
const LIFE: Duration = Duration::from_secs(1200);
/// How long responses under way may take after the end was asked for.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait if no connection can be accepted, as when there are too many open files.
const PAUSE: Duration = Duration::from_secs(1);

/// A socket for a service.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

/// Opens a socket on an address, such as `127.0.0.1:7700`. Port 0 stands for any that is free.
///
/// # Errors
/// If the address is in use; or if other machines can reach it, and there are no `tokens`.
pub fn listen(address: &str, tokens: bool) -> Result<Listening, Error> {
    let address_of = |source| Error::Address { address: address.to_owned(), source };
    let found: Vec<SocketAddr> = address.to_socket_addrs().map_err(address_of)?.collect();
    if !tokens && !found.iter().all(|it| it.ip().is_loopback()) {
        return Err(Error::NotLoopback(address.to_owned()));
    }
    let refused = |source| Error::Listen { address: address.to_owned(), source };
    let listener = TcpListener::bind(&found[..]).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    Ok(Listening { listener, address })
}

impl Listening {
    /// The address, with the port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until the process is interrupted (Ctrl-C) or asked to end.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn run(self, service: Service) -> Result<(), Error> {
        let runtime = runtime()?;
        let (mut interrupt, mut end) = runtime.block_on(async {
            Ok::<_, Error>((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?))
        })?;
        self.until(runtime, Arc::new(service), async move {
            tokio::select! { _ = interrupt.recv() => {}, _ = end.recv() => {} }
        })
    }

    /// Answers until this future is done; responses under way then have two seconds.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn run_until(
        self,
        service: Arc<Service>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        self.until(runtime()?, service, stop)
    }

    fn until(
        self,
        runtime: Runtime,
        service: Arc<Service>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        prepare(&service);
        let known = Arc::clone(&service);
        let ended = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let (router, connections) = (router(service), GracefulShutdown::new());
            tokio::select! {
                never = accept(&listener, &router, &connections) => match never {},
                () = stop => {}
            }
            drop(listener);
            let _ = timeout(PATIENCE, connections.shutdown()).await;
            Ok(())
        });
        known.news.end();
        // Does not wait for documents that are being made.
        runtime.shutdown_background();
        ended
    }
}

fn runtime() -> Result<Runtime, Error> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    Ok(builder.enable_all().max_blocking_threads(AT_ONCE).build()?)
}

/// Accepts connections, as many at once as there may be.
async fn accept(
    listener: &tokio::net::TcpListener,
    router: &Router,
    connections: &GracefulShutdown,
) -> std::convert::Infallible {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let Ok((stream, peer)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let (router, watcher) = (router.clone(), connections.watcher());
        tokio::spawn(async move {
            converse(stream, peer, router, watcher).await;
            drop(place);
        });
    }
}

/// Answers the requests of a connection. Its failures are the peer's.
async fn converse(stream: TcpStream, peer: SocketAddr, router: Router, watcher: Watcher) {
    let _ = stream.set_nodelay(true);
    let answer = router.layer(axum::Extension(peer));
    let connection = Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(answer));
    let _ = timeout(LIFE, watcher.watch(connection)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_this_machine_it_takes_tokens() {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7700"] {
            let refused = listen(address, false).unwrap_err();
            assert!(matches!(refused, Error::NotLoopback(_)) && refused.is_request(), "{refused}");
        }
        assert!(listen("0.0.0.0:0", true).is_ok());
        assert!(matches!(listen("7700", false).unwrap_err(), Error::Address { .. }));
        let first = listen("127.0.0.1:0", false).unwrap();
        let taken = listen(&first.address().to_string(), false).unwrap_err();
        assert!(taken.to_string().contains("--listen") && taken.is_request(), "{taken}");
    }
}
