//! Where an experiment gets its systems under test from.

use std::sync::atomic::AtomicBool;

use dbms::{
    Cache, Endpoint, Error, Host, Installation, Origin, Reference, Server, ServerSpec, ServerUser,
    Started, System,
};
use drive::{Address, Connect, Mysql, Postgres, Reach, Session, Target};

/// Everything an experiment needs from systems under test before they run. [`Installed`] has the
/// real ones; tests have their own.
///
/// The errors are those of the functions of the same name in `dbms`.
#[allow(clippy::missing_errors_doc)]
pub trait Systems: Sync {
    /// Where binaries and prepared data directories are kept.
    fn cache(&self) -> &Cache;

    /// Obtains what `reference` names.
    fn obtain(
        &self,
        reference: &Reference,
        server_user: Option<&str>,
        interrupted: &AtomicBool,
        progress: &dyn Fn(&str),
    ) -> Result<Installation, Error>;

    /// The user that servers run as.
    fn user(&self, name: Option<&str>) -> Result<ServerUser, Error>;

    /// Starts a server, empty or on a copy of `origin`.
    fn start(&self, spec: ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error>;

    /// Connects to a server that is already running.
    fn attach(&self, reference: &Reference) -> Result<Box<dyn System>, Error>;

    /// Where the load goes.
    fn target(&self, variant: &str, endpoint: Endpoint) -> Target;
}

/// The systems that `dbms` knows.
#[derive(Debug)]
pub struct Installed(pub Cache);

impl Systems for Installed {
    fn cache(&self) -> &Cache {
        &self.0
    }

    fn obtain(
        &self,
        reference: &Reference,
        server_user: Option<&str>,
        interrupted: &AtomicBool,
        progress: &dyn Fn(&str),
    ) -> Result<Installation, Error> {
        dbms::obtain_interruptible(reference, &self.0, server_user, interrupted, progress)
    }

    fn user(&self, name: Option<&str>) -> Result<ServerUser, Error> {
        ServerUser::choose(name)
    }

    fn start(&self, spec: ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error> {
        match origin {
            Some(origin) => dbms::start_on_copy(&spec, origin)
                .map(|(server, restored)| (server, Some(restored))),
            None => dbms::start(spec).map(|server| (server, None)),
        }
    }

    fn attach(&self, reference: &Reference) -> Result<Box<dyn System>, Error> {
        dbms::attach(reference)
    }

    fn target(&self, variant: &str, endpoint: Endpoint) -> Target {
        target(variant, endpoint)
    }
}

/// Where clients connect to. Each system has its own kind of address.
pub fn target(variant: &str, endpoint: Endpoint) -> Target {
    match endpoint {
        Endpoint::Process(socket) => {
            Target { name: variant.to_owned(), reach: Reach::Process(socket) }
        }
        Endpoint::Nowhere { .. } => Target::new(variant, Nobody),
        Endpoint::Postgres(Server { host, port, user, password, database }) => {
            let address = address(host, port);
            Target::new(variant, Postgres { address, user, password, database })
        }
        Endpoint::Mysql(Server { host, port, user, password, database }) => {
            let address = address(host, port);
            Target::new(variant, Mysql { address, user, password, database })
        }
    }
}

fn address(host: Host, port: u16) -> Address {
    match host {
        Host::Socket(file) => Address::Unix(file),
        Host::Tcp(host) => Address::Tcp(host, port),
    }
}

/// Without a DBMS, only programs can be the load.
#[derive(Debug)]
struct Nobody;

impl Connect for Nobody {
    fn connect(&self) -> Result<Box<dyn Session>, drive::Error> {
        Err(drive::Error::Load("there is no DBMS to send requests to"))
    }
}
