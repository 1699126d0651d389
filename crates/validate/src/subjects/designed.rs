//! Runs that design themselves within a budget: restarts and lengths follow from the results so
//! far, and the run ends when it is decided. Does that raise false alarms?

use judge::{
    Comparison, Course, ENOUGH_BLOCKS, Looks, Margin, RestartRatio, SHORTEST, Verdict, Watched,
    compare_at, compare_slices, decided, restart_ratio,
};

use crate::experiment::{Design, called, covers, scaled};
use crate::noise;
use crate::rounds::{MODELS, Rounds, by_length, stalled};
use crate::{Findings, Outcomes as _, Random, Size, figures, percent, simulate};

/// Seconds of the budget, and the cost of a restart in addition to its timed steps.
const BUDGET: f64 = 300.0;
const COST: f64 = 5.0;
/// Seconds of a round of two slices, one in four of which are twice as long as 40 ms.
const ROUND: f64 = 0.1;
/// Seconds of the step that ends by its work, and of the others in the first restart.
const WORK: f64 = 0.8;
const FIRST: f64 = 2.0;

/// True differences in the tables: the variant's throughput divided by the base's, minus 1.
const TRUTHS: [f64; 3] = [0.0, -0.02, -0.05];

/// The scatter of restarts as a deviation of the log ratio, and true for heavy tails.
const BETWEEN: [(f64, bool); 4] = [(0.0, false), (0.005, false), (0.02, false), (0.02, true)];

/// The share of its rounds in which a stalling variant does nothing.
const STALLED: f64 = 0.05;
/// The longest of its stalls, in rounds.
const LONGEST: [usize; 3] = [1, 5, 10];
/// Restarts after which its runs are read.
const READ: [(usize, &str); 4] =
    [(2, "after 2"), (6, "after 6"), (10, "after 10"), (usize::MAX, "at the end")];

/// The result of one experiment in one step.
#[derive(Debug, Clone)]
struct Ended {
    /// Some look's interval excluded the truth.
    missed: bool,
    /// The verdict after each restart.
    verdicts: Vec<Verdict>,
    /// Seconds used.
    used: f64,
}

impl Ended {
    const NEW: Self = Self { missed: false, verdicts: Vec::new(), used: 0.0 };

    /// Takes note of the comparison after a restart. Only intervals shown at a look count.
    fn note(&mut self, comparison: &Comparison, truth: f64, due: bool) {
        self.missed |= due && !covers(comparison, 1.0 + truth);
        self.verdicts.push(comparison.verdict);
    }

    /// The verdict after this many restarts, or at the end if that came first.
    fn after(&self, restarts: usize) -> Verdict {
        let read = self.verdicts.iter().take(restarts).next_back();
        read.copied().unwrap_or(Verdict::Inconclusive)
    }

    fn at_the_end(&self) -> Verdict {
        self.after(usize::MAX)
    }
}

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    let head = "some look wrong | on the edge | at 0% | at −2% | at −5%";
    findings.table(
        format!(
            "**Runs that design themselves**: {BUDGET} s, two servers, three steps of which two are \
             timed; restarts cost {COST} s and the time of the steps. Some look wrong: the interval \
             of one of the looks up to the end excludes the truth (over all three steps, the larger \
             share of true differences of 0 and −2%). On the edge: regressions called at a margin \
             of 2% where the difference is −2%. Seconds until the end where the difference is 0, \
             −2% and −5%."
        ),
        format!("slices, restarts | {head}"),
    );
    for model in MODELS {
        for between in BETWEEN {
            let of = |truth: f64| {
                let tries = size.pick(10, 400);
                simulate(700, tries, |random| sliced(&model, between, truth, None, random)).concat()
            };
            let name = format!("{}, {}", model.name, scatter(between));
            row(findings, &name, &TRUTHS.map(of));
        }
    }
    findings.table(
        "**The same in turns**: a step that is not fit for slices, judged by blocks.",
        format!("noise | {head}"),
    );
    for model in noise::MODELS {
        let tries = size.pick(40, 4_000);
        let of = |truth: f64| simulate(710, tries, |random| in_turns(&model, truth, random));
        row(findings, model.name, &TRUTHS.map(of));
    }
    stalls(size, findings);
}

