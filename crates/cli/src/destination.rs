//! Where experiments are pushed to: object storage, or a service.

use archive::{Address, Archive, Pushed, Service, ServiceUrl, Token};
use store::{Experiment, Store};

use crate::results::archives;

/// Where experiments are pushed to.
pub enum Destination {
    /// Object storage.
    Storage(Archive),
    /// A service that receives them, at this address.
    Service(ServiceUrl, Service),
}

impl Destination {
    /// Opens an address, to push to it. Asks a service nothing.
    pub fn open(text: &str) -> anyhow::Result<Self> {
        if ServiceUrl::is_meant(text) {
            let url: ServiceUrl = text.parse()?;
            let service = Service::open(url.clone(), Token::from_environment()?)?;
            return Ok(Self::Service(url, service));
        }
        let address: Address = text.parse()?;
        Ok(Self::Storage(Archive::open(&address, &archives(&dbms::Cache::open_default()?))?))
    }

    /// The service, if it is one.
    pub fn service(&self) -> Option<&Service> {
        match self {
            Self::Storage(_) => None,
            Self::Service(_, service) => Some(service),
        }
    }

    /// Asks a service whether it would take an experiment.
    pub fn check(&self) -> anyhow::Result<()> {
        match self {
            Self::Storage(_) => Ok(()),
            Self::Service(_, service) => Ok(service.check()?),
        }
    }

    /// Pushes an experiment and says what became of it.
    pub fn push(&self, store: &Store, experiment: &Experiment) -> anyhow::Result<String> {
        let (id, name, version) = (experiment.id, &experiment.name, env!("CARGO_PKG_VERSION"));
        let (pushed, place) = match self {
            Self::Storage(archive) => {
                (archive.push(store, id, version)?, archive.address().to_string())
            }
            Self::Service(url, service) => {
                let work = archives(&dbms::Cache::open_default()?);
                let (pushed, number) = service.push(store, id, version, &work)?;
                (pushed, format!("{url} as experiment {number}"))
            }
        };
        Ok(match pushed {
            Pushed::Added => format!("pushed experiment {id} `{name}` to {place}"),
            Pushed::Present => format!("experiment {id} `{name}` is already at {place}"),
        })
    }
}
