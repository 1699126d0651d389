//! The findings that make a gate fail.

use judge::Verdict;

use super::judged::Judged;
use crate::load::model::{Results, VariantStep};

/// How strict a gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gate {
    /// Fails on a confirmed regression and on anything inconclusive by absence: an unfinished
    /// experiment, missing results, steps that can't be judged.
    #[default]
    Regressions,
    /// Also fails on a step that is judged but undecided.
    Undecided,
    /// As the first, but a regression with a note does not make it fail.
    Unnoted,
}

/// Sentences with their steps, by the gate they make fail.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reasons {
    pub(crate) regressions: Vec<String>,
    /// Those of them that somebody has seen to.
    noted: Vec<String>,
    /// Results that are missing or can't be judged.
    missing: Vec<String>,
    undecided: Vec<String>,
}

impl Reasons {
    /// Those that make a gate fail.
    pub(crate) fn of(&self, gate: Gate) -> Vec<String> {
        let undecided = self.undecided.iter().filter(|_| gate == Gate::Undecided);
        let seen = |said: &&String| gate == Gate::Unnoted && self.noted.contains(said);
        let regressions = self.regressions.iter().filter(|said| !seen(said));
        regressions.chain(&self.missing).chain(undecided).cloned().collect()
    }
}

/// Everything gates may fail on, over all requested metrics.
pub(crate) fn reasons(results: &Results, verdicts: &[Judged]) -> Reasons {
    let mut found = Reasons::default();
    found.missing.extend(unfinished(results));
    for judged in verdicts {
        let findings = judged.findings(results);
        if findings.is_empty() {
            let metric = &judged.metric;
            found
                .missing
                .push(format!("nothing was compared by {metric}: no step has two variants"));
        }
        for finding in findings {
            let label = results.step_label(&results.steps[finding.step]);
            let said = format!("{label}: {}", finding.sentence);
            match finding.verdict {
                Some(Verdict::Regression) => {
                    let noted = results.note_on(finding.step, finding.variant);
                    found.noted.extend(noted.map(|_| said.clone()));
                    found.regressions.push(said);
                }
                _ if finding.fails => found.missing.push(said),
                Some(Verdict::Inconclusive) => found.undecided.push(said),
                _ => {}
            }
        }
        found.missing.extend(judged.told_gaps(results));
    }
    if let Some(judged) = verdicts.first() {
        found.missing.extend(easier(results, judged));
    }
    found
}

/// Some trials are still to come.
pub(crate) fn unfinished(results: &Results) -> Option<String> {
    if results.is_finished() {
        return None;
    }
    let failed = results.failed.iter().filter(|trial| trial.state == "failed").count();
    let failed = match failed {
        0 => String::new(),
        many => format!(", {many} of its trials failed"),
    };
    let next = match results.would_fail_again() {
        true => "correct the plan and run it again",
        false => "resume its run, or correct the plan and run it again",
    };
    Some(format!("the experiment is not finished{failed}; {next}"))
}

/// Variants that did not hold a rate that the base held, which made the rest of their work easier.
fn easier(results: &Results, judged: &Judged) -> Vec<String> {
    let mut found = Vec::new();
    for step in &results.steps {
        for (place, figures) in step.variants.iter().enumerate() {
            let base = judged.base_of(place);
            let Some(lost) = step.variant(base).map(VariantStep::not_held) else { continue };
            let twin = results.twin_of(place).is_some();
            let not_held = figures.not_held();
            for class in not_held.difference(&lost).filter(|_| !twin) {
                let (label, name) = (results.step_label(step), results.variant_name(place));
                let base = results.variant_name(base);
                found.push(format!(
                    "{label}: {name} did not hold its {class} rate, but {base} did; the rest of its work can't be compared"
                ));
            }
        }
    }
    found
}
