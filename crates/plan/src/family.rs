//! Declarations that a workload makes about itself.

use std::collections::BTreeMap;
use std::fmt;

use crate::data_directories::DataDirectories;
use crate::key::{CommandOption, Keyed};
use crate::problem::Problems;
use crate::step::StepKey;

/// Steps that need their own system in a known state: one trial each per block and variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// The key that distinguishes it from the workload's other sequences.
    pub key: SequenceKey,
    /// In the order in which they run.
    pub steps: Vec<PlannedStep>,
}

/// Distinguishes a sequence from the workload's others. It says nothing about the clients of its
/// steps: for those, see [`Sequence::clients`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceKey(u32);

impl SequenceKey {
    /// The key where all steps belong to one sequence.
    pub const ONLY: SequenceKey = SequenceKey(1);

    /// The key of the sequence for this number of clients, where each number has one.
    pub const fn of_clients(clients: u32) -> SequenceKey {
        SequenceKey(clients)
    }

    /// The number under which it is stored, and from which the order of its steps is drawn.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// The numbers of clients of some steps. As text: `dop 4`, or `dop 1 to 16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clients {
    /// The smallest.
    pub least: u32,
    /// The largest.
    pub most: u32,
}

impl Clients {
    /// One number of clients.
    pub const fn of(dop: u32) -> Clients {
        Clients { least: dop, most: dop }
    }

    /// The number, if it is the same in all steps.
    pub fn only(self) -> Option<u32> {
        (self.least == self.most).then_some(self.least)
    }
}

impl fmt::Display for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.only() {
            Some(dop) => write!(f, "dop {dop}"),
            None => write!(f, "dop {} to {}", self.least, self.most),
        }
    }
}

/// A step of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedStep {
    /// Canonical name, number of clients and labels.
    pub key: StepKey,
    /// True if it ends by time; otherwise it ends when its work is done.
    pub timed: bool,
    /// True if it only warms up caches: it runs and is recorded, but gets no verdict.
    pub warm_up: bool,
    /// The group it is shown in, such as `writes`; empty where the workload has no such groups.
    pub group: &'static str,
}

impl Sequence {
    /// Place of the step with this key.
    pub fn place(&self, key: &StepKey) -> Option<usize> {
        self.steps.iter().position(|step| step.key == *key)
    }

    /// The numbers of clients of its steps.
    pub fn clients(&self) -> Clients {
        let dops = || self.steps.iter().map(|step| step.key.dop);
        Clients { least: dops().min().unwrap_or(0), most: dops().max().unwrap_or(0) }
    }
}

/// A file that a key names. Its text is kept in the plan, which is then complete without it.
pub(crate) struct NamedFile<'a> {
    /// The key, and the one of the text.
    pub(crate) keys: (&'static str, &'static str),
    /// The given file.
    pub(crate) file: &'a Option<String>,
    /// The text of that file.
    pub(crate) text: &'a mut Option<String>,
}

/// A directory that a key names. The texts of its files are kept in the plan.
pub(crate) struct NamedDirectory<'a> {
    /// The key, and the one of the texts.
    pub(crate) keys: (&'static str, &'static str),
    /// The given directory.
    pub(crate) directory: &'a Option<String>,
    /// The extensions of the files that are read.
    pub(crate) extensions: &'static [&'static str],
    /// Their texts, by name.
    pub(crate) texts: &'a mut BTreeMap<String, String>,
}

/// The steps that make the data of some families, which come first.
pub(crate) const LOADS: [&str; 2] = ["load", "index"];

/// Checks that steps, under this key, begin with [`LOADS`].
pub(crate) fn loads_first(key: &str, steps: &[String], problems: &mut Problems) {
    let begin = steps.iter().take(LOADS.len()).map(String::as_str);
    if problems.is_unread("workload") || begin.eq(LOADS) {
        return;
    }
    let first = steps.first().map_or("", String::as_str);
    let message =
        format!("`steps`: expected `load` and `index` first, found `{first}`; others need data");
    problems.of(key, message);
}

