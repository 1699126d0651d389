//! The questions, one file each.

mod bisect;
mod blocks;
mod cliffs;
mod counts;
mod designed;
mod frozen;
mod history;
mod levels;
mod looks;
mod machines;
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
    /// Simulates, counts, and adds what it found.
    pub run: fn(Size, &mut Findings),
    /// Its code: when that changes, so may its tables (see [`crate::document`]).
    pub source: &'static [&'static str],
}

impl Subject {
    /// The findings of one of its forms.
    pub fn findings(&self, size: Size) -> Findings {
        let mut findings = Findings::default();
        (self.run)(size, &mut findings);
        findings
    }
}

/// The subject of a module of that name.
macro_rules! subject {
    ($name:ident $(, $part:literal)*) => {
        Subject {
            name: stringify!($name),
            run: $name::run,
            source: &[include_str!(concat!(stringify!($name), ".rs")) $(, include_str!($part))*],
        }
    };
}

/// All of them, in the order of VALIDATION.md.
pub const SUBJECTS: &[Subject] = &[
    subject!(blocks),
    subject!(naive),
    subject!(looks),
    subject!(designed),
    subject!(many),
    subject!(twins),
    subject!(machines, "machines/early.rs", "machines/fleets.rs", "machines/weights.rs"),
    subject!(slices, "slices/zeros.rs"),
    subject!(stalls),
    subject!(frozen, "frozen/runs.rs", "frozen/scenes.rs", "frozen/servers.rs"),
    subject!(history),
    subject!(levels),
    subject!(cliffs),
    subject!(counts),
    subject!(bisect),
    subject!(published),
];
