//! Trials that ran on a different machine, or on other storage, than that on which the run goes on.
//! A block only compares trials from one machine, so a half-finished block is repeated.

use std::collections::BTreeMap;

use report::Machine;
use store::{ExperimentId, Store, Trial, TrialId, TrialState};

use crate::error::Error;

/// Block, variant and sequence of a trial.
pub type Key = (u32, String, u32);

/// The finished trials that ran on a different machine from the one last recorded, or with another
/// kernel or storage, each with what differs now.
pub fn elsewhere(
    store: &Store,
    experiment: ExperimentId,
) -> Result<BTreeMap<Key, (TrialId, String)>, Error> {
    let here = Machine::of(&store.host_facts(experiment)?);
    let trials = store.trials(experiment)?;
    let names: BTreeMap<_, _> =
        store.variants(experiment)?.into_iter().map(|variant| (variant.id, variant.name)).collect();
    let mut found = BTreeMap::new();
    for (facts, ran) in store.trial_hosts(experiment)? {
        let differs = here.differs_from(&Machine::of(&facts)).join(", ");
        if differs.is_empty() {
            continue;
        }
        let finished =
            |trial: &&Trial| trial.state == TrialState::Finished && ran.contains(&trial.id);
        for trial in trials.iter().filter(finished) {
            let Some(name) = names.get(&trial.variant) else { continue };
            let key = (trial.block, name.clone(), trial.sequence);
            found.insert(key, (trial.id, differs.clone()));
        }
    }
    Ok(found)
}
