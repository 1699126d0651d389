//! Advice on blocks and seconds: are the variances of a pilot right, and does the experiment then
//! show what was promised?

use judge::{
    DEFAULT_MARGIN, Spending, StepVariance, TrialCost, TrialSeconds, allocate, mean,
    optimal_seconds, quantile,
};

use crate::experiment::compared;
use crate::noise::{Noise, PLAIN};
use crate::{Findings, Outcomes as _, Random, Size, figures, percent, simulate};

/// The largest p value that confirms: 5%, of a single comparison.
const LEVEL: f64 = 0.05;

/// The simulated noise.
const MODELS: [Noise; 4] = [
    PLAIN,
    Noise { name: "trials differ by 3%", between: 0.03, ..PLAIN },
    Noise { name: "seconds differ by 10%", second: 0.1, ..PLAIN },
    Noise {
        name: "trials hardly differ",
        between: 0.002,
        second: 0.05,
        autocorrelation: 0.2,
        ..PLAIN
    },
];

/// Blocks and seconds of the pilot.
const PILOT: (usize, usize) = (6, 60);

/// Seconds of a trial in addition to the measured ones: a restart, a restored directory, settling.
const COST: TrialCost = TrialCost { trial: 45.0, second: 1.0 };

/// The longest step in seconds. If the scatter of seconds hides that between trials, half of the
/// pilots see none between trials. Without a limit, they would ask for any number of seconds.
const LONGEST: u32 = 600;

fn truth(noise: &Noise) -> StepVariance {
    StepVariance {
        between: noise.between,
        second: noise.second,
        autocorrelation: noise.autocorrelation,
    }
}

/// The seconds of each trial, by variant and block.
fn experiment(
    noise: &Noise,
    (blocks, seconds): (usize, usize),
    ratio: f64,
    random: &mut Random,
) -> Vec<(usize, usize, Vec<f64>)> {
    let mut trials = Vec::with_capacity(2 * blocks);
    for block in 0..blocks {
        for line in 0..2 {
            let level = noise.deviation(random).exp() * if line == 1 { ratio } else { 1.0 };
            trials.push((line, block, noise.seconds(seconds, random).map(|v| level * v).collect()));
        }
    }
    trials
}

fn pilot(noise: &Noise, random: &mut Random) -> StepVariance {
    let trials = experiment(noise, PILOT, 1.0, random);
    let trials: Vec<TrialSeconds<'_>> = trials
        .iter()
        .map(|(line, block, seconds)| TrialSeconds { line: *line, block: *block, seconds })
        .collect();
    StepVariance::estimate(&trials).expect("two lines of six trials of sixty seconds")
}

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    pilots(size, findings);
    promises(size, findings);
    budgets(size, findings);
}

/// The estimates of the variances from a pilot.
fn pilots(size: Size, findings: &mut Findings) {
    let tries = size.pick(200, 4_000);
    findings.table(
        format!(
            "**Variances from a pilot** of {} blocks of {} s: true, and the median (and the middle 80%) of {tries} pilots.",
            PILOT.0, PILOT.1
        ),
        "noise | between trials | found | of a second | found | autocorrelation | found",
    );
    for (seed, noise) in (800..).zip(&MODELS) {
        let found = simulate(seed, tries, |random| pilot(noise, random));
        let shown = |figure: fn(&StepVariance) -> f64, scale: f64, decimals: usize, unit: &str| {
            let values = found.each(figure);
            let [low, middle, high] = [0.1, 0.5, 0.9].map(|p| {
                let value = scale * quantile(&values, p).unwrap_or(f64::NAN);
                format!("{value:.decimals$}")
            });
            format!("{middle}{unit} ({low} to {high})")
        };
        findings.row(
            noise.name,
            figures![
                percent(noise.between, 1),
                shown(|v| v.between, 100.0, 1, "%"),
                percent(noise.second, 1),
                shown(|v| v.second, 100.0, 1, "%"),
                format!("{:.1}", noise.autocorrelation),
                shown(|v| v.autocorrelation, 1.0, 2, ""),
            ],
        );
        // Variances, not deviations, are what an average must hit; that between trials is never
        // under 0, which raises it where it is small.
        let of_trial = |step: &StepVariance| step.of_trial(60.0).powi(2);
        let share = found.mean(of_trial) / of_trial(&truth(noise));
        findings.check(
            format!("variance of a trial from pilots, {}", noise.name),
            format!("{share:.2} of the true"),
            "0.9 to 1.35",
            (0.9..=1.35).contains(&share),
        );
    }
}

