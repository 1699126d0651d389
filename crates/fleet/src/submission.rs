//! What is submitted: a plan, and how many machines run it.

use plan::{Layer, Plan};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::job::Wishes;

/// The version of documents that this crate writes, and the only one that it reads.
const FORMAT: u32 = 1;
/// Blocks that a comparison must have to be decided.
const ENOUGH_BLOCKS: u32 = 6;
/// Most blocks that a plan can have.
const MOST_BLOCKS: u32 = 10_000;
/// The longest name: schedulers and object storage have limits of their own.
const LONGEST_NAME: usize = 60;

/// What is done with a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Each element runs all blocks.
    #[default]
    Run,
    /// Each element counts the instructions of some of these kinds of statements, of all variants.
    Count(Vec<String>),
}

/// A plan that many machines run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// Version of this format.
    pub format: u32,
    /// Its name, unique at its address.
    pub name: String,
    /// When it was made, milliseconds since 1970 (UTC).
    pub created_ms: i64,
    /// The seed of the elements' seeds.
    pub seed: u64,
    /// How many elements it has, numbered from 1.
    pub elements: u32,
    /// The plan, complete, without passwords.
    pub plan: String,
    /// What the elements do with it.
    #[serde(default)]
    pub work: Work,
    /// True if the elements that are done are looked at before all are, and no more run once all is
    /// decided.
    #[serde(default)]
    pub stop_early: bool,
    /// True if element 0 obtains the systems' programs for the others.
    #[serde(default)]
    pub sends_programs: bool,
    /// Version of the steelyard that made it; every element must be run by the same.
    pub steelyard: String,
    /// What its jobs ask of the scheduler.
    pub wishes: Wishes,
    /// The command that runs an element; the element's number follows.
    pub words: Vec<String>,
}

impl Submission {
    /// A submission of a plan.
    ///
    /// # Errors
    /// [`Error::Name`]; [`Error::Unfit`] for a plan that decides while it runs how much it
    /// measures, because the blocks of all machines together then would not have the error rate
    /// that is claimed, for one with a password, because it is stored, and for more machines than
    /// there are kinds of statements to count; a plan that can't be read back.
    pub fn new(
        name: String,
        (plan, work): (&Plan, Work),
        elements: u32,
        (created_ms, seed): (i64, u64),
        steelyard: &str,
        (wishes, words): (Wishes, Vec<String>),
    ) -> Result<Self, Error> {
        check_name(&name)?;
        if let Work::Count(kinds) = &work
            && kinds.len() < elements as usize
        {
            let text = format!(
                "it has {} kinds of statements to count; use at most as many machines",
                kinds.len()
            );
            return Err(Error::Unfit(text));
        }
        let for_a_time = plan.designs_itself() && plan.precision.is_none();
        if work == Work::Run && plan.is_adaptive() && !for_a_time {
            let text = "how much a machine runs must not depend on what it finds, so that all \
                        together can be judged once; use --budget, or --blocks and --seconds, and \
                        no --precision and --max-blocks";
            return Err(Error::Unfit(text.to_owned()));
        }
        if plan.variants.iter().any(plan::Variant::is_running) {
            let text = "it has a running server, which all machines would load at once";
            return Err(Error::Unfit(text.to_owned()));
        }
        if plan.text_without_passwords() != plan.text {
            let text = "it has a password, and would be stored with it";
            return Err(Error::Unfit(text.to_owned()));
        }
        let (plan_blocks, steelyard) = (plan.blocks, steelyard.to_owned());
        let plan = plan.text.clone();
        // At most what TOML and SQLite can hold.
        let seed = seed & (u64::MAX >> 1);
        let (format, blocks) = (FORMAT, plan_blocks);
        let (stop_early, sends_programs) = (false, false);
        let it = Self {
            format,
            name,
            created_ms,
            seed,
            elements,
            plan,
            work,
            stop_early,
            sends_programs,
            steelyard,
            wishes,
            words,
        };
        // Better now than when everything was measured.
        if let Err(error) = it.whole_plan(blocks.saturating_mul(elements)) {
            let text = format!("{blocks} blocks on each of {elements} machines: {error}");
            return Err(Error::Unfit(text));
        }
        Ok(it)
    }

