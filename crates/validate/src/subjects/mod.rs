//! The questions, one file each.

mod blocks;
mod counts;
mod history;
mod levels;
mod looks;
mod many;
mod naive;
mod published;
mod slices;
mod stalls;
mod twins;

use crate::{Findings, Size};

/// One question.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    /// Its name, as in the markers of VALIDATION.md and for `validate --only`.
    pub name: &'static str,
    /// Simulates and counts.
    pub run: fn(Size) -> Findings,
}

/// All of them, in the order of VALIDATION.md.
pub const SUBJECTS: &[Subject] = &[
    Subject { name: "blocks", run: blocks::run },
    Subject { name: "naive", run: naive::run },
    Subject { name: "looks", run: looks::run },
    Subject { name: "many", run: many::run },
    Subject { name: "twins", run: twins::run },
    Subject { name: "slices", run: slices::run },
    Subject { name: "stalls", run: stalls::run },
    Subject { name: "history", run: history::run },
    Subject { name: "levels", run: levels::run },
    Subject { name: "counts", run: counts::run },
    Subject { name: "published", run: published::run },
];
