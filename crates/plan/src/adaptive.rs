//! Plans that add blocks until their steps are decided.

use crate::family::Sequence;
use crate::plan::{Given, Pairing, Plan, Variant};
use crate::problem::Problems;

/// An adaptive run without a limit gives up at this multiple of its planned blocks: an interval is
/// then half as wide.
const LIMIT_FACTOR: u32 = 4;

/// When a run that designs itself without a budget gives up: after ten looks.
const MOST_RESTARTS: u32 = 64;
/// Number of restarts before its first look.
const FIRST_LOOK: u32 = 4;

impl Plan {
    /// True if the run may exceed [`Plan::blocks`] for undecided steps: one of `precision`,
    /// `max_blocks` and `budget` is given.
    pub fn is_adaptive(&self) -> bool {
        self.precision.is_some() || self.max_blocks.is_some() || self.budget.is_some()
    }

    /// True if the run itself chooses pairing, number of blocks and length of steps: it has a
    /// `budget` or a `precision`, two or more variants, and the plan sets none of these choices,
    /// except perhaps how to slice steps.
    pub fn designs_itself(&self) -> bool {
        let Given { blocks, pairing, seconds } = self.given;
        let open = !blocks && !seconds && self.max_blocks.is_none();
        let in_blocks = pairing && self.pairing == Pairing::Blocks;
        let aim = self.budget.is_some() || self.precision.is_some();
        aim && open && !in_blocks && self.variants.len() > 1
    }

    /// The option of the command line that makes a step twice as long, such as `--rows 400000`.
    /// `None` if there is none, or if the run itself chooses the seconds of the step.
    pub fn lengthening(&self, step: &str) -> Option<String> {
        let all = self.workload.sequences();
        let mut steps = all.iter().flat_map(|sequence| &sequence.steps);
        let timed = steps.find(|known| known.key.name == step)?.timed;
        if timed && self.designs_itself() {
            return None;
        }
        let (name, value) = self.workload.length_option(step, timed)?;
        Some(format!("--{name} {}", value.saturating_mul(2)))
    }

    /// The last of the added steps, if they are loaded once per variant: if each sequence begins
    /// with them, and all servers are ours, so that their data can be copied.
    pub(crate) fn added_load(&self) -> Option<String> {
        let begins = |sequence: Sequence| {
            let names: Vec<String> = sequence.steps.into_iter().map(|step| step.key.name).collect();
            names.len() > self.added.len() && names.starts_with(&self.added)
        };
        let applies = !self.variants.iter().any(Variant::is_running)
            && self.workload.sequences().into_iter().all(begins);
        self.added.last().filter(|_| applies).cloned()
    }

    /// Blocks after which the run ends, decided or not: `max_blocks`, in an adaptive run without it
    /// four times `blocks`, in a plain one `blocks`; many in one that designs itself.
    pub fn block_limit(&self) -> u32 {
        match self.max_blocks {
            None if self.designs_itself() => MOST_RESTARTS,
            Some(limit) => limit.max(self.blocks),
            None if self.is_adaptive() => self.blocks.saturating_mul(LIMIT_FACTOR),
            None => self.blocks,
        }
    }

    /// The numbers of blocks after which an adaptive run looks at its results, rising: `blocks`,
    /// then each a third more than the one before, up to [`Plan::block_limit`]. A plain plan is
    /// looked at once. (One that designs itself within a budget is looked at by its time.)
    ///
    /// Every look is a chance to be wrong, so the error rate is split over all of them and more
    /// looks mean wider intervals; steps of a third cost few looks, and a run ends at most a third
    /// later than it could have.
    pub fn looks(&self) -> Vec<u32> {
        let limit = self.block_limit();
        let first = if self.designs_itself() { FIRST_LOOK } else { self.blocks };
        let mut looks = vec![first];
        let mut look = first;
        while look < limit {
            // Rounded up, hence at least one more.
            look = look.saturating_add(look.div_ceil(3)).min(limit);
            looks.push(look);
        }
        looks
    }
}

