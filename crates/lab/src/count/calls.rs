//! Calls of a library, executed in the process that loaded it.

use dbms::System;
use drive::{Act, Script, Target};
use workload::{Catalogue, stream_seed};

use super::counter::{Counter, failed};
use super::jobs::Item;
use crate::error::Error;
use crate::systems::target;

impl Counter<'_> {
    /// Executes a kind: N times, a mark, N times more, and two marks.
    pub fn call(&self, target: &Target, item: Item) -> Result<(), Error> {
        let kind = self.kind(item);
        let run = Act::Run { times: u64::from(self.executions(item)), adds: kind.adds };
        // Reads find in the cache what they read: the same once more.
        let again = kind.reads_only.then_some(Act::Reseed);
        let acts = [Some(run), Some(Act::Mark), again, Some(run), Some(Act::Mark), Some(Act::Mark)];
        let script = Script {
            seed: stream_seed(self.seed, &kind.name, 1, 0, "count"),
            cells: self.catalogues[item.variant].cells,
            request: kind.request.clone(),
            acts: acts.into_iter().flatten().collect(),
        };
        self.play(target, &script, &kind.name)
    }

    /// Fills a database and writes it out.
    pub fn load_keys(&self, server: &mut dyn System, catalogue: &Catalogue) -> Result<(), Error> {
        let target = target("load", server.endpoint());
        for load in &catalogue.load {
            let script = Script {
                seed: self.load_seed(),
                cells: catalogue.cells,
                request: load.request.clone(),
                acts: vec![Act::Run { times: load.times, adds: load.adds }],
            };
            self.play(&target, &script, "load")?;
        }
        Ok(server.flush()?)
    }

    fn play(&self, target: &Target, script: &Script, kind: &str) -> Result<(), Error> {
        let mut give_up = || self.unless_interrupted().is_err();
        let failed = |reason: &dyn std::fmt::Display| failed(&target.name, kind, reason);
        let socket = target.process().ok_or_else(|| failed(&"it has no process for calls"))?;
        let played = drive::play(socket, script, &mut give_up);
        self.unless_interrupted()?;
        played.map_err(|error| failed(&error))
    }
}
