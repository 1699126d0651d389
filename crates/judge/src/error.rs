//! Inputs that cannot be compared.

use crate::Side;

/// Why values cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum JudgeError {
    /// No block has a value on both sides.
    #[error(
        "expected at least one block with a value of base and variant, found none; finish one block first"
    )]
    NoBlocks,
    /// The two slices do not pair up.
    #[error(
        "expected one value of the variant for each of {base} blocks of the base, found {variant}; pair them by block"
    )]
    Unpaired {
        /// Number of values of the base.
        base: usize,
        /// Number of values of the variant.
        variant: usize,
    },
    /// A value whose logarithm does not exist.
    #[error(
        "expected a positive finite value, found {value} for the {side} in block {block}; leave out failed steps"
    )]
    NotPositive {
        /// The side that has the value.
        side: Side,
        /// Position in the lists, from 1.
        block: usize,
        /// The value.
        value: f64,
    },
    /// A log ratio that is not a number, or infinite.
    #[error(
        "expected finite log ratios, found {value} in block {block} of machine {machine}; leave out failed steps"
    )]
    NotFinite {
        /// Position of the machine, from 1.
        machine: usize,
        /// Position in its list, from 1.
        block: usize,
        /// The log ratio.
        value: f64,
    },
    /// Too few rounds in which both slices were measured.
    #[error(
        "expected at least {needed} rounds with a slice of base and variant, found {pairs}; make the step longer"
    )]
    TooFewRounds {
        /// Rounds with both.
        pairs: usize,
        /// Fewest allowed.
        needed: usize,
    },
    /// An invalid rate of a slice.
    #[error(
        "expected a rate of 0 or more, found {value} for the {side} in round {round}; set such slices aside as NaN"
    )]
    Rate {
        /// Whose rate.
        side: Side,
        /// The round, from 1.
        round: usize,
        /// The rate.
        value: f64,
    },
    /// A side without any operation.
    #[error(
        "expected operations in the slices of the {side}, found none; look for errors in its log, or choose longer slices"
    )]
    Idle {
        /// Whose slices.
        side: Side,
    },
    /// Too few rounds in which either side did anything.
    #[error(
        "expected at least {needed} rounds with operations of base or variant, found {busy}; choose longer slices, or \
         look for what stopped both"
    )]
    BothIdle {
        /// Rounds in which at least one did something.
        busy: usize,
        /// Fewest allowed.
        needed: usize,
    },
    /// An invalid confidence.
    #[error("expected a confidence between 0 and 1, such as 0.95, found {confidence}")]
    Confidence {
        /// The requested confidence.
        confidence: f64,
    },
}