    /// The same, with an element 0 that obtains the systems' programs.
    #[must_use]
    pub fn sending_programs(self) -> Self {
        Self { sends_programs: true, ..self }
    }

    /// The same, looked at early.
    ///
    /// # Errors
    /// [`Error::Unfit`] if there are too few elements for a look before the end, or nobody knows
    /// how many blocks they will have.
    pub fn stopping_early(mut self) -> Result<Self, Error> {
        if self.runs_for_a_time()? {
            let text = "looks are planned by blocks, and --budget leaves open how many there will \
                        be; use --blocks and --seconds";
            return Err(Error::Unfit(text.to_owned()));
        }
        self.stop_early = true;
        if self.looks()?.len() < 2 {
            let text = format!(
                "{} machines are looked at once, when all are done: a look takes {ENOUGH_BLOCKS} \
                 blocks and two machines at least",
                self.elements
            );
            return Err(Error::Unfit(text));
        }
        Ok(self)
    }

    /// The numbers of elements after which those that are done are judged, rising; the last is that
    /// of all. Their blocks together are no more than those of a planned look, and more than those
    /// of the one before it: each look has its part of the error rate.
    ///
    /// # Errors
    /// If the plan can't be read.
    pub fn looks(&self) -> Result<Vec<u32>, Error> {
        let each = self.parsed(&Layer::default())?.blocks.max(1);
        let (mut looks, mut before) = (Vec::new(), 0);
        for blocks in self.whole_plan(each.saturating_mul(self.elements))?.looks() {
            let elements = blocks / each;
            if elements * each > before {
                looks.push(elements);
            }
            before = blocks;
        }
        Ok(looks)
    }

    /// Reads the document called `name`.
    pub(crate) fn read(name: &str, content: &[u8]) -> Result<Self, Error> {
        let damaged = |problem: String| Error::Damaged { name: name.to_owned(), problem };
        let found: Self = serde_json::from_slice(content)
            .map_err(|error| damaged(format!("it is not a submission of steelyard ({error})")))?;
        match found.format {
            FORMAT => Ok(found),
            other => Err(damaged(format!("expected format {FORMAT}, found {other}"))),
        }
    }

    /// The plan of an element: that of all, with a seed or some of the kinds of its own.
    ///
    /// # Errors
    /// If the plan can't be read.
    pub fn plan_of(&self, element: u32) -> Result<Plan, Error> {
        let mut layer = Layer::default();
        match &self.work {
            Work::Run => layer.set("--seed", &["seed"], &Some(self.seed_of(element))),
            Work::Count(kinds) => {
                // Neighbors are alike, and take alike long.
                let step = self.elements.max(1) as usize;
                let own = kinds.iter().skip(element.saturating_sub(1) as usize).step_by(step);
                layer.set("--kinds", &["count", "kinds"], &Some(own.cloned().collect::<Vec<_>>()));
            }
        }
        self.parsed(&layer)
    }

    /// The plan with these blocks of all elements; if it stops early, with its first and its last
    /// look.
    ///
    /// # Errors
    /// If the plan can't be read.
    pub fn whole_plan(&self, mut blocks: u32) -> Result<Plan, Error> {
        let mut layer = Layer::default();
        if self.work != Work::Run {
            return self.parsed(&layer);
        }
        if self.runs_for_a_time()? {
            // Their number was a matter of time, and they are looked at once.
            blocks = blocks.clamp(1, MOST_BLOCKS);
            layer.set("--max-blocks", &["max_blocks"], &Some(blocks));
            layer.set("--pairing", &["pairing"], &Some("auto"));
        }
        if self.stop_early {
            let each = self.parsed(&Layer::default())?.blocks.max(1);
            let first = self.elements.div_ceil(4).max(2).max(ENOUGH_BLOCKS.div_ceil(each));
            blocks = first.min(self.elements) * each;
            let most = each.saturating_mul(self.elements);
            layer.set("--max-blocks", &["max_blocks"], &Some(most));
        }
        layer.set("--blocks", &["blocks"], &Some(blocks));
        layer.set("--seed", &["seed"], &Some(self.seed));
        self.parsed(&layer)
    }

