//! Does [`judge`] say what is true? Experiments are simulated whose truth is known, and the answers
//! are counted.
//!
//! Each file in `subjects/` has one question and gives [`Findings`]: tables to read and [`Check`]s
//! that hold or do not. The program `validate` (`make validate`) runs them with many experiments
//! and puts the tables into VALIDATION.md, between the markers of the subject; the tests run them
//! with few.
//!
//! To add one: a file in `subjects/` with `pub fn run(size: Size, findings: &mut Findings)`, a line
//! in [`SUBJECTS`], and the markers in VALIDATION.md.
//!
//! All random numbers come from fixed seeds, one per experiment, so that neither the number of
//! threads nor the machine changes a figure.

pub mod document;
mod experiment;
mod findings;
mod noise;
mod printed;
mod published;
mod random;
mod rates;
mod rounds;
mod subjects;
mod welch;

pub(crate) use findings::figures;
pub use findings::{Check, Findings, Size, Table};
pub use random::Random;
pub use rates::Rate;
pub(crate) use rates::{Outcomes, percent, simulate};
pub use subjects::{SUBJECTS, Subject};
