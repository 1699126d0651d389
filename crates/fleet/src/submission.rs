//! What is submitted: a plan, and how many machines run it.

use plan::{Layer, Plan};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::job::Wishes;

/// The version of documents that this crate writes, and the only one that it reads.
const FORMAT: u32 = 1;
/// The longest name: schedulers and object storage have limits of their own.
const LONGEST_NAME: usize = 60;

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
    /// The plan, complete, without passwords; each element runs all of its blocks.
    pub plan: String,
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
    /// that is claimed, and for one with a password, because it is stored; a plan that can't be
    /// read back.
    pub fn new(
        name: String,
        plan: &Plan,
        elements: u32,
        (created_ms, seed): (i64, u64),
        steelyard: &str,
        (wishes, words): (Wishes, Vec<String>),
    ) -> Result<Self, Error> {
        check_name(&name)?;
        if plan.is_adaptive() || plan.designs_itself() {
            let text = "each machine runs a fixed number of blocks, so that all together can be \
                        judged once; use --blocks and --seconds in place of --budget, --precision \
                        and --max-blocks";
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
        let it = Self { format, name, created_ms, seed, elements, plan, steelyard, wishes, words };
        // Better now than when everything was measured.
        if let Err(error) = it.whole_plan(blocks.saturating_mul(elements)) {
            let text = format!("{blocks} blocks on each of {elements} machines: {error}");
            return Err(Error::Unfit(text));
        }
        Ok(it)
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

    /// The plan of an element: that of all, with a seed of its own.
    ///
    /// # Errors
    /// If the plan can't be read.
    pub fn plan_of(&self, element: u32) -> Result<Plan, Error> {
        let mut layer = Layer::default();
        layer.set("--seed", &["seed"], &Some(self.seed_of(element)));
        self.parsed(&layer)
    }

    /// The plan with the blocks of all elements.
    pub(crate) fn whole_plan(&self, blocks: u32) -> Result<Plan, Error> {
        let mut layer = Layer::default();
        layer.set("--blocks", &["blocks"], &Some(blocks));
        layer.set("--seed", &["seed"], &Some(self.seed));
        self.parsed(&layer)
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
        Submission::new(name.to_owned(), &plan, 4, (1_700_000_000_000, 7), "0.1.0", how)
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
    fn more_blocks_than_an_experiment_can_have_are_refused_before_they_run() {
        let plan = Plan::parse(PLAN, None, "a test").unwrap();
        let of = |machines| {
            let how = (Wishes::default(), Vec::new());
            Submission::new("x".to_owned(), &plan, machines, (0, 7), "0.1.0", how)
        };
        assert!(of(3333).is_ok());
        let error = of(3334).unwrap_err().to_string();
        assert!(error.contains("3 blocks on each of 3334 machines"), "{error}");
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
