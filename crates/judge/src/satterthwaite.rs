//! The error of a sum of parts whose variances were estimated separately.

/// The sum of variances, each given with its degrees of freedom, and the degrees of freedom of the
/// sum (F. E. Satterthwaite, *Biometrics Bulletin* 2, 1946). Without any variance, the degrees of
/// freedom are those of all parts together.
pub(crate) fn satterthwaite(parts: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (mut variance, mut squares, mut all) = (0.0, 0.0, 0.0);
    for (part, freedom) in parts {
        variance += part;
        squares += part * part / freedom;
        all += freedom;
    }
    (variance, if squares > 0.0 { variance * variance / squares } else { all })
}
