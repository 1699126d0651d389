//! Pairing by slices: which center, and whether the interval holds from one restart and from
//! several.

use judge::{ENOUGH_BLOCKS, RestartRatio, Verdict, Warning};

use crate::experiment::called;
use crate::rounds::{MODELS, ROUNDS, Rounds, by_length, judged, ratio};
use crate::{Findings, Outcomes as _, Random, Rate, Size, percent, simulate};

mod servers;
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
pub fn run(size: Size, findings: &mut Findings) {
    centers(size, findings);
    one_restart(size, findings);
    restarts(size, findings);
    lengths(size, findings);
    servers::look(tries(size), findings);
    zeros::look(tries(size), findings);
}

/// Experiments for a figure.
fn tries(size: Size) -> usize {
    size.pick(100, 10_000)
}

/// The error of the plain mean, the trimmed mean and the median of one restart's rounds.
fn centers(size: Size, findings: &mut Findings) {
    findings.table(
        format!(
            "**Center** of the log ratios of {ROUNDS} rounds of identical servers: root mean square error in percent, of the \
             plain mean, means with 10% or 25% cut off at either end, and the median."
        ),
        "slices | mean | 10% cut off | 25% cut off | median",
    );
    for model in MODELS {
        let squares = simulate(501, tries(size), |random| {
            let (base, variant) = model.pair(ROUNDS, random);
            let mut logs: Vec<f64> = base.iter().zip(&variant).map(|(b, v)| (v / b).ln()).collect();
            logs.sort_by(f64::total_cmp);
            [0.0, 0.1, 0.25, 0.5].map(|cut| middle(&logs, cut).powi(2))
        });
        let errors = [0, 1, 2, 3].map(|center| squares.mean(|one| one[center]).sqrt());
        let [mean, _, trimmed, median] = errors;
        findings.check(
            format!("error of the 25% trimmed mean, {}", model.name),
            format!("{:.2} of the mean's, {:.2} of the median's", trimmed / mean, trimmed / median),
            "≤ 1.15 and ≤ 1.05",
            trimmed <= 1.15 * mean && trimmed <= 1.05 * median,
        );
        findings.row(model.name, errors.map(|error| format!("{:.3}", 100.0 * error)));
    }
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
    findings.table(
        "**Within one restart**: how often 95% by Student's t and the variance from batches of neighboring rounds hold that \
         restart's own truth. There is no such interval of one restart in a comparison; this is what the restarts are put together from.",
        format!("slices | {}", LENGTHS.map(|rounds| format!("{rounds} rounds")).join(" | ")),
    );
    for model in MODELS {
        let rates = LENGTHS.map(|rounds| {
            let tries = if rounds > 1000 { size.pick(60, 4_000) } else { tries(size) };
            Rate::of(simulate(510 + rounds as u64, tries, |random| {
                let ratio = restart(&model, rounds, random);
                let half = judge::t_quantile(0.975, ratio.freedom) * ratio.variance.sqrt();
                ratio.mean_log.abs() <= half
            }))
        });
        for (rounds, rate) in LENGTHS.iter().zip(rates) {
            // 60 rounds that hang together for nine are worth seven: too few to see that they do.
            if *rounds as f64 * (1.0 - model.autocorrelation) < 50.0 && *rounds < ROUNDS {
                continue;
            }
            let what = format!("coverage within one restart, {rounds} rounds, {}", model.name);
            findings.rate(what, rate, 0.93..=0.97);
        }
        findings.row(model.name, rates);
    }
}

/// The results for one number of restarts and one scatter.
struct Kind {
    restarts: usize,
    between: (f64, bool),
    looks: Vec<Look>,
}

fn restarts(size: Size, findings: &mut Findings) {
    findings.table(
        format!(
            "**Several restarts** of {ROUNDS} rounds: coverage of the 95% interval, for several scatters between restarts in \
             standard errors of a single one; 0 means that restarts do not differ at all; last, scatter with the tails of \
             Student's t with 3 degrees of freedom. The rest, up to 100%, are false alarms. One restart has no interval \
             and no verdict."
        ),
        "slices, restarts | scatter 0 | 0.5 | 1 | 3 | 3, heavy tails",
    );
    let found = MODELS.map(|model| (model, kinds(&model, size)));
    for (model, kinds) in &found {
        for of_restarts in kinds.chunks(BETWEEN.len()).skip(1) {
            let name = format!("{}, {}", model.name, of_restarts[0].restarts);
            findings.row(&name, of_restarts.iter().map(|kind| kind.looks.rate(|one| one.covered)));
        }
        for Kind { restarts, between, looks } in kinds {
            let scatter = scatter(*between);
            let what = |name: &str| {
                format!("{name}, {restarts} restarts, scatter {scatter}, {}", model.name)
            };
            if *restarts == 1 {
                findings.rate(what("interval or verdict"), looks.rate(|one| one.said), ..=0.0);
                continue;
            }
            let covered = looks.rate(|one| one.covered);
            // Disturbed slices leave open what all operations say, which widens intervals.
            if between.0 > 1.0 && model.disturbed == 0.0 {
                findings.rate(what("coverage, not too much"), covered, ..=0.98);
            }
            findings.rate(what("coverage"), covered, 0.93..);
            findings.rate(what("false verdicts"), looks.rate(|one| one.called), ..=0.05);
        }
    }
    let [.., (model, kinds)] = &found;
    alternatives(model, kinds, findings);
}

