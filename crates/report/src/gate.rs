//! What a gate in a script fails on.

use judge::Verdict;

use crate::compare::Comparison;
use crate::document::{StepDocument, VariantDocument};

/// How strict a gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gate {
    /// Only a confirmed regression fails it.
    #[default]
    Regressions,
    /// Also a step that is undecided, or that lacks results to compare.
    Undecided,
}

impl Comparison {
    /// The reasons for which the gate fails, one sentence each with its step; none when it is passed.
    pub fn gate(&self, gate: Gate) -> Vec<String> {
        let mut reasons = self.regressions();
        if gate == Gate::Undecided {
            let judged = self
                .document
                .steps
                .iter()
                .flat_map(|step| step.variants.iter().map(move |variant| (step, variant)));
            reasons.extend(judged.filter_map(|(step, variant)| self.undecided(step, variant)));
        }
        reasons
    }

    fn undecided(&self, step: &StepDocument, variant: &VariantDocument) -> Option<String> {
        if variant.name == self.document.base || variant.twin_of.is_some() || step.loaded_once {
            return None;
        }
        match &variant.relative.verdict {
            Some(verdict) if verdict == Verdict::Inconclusive.as_str() => {
                let said = variant.relative.sentence.as_ref();
                Some(format!("{}: {}", step.name, said.map_or(verdict.as_str(), String::as_str)))
            }
            Some(_) => None,
            None => Some(format!(
                "{}: {} has no result to compare with {}",
                step.name, variant.name, self.document.base
            )),
        }
    }
}