fn scatter((size, heavy): (f64, bool)) -> String {
    format!("{}%{}", 100.0 * size, if heavy { " heavy" } else { "" })
}

/// A row of a table, and its bounds, from the experiments at 0, −2% and −5%.
fn row(findings: &mut Findings, name: &str, found: &[Vec<Ended>; 3]) {
    let [none, edge, _] = found.each_ref().map(|ended| ended.rate(|one| one.missed));
    let missed = if none.share() > edge.share() { none } else { edge };
    let regressions = found[1].rate(|one| one.at_the_end() == Verdict::Regression);
    let wrong = found[0].rate(|one| called(one.at_the_end()));
    let what = |what: &str| format!("{what}, designed, {name}");
    findings.rate(what("some look wrong"), missed, ..=0.05);
    findings.rate(what("on the edge"), regressions, ..=0.05);
    findings.rate(what("called where there is nothing"), wrong, ..=0.05);
    let [none, edge, clear] = found.each_ref().map(|ended| seconds(ended));
    findings.row(name, figures![missed, regressions, none, edge, clear]);
}

/// A variant that stalls, but is as fast as the base between stalls, is not equivalent to it.
fn stalls(size: Size, findings: &mut Findings) {
    let between = BETWEEN[1];
    findings.table(
        format!(
            "**The same with a variant that stalls**, in slices; restarts differ by {}. It does \
             nothing in {} of its rounds, for up to so long at a time, and is as fast as the base \
             in the others. How often it is called equivalent (over all three steps) if the run is \
             read after 2, 6 and 10 restarts, and at its end; how often a regression at the end; \
             seconds until then.",
            scatter(between),
            percent(STALLED, 0)
        ),
        "stalls, slices | after 2 | after 6 | after 10 | at the end | regression | seconds",
    );
    for longest in LONGEST {
        for model in MODELS {
            let ended = simulate(720, size.pick(10, 400), |random| {
                sliced(&model, between, 0.0, Some(longest), random)
            });
            let ended = ended.concat();
            let name = format!("up to {} s, {}", ROUND * longest as f64, model.name);
            let mut cells = Vec::new();
            for (restarts, read) in READ {
                let equivalent = ended.rate(|one| one.after(restarts) == Verdict::Equivalent);
                cells.push(equivalent.to_string());
                // The steps of a few restarts are so short that a long stall often does not come.
                if longest <= 5 {
                    let what = format!("equivalent {read}, designed, stalls {name}");
                    findings.rate(what, equivalent, ..=0.05);
                }
            }
            let regressions = ended.rate(|one| one.at_the_end() == Verdict::Regression);
            cells.extend(figures![regressions, seconds(&ended)]);
            findings.row(&name, cells);
        }
    }
}

/// The mean of the seconds used.
fn seconds(ended: &[Ended]) -> String {
    format!("{:.0}", ended.mean(|one| one.used))
}

/// One step on its way.
struct Step {
    timed: bool,
    seconds: f64,
    /// The seconds that it would have if there were time enough for a verdict.
    chosen: f64,
    restarts: Vec<RestartRatio>,
    /// A server did nothing in a whole restart: such a step is not judged.
    refused: bool,
    ended: Ended,
}

