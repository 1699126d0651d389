//! Advice on blocks and seconds: are the variances of a pilot right, and does the experiment then
//! show what was promised?

use judge::{
    Margin, Spending, StepVariance, TrialCost, TrialSeconds, allocate, compare, mean, median,
    optimal_seconds, quantile,
};

use crate::noise::{Noise, PLAIN};
use crate::{Findings, Random, Rate, Size, Table, in_parallel};

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

/// The longest step in seconds. Half of the pilots see no scatter between trials where that of
/// seconds hides it, and would take any number of seconds.
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
pub fn run(size: Size) -> Findings {
    let mut findings = Findings::default();
    pilots(size, &mut findings);
    promises(size, &mut findings);
    budgets(size, &mut findings);
    findings
}

/// The estimates of the variances from a pilot.
fn pilots(size: Size, findings: &mut Findings) {
    let tries = size.pick(200, 4_000);
    let mut table = Table::new(
        format!(
            "**Variances from a pilot** of {} blocks of {} s: true, and the median (and the middle 80%) of {tries} pilots.",
            PILOT.0, PILOT.1
        ),
        &["noise", "between trials", "found", "of a second", "found", "autocorrelation", "found"],
    );
    for (number, noise) in MODELS.iter().enumerate() {
        let found = in_parallel(tries, |n| pilot(noise, &mut Random::new(800 + number as u64, n)));
        let shown = |pick: fn(&StepVariance) -> f64, percent: bool| {
            let values: Vec<f64> = found.iter().map(pick).collect();
            let at = |p: f64| quantile(&values, p).unwrap_or(f64::NAN);
            let (low, middle, high) = (at(0.1), at(0.5), at(0.9));
            if percent {
                format!("{:.1}% ({:.1} to {:.1})", 100.0 * middle, 100.0 * low, 100.0 * high)
            } else {
                format!("{middle:.2} ({low:.2} to {high:.2})")
            }
        };
        table.row([
            noise.name.to_owned(),
            format!("{:.1}%", 100.0 * noise.between),
            shown(|v| v.between, true),
            format!("{:.1}%", 100.0 * noise.second),
            shown(|v| v.second, true),
            format!("{:.1}", noise.autocorrelation),
            shown(|v| v.autocorrelation, false),
        ]);
        // Variances, not deviations, are what an average must hit; that between trials is never
        // under 0, which raises it where it is small.
        let average = |pick: fn(&StepVariance) -> f64| {
            mean(&found.iter().map(pick).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
        };
        let of_trial = average(|v| v.of_trial(60.0).powi(2)) / truth(noise).of_trial(60.0).powi(2);
        findings.check(
            format!("variance of a trial from pilots, {}", noise.name),
            format!("{of_trial:.2} of the true"),
            "0.9 to 1.35",
            (0.9..=1.35).contains(&of_trial),
        );
    }
    findings.tables.push(table);
}

/// Half widths and detectable effects as computed from the true variances, alongside those that
/// experiments have.
fn promises(size: Size, findings: &mut Findings) {
    let tries = size.pick(300, 10_000);
    let mut table = Table::new(
        format!(
            "**What is promised and what comes**, from the true variances: expected half width of the interval and the median of \
             {tries} experiments; the detectable slowdown, and how often one of that size is confirmed (80% is promised \
             where the variances are known as well as so many blocks know them; here they are known for sure).",
        ),
        &["noise", "blocks", "seconds", "half width", "came", "detectable", "confirmed"],
    );
    for (number, noise) in MODELS.iter().enumerate() {
        for (blocks, seconds) in [(6, 30), (10, 120)] {
            let step = truth(noise);
            let expected = step.half_width(blocks, f64::from(seconds)).unwrap_or(f64::NAN);
            let effect = step.detectable(blocks, f64::from(seconds), LEVEL).unwrap_or(f64::NAN);
            let seed = 810 + number as u64;
            let came = in_parallel(tries, |n| {
                let mut random = Random::new(seed, n);
                let shape = (blocks as usize, seconds as usize);
                let trials = experiment(noise, shape, 1.0 - effect, &mut random);
                let rates = |wanted: usize| -> Vec<f64> {
                    let of = trials.iter().filter(|(line, ..)| *line == wanted);
                    of.filter_map(|(_, _, seconds)| mean(seconds)).collect()
                };
                let found =
                    compare(&rates(0), &rates(1), Margin::default()).expect("positive rates");
                // As a fraction of the variant's own throughput, lest the slowdown make it smaller.
                let width = found.half_width().unwrap_or(f64::NAN) / found.ratio;
                (width, found.excludes_one())
            });
            let widths: Vec<f64> = came.iter().map(|(width, _)| *width).collect();
            let confirmed = Rate::of(came.iter().map(|(_, confirmed)| *confirmed));
            let width = median(&widths).unwrap_or(f64::NAN);
            table.row([
                noise.name.to_owned(),
                blocks.to_string(),
                seconds.to_string(),
                format!("±{:.2}%", 100.0 * expected),
                format!("±{:.2}%", 100.0 * width),
                format!("-{:.2}%", 100.0 * effect),
                confirmed.to_string(),
            ]);
            findings.rate(
                format!(
                    "confirmed at the detectable effect, {}, {blocks} × {seconds} s",
                    noise.name
                ),
                confirmed,
                "80% to 92%",
                confirmed.at_least(0.8) && confirmed.at_most(0.92),
            );
            findings.check(
                format!("half width, {}, {blocks} × {seconds} s", noise.name),
                format!("{:.2} of the expected", width / expected),
                "0.85 to 1.05",
                (0.85..=1.05).contains(&(width / expected)),
            );
        }
    }
    findings.tables.push(table);
}

/// Advice from a pilot, judged by the truth.
fn budgets(size: Size, findings: &mut Findings) {
    let tries = size.pick(100, 4_000);
    let mut table = Table::new(
        format!(
            "**Advice for 8 hours**, two variants, a trial costing {} s beside its seconds, to detect −2%: blocks × seconds from the \
             true variances, and the power they have; the median power of the advice of {tries} pilots. Kalibera and Jones: seconds \
             that buy most for the time, and by how much an interval from a pilot's choice is wider for the same time \
             (median).",
            COST.trial
        ),
        &["noise", "advice", "hours", "power", "power from pilots", "best seconds", "wider by"],
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
    for (number, noise) in MODELS.iter().enumerate() {
        let step = truth(noise);
        let Some(known) = allocate(&[step], wanted, &spending) else { continue };
        let best = optimal_seconds(&[step], COST)[0].clamp(10.0, f64::from(LONGEST));
        // Error of a ratio for a fixed time: deviation of a trial × √ of its cost.
        let error = |seconds: f64| step.of_trial(seconds) * (COST.trial + seconds).sqrt();
        let pilots = in_parallel(tries, |n| {
            let found = pilot(noise, &mut Random::new(820 + number as u64, n));
            let advice = allocate(&[found], wanted, &spending);
            let power =
                advice.map_or(f64::NAN, |it| power(&step, it.blocks, it.seconds[0], wanted));
            let seconds = optimal_seconds(&[found], COST)[0].clamp(10.0, f64::from(LONGEST));
            (power, error(seconds) / error(best) - 1.0)
        });
        let powers: Vec<f64> = pilots.iter().map(|(power, _)| *power).collect();
        let losses: Vec<f64> = pilots.iter().map(|(_, loss)| *loss).collect();
        let (from_pilots, loss) =
            (median(&powers).unwrap_or(f64::NAN), median(&losses).unwrap_or(f64::NAN));
        let has = power(&step, known.blocks, known.seconds[0], wanted);
        table.row([
            noise.name.to_owned(),
            format!("{} × {} s", known.blocks, known.seconds[0]),
            format!("{:.1}", known.time / 3600.0),
            format!("{:.0}%", 100.0 * has),
            format!("{:.0}%", 100.0 * from_pilots),
            format!("{best:.0} s"),
            format!("{:.1}%", 100.0 * loss),
        ]);
        findings.check(
            format!("power of the advice, {}", noise.name),
            format!("{:.0}%", 100.0 * has),
            "≥ 79% where decided",
            !known.decided[0] || has >= 0.79,
        );
        findings.check(
            format!("loss from a pilot's choice of seconds, {}", noise.name),
            format!("{:.1}%", 100.0 * loss),
            "≤ 15%",
            loss <= 0.15,
        );
    }
    findings.tables.push(table);
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
