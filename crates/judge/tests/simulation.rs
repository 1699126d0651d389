//! Simulated experiments with known truth, in which the judge must be right as often as it claims.

use judge::{Comparison, Margin, Verdict, compare};

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same numbers in every run.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// k blocks of a variant with the true `ratio`. Blocks as a whole differ by 10% (the machine),
    /// trials inside a block by `cv`.
    fn experiment(&mut self, k: usize, ratio: f64, cv: f64, margin: f64) -> Comparison {
        let mut base = Vec::new();
        let mut variant = Vec::new();
        for _ in 0..k {
            let machine = 10_000.0 * (0.1 * self.normal()).exp();
            base.push(machine * (cv * self.normal()).exp());
            variant.push(machine * ratio * (cv * self.normal()).exp());
        }
        compare(&base, &variant, Margin::of(margin)).expect("positive values")
    }
}

const RUNS: usize = 2000;

fn count(runs: usize, mut happens: impl FnMut() -> bool) -> usize {
    (0..runs).filter(|_| happens()).count()
}

/// Counts are exact because seeds are fixed. A bound alone would let the judge become worse within
/// it.
fn exactly(hits: &[usize], expected: &[usize]) {
    assert_eq!(hits, expected, "the answers of the judge changed; should they?");
}

#[test]
fn identical_variants_raise_few_false_alarms() {
    let mut random = Random(1);
    let mut hits = Vec::new();
    for k in [2, 6, 8, 10] {
        for cv in [0.01, 0.05] {
            let alarms = count(RUNS, || {
                matches!(
                    random.experiment(k, 1.0, cv, 0.02).verdict,
                    Verdict::Regression | Verdict::Improvement
                )
            });
            assert!(alarms <= RUNS / 20, "{k} blocks, CV {cv}: {alarms}");
            hits.push(alarms);
        }
    }
    exactly(&hits, &[0, 0, 0, 19, 0, 19, 0, 16]);
}

#[test]
fn without_a_margin_false_alarms_are_the_promised_five_percent() {
    let mut random = Random(2);
    let hits = [6, 8, 10].map(|k| {
        let alarms = count(RUNS, || {
            matches!(
                random.experiment(k, 1.0, 0.01, 0.0).verdict,
                Verdict::Regression | Verdict::Improvement
            )
        });
        // 100 scatter by 10: three deviations.
        assert!((70..=130).contains(&alarms), "{k} blocks: {alarms}");
        alarms
    });
    exactly(&hits, &[100, 107, 87]);
}

#[test]
fn a_true_ratio_on_the_edge_of_the_margin_is_rarely_called_a_regression() {
    let mut random = Random(3);
    let alarms =
        count(RUNS, || random.experiment(6, 0.98, 0.01, 0.02).verdict == Verdict::Regression);
    assert!(alarms <= 70, "{alarms}: 50 of 2000, and three deviations");
    exactly(&[alarms], &[51]);
}

#[test]
fn the_interval_covers_the_truth_95_times_in_100() {
    let mut random = Random(4);
    let mut hits = Vec::new();
    for k in [2, 6, 8, 10, 20] {
        for ratio in [0.7, 0.934, 1.0, 1.2] {
            let covered = count(RUNS, || {
                let found = random.experiment(k, ratio, 0.03, 0.02);
                found.low.is_some_and(|low| low <= ratio)
                    && found.high.is_some_and(|high| ratio <= high)
            });
            assert!((1870..=1930).contains(&covered), "{k} blocks, ratio {ratio}: {covered}");
            hits.push(covered);
        }
    }
    exactly(
        &hits,
        &[
            1890, 1876, 1891, 1904, 1897, 1906, 1902, 1891, 1883, 1905, 1916, 1911, 1891, 1905,
            1892, 1883, 1905, 1904, 1903, 1899,
        ],
    );
}

#[test]
fn real_regressions_are_found() {
    let mut random = Random(5);
    let hits = [
        (0.934, 0.01, Verdict::Regression),
        (1.08, 0.01, Verdict::Improvement),
        (1.0, 0.005, Verdict::Equivalent),
    ]
    .map(|(ratio, cv, verdict)| {
        let found = count(1000, || random.experiment(6, ratio, cv, 0.02).verdict == verdict);
        assert!(found > 950, "{ratio} at a CV of {cv} in 6 blocks: {verdict} in {found} of 1000");
        found
    });
    exactly(&hits, &[1000, 1000, 999]);
}

#[test]
fn sign_flip_holds_its_level() {
    let mut random = Random(6);
    let hits = [6, 10].map(|k| {
        let rejected = count(RUNS, || {
            random.experiment(k, 1.0, 0.02, 0.02).sign_flip_p.is_some_and(|p| p <= 0.05)
        });
        // With 6 blocks it can reach 2/64 only.
        assert!((40..=130).contains(&rejected), "{k} blocks: {rejected}");
        rejected
    });
    exactly(&hits, &[74, 84]);
}

#[test]
fn the_further_blocks_asked_for_decide_about_half_the_time_or_more() {
    let mut random = Random(7);
    let (mut asked, mut decided) = (0_usize, 0);
    for _ in 0..1500 {
        let first = random.experiment(6, 0.965, 0.015, 0.02);
        if first.verdict != Verdict::Inconclusive {
            continue;
        }
        let Some(further) = first.further_blocks.filter(|n| *n <= 60) else {
            continue;
        };
        asked += 1;
        // What the estimate assumes: the ratio and the spread seen are the true ones.
        let k = 6 + further as usize;
        let spread = first.sd_log.expect("six blocks") / std::f64::consts::SQRT_2;
        if random.experiment(k, first.ratio, spread, 0.02).verdict != Verdict::Inconclusive {
            decided += 1;
        }
    }
    assert!(asked > 100, "{asked}");
    assert!(decided * 10 > asked * 4, "{decided} of {asked}");
    exactly(&[asked, decided], &[913, 492]);
}
