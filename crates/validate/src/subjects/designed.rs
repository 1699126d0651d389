//! Runs that design themselves within a budget: restarts and lengths follow from the results so
//! far, and the run ends when it is decided. Does that raise false alarms?

use judge::{
    Comparison, Course, Looks, Margin, RestartRatio, Verdict, Watched, compare_at, compare_slices,
    decided, restart_ratio,
};

use crate::experiment::{Design, scaled};
use crate::noise;
use crate::rounds::{MODELS, Rounds};
use crate::{Findings, Random, Rate, Size, Table, in_parallel};

/// Seconds of the budget, and the cost of a restart in addition to its timed steps.
const BUDGET: f64 = 300.0;
const COST: f64 = 5.0;
/// Seconds of a round of two slices, one in four of which are twice as long as 40 ms.
const ROUND: f64 = 0.1;
/// Seconds of the step that ends by its work, and of the others in the first restart.
const WORK: f64 = 0.8;
const FIRST: f64 = 2.0;

/// The scatter of restarts as a deviation of the log ratio, and true for heavy tails.
const BETWEEN: [(f64, bool); 4] = [(0.0, false), (0.005, false), (0.02, false), (0.02, true)];

/// The result of one experiment in one step.
#[derive(Debug, Clone, Copy)]
struct Ended {
    /// Some look's interval excluded the truth.
    missed: bool,
    verdict: Verdict,
    /// Seconds used.
    used: f64,
}

/// See the top of this file.
pub fn run(size: Size) -> Findings {
    let mut findings = Findings::default();
    let mut table = Table::new(
        format!(
            "**Runs that design themselves**: {BUDGET} s, two servers, three steps of which two are \
             timed; restarts cost {COST} s and the time of the steps. Some look wrong: the interval \
             of one of the looks up to the end excludes the truth (over all three steps, the larger \
             share of true differences of 0 and −2%). On the edge: regressions called at a margin \
             of 2% where the difference is −2%. Seconds until the end where the difference is 0, \
             −2% and −5%."
        ),
        &["slices, restarts", "some look wrong", "on the edge", "at 0%", "at −2%", "at −5%"],
    );
    for model in MODELS {
        for between in BETWEEN {
            let of = |truth: f64| -> Vec<[Ended; 3]> {
                let tries = size.pick(10, 400);
                in_parallel(tries, |number| {
                    sliced(&model, between, truth, &mut Random::new(700, number))
                })
            };
            let name = format!("{}, {}", model.name, scatter(between));
            row(&mut table, &mut findings, &name, [0.0, -0.02, -0.05].map(of));
        }
    }
    findings.tables.push(table);
    let mut table = Table::new(
        "**The same in turns**: a step that is not fit for slices, judged by blocks.",
        &["noise", "some look wrong", "on the edge", "at 0%", "at −2%", "at −5%"],
    );
    for model in noise::MODELS {
        let of = |truth: f64| -> Vec<[Ended; 1]> {
            let tries = size.pick(40, 4_000);
            in_parallel(tries, |number| [in_turns(&model, truth, &mut Random::new(710, number))])
        };
        row(&mut table, &mut findings, model.name, [0.0, -0.02, -0.05].map(of));
    }
    findings.tables.push(table);
    findings
}

fn scatter((size, heavy): (f64, bool)) -> String {
    format!("{}%{}", 100.0 * size, if heavy { " heavy" } else { "" })
}

/// A row of a table, and its bounds, from the experiments at 0, −2% and −5%.
fn row<const N: usize>(
    table: &mut Table,
    findings: &mut Findings,
    name: &str,
    found: [Vec<[Ended; N]>; 3],
) {
    let rate =
        |truth: usize, of: fn(&Ended) -> bool| Rate::of(found[truth].iter().flatten().map(of));
    let missed = [0, 1].map(|truth| rate(truth, |ended| ended.missed));
    let [none, edge] = missed;
    let missed = if none.share() > edge.share() { none } else { edge };
    let called = rate(1, |ended| ended.verdict == Verdict::Regression);
    let wrong =
        rate(0, |ended| matches!(ended.verdict, Verdict::Regression | Verdict::Improvement));
    let what = |what: &str| format!("{what}, designed, {name}");
    findings.rate(what("some look wrong"), missed, "≤ 5%", missed.at_most(0.05));
    findings.rate(what("on the edge"), called, "≤ 5%", called.at_most(0.05));
    findings.rate(what("called where there is nothing"), wrong, "≤ 5%", wrong.at_most(0.05));
    let seconds = |truth: usize| {
        let used: Vec<f64> = found[truth].iter().map(|steps| steps[0].used).collect();
        format!("{:.0}", judge::mean(&used).unwrap_or_default())
    };
    let cells = [missed.to_string(), called.to_string(), seconds(0), seconds(1), seconds(2)];
    table.row([name.to_owned()].into_iter().chain(cells));
}

