//! Blocks of trials: runs each missing trial and keeps each finished one.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Clients, Pairing, Sequence, Trial};
use store::{NewTrial, TrialId, VariantId, now_ms};

use crate::error::Error;
use crate::event::Event;
use crate::experiment::elsewhere::{Key, elsewhere};
use crate::joint::lockstep;
use crate::observe::fitness::Fitness;
use crate::trial::attempt::Entered;
use crate::trial::conditions::Conditions;
use crate::trial::loads::{LOAD_BLOCK, loaded_again, one_load};
use crate::trial::whole;

/// A trial to run, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stint {
    /// Which trial.
    pub trial: Trial,
    /// How many of the workload's steps it runs, from the first; a trial that runs only some of
    /// them also counts as finished.
    pub steps: usize,
}

/// An experiment that is running its blocks.
pub struct Execution<'c, 'a> {
    /// The conditions of all its trials.
    pub conditions: &'c Conditions<'a>,
    /// Ids of the variants, by name.
    variants: BTreeMap<String, VariantId>,
    /// Block, variant and sequence of the finished trials.
    finished: BTreeSet<Key>,
    /// Those of them that ran on another machine or storage, each with what differs here.
    elsewhere: BTreeMap<Key, (TrialId, String)>,
    /// Trials reached so far, including those finished before.
    number: usize,
    /// The first death of a system after which the run went on.
    death: Option<Error>,
}

impl<'c, 'a> Execution<'c, 'a> {
    /// Checks that the experiment can continue, and finds out which trials are finished.
    pub fn open(conditions: &'c Conditions<'a>) -> Result<Execution<'c, 'a>, Error> {
        let (store, experiment) = (conditions.store, conditions.experiment.id);
        let variants = same_variants(conditions)?;
        store.abandon_running(experiment)?;
        let finished = store.finished_trials(experiment)?;
        let elsewhere = elsewhere(store, experiment)?;
        Ok(Execution { conditions, variants, finished, elsewhere, number: 0, death: None })
    }

    /// How many trials are finished in the blocks up to this one.
    pub fn finished(&self, last: u32) -> usize {
        self.finished.iter().filter(|(block, ..)| (1..=last).contains(block)).count()
    }

    /// True if a trial is finished.
    pub fn is_finished(&self, trial: &Trial) -> bool {
        self.finished.contains(&self.key(trial))
    }

    fn key(&self, trial: &Trial) -> Key {
        (trial.block, self.name(trial).to_owned(), trial.sequence.number())
    }

    /// Takes back the trials of a block that ran on another machine, unless all of it did.
    fn renew(&mut self, block: &[Trial]) -> Result<(), Error> {
        if block.iter().all(|trial| self.is_finished(trial)) {
            return Ok(());
        }
        let keys = block.iter().map(|trial| self.key(trial));
        let keys: Vec<Key> = keys.filter(|key| self.elsewhere.contains_key(key)).collect();
        let of_first = keys.first().and_then(|key| self.elsewhere.get(key));
        let Some(differs) = of_first.map(|(_, differs)| differs.clone()) else { return Ok(()) };
        let ids: Vec<TrialId> = keys.iter().map(|key| self.elsewhere[key].0).collect();
        let what = match block.first().map_or(0, |trial| trial.block) {
            LOAD_BLOCK => "the load".to_owned(),
            number => format!("block {number}"),
        };
        let reason =
            format!("{what} was begun on another machine or storage ({differs}) and is done anew");
        self.conditions.store.take_back_trials(&ids, &reason)?;
        for key in &keys {
            self.finished.remove(key);
            self.elsewhere.remove(key);
        }
        self.conditions.tell(Event::Note(reason));
        Ok(())
    }

    /// Runs the missing trials of a block: one after another or, if the servers of all variants run
    /// at the same time, those of one sequence together.
    pub fn block(&mut self, stints: &[Stint]) -> Result<(), Error> {
        self.renew(&stints.iter().map(|stint| stint.trial).collect::<Vec<_>>())?;
        self.load(stints)?;
        let mut groups: Vec<Vec<Stint>> = Vec::new();
        let joint = self.conditions.plan().pairing != Pairing::Blocks;
        for stint in stints {
            let same = |group: &&mut Vec<Stint>| group[0].trial.sequence == stint.trial.sequence;
            match groups.iter_mut().find(same).filter(|_| joint) {
                Some(group) => group.push(*stint),
                None => groups.push(vec![*stint]),
            }
        }
        for mut group in groups {
            let all = group.len();
            group.retain(|stint| !self.is_finished(&stint.trial));
            self.number += all - group.len();
            if !group.is_empty() {
                self.together(&group)?;
            }
        }
        Ok(())
    }

