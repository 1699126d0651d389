//! The probabilities of a bisection: which change in a range of commits or releases moved the
//! performance, by how much, and where to look next?
//!
//! Pure functions: no files, no clocks, no processes. The caller builds and measures; this crate
//! says what the figures prove. It stands beside crate `judge`, which says what one comparison
//! proves.
//!
//! ```
//! use suspect::{Candidate, Effort, Look, Posterior, Range, Rest, Settings};
//!
//! // Candidates 0 to 8. Number 4 doesn't build, which we don't know yet.
//! let mut range = Range::new(vec![Candidate::default(); 9], Settings::default())?;
//! let effort = Effort { error: 0.004, most: 1 };
//! let mut looks: Vec<Look> = Vec::new();
//!
//! // The performance falls by 5% at change 6, here without any noise.
//! while let Some(next) = Posterior::new(&range, &looks)?.next(effort) {
//!     if next.candidate == 4 {
//!         range.fails(4);
//!         continue;
//!     }
//!     range.built(next.candidate);
//!     let log_ratio = if next.candidate < 6 { 0.0 } else { 0.95_f64.ln() };
//!     looks.push(Look { candidate: next.candidate, log_ratio, error: 0.004, freedom: 5.0 });
//! }
//!
//! let verdict = Posterior::new(&range, &looks)?.verdict();
//! assert_eq!(verdict.culprits.len(), 1);
//! assert_eq!(verdict.culprits[0].at(), Some(6));
//! assert!(verdict.culprits[0].probability > 0.99 && verdict.culprits[0].high < 0.96);
//! assert!(matches!(verdict.rest, Rest::Nothing { .. }));
//! # Ok::<(), suspect::RangeError>(())
//! ```
//!
//! # How it searches
//!
//! Noisy binary search with Bayes' rule: keep the probability of every place, and ask where it is
//! halved (M. Horstein, 1963; M. V. Burnashev and K. S. Zigangirov, 1974). That needs about `log₂ n
//! / I(p)` answers that are wrong with probability p, and no method needs fewer (M. Ben-Or and A.
//! Hassidim, *The Bayesian Learner is Optimal for Noisy Binary Search*, FOCS 2008; see
//! [`looks_bound`]). R. M. Karp and R. Kleinberg (*Noisy Binary Search and its Applications*, SODA
//! 2007) treat answers whose error depends on the place. T. A. D. Henderson et al. (*Flake Aware
//! Culprit Finding*, ICST 2023) use Bayes' rule for flaky tests, with priors for the changes.
//!
//! Here answers are not yes or no, but measured ratios with standard errors ([`Look`]). Neither
//! the size of the change is known, nor whether there is one. [`Posterior`] has the model, and
//! integrates over all levels. [`Posterior::next`] proposes the look with the most information per
//! cost, which takes into account that some candidates are built, fail, or have neighbors that
//! failed.
//!
//! # What a verdict guarantees
//!
//! - A [`Culprit`] moved the level by more than the margin with a probability of at least
//!   [`Settings::confidence`]. It has several suspects if the candidates between them fail.
//! - Where nothing changed, a culprit is named in at most 1% of searches (with the default prior),
//!   however many looks are taken ([`Settings::nothing`]).
//! - [`Rest::Nothing`]: between no two neighbors among the candidates that were looked at did the
//!   level move by more than the margin. Changes that cancel each other between two of them are not
//!   seen.
//! - A range can have several changes. They are found one after another: once a culprit is known,
//!   looks go to the rest of the range, on both sides, until it is known that nothing else moved.
//!   Of two changes that cancel each other, such as a regression and its fix, both are found if a
//!   look falls between them. Before the verdict is [`Rest::Nothing`], [`Settings::inner`]
//!   candidates are looked at that divide the range about evenly. With k of them, a pair that lies
//!   at least `2 / (k + 1)` of the range apart has such a look: with three, half of the range. A
//!   pair closer together may have none, and is then not seen.
//! - Small changes may add up to more than the margin without a culprit: [`Reason::Gradual`].
//!
//! These are probabilities under the model. VALIDATION.md has simulations with noise that the model
//! does not know: heavy tails, outliers, stalls.

mod levels;
mod next;
mod posterior;
mod range;
mod settings;
mod verdict;

pub use next::{Effort, Next, information, looks_bound};
pub use posterior::{Posterior, Stretch};
pub use range::{Candidate, Look, Range, RangeError};
pub use settings::Settings;
pub use verdict::{Culprit, Reason, Rest, Verdict};
