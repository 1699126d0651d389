//! The socket, and how a service ends.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::Error;
use crate::http::router;
use crate::service::Service;

/// Documents that are made at once. They wait for each other at the store, but not for readers that
/// are slow.
const AT_ONCE: usize = 4;
/// How long responses under way may take after the end was asked for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A socket for a service.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

/// Opens a socket on an address of this machine alone, such as `127.0.0.1:7700`. Port
/// 0 stands for any that is free.
///
/// # Errors
/// [`Error::NotLoopback`], or if the address is taken.
pub fn listen(address: &str) -> Result<Listening, Error> {
    let address_of = |source| Error::Address { address: address.to_owned(), source };
    let found: Vec<SocketAddr> = address.to_socket_addrs().map_err(address_of)?.collect();
    if !found.iter().all(|it| it.ip().is_loopback()) {
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
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_all().max_blocking_threads(AT_ONCE).build()?;
        let ended = runtime.block_on(async {
            let (mut interrupt, mut end) =
                (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
            self.until(service, async move {
                tokio::select! { _ = interrupt.recv() => {}, _ = end.recv() => {} }
            })
            .await
        });
        leave(runtime);
        ended
    }

    /// Answers until `stop` is done; responses under way then have [`PATIENCE`].
    async fn until(
        self,
        service: Service,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Error> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let (stopped, stopping) = tokio::sync::oneshot::channel::<()>();
        let server = axum::serve(listener, router(Arc::new(service)));
        let server = server.with_graceful_shutdown(async move {
            stop.await;
            drop(stopped);
        });
        let patience = async {
            let _ = stopping.await;
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            ended = server.into_future() => Ok(ended?),
            () = patience => Ok(()),
        }
    }
}

/// Does not wait for documents that are being made.
fn leave(runtime: Runtime) {
    runtime.shutdown_background();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_alone_is_listened_on() {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7700"] {
            let refused = listen(address).unwrap_err();
            assert!(matches!(refused, Error::NotLoopback(_)) && refused.is_request(), "{refused}");
        }
        assert!(matches!(listen("7700").unwrap_err(), Error::Address { .. }));
        let first = listen("127.0.0.1:0").unwrap();
        let taken = listen(&first.address().to_string()).unwrap_err();
        assert!(taken.to_string().contains("--listen") && taken.is_request(), "{taken}");
    }
}
