//! The sign-flip test: what would the mean difference be if "base" and "variant" were only names?
//!
//! Under that hypothesis every block's log ratio could as well have had the other sign. The p value
//! is the share of all `2^k` ways to set the signs whose |sum| is at least the one seen (R. A.
//! Fisher, *The Design of Experiments*, 1935, §21). It assumes nothing about the shape of the
//! distribution.

use crate::normal_cdf;

/// Up to this number of blocks the p value is exact; above it, the normal approximation is used.
pub const EXACT_BLOCKS: usize = 30;

/// Two-sided p value of the sign-flip test that the log ratios `differences` are symmetric around
/// zero.
///
/// Exact for at most [`EXACT_BLOCKS`] differences. Beyond, the sum over random signs is normal with
/// variance `Σ d²` by the central limit theorem. With `k` blocks the smallest possible value is
/// `2^(1-k)`: fewer than 6 blocks can never reach 0.05. `None` without differences or when one is
/// not finite.
pub fn sign_flip_p(differences: &[f64]) -> Option<f64> {
    if differences.is_empty() || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    // Sorted by size, so that the order of the blocks cannot change even the last bit of a sum.
    let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let seen = differences.iter().sum::<f64>().abs();
    let total: f64 = sizes.iter().sum();
    if total == 0.0 {
        return Some(1.0);
    }
    if differences.len() > EXACT_BLOCKS {
        let spread = sizes.iter().map(|d| d * d).sum::<f64>().sqrt();
        return Some((2.0 * normal_cdf(-seen / spread)).min(1.0));
    }
    // Equal sums must count as equal although they were added in another order.
    let threshold = seen - 1e-12 * total;
    let (left, right) = sizes.split_at(sizes.len() / 2);
    let left = signed_sums(left);
    let mut right = signed_sums(right);
    right.sort_by(f64::total_cmp);
    // Every sum of all differences is one of `left` plus one of `right`: count without walking
    // through all 2^k.
    let extreme: u64 = left
        .iter()
        .map(|sum| {
            let above = right.len() - right.partition_point(|other| sum + other < threshold);
            let below = right.partition_point(|other| sum + other <= -threshold);
            // With a threshold at or under zero every assignment is extreme, and would be counted
            // twice.
            (above + below).min(right.len()) as u64
        })
        .sum();
    Some(extreme as f64 / (left.len() * right.len()) as f64)
}

/// The sums of `values` under every choice of signs: `2^n` of them.
fn signed_sums(values: &[f64]) -> Vec<f64> {
    values.iter().fold(vec![0.0], |sums, value| {
        sums.iter().flat_map(|sum| [sum + value, sum - value]).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Darwin's maize, the example for which Fisher invented the test (*The Design of Experiments*,
    /// §21): of the 32768 arrangements 863 reach a sum of 314 or more, so 1726 do on both sides.
    #[test]
    fn fishers_own_example() {
        let darwin = [
            49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0,
            -48.0,
        ];
        let p = sign_flip_p(&darwin).unwrap();
        assert!((p - 1726.0 / 32768.0).abs() < 1e-15, "{p}");
    }

    #[test]
    fn all_of_one_sign_gives_the_smallest_p() {
        for k in 1..=EXACT_BLOCKS {
            let same: Vec<f64> = (1..=k).map(|i| 0.01 * i as f64).collect();
            let expected = 2.0_f64.powi(1 - i32::try_from(k).unwrap());
            let p = sign_flip_p(&same).unwrap();
            assert!((p / expected - 1.0).abs() < 1e-12, "{k}: {p} instead of {expected}");
        }
    }

    #[test]
    fn agrees_with_walking_through_all_signs() {
        let d = [0.021, -0.013, 0.007, 0.0301, -0.002, 0.011, 0.011];
        let seen: f64 = d.iter().sum::<f64>().abs() - 1e-15;
        let extreme = (0..1_u32 << d.len())
            .filter(|signs| {
                let sum: f64 = d
                    .iter()
                    .enumerate()
                    .map(|(i, d)| if signs >> i & 1 == 1 { -d } else { *d })
                    .sum();
                sum.abs() >= seen
            })
            .count();
        let p = sign_flip_p(&d).unwrap();
        assert!((p - extreme as f64 / 128.0).abs() < 1e-12);
    }

    #[test]
    fn approximation_continues_the_exact_values() {
        let d = |k: usize| -> Vec<f64> {
            (0..k).map(|i| 0.004 + 0.01 * ((i * 7919 % 31) as f64 / 15.0 - 1.0)).collect()
        };
        let exact = sign_flip_p(&d(EXACT_BLOCKS)).unwrap();
        let approximate = sign_flip_p(&d(EXACT_BLOCKS + 1)).unwrap();
        assert!((exact - approximate).abs() < 0.03, "{exact} and {approximate}");
    }

    #[test]
    fn no_difference_and_no_data() {
        assert_eq!(sign_flip_p(&[0.0, 0.0, 0.0]), Some(1.0));
        assert_eq!(sign_flip_p(&[0.1, -0.1]), Some(1.0));
        assert_eq!(sign_flip_p(&[]), None);
        assert_eq!(sign_flip_p(&[0.1, f64::NAN]), None);
    }
}
