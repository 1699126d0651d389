//! Options of `explain`.

/// The steps to explain, and in how much detail.
#[derive(Debug, Clone)]
pub struct ExplainOptions {
    /// A step, such as `l.i0`; `None`: every profiled step.
    pub step: Option<String>,
    /// The function whose callees are shown; `None`: the one in which the base's server executes
    /// clients' statements.
    pub parent: Option<String>,
    /// How many of the functions that moved to show for each variant.
    pub functions: usize,
    /// Name of the variant to compare with; the plan's base when `None`.
    pub base: Option<String>,
    /// The command that counts the instructions of this experiment's requests; `None` where they
    /// can't be counted.
    pub counting: Option<String>,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        Self { step: None, parent: None, functions: 15, base: None, counting: None }
    }
}
