//! Phases that make data of the user's own.

use plan::DataDirectories;

use crate::phase::Phase;
use crate::program;
use crate::step::Step;
use crate::terms::Terms;

/// A rest after the start on a data directory, or a program that loads data; then the step of this
/// name with statements that make some, then the rest after both; as far as there are any.
pub(crate) fn phases(
    data: &DataDirectories,
    init: Option<&str>,
    setup: Option<(&str, Vec<String>)>,
) -> Vec<Phase> {
    let ours = || Terms { ours: true, ..Terms::default() };
    let rest = || Phase::Settle { rows: None };
    let mut phases = Vec::from_iter(data.named().map(|_| rest()));
    let begun = phases.len();
    if let Some(command) = init {
        let mut init = program::init(command);
        init.step.terms = ours();
        phases.push(Phase::Program(init));
    }
    if let Some((name, statements)) = setup {
        let step = Step::index(name, 1, statements);
        phases.push(Phase::Step(Step { terms: ours(), ..step }));
    }
    if phases.len() > begun {
        phases.push(rest());
    }
    phases
}
