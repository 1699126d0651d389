//! Phases that make data of the user's own.

use crate::phase::Phase;
use crate::program;
use crate::step::Step;
use crate::terms::Terms;

/// A program that loads data, then the step of this name with statements that make some, then the
/// rest after both; as far as there are any.
pub(crate) fn phases(init: Option<&str>, setup: Option<(&str, Vec<String>)>) -> Vec<Phase> {
    let ours = || Terms { ours: true, ..Terms::default() };
    let mut phases = Vec::new();
    if let Some(command) = init {
        let mut init = program::init(command);
        init.step.terms = ours();
        phases.push(Phase::Program(init));
    }
    if let Some((name, statements)) = setup {
        let step = Step::index(name, 1, statements);
        phases.push(Phase::Step(Step { terms: ours(), ..step }));
    }
    if !phases.is_empty() {
        phases.push(Phase::Settle { rows: None });
    }
    phases
}
