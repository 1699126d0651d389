//! The plan as data: what was asked for, after defaults and checks.

use std::collections::BTreeMap;
use std::time::Duration;

use reference::{Form, Reference};
use serde::Serialize;

use crate::count::CountPlan;
use crate::family::{PlannedStep, Sequence};
use crate::workloads::WorkloadPlan;

/// Trials per variant when the plan does not say: as many as a verdict needs.
pub const DEFAULT_BLOCKS: u32 = 6;
/// The default for the largest difference that counts as small.
pub const DEFAULT_MARGIN: f64 = 0.02;
/// Share of the machine's CPU time that a hypervisor may take during a step when the plan does not
/// say. A twentieth gone to others moves a CPU-bound rate by about as much: more than twice the
/// margin, so the sample would decide nothing.
pub const DEFAULT_STEAL_LIMIT: f64 = 0.05;
/// The default for how often to repeat a polluted trial.
pub const DEFAULT_REPEATS: u32 = 2;

/// The default length of a step's profile in seconds: about 2500 samples of each busy process,
/// enough to determine a share of 20% to within 2 points.
pub const DEFAULT_PROFILE_SECONDS: u32 = 5;

/// An experiment as its author describes it: variants, workload, repetitions.
///
/// The fields hold what the plan *means*: defaults are filled in, settings given for all variants
/// are copied to each variant, and the text of a configuration file replaces its name.
///
/// `==` compares [`Plan::text`] too: plans that mean the same may be written in other words.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Name of the experiment.
    pub name: String,
    /// Name of the variant that all others are compared with.
    pub base: String,
    /// Trials per variant and sequence, ≥ 1.
    pub blocks: u32,
    /// Seed of the order of trials and of all parameters; `None`: the run chooses one and records
    /// it. At most `i64::MAX`, so that TOML and SQLite can hold it.
    pub seed: Option<u64>,
    /// δ: differences up to this share count as small, in (0, 1).
    pub margin: f64,
    /// Factor on the pause after settling, 0 to 1.
    pub settle_seconds_scale: f64,
    /// How trials of different variants are paired.
    pub pairing: Pairing,
    /// Which of these choices the plan's author has made.
    pub given: Given,
    /// Length of a slice in milliseconds, 2 to 10,000; `None`: chosen by measurement. Not with
    /// [`Pairing::Blocks`].
    pub slice_ms: Option<u32>,
    /// Last step of the load: it and the steps before it run once per variant and sequence, and
    /// every trial starts on a copy of the data directory as they left it. `None`: every trial
    /// loads.
    pub restore_after: Option<String>,
    /// Share of the machine's CPU time taken by the hypervisor in a step above which the trial
    /// counts as polluted and is repeated; 0 to 1, 1 = never.
    pub steal_limit: f64,
    /// How often a polluted trial is repeated at most.
    pub repeats: u32,
    /// Half-width of an interval, as a fraction in (0, 1), with which a step counts as decided
    /// whatever its verdict. See [`Plan::is_adaptive`].
    pub precision: Option<f64>,
    /// Where an adaptive run ends at the latest, ≥ `blocks`; `None`: see [`Plan::block_limit`].
    pub max_blocks: Option<u32>,
    /// Time after which no block may end, in whole seconds.
    pub budget: Option<Duration>,
    /// Functions that only have another name in some of the versions: old name, new name.
    pub renamed: BTreeMap<String, String>,
    /// True if the data directory is dropped from the page cache before each step.
    pub drop_page_cache: bool,
    /// True to look ten times a second at what sessions wait for, in steps that have the machine to
    /// themselves.
    pub wait_events: bool,
    /// True if each step's server is profiled with perf, outside of the measured time, and its
    /// events are counted.
    pub profile: bool,
    /// How long a profile takes, in seconds, 1 to 600.
    pub profile_seconds: u32,
    /// The systems under test, in the order of the plan. Names are unique; at least one.
    pub variants: Vec<Variant>,
    /// The workload to run.
    pub workload: WorkloadPlan,
    /// Steps that the plan doesn't name but others need, before all others.
    pub added: Vec<String>,
    /// The input of `steelyard count`; a run does not use it.
    pub count: CountPlan,
    /// The complete plan as text: the text that it was read from, with what was laid over it and
    /// the texts of the files that it names. If nobody has written it ([`Plan::short`], twins), or
    /// it can't be completed in place, it is as [`Plan::to_toml`] writes it. It may hold a
    /// password, see [`Plan::text_without_passwords`].
    pub text: String,
}

/// The choices that a plan makes itself; the others may be left to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Given {
    /// `blocks`.
    pub blocks: bool,
    /// `pairing`.
    pub pairing: bool,
    /// How long steps last.
    pub seconds: bool,
}

