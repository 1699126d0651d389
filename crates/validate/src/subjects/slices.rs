//! Pairing by slices: which center, and whether the interval holds from one restart and from
//! several.

use judge::{RestartRatio, Verdict, lengths_agree, restart_ratio};

use crate::rounds::{MODELS, Rounds};
use crate::{Findings, Random, Rate, Size, Table, in_parallel};
use experiment::{ROUNDS, judged, tries};

mod experiment;
mod zeros;

/// Numbers of restarts in the tables.
const RESTARTS: [usize; 5] = [1, 2, 3, 6, 10];

/// Scatter between restarts, in standard errors of one restart, and whether with the tails of
/// Student's t with 3 degrees of freedom.
const BETWEEN: [(f64, bool); 5] =
    [(0.0, false), (0.5, false), (1.0, false), (3.0, false), (3.0, true)];

/// Rounds in a restart, where a table has several.
const LENGTHS: [usize; 4] = [60, 150, 600, 3000];

/// See the top of this file.
pub fn run(size: Size) -> Findings {
    let mut findings = Findings::default();
    centers(size, &mut findings);
    one_restart(size, &mut findings);
    restarts(size, &mut findings);
    lengths(size, &mut findings);
    zeros::look(size, &mut findings);
    findings
}

/// The error of the plain mean, the trimmed mean and the median of one restart's rounds.
fn centers(size: Size, findings: &mut Findings) {
    let mut table = Table::new(
        format!(
            "**Center** of the log ratios of {ROUNDS} rounds of identical servers: root mean square error in percent, of the \
             plain mean, means with 10% or 25% cut off at either end, and the median."
        ),
        &["slices", "mean", "10% cut off", "25% cut off", "median"],
    );
    for model in MODELS {
        let squares = in_parallel(tries(size), |number| {
            let (base, variant) = model.pair(ROUNDS, &mut Random::new(501, number));
            let mut logs: Vec<f64> = base.iter().zip(&variant).map(|(b, v)| (v / b).ln()).collect();
            logs.sort_by(f64::total_cmp);
            [0.0, 0.1, 0.25, 0.5].map(|cut| middle(&logs, cut).powi(2))
        });
        let errors = [0, 1, 2, 3].map(|center| {
            let of: Vec<f64> = squares.iter().map(|one| one[center]).collect();
            judge::mean(&of).unwrap_or_default().sqrt()
        });
        let [mean, _, trimmed, median] = errors;
        findings.check(
            format!("error of the 25% trimmed mean, {}", model.name),
            format!("{:.2} of the mean's, {:.2} of the median's", trimmed / mean, trimmed / median),
            "≤ 1.15 and ≤ 1.05",
            trimmed <= 1.15 * mean && trimmed <= 1.05 * median,
        );
        let cells = errors.map(|error| format!("{:.3}", 100.0 * error));
        table.row([model.name.to_owned()].into_iter().chain(cells));
    }
    findings.tables.push(table);
}

/// The mean of `sorted` values without the share `cut` at either end; with one half the median.
fn middle(sorted: &[f64], cut: f64) -> f64 {
    if cut >= 0.5 {
        return judge::median(sorted).unwrap_or_default();
    }
    let each = (cut * sorted.len() as f64) as usize;
    judge::mean(&sorted[each..sorted.len() - each]).unwrap_or_default()
}

/// The interval from the batches of a single restart.
fn one_restart(size: Size, findings: &mut Findings) {
    let heads = LENGTHS.map(|rounds| format!("{rounds} rounds"));
    let mut table = Table::new(
        "**Within one restart**: how often 95% by Student's t and the variance from batches of neighboring rounds hold that \
         restart's own truth. There is no such interval of one restart in a comparison; this is what the restarts are put together from.",
        &["slices"].into_iter().chain(heads.iter().map(String::as_str)).collect::<Vec<_>>(),
    );
    for model in MODELS {
        let rates = LENGTHS.map(|rounds| {
            let tries = if rounds > 1000 { size.pick(60, 4_000) } else { tries(size) };
            let covered = in_parallel(tries, |number| {
                let seed = 510 + rounds as u64;
                let ratio = restart(&model, rounds, &mut Random::new(seed, number));
                let half = judge::t_quantile(0.975, ratio.freedom) * ratio.variance.sqrt();
                ratio.mean_log.abs() <= half
            });
            Rate::of(covered)
        });
        for (rounds, rate) in LENGTHS.iter().zip(&rates) {
            // 60 rounds that hang together for nine are worth seven: too few to see that they do.
            if *rounds as f64 * (1.0 - model.autocorrelation) < 50.0 && *rounds < ROUNDS {
                continue;
            }
            findings.rate(
                format!("coverage within one restart, {rounds} rounds, {}", model.name),
                *rate,
                "93% to 97%",
                rate.at_least(0.93) && rate.at_most(0.97),
            );
        }
        table.row([model.name.to_owned()].into_iter().chain(rates.map(|rate| rate.to_string())));
    }
    findings.tables.push(table);
}

