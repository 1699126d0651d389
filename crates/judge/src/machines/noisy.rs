//! Which machines are too noisy to be measured on.

/// The places of the machines whose noise spoils the mean over machines, in which each counts the
/// same; the noisiest first. `variances` has one of each machine.
///
/// With M machines of variances v, the mean has the variance Σv / M²; without one of them it has
/// the smaller one (Σv - v) / (M - 1)² if v > Σv · (2M - 1) / M², which is about twice the mean of
/// v. The noisiest is left out, and then the rest is looked at again, until two are left.
pub fn too_noisy(variances: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..variances.len()).collect();
    order.sort_by(|one, other| variances[*other].total_cmp(&variances[*one]));
    let mut left = 0;
    while let [noisiest, rest @ ..] = &order[left..]
        && rest.len() >= 2
    {
        let (count, noisiest) = (rest.len() as f64 + 1.0, variances[*noisiest]);
        let sum = noisiest + rest.iter().map(|place| variances[*place]).sum::<f64>();
        if noisiest <= sum * (2.0 * count - 1.0) / (count * count) {
            break;
        }
        left += 1;
    }
    order.truncate(left);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The variance of the mean over machines.
    fn of_mean(variances: &[f64]) -> f64 {
        variances.iter().sum::<f64>() / (variances.len() as f64).powi(2)
    }

    #[test]
    fn without_those_named_the_mean_is_known_better() {
        let all = [1.0, 20.0, 1.2, 0.9, 6.0];
        assert_eq!(too_noisy(&all), [1, 4]);
        let rest = [1.0, 1.2, 0.9];
        assert!(of_mean(&rest) < of_mean(&[1.0, 1.2, 0.9, 6.0]));
        assert!(of_mean(&[1.0, 1.2, 0.9, 6.0]) < of_mean(&all));
        // Nobody else is worth leaving out.
        assert!(of_mean(&rest) < of_mean(&[1.0, 0.9]));
        assert_eq!(too_noisy(&rest), [0; 0]);
    }

    #[test]
    fn of_two_machines_neither_is_left_out() {
        assert_eq!(too_noisy(&[1.0, 1000.0]), [0; 0]);
        assert_eq!(too_noisy(&[]), [0; 0]);
        assert_eq!(too_noisy(&[0.0, 0.0, 0.0]), [0; 0]);
    }
}
