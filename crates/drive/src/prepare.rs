//! Decides where a load's clients run.

use crate::error::Error;
use crate::processes::remote;
use crate::step::load::{Load, Ready, check};
use crate::step::target::Target;
use crate::threads::engine::Clients;
use crate::threads::frozen::{self, Freezer, Party};

/// Connects all clients and prepares their requests. Nothing is measured yet.
///
/// # Errors
///
/// [`Error::Load`], or the first failure of any client; all others are then disconnected again.
pub fn prepare(load: &Load) -> Result<Box<dyn Ready>, Error> {
    check(load)?;
    match load.targets.iter().map(Target::process).collect::<Option<Vec<_>>>() {
        Some(sockets) => remote::prepare(load, &sockets),
        None => Clients::connect(load).map(|ready| Box::new(ready) as Box<dyn Ready>),
    }
}

/// The same for a load with [`Load::frozen`]: each target has clients of its own, and is frozen by
/// one of `freezers`, in their order, while others have the load.
///
/// # Errors
///
/// As [`prepare`].
pub fn prepare_frozen(
    load: &Load,
    freezers: Vec<Box<dyn Freezer>>,
) -> Result<Box<dyn Ready>, Error> {
    check(load)?;
    let party = |target: &Target| {
        let own = frozen::own_load(load, target);
        match target.process() {
            Some(socket) => remote::party(&own, socket),
            None => Party::here(&own),
        }
    };
    let parties = load.targets.iter().map(party).collect::<Result<_, _>>()?;
    frozen::prepare(load, parties, freezers)
}