/// The effect of each half of the rule alone.
fn alternatives(model: &Rounds, kinds: &[Kind], findings: &mut Findings) {
    findings.table(
        format!(
            "**Why both**, slices as in \"{}\": coverage from the restarts alone (Student's t), from the batches alone, and from \
             what counts: with fewer than six restarts the wider of the two, otherwise the first; and how much wider that is \
             on average than the first.",
            model.name
        ),
        "restarts, scatter | restarts alone | batches alone | what counts | wider by",
    );
    for Kind { restarts, between, looks } in kinds {
        let several = |figure: String, none: &str| match restarts {
            1 => none.to_owned(),
            _ => figure,
        };
        let alone = looks.rate(|one| one.size <= one.alone).to_string();
        let batches = looks.rate(|one| one.size <= one.batches).to_string();
        let covered = looks.rate(|one| one.covered).to_string();
        let wider = looks.mean(|one| one.half) / looks.mean(|one| one.alone);
        findings.row(
            &format!("{restarts}, {}", scatter(*between)),
            [
                several(alone, "none"),
                batches,
                several(covered, "none"),
                several(percent(wider - 1.0, 1), "–"),
            ],
        );
    }
}

fn scatter((size, heavy): (f64, bool)) -> String {
    if heavy { format!("{size} heavy") } else { size.to_string() }
}

/// The intervals of the first 1, 2, 3, 6, 10 of ten restarts, for every scatter between them.
fn kinds(model: &Rounds, size: Size) -> Vec<Kind> {
    // The scatter of one restart's estimate, from separate restarts.
    let scattered =
        simulate(520, size.pick(300, 4_000), |random| restart(model, ROUNDS, random).mean_log);
    let error = judge::sd_sample(&scattered).unwrap_or_default();
    let most = RESTARTS[RESTARTS.len() - 1];
    let experiments = simulate(521, tries(size), |random| {
        let within: Vec<RestartRatio> = (0..most).map(|_| restart(model, ROUNDS, random)).collect();
        let own: Vec<f64> = (0..most).map(|_| error * random.normal()).collect();
        let heavy: Vec<f64> = (0..most).map(|_| error * random.heavy()).collect();
        (within, own, heavy)
    });
    let all = RESTARTS.iter().flat_map(|restarts| BETWEEN.map(|between| (*restarts, between)));
    let kind = |(restarts, between): (usize, (f64, bool))| {
        let looks = experiments.iter().map(|(within, own, heavy)| {
            // Slowing a server by a factor moves the logs of all its rounds alike.
            let shifted =
                within.iter().zip(if between.1 { heavy } else { own }).map(|(ratio, own)| {
                    RestartRatio { mean_log: ratio.mean_log + between.0 * own, ..*ratio }
                });
            look(&shifted.take(restarts).collect::<Vec<_>>())
        });
        Kind { restarts, between, looks: looks.collect() }
    };
    all.map(kind).collect()
}

/// One experiment with one number of restarts and one scatter. The truth is a log ratio of 0.
struct Look {
    /// Size of the log ratio found.
    size: f64,
    covered: bool,
    called: bool,
    /// There is an interval, or another verdict than inconclusive.
    said: bool,
    /// Half the width of the interval, as a log.
    half: f64,
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
        called: called(found.verdict),
        half: found.low.zip(found.high).map_or(0.0, |(low, high)| (high / low).ln() / 2.0),
        batches: half(sum.sqrt() / count, sum * sum / squares),
        alone: half(found.sd_log.unwrap_or_default() / count.sqrt(), count - 1.0),
    }
}

/// Two lengths, where they agree and where they do not.
fn lengths(size: Size, findings: &mut Findings) {
    findings.table(
        format!(
            "**The second length**: how often {ENOUGH_BLOCKS} restarts of {ROUNDS} rounds, a quarter of them with slices of twice the length, show \
             that the lengths disagree, when longer slices truly read faster by so much."
        ),
        "slices | 0% | 0.5% | 2% | 5%",
    );
    for model in MODELS {
        let rates = [0.0, 0.005, 0.02, 0.05].map(|bias: f64| {
            Rate::of(simulate(530, tries(size), |random| {
                let restart = || {
                    let (base, mut variant) = model.pair(ROUNDS, random);
                    variant.iter_mut().skip(3).step_by(4).for_each(|rate| *rate *= 1.0 + bias);
                    let by_length = by_length(&base, &variant);
                    RestartRatio { by_length, ..ratio(&base, &variant) }
                };
                let restarts: Vec<RestartRatio> =
                    std::iter::repeat_with(restart).take(ENOUGH_BLOCKS).collect();
                let disagree =
                    |warning: &Warning| matches!(warning, Warning::LengthsDisagree { .. });
                judged(&restarts).warnings.iter().any(disagree)
            }))
        });
        let what = format!("lengths that agree said to disagree, {}", model.name);
        findings.rate(what, rates[0], ..=0.06);
        findings.row(model.name, rates);
    }
}

fn restart(model: &Rounds, rounds: usize, random: &mut Random) -> RestartRatio {
    let (base, variant) = model.pair(rounds, random);
    ratio(&base, &variant)
}