    /// True if each element has a budget of time, and as many blocks as fit in.
    pub(crate) fn runs_for_a_time(&self) -> Result<bool, Error> {
        Ok(self.parsed(&Layer::default())?.designs_itself())
    }

    fn parsed(&self, layer: &Layer) -> Result<Plan, Error> {
        Ok(Plan::parse_with(&self.plan, None, &format!("submission {}", self.name), layer)?)
    }

    /// The seed of an element: another for each, the same each time the element is started. (The
    /// finalizer of SplitMix64, Steele, Lea and Flood 2014, so that neighbors share nothing.)
    fn seed_of(&self, element: u32) -> u64 {
        let mut mixed =
            self.seed.wrapping_add(u64::from(element).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) & (u64::MAX >> 1)
    }
}

/// Refuses a name that can't be part of a path, an object's name and a job's name.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    match begins && name.len() <= LONGEST_NAME && name.bytes().all(plain) {
        true => Ok(()),
        false => Err(Error::Name(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const PLAN: &str = "name = \"it\"\nblocks = 3\n[variants.a]\ndbms = \"postgres@14.3\"\n\
                        [variants.b]\ndbms = \"postgres@15.1\"\n[workload.insert]\n";

    fn submission(plan: &str, name: &str) -> Result<Submission, Error> {
        let plan = Plan::parse(plan, None, "a test").unwrap();
        let how = (Wishes::default(), Vec::new());
        let work = (&plan, Work::Run);
        Submission::new(name.to_owned(), work, 4, (1_700_000_000_000, 7), "0.1.0", how)
    }

    #[test]
    fn each_element_has_a_seed_of_its_own_and_keeps_it() {
        let it = submission(PLAN, "x").unwrap();
        let seeds: BTreeSet<u64> =
            (1..=1000).map(|element| it.plan_of(element).unwrap().seed.unwrap()).collect();
        assert_eq!(seeds.len(), 1000);
        assert_eq!(it.plan_of(3).unwrap(), it.plan_of(3).unwrap());
        assert_eq!(it.plan_of(3).unwrap().blocks, 3);
        let whole = it.whole_plan(12).unwrap();
        assert_eq!((whole.blocks, whole.seed), (12, Some(7)));
        let text = serde_json::to_vec(&it).unwrap();
        assert_eq!(Submission::read("x", &text).unwrap(), it);
    }

    #[test]
    fn looks_are_at_whole_elements_and_each_has_its_part_of_the_error() {
        let of = |blocks: u32, elements: u32| {
            let plan = PLAN.replace("blocks = 3", &format!("blocks = {blocks}"));
            let plan = Plan::parse(&plan, None, "a test").unwrap();
            let how = (Wishes::default(), Vec::new());
            let work = (&plan, Work::Run);
            Submission::new("x".to_owned(), work, elements, (0, 7), "0.1.0", how).unwrap()
        };
        assert_eq!(of(3, 8).looks().unwrap(), [8], "not asked");
        assert_eq!(of(3, 8).stopping_early().unwrap().looks().unwrap(), [2, 3, 5, 6, 8]);
        assert_eq!(of(1, 100).stopping_early().unwrap().looks().unwrap()[..3], [25, 34, 46]);
        for (blocks, elements) in [(3, 2), (1, 6), (6, 2)] {
            let error = of(blocks, elements).stopping_early().unwrap_err().to_string();
            assert!(error.contains("looked at once"), "{error}");
        }
        for (blocks, elements) in [(1, 7), (2, 4), (3, 5), (7, 3), (5, 40), (10, 1000)] {
            let it = of(blocks, elements).stopping_early().unwrap();
            let (looks, planned) = (it.looks().unwrap(), it.whole_plan(0).unwrap().looks());
            assert_eq!(looks.last(), Some(&elements));
            assert!(looks[0] >= 2 && looks[0] * blocks >= ENOUGH_BLOCKS, "{looks:?}");
            // The planned look whose part of the error one has: each another.
            let part = |elements: &u32| planned.iter().find(|it| **it >= elements * blocks);
            let parts: BTreeSet<_> = looks.iter().map(part).collect();
            assert!(parts.len() == looks.len() && !parts.contains(&None), "{looks:?} {planned:?}");
        }
    }

    #[test]
    fn what_cannot_run_on_many_machines_is_refused() {
        for (key, said) in [("budget = \"5m\"\n", "--blocks"), ("precision = 0.01\n", "--blocks")] {
            let error = submission(&format!("{key}{PLAN}"), "x").unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        let secret = PLAN.replace("postgres@15.1", "postgres://me:s3cret@host/d");
        let error = submission(&secret, "x").unwrap_err().to_string();
        assert!(error.contains("running server") && !error.contains("s3cret"), "{error}");
    }

    #[test]
    fn what_runs_for_a_time_is_looked_at_once() {
        let it = submission(&format!("budget = '5m'\n{}", PLAN.replace("blocks = 3\n", "")), "x");
        let it = it.unwrap();
        let own = it.plan_of(2).unwrap();
        assert!(own.designs_itself() && own.budget.is_some());
        for blocks in [9, 77, 20_000] {
            let whole = it.whole_plan(blocks).unwrap();
            assert_eq!(whole.looks(), [blocks.min(MOST_BLOCKS)]);
            assert!(!whole.designs_itself());
            assert_eq!(whole.pairing, own.pairing);
        }
        let error = it.stopping_early().unwrap_err().to_string();
        assert!(error.contains("how many there will be"), "{error}");
    }

    #[test]
    fn more_blocks_than_an_experiment_can_have_are_refused_before_they_run() {
        let plan = Plan::parse(PLAN, None, "a test").unwrap();
        let of = |machines| {
            let how = (Wishes::default(), Vec::new());
            Submission::new("x".to_owned(), (&plan, Work::Run), machines, (0, 7), "0.1.0", how)
        };
        assert!(of(3333).is_ok());
        let error = of(3334).unwrap_err().to_string();
        assert!(error.contains("3 blocks on each of 3334 machines"), "{error}");
    }

    #[test]
    fn each_kind_is_counted_by_one_element() {
        let plan = Plan::parse(PLAN, None, "a test").unwrap();
        let kinds: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let of = |machines| {
            let (work, how) = (Work::Count(kinds.clone()), (Wishes::default(), Vec::new()));
            Submission::new("x".to_owned(), (&plan, work), machines, (0, 7), "0.1.0", how)
        };
        for machines in 1..=5 {
            let it = of(machines).unwrap();
            let plans = (1..=machines).map(|element| it.plan_of(element).unwrap());
            let counted: Vec<Vec<String>> = plans.map(|it| it.count.kinds).collect();
            assert!(counted.iter().all(|own| !own.is_empty()), "{counted:?}");
            let mut all = counted.concat();
            all.sort();
            assert_eq!(all, kinds);
        }
        let error = of(6).unwrap_err().to_string();
        assert!(error.contains("5 kinds of statements"), "{error}");
    }

    #[test]
    fn names_are_plain() {
        for good in ["a", "7", "load-regression.2026-11", &"x".repeat(60)] {
            assert!(submission(PLAN, good).is_ok(), "{good}");
        }
        for bad in ["", "-a", ".a", "a/b", "a b", "ä", "a\n", &"x".repeat(61)] {
            assert!(matches!(submission(PLAN, bad), Err(Error::Name(_))), "{bad}");
        }
    }

    #[test]
    fn what_is_no_submission_is_damaged() {
        let newer = serde_json::to_string(&submission(PLAN, "x").unwrap()).unwrap();
        let newer = newer.replace("\"format\":1", "\"format\":2");
        for text in ["", "{}", "[]", &newer] {
            let error = Submission::read("fleet/x", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("fleet/x is damaged"), "{error}");
        }
    }
}