/// One step on its way.
struct Step {
    timed: bool,
    seconds: f64,
    restarts: Vec<RestartRatio>,
    ended: Ended,
}

/// An experiment in slices.
fn sliced(
    model: &Rounds,
    (between, heavy): (f64, bool),
    truth: f64,
    random: &mut Random,
) -> [Ended; 3] {
    let ended = Ended { missed: false, verdict: Verdict::Inconclusive, used: 0.0 };
    let mut steps = [false, true, true].map(|timed| {
        let seconds = if timed { FIRST } else { WORK };
        Step { timed, seconds, restarts: Vec::new(), ended }
    });
    let mut course = Course::new(0.02, None, 2);
    let mut used: Vec<f64> = Vec::new();
    loop {
        let before = used.last().copied().unwrap_or(0.0);
        let timed = 2.0 * steps.iter().filter(|s| s.timed).map(|s| s.seconds).sum::<f64>();
        let next = course.highest_cost().unwrap_or(COST) + timed;
        if before + next > BUDGET {
            break;
        }
        for step in &mut steps {
            let own = if heavy { random.heavy() } else { random.normal() };
            let rounds = (2.0 * step.seconds / ROUND) as usize;
            let (base, variant) = model.pair(rounds, random);
            let found = restart_ratio(&base, &scaled(&variant, 1.0 + truth));
            let found = found.expect("rates in pairs");
            let mean_log = found.mean_log + between * own;
            step.restarts.push(RestartRatio { mean_log, ..found });
        }
        let cost = COST * (1.0 + 0.1 * random.uniform()) + 2.0 * WORK;
        course.cost(cost);
        used.push(before + cost + timed);
        let done = used.len() as u32;
        let looks = Looks::within(BUDGET, &used);
        let watched: Vec<Watched> = (0..steps.len())
            .map(|number| watched(&mut steps[number], number, truth, &looks))
            .collect();
        let (left, due) = (BUDGET - before - cost - timed, looks.is_due(done));
        if due && (looks.is_over(done) || watched.iter().all(|step| step.settled)) {
            break;
        }
        if due || done == 1 {
            let outlook = course.outlook(&watched, done, Some(left), due);
            if outlook.pursued.is_empty() {
                break;
            }
            for (number, step) in steps.iter_mut().enumerate().filter(|(_, step)| step.timed) {
                step.seconds = outlook.seconds.get(&number).copied().unwrap_or(judge::SHORTEST);
            }
        }
    }
    let used = used.last().copied().unwrap_or(0.0);
    steps.map(|step| Ended { used, ..step.ended })
}

/// How a step stands now; where a look is due it is taken note of.
fn watched(step: &mut Step, number: usize, truth: f64, looks: &Looks) -> Watched {
    let done = step.restarts.len() as u32;
    let found = compare_slices(&step.restarts, Margin::default(), looks.confidence_at(done));
    let comparison = found.expect("restarts");
    note(&mut step.ended, &comparison, truth, looks.is_due(done));
    let within: Vec<f64> = step.restarts.iter().map(|restart| restart.variance).collect();
    Watched {
        step: number,
        timed: step.timed,
        slices: Some((judge::mean(&within).unwrap_or_default(), step.seconds)),
        settled: decided(&comparison, None),
        comparison,
    }
}

/// Notes the verdict so far. Only verdicts shown at a look, and at the end, count.
fn note(ended: &mut Ended, comparison: &Comparison, truth: f64, due: bool) {
    let ratio = 1.0 + truth;
    let excluded = comparison.low.is_some_and(|low| low > ratio)
        || comparison.high.is_some_and(|high| high < ratio);
    ended.missed |= due && excluded;
    ended.verdict = comparison.verdict;
}

/// An experiment in blocks whose trials take a fixed time.
fn in_turns(model: &noise::Noise, truth: f64, random: &mut Random) -> Ended {
    let most = (BUDGET / COST) as u32;
    let (base, variant) = Design::new(most, 2, 10).pair(model, random);
    let variant = scaled(&variant, 1.0 + truth);
    let mut ended = Ended { missed: false, verdict: Verdict::Inconclusive, used: 0.0 };
    let mut used: Vec<f64> = Vec::new();
    for done in 1..=most as usize {
        let cost = COST * (1.0 + 0.1 * random.uniform());
        if ended.used + cost > BUDGET {
            break;
        }
        ended.used += cost;
        used.push(ended.used);
        let looks = Looks::within(BUDGET, &used);
        let confidence = looks.confidence_at(done as u32);
        let found = compare_at(&base[..done], &variant[..done], Margin::default(), confidence);
        let comparison = found.expect("positive rates in pairs");
        let due = looks.is_due(done as u32);
        note(&mut ended, &comparison, truth, due);
        if due && (looks.is_over(done as u32) || decided(&comparison, None)) {
            break;
        }
    }
    ended
}
