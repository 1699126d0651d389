//! Verdicts over several machines that run the same comparison.
//!
//! All variants of a block run on the same machine, so every machine gives log ratios of its own.
//! The effect on machine m is `mu + u_m`: machines may differ, and so may types of machines. There
//! are two claims, and [`over_machines`] makes both:
//!
//! - [`OverMachines::fleet`] is about *these machines*: the mean of their true effects. Only their
//!   blocks are uncertain. **The verdict is this one**, because it means with several machines what
//!   it means with one, and because two or three machines can decide it.
//! - [`OverMachines::general`] is about *machines like these*: mu. The machines are a sample, so
//!   their number gives the degrees of freedom.
//!
//! Both have the same estimate, the mean of the machines' means. Every machine counts the same,
//! however many blocks it has and however noisy it is. Weights by the inverse of the variance would
//! be better if the variances were known. From a few blocks they are not: random effects after
//! R. C. Paule and J. Mandel (*J. Res. Nat. Bur. Stand.* 87, 1982) with the interval of J. Hartung
//! and G. Knapp (*Statist. Med.* 20, 2001), widened as C. Röver, G. Knapp and T. Friede advise
//! (*BMC Med. Res. Methodol.* 15, 2015), holds the truth in as little as 89% of simulated
//! experiments (VALIDATION.md, Several machines).

mod means;
mod noisy;
mod odd;
mod spread;

use std::collections::BTreeMap;

use crate::estimate::Estimate;
use crate::paired::{compare_logs, judge_blocks};
use crate::{Comparison, FALSE_DISCOVERY_RATE, JudgeError, Margin, Method, Verdict, Warning};

use means::Mean;
pub use noisy::too_noisy;
pub use odd::Odd;
pub use spread::MachineSpread;

/// The log ratios of the blocks of one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineBlocks {
    /// Its name. Every machine is given once.
    pub machine: String,
    /// Its type, such as the model of its CPU.
    pub kind: String,
    /// `ln(variant / base)` of every block, or of every restart.
    pub logs: Vec<f64>,
}

/// A variant compared with the base on several machines.
#[derive(Debug, Clone, PartialEq)]
pub struct OverMachines {
    /// On these machines. [`Comparison::blocks`] counts the blocks of all machines, and the verdict
    /// needs [`crate::ENOUGH_BLOCKS`] of them. With one machine it is that of [`crate::compare`].
    ///
    /// Warnings say if machines or types of machines differ. The mean then describes none of them,
    /// so `equivalent` is withdrawn if one that differs is not equivalent itself, or if machines
    /// scatter by more than the margin.
    pub fleet: Comparison,
    /// On machines like these. [`Comparison::blocks`] and [`Comparison::further_blocks`] count
    /// machines, so fewer than [`crate::ENOUGH_BLOCKS`] machines have no verdict. `None` with one.
    pub general: Option<Comparison>,
    /// The machines, in the order given.
    pub machines: Vec<OfMachine>,
    /// The types of machines, by name.
    pub kinds: Vec<OfKind>,
    /// The scatter of the machines' true effects; `None` with one machine, or if no machine has two
    /// blocks.
    pub spread: Option<MachineSpread>,
}

/// The blocks of one machine, compared by themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct OfMachine {
    /// Its name.
    pub machine: String,
    /// Its type.
    pub kind: String,
    /// Its own comparison, as by [`crate::compare`].
    pub comparison: Comparison,
    /// How it differs from the other machines, or from those of its type if types differ: is it
    /// farther from them than they are from each other? `None` if there are fewer than three, or
    /// if no machine has two blocks.
    pub odd: Option<Odd>,
}

/// The machines of one type, compared by themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct OfKind {
    /// Its name.
    pub kind: String,
    /// The number of its machines.
    pub machines: usize,
    /// Their comparison, like [`OverMachines::fleet`].
    pub comparison: Comparison,
    /// How it differs from the other types, by more than its machines and any single machine
    /// explain. `None` if it is the only type, has one machine, or there are too few machines.
    pub odd: Option<Odd>,
}

/// A machine or a type that differs from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finding<'a> {
    /// The effect depends on the type, as in "slower only on EPYC 7B13".
    Kind(&'a OfKind),
    /// The effect on this machine is not that on the others.
    Machine(&'a OfMachine),
}

impl OverMachines {
    /// True if the machines certainly differ, at 5%.
    pub fn differ(&self) -> bool {
        self.spread.is_some_and(|spread| spread.p <= FALSE_DISCOVERY_RATE)
    }

    /// The types, and then the machines, that differ from the others. Of all findings 5% are false;
    /// each list is corrected for its length ([`crate::adjusted_p_values`]), not for the steps of
    /// an experiment.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        let kinds = self.kinds.iter().filter(|one| sure(one.odd)).map(Finding::Kind);
        let machines = self.machines.iter().filter(|one| sure(one.odd)).map(Finding::Machine);
        kinds.chain(machines).collect()
    }
}

impl Finding<'_> {
    /// Its own comparison.
    pub fn comparison(&self) -> &Comparison {
        match self {
            Self::Kind(one) => &one.comparison,
            Self::Machine(one) => &one.comparison,
        }
    }
}

