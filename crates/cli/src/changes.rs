//! Options that override a plan, whether it comes from a file or from the short form.

use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use plan::{Layer, Pairing};

/// Settings of a plan that the command line can override.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Override the plan")]
pub struct Changes {
    /// Blocks: trials of each variant; with --precision, --max-blocks or --budget, blocks before
    /// the first look at the results
    #[arg(long, value_name = "N")]
    blocks: Option<u32>,
    /// Largest difference that counts as small, such as 3% [default: 2%, or the plan's]
    #[arg(long, value_name = "PERCENT", value_parser = plan::parse_share)]
    margin: Option<f64>,
    /// Seed for the order of trials and for all parameters [default: random]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Run until every step is decided or its interval is within ± this share, such as 2%; without
    /// --blocks and --seconds, the run chooses the number of blocks and the length of steps
    #[arg(long, value_name = "PERCENT", value_parser = plan::parse_share)]
    precision: Option<f64>,
    /// Add blocks for undecided steps, up to this many [default with --precision or --budget: 4 ×
    /// blocks]
    #[arg(long, value_name = "N")]
    max_blocks: Option<u32>,
    /// Run until every step is decided or this time is up, such as 2h or 1h30m; without --blocks
    /// and --seconds, the run chooses the number of blocks and the length of steps
    #[arg(long, value_name = "TIME", value_parser = plan::parse_duration)]
    budget: Option<Duration>,
    /// How to pair variants; by whole trials (blocks), by fractions of a second (slices), by slices
    /// with all other servers frozen (frozen), or by the method that suits each step (auto)
    #[arg(long, value_parser = named(&Pairing::NAMED))]
    pairing: Option<Pairing>,
    /// Run every variant under two names (A/A), to see how much identical systems differ here
    #[arg(long)]
    aa: bool,
    /// Profile each step's server with perf, outside the measured time, and count its events
    #[arg(long)]
    profile: bool,
    /// Length of each profile in seconds [default: 5]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=600))]
    profile_seconds: Option<u32>,
}

/// Parses one of the words that a plan accepts for a key.
pub fn named<T: Copy + Send + Sync>(
    all: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let named = move |name: String| all.iter().find(|(known, _)| *known == name);
    PossibleValuesParser::new(all.iter().map(|(name, _)| *name))
        .try_map(move |name| named(name).map(|(_, meant)| *meant).ok_or("not one of them"))
}

impl Changes {
    /// True if profiles were requested.
    pub fn profile(&self) -> bool {
        self.profile
    }

    /// True if every variant gets a second name.
    pub fn twins(&self) -> bool {
        self.aa
    }

    /// The budget.
    pub fn budget(&self) -> Option<Duration> {
        self.budget
    }

    /// The margin.
    pub fn margin(&self) -> Option<f64> {
        self.margin
    }

    /// These changes, to be laid over a plan.
    pub fn layer(&self) -> Layer {
        let mut layer = self.layer_without_budget();
        layer.set("--budget", &["budget"], &self.budget.map(plan::format_duration));
        layer
    }

    /// The same without the budget, for commands that divide it.
    pub fn layer_without_budget(&self) -> Layer {
        let mut layer = Layer::default();
        layer.set("--blocks", &["blocks"], &self.blocks);
        layer.set("--margin", &["margin"], &self.margin);
        layer.set("--seed", &["seed"], &self.seed);
        layer.set("--precision", &["precision"], &self.precision);
        layer.set("--max-blocks", &["max_blocks"], &self.max_blocks);
        layer.set("--pairing", &["pairing"], &self.pairing);
        layer.set("--profile", &["profile"], &self.profile.then_some(true));
        layer.set("--profile-seconds", &["profile_seconds"], &self.profile_seconds);
        layer.twins = self.aa;
        layer
    }
}