/// One system under test: DBMS, version or build, configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variant {
    /// Name, such as `pg13.7`; fit to be part of a file name.
    pub name: String,
    /// Which DBMS, such as `postgres@13.7`; understood by the crate `dbms`. The path of a
    /// repository, a tarball or an installation is absolute where the plan came from a file, or
    /// begins with `~/`.
    pub dbms: String,
    /// How it is built, for one that is built from source; `None`: as by default.
    pub build: Option<BuildPlan>,
    /// Settings of the server: those given for all variants, overlaid by the variant's own.
    pub config: BTreeMap<String, String>,
    /// Name of the configuration file, as written in the plan. Its text is in `config_text`.
    pub config_file: Option<String>,
    /// Text of the configuration file at the time the plan was read. Settings in `config` win over
    /// it.
    pub config_text: Option<String>,
    /// Further arguments of `initdb`.
    pub initdb: Vec<String>,
    /// Memory limit of the server (cgroup) in bytes: the variant's own or the plan's.
    pub memory_limit: Option<u64>,
    /// The storage engine, such as `myrocks`, for a system that has several; understood by the
    /// crate `dbms`.
    pub engine: Option<String>,
    /// The work that the server does before a commit is acknowledged: the variant's own or the
    /// plan's. `None`: as its settings say.
    pub durability: Option<Durability>,
    /// Name of the variant that this one is a second copy of, same to the last setting, for
    /// telling how much identical systems differ (A/A). See [`Plan::with_twins`].
    pub twin_of: Option<String>,
}

impl Variant {
    /// True if it is a server that is already running.
    pub fn is_running(&self) -> bool {
        let reference = self.dbms.parse::<Reference>();
        reference.is_ok_and(|reference| matches!(reference.form, Form::Running(_)))
    }
}

/// How a variant is built from source. Omitted keys have the defaults of the crate `dbms`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuildPlan {
    /// Flags of the C compiler, such as `-O2 -g`.
    pub cflags: Option<String>,
    /// The C compiler, such as `clang` or `ccache cc`.
    pub compiler: Option<String>,
    /// Further options of the configure script, such as `--with-llvm`, or of Meson, such as
    /// `-Dcassert=true`.
    pub configure: Vec<String>,
    /// The program that builds it.
    pub system: Option<BuildSystem>,
}

/// The storage that a commit waits for, translated into the settings of each system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// The disk: nothing is lost when the machine fails.
    Full,
    /// No disk: the last commits are lost when the machine fails, with some systems also when only
    /// the server does.
    Relaxed,
}

impl Durability {
    /// All by their names in a plan.
    pub const NAMED: [(&str, Durability); 2] =
        [("full", Durability::Full), ("relaxed", Durability::Relaxed)];
}

/// The program that builds a system from its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildSystem {
    /// The configure script and make.
    Make,
    /// Meson and ninja.
    Meson,
}

/// How trials of different variants are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// A trial has the machine to itself; every variant once per block, in random order.
    #[default]
    Blocks,
    /// The servers of all variants are up together and the load moves between them in slices of a
    /// fraction of a second, in random order.
    Slices,
    /// The same, and all servers but the one that has the load are frozen: their work in the
    /// background falls into their own slices. So steps that change rows can be sliced, too.
    Frozen,
    /// Slices for steps that are CPU-bound and leave the data as they found it or grow it alike,
    /// turns for the others.
    Auto,
}

impl Pairing {
    /// All by their names in a plan.
    pub const NAMED: [(&str, Pairing); 4] = [
        ("blocks", Pairing::Blocks),
        ("slices", Pairing::Slices),
        ("frozen", Pairing::Frozen),
        ("auto", Pairing::Auto),
    ];
}

impl Default for Plan {
    /// The values that apply where a plan sets none.
    fn default() -> Self {
        Plan {
            name: String::new(),
            base: String::new(),
            blocks: DEFAULT_BLOCKS,
            seed: None,
            margin: DEFAULT_MARGIN,
            settle_seconds_scale: 1.0,
            pairing: Pairing::Blocks,
            given: Given::default(),
            slice_ms: None,
            restore_after: None,
            steal_limit: DEFAULT_STEAL_LIMIT,
            repeats: DEFAULT_REPEATS,
            precision: None,
            max_blocks: None,
            budget: None,
            renamed: BTreeMap::new(),
            drop_page_cache: false,
            wait_events: true,
            profile: false,
            profile_seconds: DEFAULT_PROFILE_SECONDS,
            variants: Vec::new(),
            workload: WorkloadPlan::default(),
            added: Vec::new(),
            count: CountPlan::default(),
            text: String::new(),
        }
    }
}

impl Plan {
    /// True if data is made once per variant, and trials begin on copies of it: from steps up to
    /// [`Plan::restore_after`], or from a data directory.
    pub fn loads_once(&self) -> bool {
        self.restore_after.is_some() || self.workload.data_directories().is_some()
    }

    /// How many steps of a sequence belong to the load that runs once per variant: those up to
    /// [`Plan::restore_after`]. 0 where every trial loads.
    pub fn loaded_steps(&self, sequence: &Sequence) -> usize {
        let last = self.restore_after.as_ref();
        last.and_then(|name| sequence.steps.iter().rposition(|step| step.key.name == *name))
            .map_or(0, |at| at + 1)
    }

    /// True if the step at this place of a sequence prepares for others and is not judged: it is
    /// loaded once, or the plan doesn't name it.
    pub fn only_prepares(&self, sequence: &Sequence, place: usize) -> bool {
        let added = |step: &PlannedStep| self.added.contains(&step.key.name);
        place < self.loaded_steps(sequence) || sequence.steps.get(place).is_some_and(added)
    }

    /// The variant of this name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|v| v.name == name)
    }

    /// Position of the base in [`Plan::variants`].
    pub fn base_index(&self) -> usize {
        self.variants.iter().position(|v| v.name == self.base).unwrap_or(0)
    }
}
