//! The register of workloads. A new one needs a folder that implements `Family`, and a line below.

pub(crate) mod insert;
pub(crate) mod kv;
pub(crate) mod program;
pub(crate) mod queries;
pub(crate) mod replay;
pub(crate) mod script;
pub(crate) mod select;
pub(crate) mod storage;
pub(crate) mod sysbench;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "toys"))]
pub(crate) mod toy;
pub(crate) mod tpcc;
pub(crate) mod tpch;
pub(crate) mod ycsb;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::de::DeTable;

use crate::beside::{read_all_beside, read_beside, whole_path};
use crate::data_directories::DataDirectories;
use crate::family::{Family, NamedDirectory, NamedFile, Sequence};
use crate::key::{CommandOption, canonical, write_keys_but};
use crate::near::nearest;
use crate::problem::Problems;
use crate::section::{Section, as_table, join, printable};

macro_rules! register {
    (
        $($(#[doc = $doc:literal])* $name:ident($plan:ty),)*
        ; in tests: $($(#[doc = $about:literal])* $toy:ident($of:ty),)*
    ) => {
        /// The workload of a plan: exactly one.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum WorkloadPlan {
            $($(#[doc = $doc])* $name($plan),)*
            $(
                $(#[doc = $about])*
                #[cfg(any(test, feature = "toys"))]
                $toy($of),
            )*
        }

        impl WorkloadPlan {
            /// All there are, each with its defaults.
            pub fn all() -> Vec<WorkloadPlan> {
                vec![$(WorkloadPlan::$name(<$plan>::default()),)*]
            }

            /// Those that are in tests only.
            fn toys() -> Vec<WorkloadPlan> {
                vec![$(#[cfg(any(test, feature = "toys"))] WorkloadPlan::$toy(<$of>::default()),)*]
            }

            pub(crate) fn family(&self) -> &dyn Family {
                match self {
                    $(WorkloadPlan::$name(plan) => plan,)*
                    $(#[cfg(any(test, feature = "toys"))] WorkloadPlan::$toy(plan) => plan,)*
                }
            }

            pub(crate) fn family_mut(&mut self) -> &mut dyn Family {
                match self {
                    $(WorkloadPlan::$name(plan) => plan,)*
                    $(#[cfg(any(test, feature = "toys"))] WorkloadPlan::$toy(plan) => plan,)*
                }
            }
        }
    };
}

register! {
    /// The insert benchmark, `[workload.insert]`.
    Insert(insert::InsertPlan),
    /// The sysbench microbenchmarks, `[workload.sysbench]`.
    Sysbench(sysbench::SysbenchPlan),
    /// The key-value steps of db_bench, `[workload.kv]`.
    Kv(kv::KvPlan),
    /// The read-only sweep over clients, `[workload.select]`.
    Select(select::SelectPlan),
    /// pgbench scripts, `[workload.script]`.
    Script(script::ScriptPlan),
    /// A directory of queries, `[workload.queries]`.
    Queries(queries::QueriesPlan),
    /// A log of statements that is sent again, `[workload.replay]`.
    Replay(replay::ReplayPlan),
    /// The transactions derived from TPC-C, `[workload.tpcc]`.
    Tpcc(tpcc::TpccPlan),
    /// The queries derived from TPC-H, `[workload.tpch]`.
    Tpch(tpch::TpchPlan),
    /// The workloads derived from YCSB, `[workload.ycsb]`.
    Ycsb(ycsb::YcsbPlan),
    /// fio on a directory or a device, `[workload.storage]`.
    Storage(storage::StoragePlan),
    /// Other people's programs, `[workload.program]`.
    Program(program::ProgramPlan),
    ; in tests:
    /// A toy, `[workload.toy]`.
    Toy(toy::ToyPlan),
}

impl WorkloadPlan {
    /// The data directories that its data comes from, if it does.
    pub fn data_directories(&self) -> Option<&DataDirectories> {
        self.family().data_directories().filter(|data| data.named().is_some())
    }

    /// True if its requests are statements, which can be sent in several ways.
    pub fn has_statements(&self) -> bool {
        self.family().has_statements()
    }
}

impl Default for WorkloadPlan {
    fn default() -> Self {
        WorkloadPlan::all().swap_remove(0)
    }
}

impl WorkloadPlan {
    /// The names in a plan.
    pub fn names() -> Vec<&'static str> {
        WorkloadPlan::all().iter().map(WorkloadPlan::name).collect()
    }

    /// The workload of this name, with its defaults.
    pub fn named(name: &str) -> Option<WorkloadPlan> {
        let mut all = WorkloadPlan::all().into_iter().chain(WorkloadPlan::toys());
        all.find(|workload| workload.name() == name)
    }

    /// The workload that a file of this name stands for, with its defaults, and the option of its
    /// short form that takes the file.
    pub fn of_file(path: &Path) -> Option<(WorkloadPlan, &'static str)> {
        let extension = path.extension()?;
        let option = |workload: WorkloadPlan| {
            let (known, option) = workload.family().short_file()?;
            (extension == known).then_some((workload, option))
        };
        WorkloadPlan::all().into_iter().find_map(option)
    }

    /// The option of its short form that a word after its name stands for.
    pub fn short_operand(&self) -> Option<&'static str> {
        self.family().short_operand()
    }

    /// True if its short form needs files.
    pub fn needs_files(&self) -> bool {
        self.short_operand().is_some() || self.family().short_file().is_some()
    }

    /// The name in a plan, such as `insert`.
    pub fn name(&self) -> &'static str {
        self.family().name()
    }

    /// The sequences to run: every variant goes through each of them once per block, on a system of
    /// its own.
    pub fn sequences(&self) -> Vec<Sequence> {
        self.family().sequences()
    }

    /// The workload without the list of steps and the numbers of clients: the part that experiments
    /// must have in common to be compared.
    pub fn without_steps(&self) -> WorkloadPlan {
        let mut workload = self.clone();
        workload.family_mut().clear_steps();
        workload
    }

    /// The numbers of rows to which durations of steps are in proportion.
    pub fn rows(&self) -> Vec<u64> {
        self.clone().family_mut().rows().iter().map(|rows| **rows).collect()
    }

    /// The number of rows to which the duration of a step that ends by its work is proportional.
    pub fn rows_of(&self, step: &str) -> u64 {
        self.family().rows_of(step)
    }

    /// Adds the steps that others need and the plan lacks, before all others. Returns them, and
    /// those that run without being named.
    pub(crate) fn add_needed(&mut self) -> Vec<String> {
        let family = self.family_mut();
        let named = family.steps().cloned().unwrap_or_default();
        let mut needed: Vec<&'static str> = Vec::new();
        for need in named.iter().flat_map(|step| family.needs(step)).copied() {
            if !needed.contains(&need) {
                needed.push(need);
            }
        }
        let runs = |need: &str, step: &String| {
            // Also as `fillseq.2`.
            step.strip_prefix(need).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let mut added = family.prepares();
        if let Some(steps) = family.steps() {
            for (place, need) in needed.into_iter().enumerate() {
                if !named.iter().any(|step| runs(need, step)) {
                    steps.insert(place.min(steps.len()), need.to_owned());
                    added.push(need.to_owned());
                }
            }
        }
        added
    }

    /// Sets all numbers of rows.
    pub fn set_rows(&mut self, of: impl Fn(u64) -> u64) {
        self.family_mut().rows().into_iter().for_each(|rows| *rows = of(*rows));
    }

    /// How long timed steps last, in seconds; the longest where they differ.
    pub fn seconds(&self) -> Option<u32> {
        self.clone().family_mut().seconds().iter().map(|seconds| **seconds).max()
    }

    /// How long timed steps last, in seconds; the shortest where they differ.
    pub fn least_seconds(&self) -> Option<u32> {
        self.clone().family_mut().seconds().iter().map(|seconds| **seconds).min()
    }

    /// Sets how long timed steps last.
    pub fn set_seconds(&mut self, to: u32) {
        self.family_mut().seconds().into_iter().for_each(|seconds| *seconds = to);
    }

    /// The options of its short form.
    pub fn options(&self) -> &'static [CommandOption] {
        self.family().options()
    }

    /// The option whose value the duration of a step is in proportion to, and that value.
    pub(crate) fn length_option(&self, step: &str, timed: bool) -> Option<(&'static str, u64)> {
        let family = self.family();
        let (key, value) = match (timed, family.keys_of_seconds()) {
            (true, [key]) => (*key, u64::from(self.seconds()?)),
            (true, _) => return None,
            (false, _) => (family.key_of_rows(step)?, family.rows_of(step)),
        };
        let option = family.options().iter().find(|option| option.key == key)?;
        Some((option.name, value))
    }

    /// The present name of a step.
    pub(crate) fn canonical<'n>(&self, step: &'n str) -> &'n str {
        canonical(step, self.family().aliases())
    }

    /// Writes its section, without the steps that are `added` when it is read; `seconds`: how long
    /// steps last too.
    pub(crate) fn write(&self, out: &mut String, added: &[String], seconds: bool) {
        out.push_str(&format!("\n[workload.{}]\n", self.name()));
        let left_out = if seconds { &[] } else { self.family().keys_of_seconds() };
        let mut named = self.clone();
        if let Some(steps) = named.family_mut().steps() {
            steps.retain(|step| !added.contains(step));
        }
        write_keys_but(out, named.family_mut(), left_out);
    }

    /// Its section of `[workload]`.
    pub(crate) fn section<'w, 'i>(&self, all: Option<&'w DeTable<'i>>) -> Option<&'w DeTable<'i>> {
        all?.get(self.name())?.get_ref().as_table()
    }

    /// True if its section says how long steps last.
    pub(crate) fn says_seconds(&self, all: Option<&DeTable>) -> bool {
        let keys = self.family().keys_of_seconds();
        self.section(all).is_some_and(|section| keys.iter().any(|key| section.contains_key(*key)))
    }

    /// Reads `[workload]`, and the files that it names from `folder`. Without a workload, problems
    /// in its steps are not reported.
    pub(crate) fn read(
        p: &mut Problems,
        table: Option<&DeTable>,
        folder: Option<&Path>,
    ) -> WorkloadPlan {
        let names = WorkloadPlan::names();
        let mut found: Option<WorkloadPlan> = None;
        for (key, value) in table.into_iter().flatten() {
            let name = key.get_ref().as_ref();
            let path = join("workload", name);
            p.place(path.clone(), key.span());
            let Some(mut workload) = WorkloadPlan::named(name) else {
                let hint = match nearest(name, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known workloads: {}", names.join(", ")),
                };
                p.mark_unread("workload");
                p.at(key.span(), format!("unknown workload `{}`; {hint}", printable(name)));
                continue;
            };
            if let Some(found) = &found {
                let message =
                    format!("the workload is `{}` already; remove one of them", found.name());
                p.at(key.span(), message);
            }
            if let Some(table) = as_table(p, &path, value) {
                let mut section = Section::new(table, path.clone());
                section.keys(p, workload.family_mut().keys());
                section.finish(p);
                workload.family_mut().complete(&|key| table.contains_key(key));
                read_files(p, &mut workload, folder);
                read_directory(p, &mut workload, folder);
                look_into_large_files(p, &mut workload, folder);
            }
            found = Some(workload);
        }
        if table.is_none_or(|table| table.is_empty()) {
            p.mark_unread("workload");
            p.of("workload", format!("no workload; add [workload.{}]", names[0]));
        }
        found.unwrap_or_default()
    }
}

/// Reads the files that the keys of a workload name.
fn read_files(p: &mut Problems, workload: &mut WorkloadPlan, folder: Option<&Path>) {
    let name = workload.name();
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut read = BTreeSet::new();
    for NamedFile { keys: (key, text_key), file, text } in workload.family_mut().files() {
        let path = format!("workload.{name}.{key}");
        // A text belongs to the file of its layer.
        if let Some(file) = file
            && (text.is_none() || p.is_option(&path))
        {
            *text = read_beside(p, folder, file, (&path, text_key));
            read.insert(text_key);
        }
        found.entry(text_key).or_default().extend(text.clone());
    }
    for (text_key, texts) in found.into_iter().filter(|(key, _)| read.contains(key)) {
        let path = ["workload", name, text_key];
        match &texts[..] {
            [text] => p.complete(&path, text),
            texts => p.complete(&path, &texts),
        }
    }
}

/// Reads the files of the directory that a key of a workload names.
fn read_directory(p: &mut Problems, workload: &mut WorkloadPlan, folder: Option<&Path>) {
    let name = workload.name();
    let Some(NamedDirectory { keys: (key, text_key), directory, extensions, texts }) =
        workload.family_mut().directory()
    else {
        return;
    };
    let path = format!("workload.{name}.{key}");
    if let Some(directory) = directory
        && (texts.is_empty() || p.is_option(&path))
    {
        *texts = read_all_beside(p, folder, directory, extensions, (&path, text_key));
        p.complete(&["workload", name, text_key], texts);
    }
}

/// Looks into what keys of a workload name and is too large for the plan.
fn look_into_large_files(p: &mut Problems, workload: &mut WorkloadPlan, folder: Option<&Path>) {
    let name = workload.name();
    let mut looked = Vec::new();
    for (key, files) in workload.family_mut().large_files() {
        let path = format!("workload.{name}.{key}");
        let mut whole = |file: &mut String| {
            let found = whole_path(p, folder, file, (&path, key));
            found.map(|found| *file = found)
        };
        if files.into_iter().all(|file| whole(file).is_some()) {
            looked.push((key, path));
        }
    }
    for (key, path) in looked {
        match workload.family_mut().look(key) {
            Ok(found) => {
                found.iter().for_each(|(key, value)| p.complete(&["workload", name, key], value));
            }
            Err(message) => p.of(&path, format!("`{key}`: {message}")),
        }
    }
}
