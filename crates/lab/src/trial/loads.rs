//! Loading once: the steps up to the plan's `restore_after` run once per variant and sequence, on
//! an empty server or on a copy of the user's data directory. Their data is kept while the run
//! lasts, and its trials begin on copies of it.
//!
//! A load is stored as a trial of its own, in [`LOAD_BLOCK`]: its steps are results, one of each
//! variant, and none of the blocks that verdicts come from. It draws its parameters from that
//! block's seed, so all loads of a sequence insert the same values; the steps after it draw from
//! their own block's.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use dbms::{Loaded, Restored};
use plan::{Clients, Plan, SequenceKey};
use store::{StepKind, StepRecord, Warning};
use workload::{Benchmark, Phase};

use crate::event::NO_CLIENTS;
use crate::trial::attempt::Entered;

/// The block in which loads are stored; those of trials begin with 1.
pub const LOAD_BLOCK: u32 = 0;

/// The kept loads, by variant (its index in the plan) and sequence. Removed when this is dropped.
#[derive(Debug, Default)]
pub struct Loads(RefCell<BTreeMap<(usize, SequenceKey), Arc<Loaded>>>);

impl Loads {
    /// The state in which a trial begins; `None`: on an empty server, as a load does.
    pub fn of(&self, entered: Entered) -> Option<Arc<Loaded>> {
        if entered.block == LOAD_BLOCK { None } else { self.get(entered.variant, entered.sequence) }
    }

    /// The load kept for the trials of this variant and sequence.
    pub fn get(&self, variant: usize, sequence: SequenceKey) -> Option<Arc<Loaded>> {
        self.0.borrow().get(&(variant, sequence)).cloned()
    }

    /// Keeps it, in place of what was kept before.
    pub fn keep(&self, entered: Entered, loaded: Loaded) {
        self.0.borrow_mut().insert((entered.variant, entered.sequence), Arc::new(loaded));
    }

    /// Removes all that is kept.
    pub fn discard(&self) {
        // What cannot be removed stays in the ledger for the next run.
        self.0.borrow_mut().clear();
    }
}

/// How many of a benchmark's phases belong to the load: those up to the plan's `restore_after`, and
/// what follows it between steps; of a data directory, at least those before the first step. 0
/// where every trial loads.
pub fn load_phases(plan: &Plan, benchmark: &Benchmark) -> usize {
    if !plan.loads_once() {
        return 0;
    }
    let through = |last: &String| {
        let is_it = |phase: &Phase| phase.step().is_some_and(|step| step.key.name == *last);
        benchmark.phases.iter().rposition(is_it).map_or(benchmark.phases.len(), |last| last + 1)
    };
    let done = plan.restore_after.as_ref().map_or(0, through);
    let after = benchmark.phases[done..].iter();
    done + after.take_while(|phase| phase.step().is_none()).count()
}

/// The record of keeping what a load left, after its `phases`.
pub fn keep_record(loaded: &Loaded, phases: usize, began_ms: i64) -> StepRecord {
    let manifest = loaded.manifest();
    let mut record = between("keep", phases, began_ms);
    record.seconds = (store::now_ms() - began_ms) as f64 / 1000.0;
    record.notes = vec![format!(
        "kept as load {}: {} files, {}",
        manifest.digest(),
        manifest.files(),
        size(manifest.bytes())
    )];
    record.add(metrics::LOAD_BYTES.name, manifest.bytes() as f64);
    record
}

/// The record of making the copy on which a trial begins, before its first phase of its own,
/// `first`.
pub fn restore_record(restored: &Restored, first: usize, started_ms: i64) -> StepRecord {
    // The load has at least one phase, else there would be nothing to restore.
    let mut record = between("restore", first.saturating_sub(1), started_ms);
    record.seconds = restored.copy_seconds + restored.check_seconds + restored.read_seconds;
    let how = if restored.shared { "sharing its blocks" } else { "all bytes copied" };
    record.notes = vec![
        format!(
            "copy of load {}: {} files, {}, {how}, in {:.1} s",
            restored.digest,
            restored.files,
            size(restored.bytes),
            restored.copy_seconds
        ),
        format!("identical byte for byte, checked in {:.1} s", restored.check_seconds),
    ];
    if restored.read_seconds > 0.0 {
        record.notes.push(format!(
            "read by the server's control group in {:.1} s, so that its memory limit covers cached pages",
            restored.read_seconds
        ));
    }
    record.add(metrics::RESTORE_COPY.name, restored.copy_seconds);
    record.add(metrics::RESTORE_CHECK.name, restored.check_seconds);
    record.add(metrics::RESTORE_READ.name, restored.read_seconds);
    record.add(metrics::LOAD_BYTES.name, restored.bytes as f64);
    record
}