/// Adds to `problems` what is inconsistent in an adaptive plan.
pub(crate) fn check_adaptive(plan: &Plan, problems: &mut Problems) {
    if let Some(limit) = plan.max_blocks
        && limit < plan.blocks
    {
        problems.of(
            "max_blocks",
            format!(
                "`max_blocks` = {limit} is less than `blocks` = {}, which always run",
                plan.blocks
            ),
        );
    }
    if plan.is_adaptive() && plan.blocks < 2 && plan.block_limit() > 1 {
        problems.of(
            "blocks",
            "`blocks` = 1 shows no spread, so nothing can be decided; an adaptive run needs at least 2",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layer;
    use proptest::prelude::*;

    fn plan(keys: &str) -> Plan {
        let text = format!("{keys}\n[variants.a]\ndbms = \"postgres@14.3\"\n[workload.insert]\n");
        Plan::parse(&text, None, "test").unwrap()
    }

    #[test]
    fn a_step_gets_longer_by_an_option_that_its_workload_has() {
        let of = |keys: &str, workload: &str, step: &str| {
            let variants =
                "[variants.a]\ndbms = 'postgres@14.3'\n[variants.b]\ndbms = 'postgres@15'";
            let text = format!("{keys}\n{variants}\n[workload.{workload}]\n");
            Plan::parse(&text, None, "test").unwrap().lengthening(step)
        };
        let some = |text: &str| Some(text.to_owned());
        let insert = "insert";
        assert_eq!(of("", insert, "l.i0"), some("--rows 400000"));
        assert_eq!(of("", insert, "l.i1"), some("--indexed-rows 100000"));
        assert_eq!(of("", insert, "qr100"), some("--seconds 20"));
        assert_eq!(of("budget = '5m'", insert, "l.i0"), some("--rows 400000"));
        assert_eq!(of("budget = '5m'", insert, "qr100"), None, "the budget chose its seconds");
        assert_eq!(of("", "select", "select"), some("--seconds 10"));
        assert_eq!(of("", insert, "no such step"), None);
    }

    #[test]
    fn a_plain_plan_is_looked_at_once() {
        let plain = plan("blocks = 8");
        assert!(!plain.is_adaptive());
        assert_eq!((plain.block_limit(), plain.looks()), (8, vec![8]));
        assert_eq!(plan("blocks = 1").looks(), [1]);
    }

    #[test]
    fn looks_grow_by_a_third() {
        assert_eq!(plan("precision = 0.02").looks(), [6, 8, 11, 15, 20, 24]);
        assert_eq!(plan("max_blocks = 10").looks(), [6, 8, 10]);
        assert_eq!(plan("budget = \"2h\"\nmax_blocks = 6").looks(), [6]);
        assert_eq!(plan("budget = \"2h\"\nblocks = 2").looks(), [2, 3, 4, 6, 8]);
    }

    #[test]
    fn only_named_steps_are_judged_with_a_budget_and_without() {
        let (mysql, running) = ("mysql@8.0.31", "mysql://me@db.example/bench");
        for keys in ["budget = '2m'", "precision = 0.01", "pairing = 'slices'", "blocks = 6"] {
            for (dbms, steps, loaded, judged) in [
                (mysql, "'scan'", Some("index"), &["scan"][..]),
                (mysql, "'load', 'scan'", None, &["load", "scan"]),
                (mysql, "'load', 'index', 'scan'", None, &["load", "index", "scan"]),
                // Its data can't be copied, so that every trial loads.
                (running, "'scan'", None, &["scan"]),
            ] {
                let variant = format!("[variants.a]\ndbms = '{dbms}'");
                let text = format!("{keys}\n{variant}\n[workload.sysbench]\nsteps = [{steps}]\n");
                let plan = Plan::parse(&text, None, "test").unwrap();
                for plan in [Plan::parse(&plan.to_toml(), None, "written").unwrap(), plan] {
                    assert_eq!(plan.restore_after.as_deref(), loaded, "{keys} {dbms} {steps}");
                    let sequence = plan.workload.sequences().remove(0);
                    let named = |at: &usize| !plan.only_prepares(&sequence, *at);
                    let steps = (0..sequence.steps.len()).filter(named);
                    let steps: Vec<_> = steps.map(|at| &*sequence.steps[at].key.name).collect();
                    assert_eq!(steps, judged, "{keys} {dbms}");
                }
            }
        }
    }

    #[test]
    fn what_prepares_for_others_is_loaded_once_unless_it_is_named() {
        let read = |whole: &str, workload: &str| {
            let text =
                format!("{whole}\n[variants.a]\ndbms = 'postgres@16'\n[workload.{workload}\n");
            let plan = Plan::parse(&text, None, "test").unwrap();
            // What was written says the same.
            let written = Plan::parse(&plan.to_toml(), None, "written").unwrap();
            assert_eq!(
                (&written.added, &written.restore_after),
                (&plan.added, &plan.restore_after)
            );
            plan
        };
        let loaded = |workload: &str| read("blocks = 6", workload).restore_after;
        let script = "script]\nbuiltin = 'tpcb-like'\n";
        assert_eq!(loaded(script).as_deref(), Some("primary-keys"));
        assert_eq!(loaded(&format!("{script}init = ''")), None);
        assert_eq!(loaded(&format!("{script}steps = ['load', 'script']")), None);
        let keys = format!("{script}steps = ['primary-keys', 'script']");
        assert_eq!(loaded(&keys).as_deref(), Some("vacuum"));
        let program = "program]\ninit = 'pgbench -i'\ncommand = 'pgbench'\n";
        assert_eq!(loaded(program).as_deref(), Some("init"));
        assert_eq!(loaded("program]\ncommand = 'pgbench'\n"), None);
        assert_eq!(loaded("select]\n").as_deref(), Some("index"));
        let index = loaded("select]\nsteps = ['index', 'select']");
        assert_eq!(index.as_deref(), Some("load"));
        // Options choose anew.
        let text = read("pairing = 'auto'", script).to_toml();
        let options = |name: &str, value: &str| {
            let mut layer = Layer::default();
            layer.option(name, value);
            let plan = Plan::parse_with(&text, None, "test", &layer).unwrap();
            (plan.restore_after, plan.added)
        };
        assert_eq!(options("steps", "load,script"), (None, Vec::new()));
        let (last, added) = options("init", "dtgp");
        assert_eq!((last.as_deref(), added.len()), (Some("primary-keys"), 2));
        assert_eq!(options("init", "dtg").0.as_deref(), Some("load"));
    }

    proptest! {
        #[test]
        fn looks_rise_from_the_first_block_count_to_the_last(blocks in 2u32..=10_000, more in 0u32..=10_000) {
            let limit = (blocks + more).min(10_000);
            let looks = plan(&format!("blocks = {blocks}\nmax_blocks = {limit}")).looks();
            prop_assert_eq!((looks[0], looks[looks.len() - 1]), (blocks, limit));
            prop_assert!(looks.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(looks.len() <= 32);
        }
    }
}