/// Half widths and detectable effects computed from the true variances, next to those of
/// experiments.
fn promises(size: Size, findings: &mut Findings) {
    let tries = size.pick(300, 10_000);
    findings.table(
        format!(
            "**What is promised and what comes**, from the true variances: expected half width of the interval and the median of \
             {tries} experiments; the detectable slowdown, and how often one of that size is confirmed (80% is promised \
             if the variances are estimated from that many blocks; here they are known exactly).",
        ),
        "noise | blocks | seconds | half width | came | detectable | confirmed",
    );
    for (seed, noise) in (810..).zip(&MODELS) {
        for (blocks, seconds) in [(6, 30), (10, 120)] {
            let step = truth(noise);
            let expected = step.half_width(blocks, f64::from(seconds)).unwrap_or(f64::NAN);
            let effect = step.detectable(blocks, f64::from(seconds), LEVEL).unwrap_or(f64::NAN);
            let came = simulate(seed, tries, |random| {
                let shape = (blocks as usize, seconds as usize);
                let trials = experiment(noise, shape, 1.0 - effect, random);
                let rates = |wanted: usize| -> Vec<f64> {
                    let of = trials.iter().filter(|(line, ..)| *line == wanted);
                    of.filter_map(|(_, _, seconds)| mean(seconds)).collect()
                };
                let found = compared(&rates(0), &rates(1), DEFAULT_MARGIN);
                // As a fraction of the variant's own throughput, lest the slowdown make it smaller.
                let width = found.half_width().unwrap_or(f64::NAN) / found.ratio;
                (width, found.excludes_one())
            });
            let width = came.median(|(width, _)| *width);
            let confirmed = came.rate(|(_, confirmed)| *confirmed);
            let [half, found, slowdown] = [expected, width, effect].map(|part| percent(part, 2));
            findings.row(
                noise.name,
                figures![
                    blocks,
                    seconds,
                    format!("±{half}"),
                    format!("±{found}"),
                    format!("-{slowdown}"),
                    confirmed
                ],
            );
            let what = |what: &str| format!("{what}, {}, {blocks} × {seconds} s", noise.name);
            findings.rate(what("confirmed at the detectable effect"), confirmed, 0.8..=0.92);
            findings.check(
                what("half width"),
                format!("{:.2} of the expected", width / expected),
                "0.85 to 1.05",
                (0.85..=1.05).contains(&(width / expected)),
            );
        }
    }
}

/// Advice from a pilot, judged by the truth.
fn budgets(size: Size, findings: &mut Findings) {
    let tries = size.pick(100, 4_000);
    findings.table(
        format!(
            "**Advice for 8 hours**, two variants, a trial costing {} s beside its seconds, to detect −2%: blocks × seconds from the \
             true variances, and the power they have; the median power of the advice of {tries} pilots. Kalibera and Jones: seconds \
             that buy most for the time, and by how much an interval from a pilot's choice is wider for the same time \
             (median).",
            COST.trial
        ),
        "noise | advice | hours | power | power from pilots | best seconds | wider by",
    );
    let spending = Spending {
        budget: 8.0 * 3600.0,
        variants: 2,
        cost: COST,
        least_blocks: 6,
        most_blocks: 100,
        shortest: 10,
        longest: LONGEST,
        level: LEVEL,
    };
    let wanted = 0.02;
    for (seed, noise) in (820..).zip(&MODELS) {
        let step = truth(noise);
        let Some(known) = allocate(&[step], wanted, &spending) else { continue };
        let best_of =
            |step: StepVariance| optimal_seconds(&[step], COST)[0].clamp(10.0, f64::from(LONGEST));
        let best = best_of(step);
        // Error of a ratio for a fixed time: deviation of a trial × √ of its cost.
        let error = |seconds: f64| step.of_trial(seconds) * (COST.trial + seconds).sqrt();
        let pilots = simulate(seed, tries, |random| {
            let found = pilot(noise, random);
            let advice = allocate(&[found], wanted, &spending);
            let power =
                advice.map_or(f64::NAN, |it| power(&step, it.blocks, it.seconds[0], wanted));
            (power, error(best_of(found)) / error(best) - 1.0)
        });
        let has = power(&step, known.blocks, known.seconds[0], wanted);
        let loss = pilots.median(|(_, loss)| *loss);
        let (power, wider) = (percent(has, 0), percent(loss, 1));
        findings.row(
            noise.name,
            figures![
                format!("{} × {} s", known.blocks, known.seconds[0]),
                format!("{:.1}", known.time / 3600.0),
                power,
                percent(pilots.median(|(power, _)| *power), 0),
                format!("{best:.0} s"),
                wider,
            ],
        );
        findings.check(
            format!("power of the advice, {}", noise.name),
            power,
            "≥ 79% where decided",
            !known.decided[0] || has >= 0.79,
        );
        findings.check(
            format!("loss from a pilot's choice of seconds, {}", noise.name),
            wider,
            "≤ 15%",
            loss <= 0.15,
        );
    }
}

/// Power against a slowdown by `effect` where the true variances are known, by the approximation of
/// the noncentral t distribution behind the detectable effect (Abramowitz and Stegun, 26.7.10).
fn power(step: &StepVariance, blocks: u32, seconds: u32, effect: f64) -> f64 {
    let freedom = f64::from(blocks - 1);
    let distance = -(-effect).ln_1p() / step.error(blocks, f64::from(seconds));
    let t = judge::t_quantile(1.0 - 0.5 * LEVEL, freedom);
    let shift = distance - t * (1.0 - 0.25 / freedom);
    judge::normal_cdf(shift / (1.0 + 0.5 * t * t / freedom).sqrt())
}
