//! Ways to reach a server over TCP, besides its unix socket.
//!
//! `veth` gives a server its own network namespace, `route` finds addresses for it, and `link` is
//! what the ledger records of it. Both run the program `ip`.

mod ip;
pub(crate) mod link;
mod route;
mod veth;

pub(crate) use veth::{Network, PREFIX};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::named::Form;
use crate::{Error, Reference};

/// How the requests of clients get to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Transport {
    /// A unix socket, which every server has.
    #[serde(rename = "unix")]
    Unix,
    /// TCP on 127.0.0.1.
    #[serde(rename = "tcp")]
    Loopback,
    /// TCP through a pair of virtual interfaces (veth(4)). The server is in a network namespace of
    /// its own, so unlike on loopback, requests go through the layers for an interface.
    #[serde(rename = "veth")]
    Veth,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Unix, Self::Loopback, Self::Veth];

    /// Its name in plans and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unix => "unix",
            Self::Loopback => "tcp",
            Self::Veth => "veth",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Checks before a run that one server of `reference` can be reached by all `transports` on this
/// machine. For [`Transport::Veth`], this makes a pair of interfaces in a network namespace that
/// ends with the call.
///
/// # Errors
/// [`Error::Transport`] says what is missing and what to do.
pub fn check_transports(reference: &Reference, transports: &[Transport]) -> Result<(), Error> {
    if let Form::Running(endpoint) = &reference.form {
        return transports.iter().try_for_each(|transport| endpoint.only_by(*transport).map(drop));
    }
    check_together(reference.kind, transports)?;
    if transports.contains(&Transport::Veth) { veth::check() } else { Ok(()) }
}

/// Checks that a server of this kind can have `transports`, and all of them at once.
pub(crate) fn check_together(kind: &dyn Kind, transports: &[Transport]) -> Result<(), Error> {
    let Some(tcp) = transports.iter().find(|transport| **transport != Transport::Unix) else {
        return Ok(());
    };
    if !kind.listens_on_tcp() {
        let problem =
            format!("{} does not listen on TCP; remove the transport from the plan", kind.name());
        return Err(Error::transport(*tcp, problem));
    }
    if [Transport::Loopback, Transport::Veth].iter().all(|tcp| transports.contains(tcp)) {
        let problem = "the same server cannot also be reached by `tcp`: in its own network \
                       namespace it has another loopback interface; start a server for each";
        return Err(Error::transport(Transport::Veth, problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(reference: &str, transports: &[Transport]) -> String {
        let reference: Reference = reference.parse().unwrap();
        let error = check_transports(&reference, transports).unwrap_err();
        assert!(matches!(error, Error::Transport { .. }) && error.is_request(), "{error}");
        error.to_string()
    }

    #[test]
    fn the_names_are_those_of_plans() {
        for transport in Transport::ALL {
            let json = serde_json::to_string(&transport).unwrap();
            assert_eq!(json, format!("\"{transport}\""));
            assert_eq!(serde_json::from_str::<Transport>(&json).unwrap(), transport);
        }
    }

    #[test]
    fn what_no_server_can_do_is_refused() {
        use Transport::{Loopback, Unix, Veth};
        for reference in ["postgres@13.7", "rocksdb@7.4.5", "none"] {
            check_transports(&reference.parse().unwrap(), &[Unix]).unwrap();
            check_transports(&reference.parse().unwrap(), &[]).unwrap();
        }
        check_transports(&"postgres@13.7".parse().unwrap(), &[Unix, Loopback]).unwrap();
        assert!(refused("rocksdb@7.4.5", &[Unix, Loopback]).contains("rocksdb"));
        assert!(refused("none", &[Veth]).contains("remove the transport"));
        assert!(refused("postgres@13.7", &[Loopback, Veth]).contains("a server for each"));
    }

    #[test]
    fn a_running_server_has_the_transport_of_its_address() {
        let own = |url: &str, transport| check_transports(&url.parse().unwrap(), &[transport]);
        own("postgres://me@127.0.0.1/d", Transport::Loopback).unwrap();
        own("postgres://me@localhost/d", Transport::Loopback).unwrap();
        own("postgres://me@%2Frun%2Fpg/d", Transport::Unix).unwrap();
        let other = "postgres://me:s3cret@192.0.2.9/d";
        for transport in Transport::ALL {
            let text = refused(other, &[transport]);
            assert!(text.contains("192.0.2.9") && !text.contains("s3cret"), "{text}");
        }
        assert!(refused("postgres://me@127.0.0.1/d", &[Transport::Unix]).contains("URL"));
    }
}
