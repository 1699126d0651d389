//! Facts about systems that are known without starting them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::data::disk;
use crate::resolve::Form;
use crate::{
    Config, CountMethod, Counter, Durability, Error, Footprint, Installation, ParsedPlan,
    ProfileFacts, Reference, Snapshot, Timer, systems,
};

/// How to read call stacks of the system that `reference` names; `None` if unknown.
pub fn profile_facts(reference: &str) -> Option<&'static ProfileFacts> {
    reference.parse::<Reference>().ok()?.kind.profile()
}

/// Parses a query plan of the system that `reference` names, as far as that is known.
pub fn parse_plan(reference: &str, plan: &str) -> ParsedPlan {
    let known = reference.parse::<Reference>().ok();
    known.map_or_else(|| ParsedPlan::verbatim(plan), |known| known.kind.parse_plan(plan))
}

/// Figures of a step by the names in published tables, from the counters of a system of
/// `installation`: how they changed, and how they are `now`. `seconds`: how long it had the load,
/// and how long its counters counted.
pub fn figures(
    installation: &Installation,
    changed: &[Counter],
    now: &Snapshot,
    seconds: [f64; 2],
) -> Vec<(&'static str, f64)> {
    systems::of(installation).map_or(Vec::new(), |kind| kind.figures(changed, now, seconds))
}

/// Bytes by name, such as `wal` or `undo`, of the files in `directory` other than `tables`, and
/// `other`. `directory` is the data directory of a system of `installation`. `disk` is all files;
/// the rest and the `total` of the tables add up to it.
pub fn rest_of_disk(
    installation: &Installation,
    directory: &Path,
    tables: &[Footprint],
) -> Option<Footprint> {
    systems::of(installation).ok().map(|kind| disk::rest(kind, directory, tables))
}

/// The largest number of clients that can be connected at the same time to a server of
/// `installation` with these settings and this configuration file; `None`: as many as the machine
/// allows.
pub fn most_clients(
    installation: &Installation,
    settings: &Config,
    file: Option<&str>,
) -> Option<u32> {
    systems::of(installation).ok()?.most_clients(settings, file)
}

/// True if servers of `installation` have this storage engine, as far as that is known before a
/// start.
///
/// # Errors
/// [`Error::Unsupported`] names those that they have.
pub fn check_engine(installation: &Installation, engine: Option<&str>) -> Result<(), Error> {
    systems::of(installation)?.check_engine(engine)
}

/// The settings with which servers of `installation` have this durability, for tables of `engine`
/// (as in [`crate::ServerSpec::engine`]). A plan's own settings override them.
///
/// # Errors
/// [`Error::Unsupported`] if the system does not have this engine, or no setting to translate it
/// to.
pub fn durability(
    installation: &Installation,
    engine: Option<&str>,
    level: Durability,
) -> Result<Config, Error> {
    let kind = systems::of(installation)?;
    kind.check_engine(engine)?;
    kind.durability(engine, level)
}

/// True if each client of an installation's servers is served by a process or thread of its own,
/// and the server tells which one that is.
pub fn tells_threads(installation: &Installation) -> bool {
    systems::of(installation).is_ok_and(|kind| kind.tells_threads(installation))
}

/// True if an installation's servers take two names for the same setting.
pub fn same_setting(installation: &Installation, one: &str, other: &str) -> bool {
    systems::of(installation).is_ok_and(|kind| kind.plain_name(one) == kind.plain_name(other))
}

/// True if servers of the system that `reference` names are known to have a setting of this name.
/// Those of PostgreSQL are, because it accepts any name with a dot in it.
pub fn has_setting(reference: &str, name: &str) -> bool {
    reference.parse::<Reference>().is_ok_and(|known| known.kind.has_setting(name))
}

/// The settings that go by the clock of an installation's servers with a storage engine, for
/// servers that are frozen while others have the load.
///
/// # Errors
/// [`Error::Unsupported`] if they can't be frozen: there is no server, or it was not started here.
pub fn timers(installation: &Installation, engine: Option<&str>) -> Result<Vec<Timer>, Error> {
    let kind = systems::of(installation)?;
    let name = kind.name();
    let (what, remedy) = match kind.timers(installation, engine) {
        Some(timers) if installation.is_ours() => return Ok(timers),
        Some(_) => (
            "a server that is already running",
            format!("have steelyard start it (dbms = \"{name}@VERSION\" or \"path:…\")"),
        ),
        None => (name, "set pairing = \"slices\" or \"blocks\"".to_owned()),
    };
    Err(Error::unsupported(format!("freezing {what} while others have the load"), remedy))
}

/// The name of the system that `reference` names, if steelyard starts it and can count its
/// instructions.
pub fn countable(reference: &str) -> Option<&'static str> {
    let Reference { kind, form } = reference.parse().ok()?;
    // Which version it is makes no difference.
    let any = Installation {
        dbms: kind.name().to_owned(),
        version: String::new(),
        source: String::new(),
        bin_dir: None,
        build: BTreeMap::new(),
    };
    let ours = !matches!(form, Form::Running(_));
    (ours && kind.count_method(&any).is_ok()).then(|| kind.name())
}

/// How to count instructions on servers of an installation.
///
/// # Errors
/// [`Error::Unsupported`] for a running server, and for a system that can't be counted.
pub fn count_method(installation: &Installation) -> Result<CountMethod, Error> {
    if installation.is_ours() {
        return systems::of(installation)?.count_method(installation);
    }
    Err(Error::unsupported(
        "counting instructions of a server that is already running",
        format!("have steelyard start it (dbms = \"{}@VERSION\" or \"path:…\")", installation.dbms),
    ))
}

#[cfg(test)]
mod tests {
    use super::countable;

    #[test]
    fn systems_that_steelyard_starts_are_countable() {
        assert_eq!(countable("postgres@13.7"), Some("postgres"));
        assert_eq!(countable("path:/opt/pg/15"), Some("postgres"));
        for other in ["postgres://me@host/db", "none", "nonsense"] {
            assert_eq!(countable(other), None, "{other}");
        }
    }
}
