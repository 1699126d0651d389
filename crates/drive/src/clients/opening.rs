//! Statements that prepare a session.

use workload::{Expect, Rng, Source, Statement};

use crate::error::Error;
use crate::wire::Session;

/// Runs statements on a new session.
pub fn open(session: &mut dyn Session, statements: &[String]) -> Result<(), Error> {
    for text in statements {
        let handle = session.prepare(&Statement::plain(text, Expect::Success).into())?;
        let mut source = Source { rng: &mut Rng::new(0), cells: &[], kept: &[] };
        session.call(handle, &mut source, None)?;
    }
    Ok(())
}
