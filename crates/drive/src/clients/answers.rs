//! Asks queries once and keeps what identifies their answers.

use std::time::{Duration, Instant};

use workload::Asks;

use super::opening::open;
use crate::error::Error;
use crate::step::target::{Reach, Target};
use crate::wire::{Breaker, Digest, Session};

/// A session that asks queries before a step.
pub struct Asking<'a> {
    session: Box<dyn Session>,
    asks: &'a Asks,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What identifies its rows.
    pub digest: Digest,
    /// How long it took.
    pub time: Duration,
}

impl<'a> Asking<'a> {
    /// Connects to a target and prepares the session.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Authentication`], or the system's error.
    pub fn connect(target: &Target, asks: &'a Asks) -> Result<Asking<'a>, Error> {
        let Reach::Sessions(connect) = &target.reach else {
            return Err(Error::Load("its clients run elsewhere"));
        };
        let mut session = connect.connect()?;
        open(session.as_mut(), &asks.opening)?;
        Ok(Asking { session, asks })
    }

    /// A handle to break it off from another thread.
    ///
    /// # Errors
    /// [`Error::Broken`].
    pub fn breaker(&self) -> Result<Breaker, Error> {
        self.session.breaker()
    }

    /// Asks all queries, one after another.
    ///
    /// # Errors
    /// The system's error.
    pub fn ask(&mut self) -> Result<Vec<Answer>, Error> {
        let mut answers = Vec::new();
        for query in &self.asks.queries {
            let (begin, mut digest) = (Instant::now(), Digest::default());
            self.session.digest(query, &mut digest)?;
            answers.push(Answer { digest, time: begin.elapsed() });
        }
        Ok(answers)
    }
}