/// A family of workloads, as plans have it. Its folder implements this, the register names it.
pub(crate) trait Family: Keyed {
    /// Its name: that of its section in a plan, and of its short form.
    fn name(&self) -> &'static str;

    /// The options of its short form, each of which stands for a key.
    fn options(&self) -> &'static [CommandOption];

    /// The extension of files that name this workload by themselves, and the option that such a
    /// file stands for: `steelyard run x.sql`.
    fn short_file(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// The option that a word after the workload's name stands for: `steelyard run NAME WORD`.
    fn short_operand(&self) -> Option<&'static str> {
        None
    }

    /// Sets values that follow from other keys, unless they are `given`.
    fn complete(&mut self, _given: &dyn Fn(&str) -> bool) {}

    /// Sets what the short form chooses, unless it is `given`; returns `settle_seconds_scale`.
    fn shorten(&mut self, _given: &dyn Fn(&str) -> bool) -> f64 {
        1.0
    }

    /// The files that its keys name, read relative to the plan.
    fn files(&mut self) -> Vec<NamedFile<'_>> {
        Vec::new()
    }

    /// The command lines in it, which may have passwords.
    fn commands(&mut self) -> Vec<&mut String> {
        Vec::new()
    }

    /// The directory that one of its keys names, read relative to the plan.
    fn directory(&mut self) -> Option<NamedDirectory<'_>> {
        None
    }

    /// Files and directories that are too large for the plan, unless they were looked into before:
    /// each a key and its paths. They are read relative to the plan.
    fn large_files(&mut self) -> Vec<(&'static str, Vec<&mut String>)> {
        Vec::new()
    }

    /// Looks into those of this key, which are whole paths now. Returns keys with what it found,
    /// and with the paths, which the plan keeps.
    fn look(&mut self, _key: &str) -> Result<Vec<(&'static str, serde_json::Value)>, String> {
        Ok(Vec::new())
    }

    /// The data directories that its data may come from.
    fn data_directories(&self) -> Option<&DataDirectories> {
        None
    }

    /// Reports inconsistencies between values that are valid one by one.
    fn check(&self, problems: &mut Problems);

    /// Older names of steps, each with its current name.
    fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// True if its requests are statements, which can be sent in several ways.
    fn has_statements(&self) -> bool {
        true
    }

    /// The list of steps, if plans have one.
    fn steps(&mut self) -> Option<&mut Vec<String>> {
        None
    }

    /// The steps that a step needs, in their order, as the first of all. Those missing from a plan
    /// are added.
    fn needs(&self, _step: &str) -> &'static [&'static str] {
        &[]
    }

    /// The first steps of all sequences, as far as they only prepare for others and the plan does
    /// not name them. For families whose plans have no complete list of steps.
    fn prepares(&self) -> Vec<String> {
        Vec::new()
    }

    /// The sequences to run.
    fn sequences(&self) -> Vec<Sequence>;

    /// Removes the list of steps and numbers of clients. The rest must be equal for results of
    /// different experiments to be comparable.
    fn clear_steps(&mut self);

    /// The numbers of rows to which durations of steps are in proportion.
    fn rows(&mut self) -> Vec<&mut u64> {
        Vec::new()
    }

    /// The durations of timed steps, in seconds.
    fn seconds(&mut self) -> Vec<&mut u32>;

    /// The keys of these.
    fn keys_of_seconds(&self) -> &'static [&'static str] {
        &["seconds"]
    }

    /// The number of rows to which the duration of a step that ends by its work is in proportion;
    /// 0 if there is none.
    fn rows_of(&self, _step: &str) -> u64 {
        0
    }

    /// The key of that number, if it is one.
    fn key_of_rows(&self, _step: &str) -> Option<&'static str> {
        None
    }
}
