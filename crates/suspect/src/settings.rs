//! What is asked of a search, and when it stops.

use judge::Margin;

/// What is asked, and what is known before the first look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Changes outside its outer edges are looked for; smaller ones are allowed anywhere.
    pub margin: Margin,
    /// Probability from which on something counts as found, or as not there.
    pub confidence: f64,
    /// Prior probability that no change moved anything, in (0, 1).
    ///
    /// With 0.5, looks have to make a change 99 times as likely as none before it is found with
    /// 99%. If nothing changed, they do so in at most 1% of searches, however often one looks and
    /// whenever one stops (J. Ville, *Étude critique de la notion de collectif*, 1939).
    pub nothing: f64,
    /// Typical log ratio of what moved: the scale of its prior, a Cauchy distribution.
    pub typical: f64,
    /// Standard deviation, in logarithms, of builds that perform alike, as by the layout of their
    /// code. More looks at the same candidate do not reduce it. Above 0.
    pub repeatability: f64,
    /// Candidates between the ends, spread evenly, to look at before the verdict is that nothing
    /// changed: a regression and its fix leave the ends equal.
    pub inner: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self::within(Margin::default())
    }
}

impl Settings {
    /// The settings for a margin: 99%, a typical change of three margins, builds that differ by a
    /// twentieth of it, three inner looks.
    pub fn within(margin: Margin) -> Self {
        let edge = margin.outer_edges().1.ln().max(1e-6);
        Self {
            margin,
            confidence: 0.99,
            nothing: 0.5,
            typical: 3.0 * edge,
            repeatability: 0.05 * edge,
            inner: 3,
        }
    }

    /// Log ratios of neighbors between which nothing changed by more than the margin.
    pub(crate) fn edges(&self) -> (f64, f64) {
        let (below, above) = self.margin.outer_edges();
        (below.ln(), above.ln())
    }
}
