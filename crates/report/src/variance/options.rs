//! Options of `variance`.

use crate::load::chosen::Chosen;

/// The divisor of a standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deviation {
    /// The number of trials, as in the published tables (over 3 runs).
    #[default]
    Population,
    /// The number of trials minus one: the estimate for future trials.
    Sample,
}

/// The variances to show.
#[derive(Debug, Clone)]
pub struct VarianceOptions {
    /// Which experiments.
    pub chosen: Chosen,
    /// The metric, such as `o/s`.
    pub metric: String,
    /// Only these steps, by name; empty: all. A setup's maximum and mean are over them.
    pub steps: Vec<String>,
    /// How the deviation is computed.
    pub deviation: Deviation,
    /// Setups whose maximum CV is at most this are chosen; a fraction.
    pub limit: f64,
}

impl Deviation {
    /// Its name in options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Population => "population",
            Self::Sample => "sample",
        }
    }

    /// Standard deviation / mean; `None` for fewer than two values.
    pub(super) fn cv(self, values: &[f64]) -> Option<f64> {
        if values.len() < 2 {
            return None;
        }
        match self {
            Self::Population => judge::cv_population(values),
            Self::Sample => judge::cv_sample(values),
        }
    }
}
