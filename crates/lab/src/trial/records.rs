//! The records of phases before anything is known about them.

use store::{StepRecord, StepState};
use workload::Phase;

use crate::event::{NO_CLIENTS, phase_name};
use crate::observe::figures::measure;
use crate::trial::attempt::Entered;
use crate::trial::conditions::Conditions;

/// Records a phase about which nothing is known except that it failed.
pub fn record_failed(conditions: &Conditions<'_>, entered: Entered, phase: &Phase, ordinal: u32) {
    let mut record = new_record(phase, ordinal);
    record.state = StepState::Failed;
    // The trouble itself is reported even if it can't be stored.
    let _ = conditions.store.record_step(entered.trial, &record);
}

/// The record of a phase that begins now.
pub fn new_record(phase: &Phase, ordinal: u32) -> StepRecord {
    let mut record = StepRecord::new(ordinal, phase_name(phase), NO_CLIENTS);
    record.started_ms = store::now_ms();
    if let Some(step) = phase.step() {
        (record.key, record.measure) = (step.key.clone(), measure(step));
    }
    record
}