/// An experiment in slices, with the longest of the variant's stalls, in rounds, if it has any.
fn sliced(
    model: &Rounds,
    (between, heavy): (f64, bool),
    truth: f64,
    stalls: Option<usize>,
    random: &mut Random,
) -> [Ended; 3] {
    let mut steps = [false, true, true].map(|timed| {
        let seconds = if timed { FIRST } else { WORK };
        let chosen = seconds;
        Step { timed, seconds, chosen, restarts: Vec::new(), refused: false, ended: Ended::NEW }
    });
    let mut course = Course::new(0.02, None, 2, ENOUGH_BLOCKS);
    let mut used: Vec<f64> = Vec::new();
    let mut now = 0.0;
    loop {
        shorten(&mut steps, course.allowed(used.len() as u32, BUDGET - now));
        let timed = 2.0 * steps.iter().filter(|s| s.timed).map(|s| s.seconds).sum::<f64>();
        if now + (course.highest_cost().unwrap_or(COST) + timed) > BUDGET {
            break;
        }
        for step in &mut steps {
            let own = if heavy { random.heavy() } else { random.normal() };
            let rounds = (2.0 * step.seconds / ROUND) as usize;
            let (base, mut variant) = model.pair(rounds, random);
            if let Some(longest) = stalls {
                for round in stalled(rounds, STALLED, longest, random) {
                    variant[round] = 0.0;
                }
            }
            let variant = scaled(&variant, 1.0 + truth);
            let Ok(found) = restart_ratio(&base, &variant) else {
                assert!(stalls.is_some(), "rates in pairs");
                step.refused = true;
                continue;
            };
            let by_length = by_length(&base, &variant);
            step.restarts.push(RestartRatio { by_length, ..found }.plus(between * own));
        }
        let cost = COST * (1.0 + 0.1 * random.uniform()) + 2.0 * WORK;
        course.cost(cost);
        now = now + cost + timed;
        used.push(now);
        let done = used.len() as u32;
        let looks = Looks::within(BUDGET, &used);
        let watched: Vec<Watched> = (0..steps.len())
            .filter_map(|number| watched(&mut steps[number], number, truth, &looks))
            .collect();
        let due = looks.is_due(done);
        let owes = used.len() < ENOUGH_BLOCKS;
        if due && (looks.is_over(done) && !owes || watched.iter().all(|step| step.settled)) {
            break;
        }
        if due || done == 1 {
            let outlook = course.outlook(&watched, done, Some(BUDGET - now), due && !owes);
            if outlook.pursued.is_empty() && !owes {
                break;
            }
            for (number, step) in steps.iter_mut().enumerate().filter(|(_, step)| step.timed) {
                step.chosen = outlook.seconds.get(&number).copied().unwrap_or(SHORTEST);
            }
        }
    }
    steps.map(|step| Ended { used: now, ..step.ended })
}

/// Shortens the timed steps, where the restarts of a verdict have no room otherwise.
fn shorten(steps: &mut [Step], allowed: Option<f64>) {
    let timed: Vec<&mut Step> = steps.iter_mut().filter(|step| step.timed).collect();
    let sum = 2.0 * timed.iter().map(|step| step.chosen).sum::<f64>();
    let least = 2.0 * SHORTEST * timed.len() as f64;
    let part = allowed.map_or(1.0, |allowed| (allowed - least) / (sum - least).max(1e-9));
    for step in timed {
        step.seconds = SHORTEST + part.clamp(0.0, 1.0) * (step.chosen - SHORTEST);
    }
}

/// The current state of a step. Its comparison is also noted for the step's end.
fn watched(step: &mut Step, number: usize, truth: f64, looks: &Looks) -> Option<Watched> {
    if step.refused {
        step.ended.verdicts.push(Verdict::Inconclusive);
        return None;
    }
    let done = step.restarts.len() as u32;
    let found = compare_slices(&step.restarts, Margin::default(), looks.confidence_at(done));
    let comparison = found.expect("restarts");
    step.ended.note(&comparison, truth, looks.is_due(done));
    Some(Watched {
        step: number,
        timed: step.timed,
        slices: Some((step.restarts.mean(|restart| restart.variance), step.seconds)),
        settled: decided(&comparison, None),
        comparison,
    })
}

/// An experiment in blocks whose trials take a fixed time.
fn in_turns(model: &noise::Noise, truth: f64, random: &mut Random) -> Ended {
    let most = (BUDGET / COST) as u32;
    let (base, variant) = Design::new(most, 2, 10).pair(model, random);
    let variant = scaled(&variant, 1.0 + truth);
    let mut ended = Ended::NEW;
    let mut used: Vec<f64> = Vec::new();
    for done in 1..=most {
        let cost = COST * (1.0 + 0.1 * random.uniform());
        if ended.used + cost > BUDGET {
            break;
        }
        ended.used += cost;
        used.push(ended.used);
        let looks = Looks::within(BUDGET, &used);
        let sides = (&base[..done as usize], &variant[..done as usize]);
        let found = compare_at(sides.0, sides.1, Margin::default(), looks.confidence_at(done));
        let comparison = found.expect("positive rates in pairs");
        let due = looks.is_due(done);
        ended.note(&comparison, truth, due);
        if due && (looks.is_over(done) || decided(&comparison, None)) {
            break;
        }
    }
    ended
}
