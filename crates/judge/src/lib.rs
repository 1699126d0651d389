//! Statistics as pure functions: is a variant slower than the base, by how much, and how certain is
//! that?
//!
//! This crate reads no files and prints nothing. The unit of evidence is a *trial*: one run of one
//! variant through the steps. Trials come in randomized *blocks* (every variant once), so the value
//! of the variant in block *i* is paired with the value of the base in the same block, and slow
//! changes of the machine cancel out.
//!
//! ```
//! use judge::{compare, Margin, Verdict};
//!
//! let base    = [10210.0, 10190.0, 10250.0, 10205.0, 10180.0, 10230.0]; // rows/s in blocks 1 to 6
//! let variant = [ 9540.0,  9510.0,  9570.0,  9525.0,  9520.0,  9560.0];
//! let outcome = compare(&base, &variant, Margin::default()).unwrap();
//!
//! assert_eq!(outcome.verdict, Verdict::Regression);
//! assert!((outcome.ratio - 0.934).abs() < 0.001);
//! assert!(outcome.high.unwrap() < 0.98);
//! ```
//!
//! How a verdict is reached:
//!
//! 1. `d_i = ln(variant_i / base_i)` for every block; the estimate is `exp(mean d)`.
//! 2. The 95% interval is `exp(mean d ± t(k-1, 0.975) · s / √k)`, Student's t with `k-1` degrees of
//!    freedom.
//! 3. Wholly below `1-δ`: [`Verdict::Regression`]. Wholly above `1+δ`: [`Verdict::Improvement`].
//!    Where identical variants differ by more than δ, both have to exceed that. Wholly between:
//!    [`Verdict::Equivalent`], even if there is certainly a (small) difference. Otherwise
//!    [`Verdict::Inconclusive`], with the number of further blocks needed. So is every comparison
//!    with fewer than [`ENOUGH_BLOCKS`].
//! 4. Over many steps, [`control_false_discoveries`] retracts regressions and improvements that so
//!    many comparisons would produce by chance.
//!
//! In addition to the verdict, a comparison says whether any difference is
//! [`Comparison::confirmed`], whatever its size, and the smallest one that would have been
//! ([`Comparison::detectable`]). [`Looks`] splits the error rate when an experiment grows until it
//! is decided. [`noise_floor`] and [`false_alarm_rate`] show how identical variants differ.
//!
//! Blocks of several machines are compared by [`over_machines`]: a verdict about these machines, an
//! interval for machines like these, and [`OverMachines::findings`] that name machines and types of
//! machines on which the effect is another one.
//!
//! Seconds within one trial are autocorrelated: [`stalls`], [`trend`], [`steadiness`] and
//! [`effective_sample_size`] describe them, and never serve as evidence for a verdict.
//! [`change_points`] looks for changes in a history of trials.

mod autocorrelation;
mod beta;
mod by_length;
mod by_servers;
mod change_points;
mod cliff;
mod comparison;
mod course;
mod design;
mod error;
mod estimate;
mod lengths;
mod levels;
mod looks;
mod machines;
mod multiple;
mod normal;
mod over_restarts;
mod paired;
mod random;
mod restarts;
mod satterthwaite;
mod series;
mod side;
mod sign_flip;
mod slices;
mod spread;
mod stall;
mod student;
mod trimmed;
mod twins;
mod verdict;
mod warning;

pub use autocorrelation::{
    autocorrelation, effective_sample_size, persistence, variance_inflation,
};
pub use by_length::{SLICE_TOLERANCE, long_enough, longer_slices};
pub use change_points::{
    ChangePoint, ChangeSearch, Changes, ENOUGH_UNITS, Exchangeable, HistoryError, MIN_SEGMENT,
    change_points,
};
pub use cliff::{Cliff, SweepPoint, cliffs};
pub use comparison::{
    CONFIDENCE, Comparison, FALSE_DISCOVERY_RATE, LEAST_DETECTING_FREEDOM, Method, POWER,
    detectable_effect,
};
pub use course::{Course, Outlook, Watched};
pub use design::{Design, LONGEST, SHORTEST, StepNoise, USUAL_BETWEEN, design};
pub use error::JudgeError;
pub use lengths::{
    Bias, ENOUGH_OPERATIONS, LEVEL_TOLERANCE, LengthChoice, LengthFigures, LengthTrial, RuledOut,
    choose_length,
};
pub use levels::{
    Allocation, LevelsError, SHORTEST_TRIAL, Spending, StepVariance, TrialCost, TrialSeconds,
    allocate, optimal_seconds,
};
pub use looks::{Looks, decided};
pub use machines::{
    Finding, MachineBlocks, MachineSpread, Odd, OfKind, OfMachine, OverMachines, over_machines,
    too_noisy,
};
pub use multiple::{adjusted_p_values, control_false_discoveries};
pub use normal::normal_cdf;
pub use paired::{compare, compare_at};
pub use restarts::{MUCH_IDLE, MUCH_SET_ASIDE, compare_frozen, compare_slices, deciding, totals};
pub use series::{STEADY_SECONDS, Steadiness, Trend, steadiness, trend};
pub use side::Side;
pub use sign_flip::{EXACT_BLOCKS, sign_flip_p};
pub use slices::{ByLength, FEWEST_PAIRS, RestartRatio, TRIMMED, restart_ratio};
pub use spread::{cv_population, cv_sample, mean, median, quantile, sd_population, sd_sample};
pub use stall::{STALL_SHARE, Stalls, stalls};
pub use student::{t_cdf, t_quantile};
pub use twins::{FalseAlarms, NOISE_PERCENTILE, binomial_interval, false_alarm_rate, noise_floor};
pub use verdict::{DEFAULT_MARGIN, MAX_FURTHER_BLOCKS, Margin, Verdict};
pub use warning::{ENOUGH_BLOCKS, ENOUGH_FROZEN, ENOUGH_ROUNDS, Warning};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