/// The intervals of the first 2, 3, 6, 10 of ten restarts, for every scatter between them.
struct Outcomes {
    /// By restarts, by scatter.
    all: Vec<Vec<Outcome>>,
}

/// The results for one number of restarts and one scatter.
struct Outcome {
    /// The interval holds the truth; else it is a false alarm.
    covered: Rate,
    /// A regression or improvement was called at a margin of 2%.
    called: Rate,
    /// The interval from the batches alone holds the truth.
    batches: Rate,
    /// The interval from the restarts alone holds the truth.
    alone: Rate,
    /// Mean width of the interval over the mean width from the restarts alone.
    wider: f64,
    /// There is an interval, or another verdict than inconclusive.
    said: Rate,
}

fn restarts(size: Size, findings: &mut Findings) {
    let found: Vec<(Rounds, Outcomes)> =
        MODELS.into_iter().map(|model| (model, outcomes(&model, size))).collect();
    let mut table = Table::new(
        format!(
            "**Several restarts** of {ROUNDS} rounds: coverage of the 95% interval, for several scatters between restarts in \
             standard errors of a single one; 0 means that restarts do not differ at all; last, scatter with the tails of \
             Student's t with 3 degrees of freedom. What is missing to 100% are the false alarms. One restart has no interval \
             and no verdict."
        ),
        &["slices, restarts", "scatter 0", "0.5", "1", "3", "3, heavy tails"],
    );
    for (model, outcomes) in &found {
        for (restarts, of_restarts) in RESTARTS.iter().zip(&outcomes.all).skip(1) {
            let name = format!("{}, {restarts}", model.name);
            let cells = of_restarts.iter().map(|one| one.covered.to_string());
            table.row([name].into_iter().chain(cells));
        }
        for (restarts, of_restarts) in RESTARTS.iter().zip(&outcomes.all) {
            for (between, one) in BETWEEN.iter().zip(of_restarts) {
                let what = |name: &str| {
                    format!(
                        "{name}, {restarts} restarts, scatter {}, {}",
                        scatter(between),
                        model.name
                    )
                };
                if *restarts == 1 {
                    findings.rate(
                        what("interval or verdict"),
                        one.said,
                        "never",
                        one.said.hits == 0,
                    );
                    continue;
                }
                // Disturbed slices leave open what all operations say, which widens intervals.
                if between.0 > 1.0 && model.disturbed == 0.0 {
                    findings.rate(
                        what("coverage, not too much"),
                        one.covered,
                        "≤ 98%",
                        one.covered.at_most(0.98),
                    );
                }
                let covered = one.covered;
                findings.rate(what("coverage"), covered, "≥ 93%", covered.at_least(0.93));
                let called = one.called;
                findings.rate(what("false verdicts"), called, "≤ 5%", called.at_most(0.05));
            }
        }
    }
    findings.tables.push(table);
    if let Some((model, outcomes)) = found.last() {
        findings.tables.push(alternatives(model, outcomes));
    }
}

/// The effect of each half of the rule alone.
fn alternatives(model: &Rounds, outcomes: &Outcomes) -> Table {
    let mut table = Table::new(
        format!(
            "**Why both**, slices as in \"{}\": coverage from the restarts alone (Student's t), from the batches alone, and from \
             the wider of the two, which is what counts; and how much wider that is on average than the first.",
            model.name
        ),
        &["restarts, scatter", "restarts alone", "batches alone", "the wider", "wider by"],
    );
    for (restarts, of_restarts) in RESTARTS.iter().zip(&outcomes.all) {
        for (between, one) in BETWEEN.iter().zip(of_restarts) {
            table.row([
                format!("{restarts}, {}", scatter(between)),
                if *restarts > 1 { one.alone.to_string() } else { "none".to_owned() },
                one.batches.to_string(),
                if *restarts > 1 { one.covered.to_string() } else { "none".to_owned() },
                if *restarts > 1 {
                    format!("{:.1}%", 100.0 * (one.wider - 1.0))
                } else {
                    "–".to_owned()
                },
            ]);
        }
    }
    table
}

fn scatter((size, heavy): &(f64, bool)) -> String {
    if *heavy { format!("{size} heavy") } else { size.to_string() }
}