    /// Runs trials together; repeats a single one if it was polluted. They finish together or not
    /// at all.
    fn together(&mut self, stints: &[Stint]) -> Result<(), Error> {
        let (conditions, first) = (self.conditions, self.number);
        // Whatever slows the machine slows all servers that run at the same time alike.
        let repeats = if stints.len() > 1 { 0 } else { conditions.plan().repeats };
        for left in (0..=repeats).rev() {
            self.number = first;
            let mut trials = Vec::new();
            for stint in stints {
                self.number += 1;
                match self.begin(*stint, left > 0) {
                    Ok(trial) => trials.push(trial),
                    Err(error) => return self.failed(&trials, error),
                }
            }
            let ran = match trials[..] {
                [alone] => whole::run(conditions, alone),
                _ => lockstep::run(conditions, &trials),
            };
            let ids: Vec<TrialId> = trials.iter().map(|entered| entered.trial).collect();
            match ran {
                Ok(Fitness::Polluted { reason }) if left > 0 => {
                    conditions.store.pollute_trials(&ids, &reason)?;
                    conditions.tell(Event::Note(format!("{reason}; repeating the trial")));
                }
                Ok(fitness) => {
                    if let Fitness::Polluted { reason } = fitness {
                        let text = polluted_result(&reason, repeats);
                        for id in &ids {
                            conditions.warn(Some(*id), "polluted", text.clone())?;
                        }
                    }
                    conditions.store.finish_trials(&ids)?;
                    ids.iter().for_each(|_| conditions.tell(Event::TrialEnded));
                    break;
                }
                Err(error) => return self.failed(&trials, error),
            }
        }
        Ok(())
    }

    /// Keeps why trials failed. If a system died, the trials after them can still succeed, and a
    /// run whose blocks are planned goes on.
    fn failed(&mut self, trials: &[Entered], mut error: Error) -> Result<(), Error> {
        self.keep_failed(trials, &error);
        if let Error::Step { variant, lasting, unfit: true, .. } = &mut error {
            // What was measured before may be measured again.
            let before = |(block, name, _): &Key| *block > LOAD_BLOCK && name == variant;
            let finished = self.conditions.store.finished_trials(self.conditions.experiment.id);
            *lasting = finished.is_ok_and(|finished| !finished.iter().any(before));
        }
        if !error.is_death() || self.conditions.plan().is_adaptive() {
            return Err(error);
        }
        if let Error::Step { variant, block, step, reason, .. } = &error {
            let text = format!("variant `{variant}`, block {block}, step {step}: {reason}");
            let log = error.log_file().map(|file| format!(" (its log: {})", file.display()));
            let log = log.unwrap_or_default();
            self.conditions.tell(Event::Note(format!("{text}{log}. Going on with the next trial")));
        }
        self.death.get_or_insert(error);
        Ok(())
    }

    fn keep_failed(&self, trials: &[Entered], error: &Error) {
        for entered in trials {
            // Where the store itself failed, the trial stays "running" and is abandoned later.
            let _ = self.conditions.store.fail_trial(entered.trial, &error.to_string());
        }
    }

    /// The first death of a system, after the last block: trials are missing.
    pub fn death(&mut self) -> Result<(), Error> {
        self.death.take().map_or(Ok(()), Err)
    }

    /// Loads for the missing trials of a block if the plan loads once and this run has not loaded
    /// yet.
    fn load(&mut self, stints: &[Stint]) -> Result<(), Error> {
        if !self.conditions.plan().loads_once() {
            return Ok(());
        }
        let missing = stints.iter().filter(|stint| !self.is_finished(&stint.trial));
        let loads = missing.map(|stint| Trial { block: LOAD_BLOCK, ..stint.trial });
        let loads: Vec<Trial> = loads.collect();
        self.renew(&loads)?;
        for trial in loads {
            if self.conditions.loads.get(trial.variant, trial.sequence).is_none() {
                self.load_once(&trial)?;
            }
        }
        Ok(())
    }

