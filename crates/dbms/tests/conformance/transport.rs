//! How clients reach a system.

use super::subjects::first;
use crate::common::Place;
use dbms::{Error, ServerSpec, Transport};

#[test]
fn its_usual_transport_is_unix_and_others_only_exist_if_asked_for() {
    for subject in first() {
        let place = Place::new();
        let system = subject.start(&place);
        assert_eq!(system.endpoint_by(Transport::Unix).unwrap(), system.endpoint());
        for other in [Transport::Loopback, Transport::Veth] {
            let error = system.endpoint_by(other).err().unwrap();
            assert!(matches!(error, Error::Transport { .. }) && error.is_request(), "{error}");
        }
        assert!(place.ledger.records().unwrap().iter().all(|record| record.link.is_none()));
        system.stop().unwrap().discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn a_transport_that_it_lacks_is_refused_before_anything_is_made() {
    for subject in first() {
        let reference = subject.variant.name.parse().unwrap();
        let all = [Transport::Loopback, Transport::Veth];
        for transports in [&all[..1], &all] {
            let place = Place::new();
            let Err(lacks) = dbms::check_transports(&reference, transports) else { continue };
            let trial = place.trial();
            let spec = ServerSpec { transports, ..subject.spec(&place, &trial) };
            let error = dbms::start(spec).err().unwrap();
            assert_eq!(error.to_string(), lacks.to_string());
            assert!(matches!(error, Error::Transport { .. }), "{error}");
            place.assert_clean();
        }
    }
}
