//! Blocks of trials: each trial that is missing is run, each finished one kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use plan::{Pairing, Trial};
use store::{Experiment, NewTrial, Store, TrialId, VariantId, Warning, now_ms};

use crate::error::Error;
use crate::event::Event;
use crate::fitness::Fitness;
use crate::prepare::Prepared;
use crate::restore::{LOAD_BLOCK, loaded_again, one_load};
use crate::slicing::Slicing;
use crate::trial::{Bench, Place};

/// A trial to run, and how far it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stint {
    /// Which trial.
    pub trial: Trial,
    /// How many of the workload's steps it goes through, from the first; a trial that ran fewer than there are is a finished trial.
    pub steps: usize,
}

/// The way of an experiment through its blocks.
pub struct Course<'a> {
    /// What all its trials share.
    pub bench: &'a Bench<'a>,
    /// Where results go.
    pub store: &'a Store,
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Ids of the variants, by name.
    variants: BTreeMap<String, VariantId>,
    /// Block, variant and dop of the trials that are there.
    finished: BTreeSet<(u32, String, u32)>,
    /// Trials that came up so far, finished before or not.
    number: usize,
    /// What is known of slices.
    slicing: Slicing,
}

impl<'a> Course<'a> {
    /// Makes sure that the experiment can go on, and finds out what of it is there.
    pub fn open(
        bench: &'a Bench<'a>,
        store: &'a Store,
        experiment: &'a Experiment,
    ) -> Result<Course<'a>, Error> {
        let variants = same_variants(store, experiment, bench.prepared)?;
        store.abandon_running(experiment.id)?;
        let finished = store.finished_trials(experiment.id)?;
        let slicing = Slicing::open(&bench.prepared.plan, store, experiment.id)?;
        Ok(Course { bench, store, experiment, variants, finished, number: 0, slicing })
    }

    /// How many trials of the blocks up to this one are there.
    pub fn finished(&self, last: u32) -> usize {
        self.finished.iter().filter(|(block, ..)| (1..=last).contains(block)).count()
    }

    /// Whether a trial is there.
    pub fn is_finished(&self, trial: &Trial) -> bool {
        self.finished.contains(&(trial.block, self.name(trial).to_owned(), trial.dop))
    }

    /// Runs the trials of a block that are missing.
    pub fn block(
        &mut self,
        stints: &[Stint],
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        self.load(stints, on_event)?;
        if self.bench.prepared.plan.pairing != Pairing::Blocks {
            return self.joint_block(stints, on_event);
        }
        for stint in stints {
            self.number += 1;
            if !self.is_finished(&stint.trial) {
                self.trial(*stint, on_event)?;
            }
        }
        Ok(())
    }

    /// The same where the servers of all variants are up together, those of one dop at a time.
    fn joint_block(
        &mut self,
        stints: &[Stint],
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        let mut dops = Vec::new();
        for stint in stints {
            if !dops.contains(&stint.trial.dop) {
                dops.push(stint.trial.dop);
            }
        }
        for dop in dops {
            let of_dop = || stints.iter().filter(|stint| stint.trial.dop == dop);
            let missing: Vec<Stint> =
                of_dop().filter(|stint| !self.is_finished(&stint.trial)).copied().collect();
            self.number += of_dop().count() - missing.len();
            match missing[..] {
                [] => {}
                [alone] => {
                    self.number += 1;
                    self.trial(alone, on_event)?;
                }
                _ => self.joint(&missing, on_event)?,
            }
        }
        Ok(())
    }

    /// Runs trials together, again where they were polluted. They are finished together or not at all.
    fn joint(&mut self, stints: &[Stint], on_event: &mut dyn FnMut(Event)) -> Result<(), Error> {
        let first = self.number;
        for left in (0..=self.bench.prepared.plan.repeats).rev() {
            self.number = first;
            let mut places = Vec::new();
            for stint in stints {
                self.number += 1;
                match self.begin(*stint, left > 0, on_event) {
                    Ok(place) => places.push(place),
                    Err(error) => return self.failed(&places, error),
                }
            }
            match self.bench.joint(&places, &mut self.slicing, self.store, on_event) {
                Ok(Fitness::Polluted { reason }) if left > 0 => {
                    self.store.pollute_trials(&trials(&places), &reason)?;
                    on_event(Event::Note(format!("{reason}; the trials are run again")));
                }
                Ok(fitness) => {
                    for place in &places {
                        self.note_pollution(place, &fitness)?;
                    }
                    self.store.finish_trials(&trials(&places))?;
                    places.iter().for_each(|_| on_event(Event::TrialEnded));
                    break;
                }
                Err(error) => return self.failed(&places, error),
            }
        }
        Ok(())
    }

    fn failed(&self, places: &[Place], error: Error) -> Result<(), Error> {
        for place in places {
            // Where the store itself failed, the trial stays "running" and is abandoned later.
            let _ = self.store.fail_trial(place.trial, &error.to_string());
        }
        Err(error)
    }

    /// Runs one trial, again where it was polluted.
    fn trial(&self, stint: Stint, on_event: &mut dyn FnMut(Event)) -> Result<(), Error> {
        let repeats = self.bench.prepared.plan.repeats;
        for left in (0..=repeats).rev() {
            let place = self.begin(stint, left > 0, on_event)?;
            match self.bench.trial(place, self.store, on_event) {
                Ok(Fitness::Polluted { reason }) if left > 0 => {
                    self.store.pollute_trials(&[place.trial], &reason)?;
                    on_event(Event::Note(format!("{reason}; the trial is run again")));
                }
                Ok(fitness) => {
                    self.note_pollution(&place, &fitness)?;
                    self.store.finish_trial(place.trial)?;
                    on_event(Event::TrialEnded);
                    break;
                }
                Err(error) => {
                    // Where the store itself failed, the trial stays "running" and is abandoned later.
                    let _ = self.store.fail_trial(place.trial, &error.to_string());
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Warns of a polluted trial that is a result all the same, as it was the last attempt.
    fn note_pollution(&self, place: &Place, fitness: &Fitness) -> Result<(), Error> {
        let Fitness::Polluted { reason } = fitness else { return Ok(()) };
        let warning = Warning {
            code: "polluted".to_owned(),
            text: polluted_result(reason, self.bench.prepared.plan.repeats),
        };
        Ok(self.store.warn(place.experiment, Some(place.trial), &warning)?)
    }

    /// Loads for the missing trials of a block, where the plan loads once and this run has not done so yet.
    fn load(&self, stints: &[Stint], on_event: &mut dyn FnMut(Event)) -> Result<(), Error> {
        if self.bench.prepared.plan.restore_after.is_none() {
            return Ok(());
        }
        let missing = stints.iter().filter(|stint| !self.is_finished(&stint.trial));
        for trial in missing.map(|stint| Trial { block: LOAD_BLOCK, ..stint.trial }) {
            if !self.bench.loads.has(trial.variant, trial.dop) {
                self.load_once(&trial, on_event)?;
            }
        }
        Ok(())
    }

    /// Loads for a variant and dop. Where an earlier run has done so too, its steps are the results.
    fn load_once(&self, trial: &Trial, on_event: &mut dyn FnMut(Event)) -> Result<(), Error> {
        let (bench, store) = (self.bench, self.store);
        if bench.interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (variant, dop) = (self.name(trial).to_owned(), trial.dop);
        on_event(Event::LoadBegan { variant: variant.clone(), dop });
        let place = self.enter(Stint { trial: *trial, steps: usize::MAX }, false)?;
        if let Err(error) = bench.load(place, store, on_event) {
            let _ = store.fail_trial(place.trial, &error.to_string());
            return Err(error);
        }
        if self.is_finished(trial) {
            let reason = "loaded again to go on; the first load's steps are the results";
            store.fail_trial(place.trial, reason)?;
            if let Some(loaded) = bench.loads.get(place.variant, dop) {
                store.warn(self.experiment.id, None, &loaded_again(&variant, dop, &loaded))?;
            }
            return Ok(());
        }
        store.finish_trial(place.trial)?;
        let told = store.warnings(self.experiment.id)?;
        if let Some(warning) = one_load(&bench.prepared.plan)
            && !told.iter().any(|known| known.warning.code == warning.code)
        {
            store.warn(self.experiment.id, None, &warning)?;
        }
        Ok(())
    }

    /// Enters a trial in the store and tells of it. `again`: whether it is run again where it is polluted.
    fn begin(
        &self,
        stint: Stint,
        again: bool,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Place, Error> {
        if self.bench.interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let trial = stint.trial;
        on_event(Event::TrialBegan {
            number: self.number,
            block: trial.block,
            variant: self.name(&trial).to_owned(),
            dop: trial.dop,
        });
        self.enter(stint, again)
    }

    /// Enters a trial in the store.
    fn enter(&self, stint: Stint, again: bool) -> Result<Place, Error> {
        let Stint { trial, steps } = stint;
        let id = self.store.begin_trial(&NewTrial {
            experiment: self.experiment.id,
            variant: self.variants[self.name(&trial)],
            block: trial.block,
            position: trial.position,
            sequence: trial.dop,
            started_ms: now_ms(),
        })?;
        Ok(Place {
            experiment: self.experiment.id,
            trial: id,
            variant: trial.variant,
            block: trial.block,
            dop: trial.dop,
            steps,
            again,
        })
    }

    fn name(&self, trial: &Trial) -> &str {
        &self.bench.prepared.plan.variants[trial.variant].name
    }
}

fn trials(places: &[Place]) -> Vec<TrialId> {
    places.iter().map(|place| place.trial).collect()
}

/// Why a polluted trial counts.
fn polluted_result(reason: &str, repeats: u32) -> String {
    let counts = match repeats {
        0 => "it counts, as the plan repeats no trial".to_owned(),
        1 => "it counts, as it had been repeated once already".to_owned(),
        times => format!("it counts, as it had been repeated {times} times already"),
    };
    format!("{reason}; {counts}")
}

/// The stored variants by name, provided they are still what they were.
fn same_variants(
    store: &Store,
    experiment: &Experiment,
    prepared: &Prepared,
) -> Result<BTreeMap<String, VariantId>, Error> {
    let stored = store.variants(experiment.id)?;
    let mut ids = BTreeMap::new();
    for subject in &prepared.subjects {
        let name = &subject.variant.name;
        let Some(before) = stored.iter().find(|variant| variant.name == *name) else {
            return Err(Error::Resume(format!("the experiment has no variant `{name}`")));
        };
        let now = &subject.installation;
        let same = |key: &str| before.build.get(key) == now.build.get(key);
        if before.version != now.version || !same(dbms::builds::SERVER_HASH) {
            let change = if before.version == now.version {
                format!("is {} as before, but another build of it", now.version)
            } else {
                format!("was {} and is {} now", before.version, now.version)
            };
            return Err(Error::Resume(format!(
                "variant `{name}` {change}; trials of different binaries can't be mixed. Start a \
                 new experiment, or name the exact version or commit",
            )));
        }
        ids.insert(name.clone(), before.id);
    }
    Ok(ids)
}
