//! Options for showing counts.

/// The counts to show, and how to judge them.
#[derive(Debug, Clone)]
pub struct CountOptions {
    /// Name of the variant to compare with; the plan's base when `None`.
    pub base: Option<String>,
    /// δ as a fraction: certain differences up to it are `equivalent`. The plan's when `None`.
    pub margin: Option<f64>,
    /// What to show phases, functions and verdicts of: an event that was counted; instructions when
    /// `None`.
    pub event: Option<String>,
    /// Maximum number of rows in a table of functions.
    pub functions: usize,
    /// Shows a table of functions for every kind of statement, not only for the one that moved
    /// most.
    pub every_kind: bool,
    /// Prints only the short output, for a terminal with this many columns, instead of all tables.
    pub brief: Option<usize>,
}

impl Default for CountOptions {
    fn default() -> Self {
        let (base, margin, event, brief) = (None, None, None, None);
        Self { base, margin, event, functions: 15, every_kind: false, brief }
    }
}