/// The warning about all intervals of an experiment that loads once.
pub fn one_load(plan: &Plan) -> Option<Warning> {
    let step = plan.restore_after.as_ref()?;
    Some(Warning::new(
        "one-load",
        format!(
            "all trials of a variant began on copies of one load (up to {step}), so the intervals don't include chance \
             differences between loads"
        ),
    ))
}

/// The warning for a run that continued with another load.
pub fn loaded_again(variant: &str, clients: Clients, loaded: &Loaded) -> Warning {
    Warning::new(
        "loaded-again",
        format!(
            "{variant}, {clients}: loaded again when the run was resumed; its later trials began on load {}",
            loaded.manifest().digest()
        ),
    )
}

/// A record of something done between the steps.
fn between(name: &str, ordinal: usize, started_ms: i64) -> StepRecord {
    let mut record = StepRecord::new(ordinal as u32, name, NO_CLIENTS);
    record.kind = StepKind::Settle;
    record.started_ms = started_ms;
    record
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Dialect;

    /// Names of the phases that belong to the load, of a plan with these lines.
    fn load(whole: &str, workload: &str) -> Vec<String> {
        let text = format!(
            "{whole}\n[variants.a]\ndbms = \"postgres@14.3\"\n[workload.insert]\nrows = 1000\n{workload}\n"
        );
        let plan = Plan::parse(&text, None, "test").unwrap();
        let benchmark =
            workload::benchmark(&plan.workload, SequenceKey::ONLY, Dialect::postgres(14)).unwrap();
        let phases = benchmark.phases.iter().take(load_phases(&plan, &benchmark));
        phases.map(|phase| crate::event::phase_name(phase).to_owned()).collect()
    }

    #[test]
    fn the_load_ends_with_its_step_and_the_settling_after_it() {
        assert_eq!(load("", ""), Vec::<String>::new());
        assert_eq!(load("restore_after = \"l.i0\"", ""), ["l.i0"]);
        assert_eq!(load("restore_after = \"l.x\"", ""), ["l.i0", "l.x"]);
        assert_eq!(load("restore_after = \"l.i1\"", ""), ["l.i0", "l.x", "l.i1"]);
        assert_eq!(load("restore_after = \"l.i2\"", ""), ["l.i0", "l.x", "l.i1", "l.i2", "settle"]);
    }

    #[test]
    fn a_data_directory_is_a_load_before_the_first_step() {
        let load = |setup: &str| {
            let text = format!(
                "[variants.a]\ndbms = \"postgres@14.3\"\n[workload.queries]\nrestore = \"/data\"\n\
                 restore_digest = \"0\"\ndatabase = \"shop\"\n\
                 texts = {{ \"q.sql\" = \"SELECT 1\"{setup} }}\n"
            );
            let plan = Plan::parse(&text, None, "test").unwrap();
            let dialect = Dialect::postgres(14);
            let benchmark = workload::benchmark(&plan.workload, SequenceKey::ONLY, dialect);
            load_phases(&plan, &benchmark.unwrap())
        };
        assert_eq!(load(""), 1);
        assert_eq!(load(", \"setup.sql\" = \"CREATE INDEX i ON t (a)\""), 3);
    }

    #[test]
    fn what_is_recorded_of_a_copy() {
        let restored = Restored {
            digest: "0123456789abcdef".to_owned(),
            files: 1003,
            bytes: 1_280_000_000,
            shared: true,
            copy_seconds: 0.2,
            check_seconds: 0.5,
            read_seconds: 0.0,
        };
        let record = restore_record(&restored, 2, 77);
        assert_eq!((record.ordinal, record.kind), (1, StepKind::Settle));
        assert_eq!(record.key.dop, NO_CLIENTS);
        assert!((record.seconds - 0.7).abs() < 1e-9);
        assert_eq!(
            record.notes[0],
            "copy of load 0123456789abcdef: 1003 files, 1.3 GB, sharing its blocks, in 0.2 s"
        );
        assert_eq!(record.notes.len(), 2);
    }
}
