//! Facts about a verdict that a reader must know.

use std::fmt;

use crate::Side;

/// Number of blocks, or of restarts in slices, from which a comparison has a verdict.
///
/// With 6 blocks the sign-flip test can reach a p of 2/64 = 0.031; with 5 only 2/32 = 0.063, so no
/// outcome could ever be significant at 5%.
pub const ENOUGH_BLOCKS: usize = 6;

/// Number of restarts in frozen slices from which a step can be equivalent. With 6, a step is
/// wrongly called equivalent in up to a sixth of experiments with bursts that most restarts miss;
/// with 12, in less than 4% (VALIDATION.md, Frozen slices).
pub const ENOUGH_FROZEN: usize = 12;

/// Fewer rounds in a restart than this cause a warning if there are few restarts: batches then have
/// fewer than four rounds, and the interval depends on them.
pub const ENOUGH_ROUNDS: usize = 30;

/// A warning to show with a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warning {
    /// A single block: the spread is unknown, so there is neither interval nor verdict.
    OneBlock,
    /// Fewer than [`ENOUGH_BLOCKS`] blocks.
    TooFewBlocks {
        /// How many there were.
        blocks: usize,
    },
    /// The interval excludes 1 but the sign-flip test does not reach 5%: the t interval depends on
    /// its assumption of normal noise here, or a few blocks cause the difference.
    SignFlipDisagrees {
        /// Two-sided p value of the sign-flip test.
        p: f64,
    },
    /// The noise floor is larger than the margin, so a regression or an improvement has to exceed
    /// it.
    BelowNoise {
        /// The requested margin.
        asked: f64,
        /// The difference between identical variants.
        noise_floor: f64,
    },
    /// On its own this would be a regression or an improvement, but not among so many comparisons.
    NotAmongMany {
        /// How many comparisons were made.
        comparisons: usize,
        /// p value after Benjamini and Hochberg.
        adjusted_p: f64,
    },
    /// Slices within a single restart: how much restarts differ is unknown, so there is neither
    /// interval nor verdict.
    OneRestart,
    /// Slices within fewer than [`ENOUGH_BLOCKS`] restarts.
    TooFewRestarts {
        /// How many there were.
        restarts: usize,
    },
    /// It would be equivalent, but in fewer frozen restarts than [`ENOUGH_FROZEN`].
    TooFewFrozen {
        /// How many there were.
        restarts: usize,
    },
    /// Some restart has fewer rounds of slices than [`ENOUGH_ROUNDS`].
    FewRounds {
        /// How many the restart with the fewest had.
        rounds: usize,
    },
    /// A larger share of rounds than [`crate::MUCH_SET_ASIDE`] could not be used.
    MuchSetAside {
        /// Share of the rounds, 0 to 1.
        share: f64,
    },
    /// The hypervisor took so much of the CPU that operations per second of the system's own CPU
    /// time are compared instead of operations per second.
    ByCpu {
        /// Share of the CPU time that was taken, 0 to 1, in the trial with the most.
        stolen: f64,
    },
    /// Neither side did anything in a larger share of rounds than [`crate::MUCH_IDLE`].
    IdleRounds {
        /// Share of the rounds, 0 to 1.
        share: f64,
    },
    /// One side did nothing in more than a quarter of its slices in some restart: the ratio is that
    /// of all operations, because a typical slice has none.
    Stalled {
        /// Which side.
        side: Side,
    },
    /// Slices of two lengths give different ratios.
    LengthsDisagree {
        /// Ratio by the shorter slices.
        short: f64,
        /// Ratio by the longer ones.
        long: f64,
    },
    /// Shorter slices have shown that these lose too much at their beginning.
    SlicesTooShort {
        /// The ratio of these slices.
        measured: f64,
        /// The ratio of endless ones.
        endless: f64,
    },
    /// Restarts with the fewest servers give a different ratio than the others.
    ServersDisagree {
        /// At most as many servers had a slice in each of their rounds.
        servers: usize,
        /// The ratio by these restarts.
        fewest: f64,
        /// The ratio by the restarts with more servers.
        more: f64,
    },
    /// All slices together give a different ratio than their middle half: the ratio is that of all,
    /// and nothing is equivalent unless both are.
    RareSlices {
        /// Ratio by the middle half.
        middle: f64,
        /// Ratio of all operations.
        all: f64,
    },
    /// The typical slice is equivalent, but all operations together may not be: rare slices may
    /// lose more than the margin.
    TotalsOpen {
        /// Lower end of the interval of the ratio of all operations.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// The true ratio is certainly not the same on all machines.
    MachinesDiffer {
        /// How many machines there are.
        machines: usize,
        /// Standard deviation of their true log ratios.
        sd: f64,
        /// p value of the test that they are all the same.
        p: f64,
    },
    /// The ratio depends on the type of the machine.
    KindsDiffer {
        /// How many types differ from the others.
        kinds: usize,
        /// How many there are.
        of: usize,
    },
    /// Single machines give another ratio than the others.
    OddMachines {
        /// How many do.
        machines: usize,
        /// How many there are.
        of: usize,
    },
}

