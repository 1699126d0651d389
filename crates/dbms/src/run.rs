//! Starting servers and other programs, and connecting to what runs.

use crate::process::network::veth;
use crate::resolve::Form;
use crate::{
    DataDirectory, Error, Installation, Kind, Origin, Reference, Restored, ServerSpec, System,
    Transport, systems,
};

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
    together(reference.kind, transports)?;
    if transports.contains(&Transport::Veth) { veth::check() } else { Ok(()) }
}

/// Checks that a server of this kind can have `transports`, and all of them at once.
fn together(kind: &dyn Kind, transports: &[Transport]) -> Result<(), Error> {
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

/// The kind of the server that `spec` describes, if it can be started so.
fn startable(spec: &ServerSpec<'_>) -> Result<&'static dyn Kind, Error> {
    let kind = systems::of(spec.installation)?;
    together(kind, spec.transports)?;
    kind.check_engine(spec.engine)?;
    Ok(kind)
}

/// Checks that servers of `installation` can start on a copy of a data directory; returns what
/// identifies its content.
///
/// # Errors
/// [`Error::DataDirectory`] says what is wrong with it; [`Error::Unsupported`] if this system has
/// no such servers; [`Error::Io`].
pub fn check_data(installation: &Installation, data: &DataDirectory<'_>) -> Result<String, Error> {
    systems::of(installation)?.check_data(installation, data)
}

/// Starts a fresh server, or one on a copy of [`ServerSpec::data`], and waits until it answers. On
/// failure, nothing is left behind.
///
/// # Errors
/// [`Error::Reserved`] and [`Error::Rejected`] for settings, [`Error::DirectoryInUse`],
/// [`Error::Unreachable`], [`Error::Transport`], [`Error::Start`] with the server's last log lines,
/// [`Error::Io`].
pub fn start(spec: ServerSpec<'_>) -> Result<Box<dyn System>, Error> {
    Ok(startable(&spec)?.start(&spec, None)?.0)
}

/// Starts a server on a copy of `origin`, left by a server of the same build and user
/// ([`crate::Stopped::keep`]), and waits until it answers. Its configuration is that of `spec`. On
/// failure, nothing is left behind.
///
/// The copy is checked to equal the original byte for byte; see [`Restored`].
///
/// # Errors
/// As [`start`]; [`Error::Space`], [`Error::NotSame`], [`Error::Interrupted`].
pub fn start_on_copy(
    spec: &ServerSpec<'_>,
    origin: &Origin<'_>,
) -> Result<(Box<dyn System>, Restored), Error> {
    let kind = startable(spec)?;
    let (server, restored) = kind.start(spec, Some(origin))?;
    Ok((server, restored.ok_or_else(|| kind.lacks("starting on a copy of data"))?))
}

/// Connects to a running server, which is neither configured nor stopped.
///
/// # Errors
/// [`Error::Connect`]; [`Error::Unsupported`] if `reference` does not name a running server.
pub fn attach(reference: &Reference) -> Result<Box<dyn System>, Error> {
    match &reference.form {
        Form::Running(endpoint) => reference.kind.attach(endpoint),
        _ => Err(Error::unsupported(
            format!("attaching to {reference}"),
            "give the URL of a running server, or start it",
        )),
    }
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
