//! Is [`judge`] right? This crate simulates experiments with known truth and counts the right
//! answers.
//!
//! Each file in `subjects/` answers one question with [`Findings`]: tables to read, and [`Check`]s
//! that hold or don't. The program `validate` (`make validate`) runs them with many experiments and
//! puts the tables into VALIDATION.md, between the markers of the subject; the tests run them with
//! few.
//!
//! To add one: a file in `subjects/` with `pub fn run(size: Size, findings: &mut Findings)`, a line
//! in [`SUBJECTS`], and the markers in VALIDATION.md.
//!
//! All random numbers come from fixed seeds, one per experiment, so figures depend neither on the
//! number of threads nor on the machine.

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