/// Compares a variant with the base over several machines. See the types of the result for what
/// each part claims.
///
/// - *These machines*: the error is `√(Σ s_m²/n_m) / M` with the degrees of freedom of F. E.
///   Satterthwaite (*Biometrics Bulletin* 2, 1946). If a machine has fewer than three blocks, its
///   noise is known too poorly for that, and the interval is at least as wide as the next.
/// - *Machines like these*: the scatter of the machines' means, `s/√M` with M-1 degrees of freedom,
///   which holds for machines of unequal noise, too (R. Ibragimov and U. K. Müller, *J. Bus. Econ.
///   Stat.* 28, 2010). It is never narrower than that of these machines, because few machines may
///   agree by chance. With two machines it is very wide, and rightly so.
/// - *Types* are compared before machines, so that machines are compared with their like.
///
/// # Errors
/// Without machines, if a machine has no blocks or a log ratio that is not finite, and when the
/// confidence is not between 0 and 1.
pub fn over_machines(
    machines: &[MachineBlocks],
    margin: Margin,
    confidence: f64,
) -> Result<OverMachines, JudgeError> {
    check(machines, confidence)?;
    let logs: Vec<&[f64]> = machines.iter().map(|one| &one.logs[..]).collect();
    let means = means::means(&logs);
    let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, one) in machines.iter().enumerate() {
        names.entry(&one.kind).or_default().push(place);
    }
    let groups: Vec<Vec<usize>> = names.values().cloned().collect();
    let odd_kinds = odd::odd_kinds(&means, &groups);
    let peers = match odd_kinds.iter().any(|one| sure(*one)) {
        true => &groups,
        false => &vec![(0..machines.len()).collect()],
    };
    let odd_machines = odd::odd_machines(&means, peers);
    let together = |places: &[usize]| {
        let logs: Vec<&[f64]> = places.iter().map(|place| logs[*place]).collect();
        together(&logs, margin, confidence)
    };
    let all: Vec<usize> = (0..machines.len()).collect();
    let of_kind = |((kind, places), odd): ((&&str, &Vec<usize>), Option<Odd>)| OfKind {
        kind: (*kind).to_owned(),
        machines: places.len(),
        comparison: together(places),
        odd,
    };
    let of_machine = |(one, odd): (&MachineBlocks, Option<Odd>)| OfMachine {
        machine: one.machine.clone(),
        kind: one.kind.clone(),
        comparison: compare_logs(&one.logs, margin, confidence),
        odd,
    };
    let mut found = OverMachines {
        fleet: together(&all),
        general: general(&means, margin, confidence),
        machines: machines.iter().zip(odd_machines).map(of_machine).collect(),
        kinds: names.iter().zip(odd_kinds).map(of_kind).collect(),
        spread: spread::spread(&means, confidence),
    };
    warn(&mut found, margin);
    Ok(found)
}

fn check(machines: &[MachineBlocks], confidence: f64) -> Result<(), JudgeError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(JudgeError::Confidence { confidence });
    }
    if machines.is_empty() || machines.iter().any(|one| one.logs.is_empty()) {
        return Err(JudgeError::NoBlocks);
    }
    for (machine, one) in (1..).zip(machines) {
        if let Some((block, value)) = (1..).zip(&one.logs).find(|(_, log)| !log.is_finite()) {
            return Err(JudgeError::NotFinite { machine, block, value: *value });
        }
    }
    Ok(())
}

fn sure(odd: Option<Odd>) -> bool {
    odd.is_some_and(|odd| odd.p <= FALSE_DISCOVERY_RATE)
}

/// The comparison on these very machines.
fn together(logs: &[&[f64]], margin: Margin, confidence: f64) -> Comparison {
    if let [only] = logs {
        return compare_logs(only, margin, confidence);
    }
    let (means, all) = (means::means(logs), logs.concat());
    let (blocks, mean_log) = (all.len(), means::center(&means));
    let error = means::fleet(&means, confidence);
    let sd_log = error.map(|(error, _)| error * (blocks as f64).sqrt());
    let estimate = Estimate { method: Method::Blocks, blocks, mean_log, sd_log, error };
    judge_blocks(estimate, &all, margin, confidence)
}

/// The comparison on machines like these.
fn general(means: &[Mean], margin: Margin, confidence: f64) -> Option<Comparison> {
    let error = means::general(means, confidence)?;
    let blocks = means.len();
    let (mean_log, sd_log) = (means::center(means), Some(error.0 * (blocks as f64).sqrt()));
    let estimate =
        Estimate { method: Method::Blocks, blocks, mean_log, sd_log, error: Some(error) };
    Some(estimate.judge(margin, confidence))
}

/// Adds what the mean of the machines doesn't say, and withdraws `equivalent` where it would hide
/// something.
fn warn(found: &mut OverMachines, margin: Margin) {
    let (machines, odd): (usize, Vec<Finding<'_>>) = (found.machines.len(), found.findings());
    let kinds = odd.iter().filter(|one| matches!(one, Finding::Kind(_))).count();
    let others = odd.iter().any(|one| one.comparison().verdict != Verdict::Equivalent);
    let mut warnings = Vec::new();
    let mut scattered = false;
    if let Some(MachineSpread { sd, p, .. }) = found.spread.filter(|_| found.differ()) {
        scattered = sd > margin.asked.ln_1p();
        warnings.push(Warning::MachinesDiffer { machines, sd, p });
    }
    if kinds > 0 {
        warnings.push(Warning::KindsDiffer { kinds, of: found.kinds.len() });
    }
    if odd.len() > kinds {
        warnings.push(Warning::OddMachines { machines: odd.len() - kinds, of: machines });
    }
    if found.fleet.verdict == Verdict::Equivalent && (others || scattered) {
        found.fleet.verdict = Verdict::Inconclusive;
        found.fleet.further_blocks = None;
    }
    // Where machines differ, single blocks differ for that reason, too.
    let flipped = |one: &Warning| matches!(one, Warning::SignFlipDisagrees { .. });
    found.fleet.warnings.retain(|one| warnings.is_empty() || !flipped(one));
    found.fleet.warnings.extend(warnings);
}

#[cfg(test)]
mod tests;
