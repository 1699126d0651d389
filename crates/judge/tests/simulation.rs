//! Known truth: simulated experiments, in which the judge must be right as often as it says.

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

    /// k blocks of a variant with the true `ratio`. Blocks as a whole differ by 10% (the machine), trials inside a
    /// block by `cv`.
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

fn share(runs: usize, mut happens: impl FnMut() -> bool) -> f64 {
    (0..runs).filter(|_| happens()).count() as f64 / runs as f64
}

#[test]
fn identical_variants_raise_few_false_alarms() {
    let mut random = Random(1);
    for k in [2, 6, 8, 10] {
        for cv in [0.01, 0.05] {
            let alarms = share(RUNS, || {
                matches!(
                    random.experiment(k, 1.0, cv, 0.02).verdict,
                    Verdict::Regression | Verdict::Improvement
                )
            });
            assert!(alarms <= 0.05, "{k} blocks, CV {cv}: {alarms}");
        }
    }
}

#[test]
fn without_a_margin_false_alarms_are_the_promised_five_percent() {
    let mut random = Random(2);
    for k in [6, 8, 10] {
        let alarms = share(RUNS, || {
            matches!(
                random.experiment(k, 1.0, 0.01, 0.0).verdict,
                Verdict::Regression | Verdict::Improvement
            )
        });
        // 2000 runs at 5% scatter by 0.49 percentage points: four deviations.
        assert!((alarms - 0.05).abs() < 0.02, "{k} blocks: {alarms}");
    }
}

#[test]
fn a_true_ratio_on_the_edge_of_the_margin_is_rarely_called_a_regression() {
    let mut random = Random(3);
    let alarms =
        share(RUNS, || random.experiment(6, 0.98, 0.01, 0.02).verdict == Verdict::Regression);
    assert!(alarms < 0.025 + 0.01, "{alarms}");
}

#[test]
fn the_interval_covers_the_truth_95_times_in_100() {
    let mut random = Random(4);
    for k in [2, 6, 8, 10, 20] {
        for ratio in [0.7, 0.934, 1.0, 1.2] {
            let covered = share(RUNS, || {
                let found = random.experiment(k, ratio, 0.03, 0.02);
                found.low.is_some_and(|low| low <= ratio)
                    && found.high.is_some_and(|high| ratio <= high)
            });
            assert!((0.93..=0.97).contains(&covered), "{k} blocks, ratio {ratio}: {covered}");
        }
    }
}

#[test]
fn real_regressions_are_found() {
    let mut random = Random(5);
    let found =
        share(1000, || random.experiment(6, 0.934, 0.01, 0.02).verdict == Verdict::Regression);
    assert!(found > 0.95, "6.6% slower at a CV of 1% in 6 blocks: found in {found}");
    let found =
        share(1000, || random.experiment(6, 1.08, 0.01, 0.02).verdict == Verdict::Improvement);
    assert!(found > 0.95, "{found}");
    let same =
        share(1000, || random.experiment(6, 1.0, 0.005, 0.02).verdict == Verdict::Equivalent);
    assert!(same > 0.95, "{same}");
}

#[test]
fn sign_flip_holds_its_level() {
    let mut random = Random(6);
    for k in [6, 10] {
        let rejected = share(RUNS, || {
            random.experiment(k, 1.0, 0.02, 0.02).sign_flip_p.is_some_and(|p| p <= 0.05)
        });
        assert!(rejected <= 0.05 + 0.02, "{k} blocks: {rejected}");
        assert!(rejected > 0.02, "{k} blocks: {rejected}");
    }
}

#[test]
fn the_further_blocks_asked_for_decide_about_half_the_time_or_more() {
    let mut random = Random(7);
    let (mut asked, mut decided) = (0, 0);
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
    let share = f64::from(decided) / f64::from(asked);
    assert!((0.4..0.9).contains(&share), "{share} of {asked}");
}
