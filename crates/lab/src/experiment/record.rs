//! Records an experiment before its first trial.

use store::{
    Experiment, ExperimentId, HostFact, NewExperiment, NewVariant, Purpose, Store, Warning, now_ms,
};

use crate::error::Error;
use crate::lineup::level;
use crate::options::Options;
use crate::subject::{Lineup, Subject};

/// The machine as it is now.
pub fn host(options: &Options) -> Vec<HostFact> {
    let facts = probe::host_facts(&options.data_dir).into_iter();
    let mut facts: Vec<_> = facts
        .map(|fact| HostFact { group: fact.group, name: fact.name, value: fact.value })
        .collect();
    facts.extend(options.node.iter().map(|node| HostFact {
        group: "system".to_owned(),
        name: "node".to_owned(),
        value: node.clone(),
    }));
    facts.extend(options.findings.iter().map(|finding| HostFact {
        group: "doctor".to_owned(),
        name: finding.name.clone(),
        value: finding.line(),
    }));
    facts
}

/// Records a new experiment with its variants and its host.
pub fn begin(
    store: &Store,
    lineup: &Lineup,
    options: &Options,
    purpose: Purpose,
    seed: u64,
) -> Result<Experiment, Error> {
    let plan = &lineup.plan;
    let id = store.begin_experiment(&NewExperiment {
        name: plan.name.clone(),
        workload: plan.workload.name().to_owned(),
        base: plan.base.clone(),
        purpose,
        seed,
        blocks: plan.blocks,
        margin: plan.margin,
        plan: plan.text_without_passwords(),
        steelyard: options.version.clone(),
        created_ms: now_ms(),
    })?;
    store.record_host(id, &host(options))?;
    for subject in &lineup.subjects {
        store.add_variant(
            id,
            &NewVariant {
                name: subject.variant.name.clone(),
                dbms: reference::hidden(&subject.variant.dbms),
                source: subject.installation.source.clone(),
                version: subject.installation.version.clone(),
                build: subject.installation.build.clone(),
                config: subject.variant.config.clone(),
            },
        )?;
    }
    warn_of_differences(store, id, lineup)?;
    Ok(store.experiment(id)?)
}

/// Records how the variants differ besides their version.
fn warn_of_differences(store: &Store, id: ExperimentId, lineup: &Lineup) -> Result<(), Error> {
    let variants =
        lineup.subjects.iter().map(|Subject { variant, installation, .. }| dbms::Compared {
            name: &variant.name,
            installation,
            initdb: &variant.initdb,
            engine: variant.engine.as_deref(),
            durability: variant.durability.map(level),
        });
    let variants: Vec<_> = variants.collect();
    for dbms::Difference { code, text } in dbms::differences(&variants) {
        store.warn(id, None, &Warning::new(code, text))?;
    }
    Ok(())
}