    /// Loads for a variant and sequence. If an earlier run has already loaded, its steps are the
    /// results.
    fn load_once(&self, trial: &Trial) -> Result<(), Error> {
        let (conditions, store) = (self.conditions, self.conditions.store);
        conditions.go_on()?;
        let (variant, clients) = (self.name(trial).to_owned(), self.clients(trial));
        conditions.tell(Event::LoadBegan { variant: variant.clone(), clients });
        let entered = self.enter(Stint { trial: *trial, steps: usize::MAX }, false)?;
        if let Err(error) = whole::load(conditions, entered) {
            self.keep_failed(&[entered], &error);
            return Err(error);
        }
        if self.is_finished(trial) {
            let reason = "loaded again to continue; the results are the steps of the first load";
            store.fail_trial(entered.trial, reason)?;
            if let Some(loaded) = conditions.loads.get(entered.variant, entered.sequence) {
                let warning = loaded_again(&variant, clients, &loaded);
                store.warn(conditions.experiment.id, None, &warning)?;
            }
            return Ok(());
        }
        store.finish_trial(entered.trial)?;
        if let Some(warning) = one_load(conditions.plan()) {
            conditions.warn_once(&warning)?;
        }
        Ok(())
    }

    /// Enters a trial in the store and reports it. `again`: whether to repeat it if it is polluted.
    fn begin(&self, stint: Stint, again: bool) -> Result<Entered, Error> {
        self.conditions.go_on()?;
        let trial = stint.trial;
        self.conditions.tell(Event::TrialBegan {
            number: self.number,
            block: trial.block,
            variant: self.name(&trial).to_owned(),
            clients: self.clients(&trial),
        });
        self.enter(stint, again)
    }

    /// Enters a trial in the store.
    fn enter(&self, stint: Stint, again: bool) -> Result<Entered, Error> {
        let Stint { trial, steps } = stint;
        let Trial { block, position, variant, sequence } = trial;
        let clients = self.clients(&trial);
        let trial = self.conditions.store.begin_trial(&NewTrial {
            experiment: self.conditions.experiment.id,
            variant: self.variants[self.name(&trial)],
            block,
            position,
            sequence: sequence.number(),
            started_ms: now_ms(),
        })?;
        Ok(Entered { trial, variant, block, sequence, clients, steps, again })
    }

    /// The clients of the steps of a trial's sequence.
    fn clients(&self, trial: &Trial) -> Clients {
        let sequences = self.conditions.plan().workload.sequences();
        let own = sequences.iter().find(|sequence| sequence.key == trial.sequence);
        own.map_or(Clients::of(0), Sequence::clients)
    }

    fn name(&self, trial: &Trial) -> &str {
        &self.conditions.plan().variants[trial.variant].name
    }
}

/// Why a polluted trial counts.
fn polluted_result(reason: &str, repeats: u32) -> String {
    let counts = match repeats {
        0 => "it counts because the plan repeats no trials".to_owned(),
        1 => "it counts because it was already repeated once".to_owned(),
        times => format!("it counts because it was already repeated {times} times"),
    };
    format!("{reason}; {counts}")
}

/// The stored variants by name, provided they have not changed.
fn same_variants(conditions: &Conditions<'_>) -> Result<BTreeMap<String, VariantId>, Error> {
    let stored = conditions.store.variants(conditions.experiment.id)?;
    let mut ids = BTreeMap::new();
    for subject in &conditions.lineup.subjects {
        let name = &subject.variant.name;
        let Some(before) = stored.iter().find(|variant| variant.name == *name) else {
            return Err(Error::Resume(format!("the experiment has no variant `{name}`")));
        };
        let now = &subject.installation;
        let same = |key: &str| before.build.get(key) == now.build.get(key);
        if before.version != now.version || !same(dbms::builds::SERVER_HASH) {
            let change = if before.version == now.version {
                format!("is still {}, but a different build", now.version)
            } else {
                format!("was {} and is {} now", before.version, now.version)
            };
            return Err(Error::Resume(format!(
                "variant `{name}` {change}; trials of different binaries can't be combined. Start a \
                 new experiment, or name the exact version or commit",
            )));
        }
        ids.insert(name.clone(), before.id);
    }
    Ok(ids)
}
