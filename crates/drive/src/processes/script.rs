//! Actions that run one by one in the process that contains the system, to count their cost.

use serde::{Deserialize, Serialize};
use workload::{Cell, Request};

use crate::clients::single::Single;
use crate::error::Error;
use crate::wire::Connect;

/// One request, again and again, and marks. Everything follows from the seed, as in a [`Single`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The seed of the parameters.
    pub seed: u64,
    /// Number of shared cells.
    pub cells: usize,
    /// The request.
    pub request: Request,
    /// The actions, in order.
    pub acts: Vec<Act>,
}

/// A part of a [`Script`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// Executes the request.
    Run {
        /// How often.
        times: u64,
        /// A cell that grows with each execution, and by how much.
        adds: Option<(Cell, i64)>,
    },
    /// As [`Single::reseed`] with the script's seed.
    Reseed,
    /// The system calls the function at which Callgrind writes its counts.
    Mark,
}

impl Script {
    /// Executes it, in the process that contains the system.
    pub(crate) fn play(&self, connect: &dyn Connect) -> Result<(), Error> {
        let mut single = Single::new(connect, self.seed, self.cells)?;
        let request = single.prepare(self.request.clone())?;
        for act in &self.acts {
            match act {
                Act::Run { times, adds } => {
                    for _ in 0..*times {
                        single.run(request)?;
                        if let Some((cell, by)) = adds {
                            single.add(*cell, *by);
                        }
                    }
                }
                Act::Reseed => single.reseed(self.seed),
                Act::Mark => single.mark()?,
            }
        }
        Ok(())
    }
}