fn outcomes(model: &Rounds, size: Size) -> Outcomes {
    // The scatter of one restart's estimate, from separate restarts.
    let scatter: Vec<f64> = in_parallel(size.pick(300, 4_000), |number| {
        restart(model, ROUNDS, &mut Random::new(520, number)).mean_log
    });
    let error = judge::sd_sample(&scatter).unwrap_or_default();
    let most = RESTARTS.iter().copied().max().unwrap_or_default();
    let found: Vec<Vec<Vec<Look>>> = in_parallel(tries(size), |number| {
        let random = &mut Random::new(521, number);
        let within: Vec<RestartRatio> = (0..most).map(|_| restart(model, ROUNDS, random)).collect();
        let own: Vec<f64> = (0..most).map(|_| error * random.normal()).collect();
        let heavy: Vec<f64> = (0..most).map(|_| error * random.heavy()).collect();
        RESTARTS
            .iter()
            .map(|count| {
                BETWEEN
                    .iter()
                    .map(|(between, tails)| {
                        let shifted: Vec<RestartRatio> = within
                            .iter()
                            .zip(if *tails { &heavy } else { &own })
                            .take(*count)
                            .map(|(ratio, own)| RestartRatio {
                                // Slowing a server by a factor moves the logs of all its rounds
                                // alike.
                                mean_log: ratio.mean_log + between * own,
                                ..*ratio
                            })
                            .collect();
                        look(&shifted)
                    })
                    .collect()
            })
            .collect()
    });
    let of = |restarts: usize, between: usize| {
        let looks = || found.iter().map(|one| &one[restarts][between]);
        let rate = |of: fn(&Look) -> bool| Rate::of(looks().map(of));
        let width = |of: fn(&Look) -> f64| looks().map(of).sum::<f64>();
        Outcome {
            covered: rate(|look| look.covered),
            called: rate(|look| look.called),
            batches: rate(|look| look.size <= look.batches),
            alone: rate(|look| look.size <= look.alone),
            wider: width(|look| look.alone.max(look.batches)) / width(|look| look.alone),
            said: rate(|look| look.said),
        }
    };
    let all = (0..RESTARTS.len())
        .map(|restarts| (0..BETWEEN.len()).map(|between| of(restarts, between)).collect())
        .collect();
    Outcomes { all }
}

/// One experiment with one number of restarts and one scatter. The truth is a log ratio of 0.
struct Look {
    /// Size of the log ratio found.
    size: f64,
    covered: bool,
    called: bool,
    /// There is an interval, or another verdict than inconclusive.
    said: bool,
    /// Half the width of the interval from the batches alone.
    batches: f64,
    /// Half the width of the interval from the restarts alone.
    alone: f64,
}

fn look(restarts: &[RestartRatio]) -> Look {
    let found = judged(restarts);
    let count = restarts.len() as f64;
    let half = |error: f64, freedom: f64| error * judge::t_quantile(0.975, freedom);
    let sum: f64 = restarts.iter().map(|restart| restart.variance).sum();
    let squares: f64 = restarts.iter().map(|one| one.variance.powi(2) / one.freedom).sum();
    Look {
        size: found.mean_log.abs(),
        covered: !found.excludes_one(),
        said: found.low.is_some() || found.verdict != Verdict::Inconclusive,
        called: matches!(found.verdict, Verdict::Regression | Verdict::Improvement),
        batches: half(sum.sqrt() / count, sum * sum / squares),
        alone: half(found.sd_log.unwrap_or_default() / count.sqrt(), count - 1.0),
    }
}

/// The warning about two lengths, where they agree and where they do not.
fn lengths(size: Size, findings: &mut Findings) {
    let mut table = Table::new(
        format!(
            "**The second length**: how often 2 restarts of {ROUNDS} rounds, a quarter of them with slices of twice the length, warn \
             that the lengths disagree, when longer slices truly read faster by so much."
        ),
        &["slices", "0%", "0.5%", "2%", "5%"],
    );
    for model in MODELS {
        let rates = [0.0, 0.005, 0.02, 0.05].map(|bias: f64| {
            let warned = in_parallel(tries(size), |number| {
                let random = &mut Random::new(530, number);
                let (chosen, longer): (Vec<RestartRatio>, Vec<RestartRatio>) = (0..2)
                    .map(|_| {
                        let (base, variant) = model.pair(ROUNDS, random);
                        let part = |longer: bool| {
                            let wanted = |round: &usize| (round % 4 == 3) == longer;
                            let of = |rates: &[f64], factor: f64| -> Vec<f64> {
                                let rounds = (0..ROUNDS).filter(wanted);
                                rounds.map(|round| factor * rates[round]).collect()
                            };
                            let factor = if longer { 1.0 + bias } else { 1.0 };
                            restart_ratio(&of(&base, 1.0), &of(&variant, factor))
                                .expect("rates of many rounds")
                        };
                        (part(false), part(true))
                    })
                    .unzip();
                lengths_agree(&chosen, &longer).is_some()
            });
            Rate::of(warned)
        });
        let none = rates[0];
        findings.rate(
            format!("warnings of lengths that agree, {}", model.name),
            none,
            "≤ 2%",
            none.at_most(0.02),
        );
        table.row([model.name.to_owned()].into_iter().chain(rates.map(|rate| rate.to_string())));
    }
    findings.tables.push(table);
}

fn restart(model: &Rounds, rounds: usize, random: &mut Random) -> RestartRatio {
    let (base, variant) = model.pair(rounds, random);
    restart_ratio(&base, &variant).expect("rates of many rounds")
}
