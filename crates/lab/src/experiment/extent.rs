//! Which part of the plan the next blocks run.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Block, Pairing, Plan, SequenceKey, Variant};

use crate::experiment::blocks::Stint;

/// Which variants run which sequences, and how many of their steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// By place of the variant in the plan, and the sequence's key.
    steps: BTreeMap<(usize, SequenceKey), usize>,
}

impl Extent {
    /// Everything.
    pub fn whole(plan: &Plan) -> Extent {
        let sequences = plan.workload.sequences();
        let all = (0..plan.variants.len()).flat_map(|v| sequences.iter().map(move |s| (v, s)));
        Extent { steps: all.map(|(v, s)| ((v, s.key), s.steps.len())).collect() }
    }

    /// The extent needed to measure these steps again, each given as index of the variant in the
    /// plan, key of the sequence and index of the step in it. Includes the steps before them, for
    /// the state they leave, the base, which variants are compared with, and the twins of all of
    /// these, which measure their noise, or a twin's original.
    pub fn of(open: &[(usize, SequenceKey, usize)], plan: &Plan) -> Extent {
        let base = plan.base_index();
        let related = |one: &Variant, other: &Variant| {
            one.name == other.name
                || one.twin_of.as_ref() == Some(&other.name)
                || other.twin_of.as_ref() == Some(&one.name)
        };
        let mut steps: BTreeMap<(usize, SequenceKey), usize> = BTreeMap::new();
        for (variant, sequence, step) in open {
            let wanted = [&plan.variants[*variant], &plan.variants[base]];
            for (place, other) in plan.variants.iter().enumerate() {
                if wanted.iter().any(|one| related(one, other)) {
                    let until = steps.entry((place, *sequence)).or_default();
                    *until = (*until).max(step + 1);
                }
            }
        }
        if plan.pairing != Pairing::Blocks {
            // Servers that are up together go through the steps together.
            let of_base: BTreeMap<SequenceKey, usize> = steps
                .iter()
                .filter(|((variant, _), _)| *variant == base)
                .map(|((_, sequence), until)| (*sequence, *until))
                .collect();
            for ((_, sequence), until) in &mut steps {
                *until = of_base.get(sequence).copied().unwrap_or(*until);
            }
        }
        Extent { steps }
    }

    /// True if the trials of a variant in a sequence come to the step at this place.
    pub fn runs(&self, (variant, sequence, place): (usize, SequenceKey, usize)) -> bool {
        self.steps.get(&(variant, sequence)).is_some_and(|steps| *steps > place)
    }

    /// True if any trial of a sequence comes to the step at this place.
    pub fn has(&self, sequence: SequenceKey, place: usize) -> bool {
        self.steps.iter().any(|((_, key), steps)| *key == sequence && *steps > place)
    }

    /// The trials of a block that are run, in their order.
    pub fn stints(&self, block: &Block) -> Vec<Stint> {
        block
            .trials
            .iter()
            .filter_map(|trial| {
                let steps = *self.steps.get(&(trial.variant, trial.sequence))?;
                Some(Stint { trial: *trial, steps })
            })
            .collect()
    }

    /// Names of the variants that run, in the order of the plan.
    pub fn variants<'p>(&self, plan: &'p Plan) -> Vec<&'p str> {
        plan.variants
            .iter()
            .enumerate()
            .filter(|(place, _)| self.steps.keys().any(|(variant, _)| variant == place))
            .map(|(_, variant)| variant.name.as_str())
            .collect()
    }

    /// The sequences that run, in ascending order.
    pub fn sequences(&self) -> Vec<SequenceKey> {
        let sequences: BTreeSet<_> = self.steps.keys().map(|(_, sequence)| *sequence).collect();
        sequences.into_iter().collect()
    }

    /// The last step that any trial runs; `None` where it is the last of its sequence.
    pub fn last_step(&self, plan: &Plan) -> Option<String> {
        let sequences = plan.workload.sequences();
        let (key, steps) = self
            .steps
            .iter()
            .map(|((_, key), steps)| (key, *steps))
            .max_by_key(|(_, steps)| *steps)?;
        let sequence = sequences.into_iter().find(|sequence| sequence.key == *key)?;
        let ends = steps == sequence.steps.len();
        sequence
            .steps
            .into_iter()
            .nth(steps.checked_sub(1)?)
            .filter(|_| !ends)
            .map(|step| step.key.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(pairing: &str) -> Plan {
        let text = format!(
            "base = \"b\"\npairing = \"{pairing}\"\n[variants.a]\ndbms = \"postgres@14.3\"\n\
             [variants.b]\ndbms = \"postgres@13.7\"\n[variants.c]\ndbms = \"postgres@15.1\"\n\
             [workload.insert]\nsteps = [\"l.i0\", \"l.x\", \"qr100\", \"qp100\"]\ndop = [1, 4]\n"
        );
        Plan::parse(&text, None, "test").unwrap()
    }

    fn run(extent: &Extent, plan: &Plan) -> Vec<(usize, u32, usize)> {
        let mut found: Vec<_> = extent
            .stints(&plan.block(1, 7))
            .iter()
            .map(|stint| (stint.trial.variant, stint.trial.sequence.number(), stint.steps))
            .collect();
        found.sort_unstable();
        found
    }

    /// The extent for steps whose sequences have these numbers of clients.
    fn of(open: &[(usize, u32, usize)], plan: &Plan) -> Extent {
        let key = |&(variant, clients, step): &(usize, u32, usize)| {
            (variant, SequenceKey::of_clients(clients), step)
        };
        Extent::of(&open.iter().map(key).collect::<Vec<_>>(), plan)
    }

    #[test]
    fn everything_at_first() {
        let plan = plan("blocks");
        let whole = Extent::whole(&plan);
        assert_eq!(run(&whole, &plan).len(), 6);
        assert!(run(&whole, &plan).iter().all(|(_, _, steps)| *steps == 4));
        assert_eq!(whole.last_step(&plan), None, "all of them");
    }

    #[test]
    fn only_what_is_undecided_and_what_leads_to_it() {
        let plan = plan("blocks");
        let extent = of(&[(0, 4, 0), (2, 4, 2), (2, 4, 1)], &plan);
        // The base as far as any; a to l.i0, c to qr100; nothing at dop 1.
        assert_eq!(run(&extent, &plan), [(0, 4, 1), (1, 4, 3), (2, 4, 3)]);
        assert_eq!(extent.variants(&plan), ["a", "b", "c"]);
        assert_eq!(extent.sequences(), [SequenceKey::of_clients(4)]);
        assert_eq!(extent.last_step(&plan).as_deref(), Some("qr100"));
        let one = of(&[(2, 1, 3)], &plan);
        assert_eq!(one.variants(&plan), ["b", "c"]);
    }

    #[test]
    fn servers_that_are_up_together_go_equally_far() {
        let plan = plan("auto");
        let extent = of(&[(0, 4, 0), (2, 4, 2)], &plan);
        assert_eq!(run(&extent, &plan), [(0, 4, 3), (1, 4, 3), (2, 4, 3)]);
    }

    #[test]
    fn twins_go_along() {
        let plan = plan("blocks").with_twins(); // a, a.aa, b, b.aa, c, c.aa
        for open in [4, 5] {
            let extent = of(&[(open, 1, 1)], &plan);
            assert_eq!(extent.variants(&plan), ["b", "b.aa", "c", "c.aa"]);
        }
    }
}