impl Warning {
    /// A short name of the kind of warning, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::OneBlock => "one-block",
            Self::TooFewBlocks { .. } => "too-few-blocks",
            Self::SignFlipDisagrees { .. } => "sign-flip-disagrees",
            Self::BelowNoise { .. } => "margin-below-noise",
            Self::NotAmongMany { .. } => "not-among-many",
            Self::OneRestart => "one-restart",
            Self::TooFewRestarts { .. } => "too-few-restarts",
            Self::TooFewFrozen { .. } => "too-few-frozen",
            Self::FewRounds { .. } => "few-rounds",
            Self::ByCpu { .. } => "judged-by-cpu",
            Self::MuchSetAside { .. } => "much-set-aside",
            Self::IdleRounds { .. } => "idle-rounds",
            Self::Stalled { .. } => "stalled",
            Self::LengthsDisagree { .. } | Self::SlicesTooShort { .. } => "lengths-disagree",
            Self::ServersDisagree { .. } => "servers-disagree",
            Self::RareSlices { .. } => "rare-slices",
            Self::TotalsOpen { .. } => "totals-open",
            Self::MachinesDiffer { .. } => "machines-differ",
            Self::KindsDiffer { .. } => "machine-types-differ",
            Self::OddMachines { .. } => "odd-machines",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Self::OneBlock => format!(
                "too few blocks: 1, so there is no interval and no verdict; run at least {ENOUGH_BLOCKS}"
            ),
            Self::TooFewBlocks { blocks } => format!(
                "too few blocks: {blocks}, so there is no verdict; run at least {ENOUGH_BLOCKS}"
            ),
            Self::SignFlipDisagrees { p } => format!(
                "the interval excludes 1 but the sign-flip test does not (p = {p:.3}): check the individual blocks"
            ),
            Self::BelowNoise { asked, noise_floor } => format!(
                "identical variants differ by up to {:.1}% here, more than the margin of {:.1}%: a regression or an \
                 improvement has to be larger than that",
                noise_floor * 100.0,
                asked * 100.0
            ),
            Self::NotAmongMany { comparisons, adjusted_p } => format!(
                "outside the margin on its own, but not among {comparisons} comparisons (Benjamini-Hochberg p = {adjusted_p:.3})"
            ),
            Self::OneRestart => format!(
                "too few blocks: 1, so there is no interval and no verdict, because slices don't show how much restarts \
                 differ; run at least {ENOUGH_BLOCKS}"
            ),
            Self::TooFewRestarts { restarts } => format!(
                "too few blocks: {restarts}, so there is no verdict, because slices don't show how much restarts \
                 differ; run at least {ENOUGH_BLOCKS}"
            ),
            Self::TooFewFrozen { restarts } => format!(
                "the interval lies within the margin, but {restarts} blocks can miss rare bursts of background \
                 work: in frozen slices, equivalent takes {ENOUGH_FROZEN}"
            ),
            Self::FewRounds { rounds } => format!(
                "few rounds of slices: {rounds} in one restart; with fewer than {ENOUGH_BLOCKS} restarts, \
                 {ENOUGH_ROUNDS} would be enough"
            ),
            Self::MuchSetAside { share } => format!(
                "{:.0}% of the rounds could not be used because a slice was disturbed or not measured: the rest may not be typical",
                share * 100.0
            ),
            Self::ByCpu { stolen } => format!(
                "the hypervisor took up to {:.0}% of the CPU time of this CPU-bound step, so operations per second of \
                 the DBMS's own CPU time are judged instead of operations per second",
                stolen * 100.0
            ),
            Self::IdleRounds { share } => format!(
                "in {:.0}% of the rounds no operation ended in either slice, so they don't count: set longer slices (slice_ms in the plan), or look for what stopped both servers",
                share * 100.0
            ),
            Self::Stalled { side } => format!(
                "the {side} did nothing in over a quarter of its slices, so the ratio is that of all operations rather than of the typical slice: look for stalls"
            ),
            Self::LengthsDisagree { short, long } => format!(
                "longer slices give a different ratio ({long:.3}, not {short:.3}), so the interval extends to the ratio of endless ones: set slice_ms to a larger value; a run that chooses its own length does so if its budget allows"
            ),
            Self::SlicesTooShort { measured, endless } => format!(
                "shorter slices have shown that slices of this length give {measured:.3} where endless ones would give {endless:.3}, so the interval extends to that ratio: set slice_ms to a larger value"
            ),
            Self::ServersDisagree { servers, fewest, more } => format!(
                "blocks with up to {servers} servers give another ratio ({fewest:.3}) than those with more ({more:.3}), so the interval takes in both: compare fewer variants in one run"
            ),
            Self::RareSlices { middle, all } => format!(
                "all slices together give {all:.3}, their middle half {middle:.3}: the ratio is that of all slices, and the verdict is equivalent only if both are; look for stalls"
            ),
            Self::TotalsOpen { low, high } => format!(
                "the typical slice is equivalent, but all slices together may not be: they give {low:.3} to {high:.3}; look for stalls, or run more restarts"
            ),
            Self::MachinesDiffer { machines, sd, p } => format!(
                "the {machines} machines don't agree: their ratios scatter by {:.1}% beyond noise (p = {p:.3}), and the ratio is \
                 their mean; look at each machine",
                sd.exp_m1() * 100.0
            ),
            Self::KindsDiffer { kinds, of } => format!(
                "the ratio depends on the type of the machine: {kinds} of {of} types differ from the others; read the verdict of \
                 each type"
            ),
            Self::OddMachines { machines, of } => format!(
                "{machines} of {of} machines certainly give another ratio than the others: find out why, or leave them out"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_slices_are_counted_in_the_same_words() {
        let one = "too few blocks: 1, so there is no interval and no verdict";
        assert!(Warning::OneBlock.to_string().starts_with(one));
        assert!(Warning::OneRestart.to_string().starts_with(one));
        let few = [Warning::TooFewBlocks { blocks: 3 }, Warning::TooFewRestarts { restarts: 3 }];
        for said in few.map(|few| few.to_string()) {
            assert!(said.starts_with("too few blocks: 3, so there is no verdict"), "{said}");
        }
    }
}
