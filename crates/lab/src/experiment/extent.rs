//! How much of the plan the next blocks run.

use std::collections::BTreeMap;

use plan::{Block, Pairing, Plan, Variant};

use crate::experiment::blocks::Stint;

/// Which variants run at which dop, and through how many of the workload's steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// By place of the variant in the plan, and dop.
    steps: BTreeMap<(usize, u32), usize>,
}

impl Extent {
    /// Everything.
    pub fn whole(plan: &Plan) -> Extent {
        let steps = plan.workload.steps().len();
        let dops = plan.workload.dops();
        let all = (0..plan.variants.len()).flat_map(|v| dops.iter().map(move |dop| (v, *dop)));
        Extent { steps: all.map(|key| (key, steps)).collect() }
    }

    /// What it takes to measure these steps again, each given as place of the variant in the plan, dop and place of the
    /// step in the workload: the steps before them too, for the state they leave; the base, with which variants are
    /// compared; and the twins of all of these, the yardstick of their noise, or a twin's original.
    pub fn of(open: &[(usize, u32, usize)], plan: &Plan) -> Extent {
        let base = plan.base_index();
        let related = |one: &Variant, other: &Variant| {
            one.name == other.name
                || one.twin_of.as_ref() == Some(&other.name)
                || other.twin_of.as_ref() == Some(&one.name)
        };
        let mut steps: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        for (variant, dop, step) in open {
            let wanted = [&plan.variants[*variant], &plan.variants[base]];
            for (place, other) in plan.variants.iter().enumerate() {
                if wanted.iter().any(|one| related(one, other)) {
                    let until = steps.entry((place, *dop)).or_default();
                    *until = (*until).max(step + 1);
                }
            }
        }
        if plan.pairing != Pairing::Blocks {
            // Servers that are up together go through the steps together.
            let of_base: BTreeMap<u32, usize> = steps
                .iter()
                .filter(|((variant, _), _)| *variant == base)
                .map(|((_, dop), until)| (*dop, *until))
                .collect();
            for ((_, dop), until) in &mut steps {
                *until = of_base.get(dop).copied().unwrap_or(*until);
            }
        }
        Extent { steps }
    }

    /// The trials of a block that are run, in their order.
    pub fn stints(&self, block: &Block) -> Vec<Stint> {
        block
            .trials
            .iter()
            .filter_map(|trial| {
                let steps = *self.steps.get(&(trial.variant, trial.dop))?;
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

    /// The dops that run, rising.
    pub fn dops(&self) -> Vec<u32> {
        let mut dops: Vec<u32> = self.steps.keys().map(|(_, dop)| *dop).collect();
        dops.sort_unstable();
        dops.dedup();
        dops
    }

    /// The last step that any trial runs.
    pub fn last_step<'p>(&self, plan: &'p Plan) -> Option<&'p str> {
        let steps = *self.steps.values().max()?;
        plan.workload.steps().get(steps.checked_sub(1)?).map(String::as_str)
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
            .map(|stint| (stint.trial.variant, stint.trial.dop, stint.steps))
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn everything_at_first() {
        let plan = plan("blocks");
        let whole = Extent::whole(&plan);
        assert_eq!(run(&whole, &plan).len(), 6);
        assert!(run(&whole, &plan).iter().all(|(_, _, steps)| *steps == 4));
        assert_eq!(whole.last_step(&plan), Some("qp100"));
    }

    #[test]
    fn only_what_is_undecided_and_what_leads_to_it() {
        let plan = plan("blocks");
        let extent = Extent::of(&[(0, 4, 0), (2, 4, 2), (2, 4, 1)], &plan);
        // The base as far as any; a to l.i0, c to qr100; nothing at dop 1.
        assert_eq!(run(&extent, &plan), [(0, 4, 1), (1, 4, 3), (2, 4, 3)]);
        assert_eq!((extent.variants(&plan), extent.dops()), (vec!["a", "b", "c"], vec![4]));
        assert_eq!(extent.last_step(&plan), Some("qr100"));
        let one = Extent::of(&[(2, 1, 3)], &plan);
        assert_eq!(one.variants(&plan), ["b", "c"]);
    }

    #[test]
    fn servers_that_are_up_together_go_equally_far() {
        let plan = plan("auto");
        let extent = Extent::of(&[(0, 4, 0), (2, 4, 2)], &plan);
        assert_eq!(run(&extent, &plan), [(0, 4, 3), (1, 4, 3), (2, 4, 3)]);
    }

    #[test]
    fn twins_go_along() {
        let plan = plan("blocks").with_twins(); // a, a.aa, b, b.aa, c, c.aa
        for open in [4, 5] {
            let extent = Extent::of(&[(open, 1, 1)], &plan);
            assert_eq!(extent.variants(&plan), ["b", "b.aa", "c", "c.aa"]);
        }
    }
}
