//! Verdicts over several machines that may differ, some of unequal noise.

use std::ops::Bound;

use judge::{CONFIDENCE, ENOUGH_BLOCKS, Finding, Margin, OverMachines, over_machines};

use crate::experiment::{called, covers};
use crate::noise::Tails;
use crate::{Findings, Outcomes as _, Random, Size, percent, simulate};

mod early;
mod fleets;
mod weights;

use fleets::{Bounds, COVERS, Fleet, NOISES, RARE, SCATTER, tries};

/// Numbers of machines, and of blocks on each.
const FLEETS: [(usize, &[usize]); 5] = [
    (1, &[6, 12]),
    (2, &[3, 6, 12]),
    (4, &[2, 3, 6, 12]),
    (16, &[2, 3, 6, 12]),
    (100, &[2, 4, 12]),
];

/// True effects.
const EFFECTS: [f64; 3] = [-0.01, -0.02, -0.05];

/// The machine that lies is slower by this much.
const LIE: f64 = -0.1;

/// The second type of machines is slower by this much.
const KIND: f64 = -0.05;

/// The result of one experiment.
struct Said {
    truth: f64,
    found: OverMachines,
    /// Half the width of the intervals: of these machines, of machines like these, by weights.
    halves: [f64; 3],
    /// By weights.
    weighted: bool,
    /// By effect, on these machines: confirmed, and regression.
    slower: [[bool; 2]; 3],
    /// With a machine that lies: it is named, another one is, a type is.
    liar: [bool; 3],
    /// With a type that is slower: it is named, a machine is.
    kind: [bool; 2],
}

/// The results of a fleet, by scatter.
type Results = [Vec<Said>; 3];

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    let plain = FLEETS.iter().flat_map(|(machines, blocks)| {
        let of = |blocks: &usize| Fleet {
            machines: *machines,
            blocks: *blocks,
            tails: Tails::Light,
            one_noisy: false,
        };
        blocks.iter().map(of)
    });
    let other = [(Tails::Heavy, false), (Tails::Light, true)].into_iter().flat_map(|how| {
        let (tails, one_noisy) = how;
        [2, 3, 6].map(|blocks| Fleet { machines: 16, blocks, tails, one_noisy })
    });
    let results: Vec<(Fleet, Results)> = plain
        .chain(other)
        // The short form has those that take the least time.
        .filter(|fleet| size == Size::Long || fleet.machines == 1 || fleet.blocks <= 3)
        .map(|fleet| (fleet, [0, 1, 2].map(|which| results(&fleet, which, size))))
        .collect();
    coverage(size, &results, findings);
    verdicts(&results, findings);
    scatter(&results, findings);
    liars(&results, findings);
    kinds(&results, findings);
    early::run(size, findings);
}

fn results(fleet: &Fleet, which: usize, size: Size) -> Vec<Said> {
    let tries = tries(fleet.machines, size);
    let seed = 1100 + 100 * which as u64 + (fleet.machines * 13 + fleet.blocks) as u64;
    simulate(seed, tries, |random| experiment(fleet, SCATTER[which], random))
}

fn experiment(fleet: &Fleet, scatter: f64, random: &mut Random) -> Said {
    let (machines, own) = fleet.simulate(scatter, random);
    let truth = own.iter().sum::<f64>() / own.len() as f64;
    let with = |ratio: f64, to: &dyn Fn(usize) -> bool| {
        let mut machines = machines.clone();
        for (_, one) in machines.iter_mut().enumerate().filter(|(place, _)| to(*place)) {
            one.logs.iter_mut().for_each(|log| *log += ratio.ln_1p());
        }
        over_machines(&machines, Margin::default(), CONFIDENCE).expect("finite logs")
    };
    let found = with(0.0, &|_| false);
    // The interval moves with the effect.
    let slower = EFFECTS.map(|effect| {
        let high = found.fleet.high.map_or(f64::INFINITY, |high| high * (1.0 + effect));
        [high < 1.0, high < 0.98 && found.fleet.blocks >= ENOUGH_BLOCKS]
    });
    let several = fleet.machines > 1;
    let (low, high) = if several { weights::weighted(&machines) } else { (f64::NAN, f64::NAN) };
    let half = |one: &judge::Comparison| one.half_width().unwrap_or(f64::NAN);
    let halves =
        [half(&found.fleet), found.general.as_ref().map_or(f64::NAN, half), 0.5 * (high - low)];
    let lying = with(LIE, &|place| place == 0);
    let named =
        |of: &OverMachines, is: &dyn Fn(Finding<'_>) -> bool| of.findings().into_iter().any(is);
    let liar = [
        named(&lying, &|one| matches!(one, Finding::Machine(one) if one.machine == "0")),
        named(&lying, &|one| matches!(one, Finding::Machine(one) if one.machine != "0")),
        named(&lying, &is_kind),
    ];
    let differing = with(KIND, &|place| 2 * place >= fleet.machines);
    let kind = [named(&differing, &is_kind), named(&differing, &|one| !is_kind(one))];
    Said { truth, found, halves, weighted: low <= 0.0 && high >= 0.0, slower, liar, kind }
}

fn is_kind(one: Finding<'_>) -> bool {
    matches!(one, Finding::Kind(_))
}

const SHOWN: Bounds = (Bound::Unbounded, Bound::Unbounded);

/// The rate at each scatter, checked if it has bounds.
fn rates(
    findings: &mut Findings,
    (fleet, results): &(Fleet, Results),
    (what, bounds): (&str, Bounds),
    happened: impl Fn(&Said) -> bool,
) -> [String; 3] {
    [0, 1, 2].map(|which| {
        let rate = results[which].rate(&happened);
        if bounds != SHOWN {
            let (name, scatter) = (fleet.name(), percent(SCATTER[which], 0));
            let of = format!("{name} machines, {} blocks, scatter {scatter}", fleet.blocks);
            findings.rate(format!("{what}, {of}"), rate, bounds);
        }
        rate.to_string()
    })
}

/// Adds a row for a fleet.
fn row(findings: &mut Findings, fleet: &Fleet, figures: &[&[String]]) {
    let blocks = fleet.blocks.to_string();
    findings.row(&fleet.name(), [blocks].iter().chain(figures.iter().copied().flatten()));
}

fn dashes() -> [String; 3] {
    [0, 1, 2].map(|_| "–".to_owned())
}

fn coverage(size: Size, all: &[(Fleet, Results)], findings: &mut Findings) {
    let noises = NOISES.map(|noise| percent(noise, 1)).join(", ");
    findings.table(
        format!(
            "**Intervals over machines**, which deviate by {noises} from trial to trial, one after the other; {} experiments with up to \
             4 machines, {} with 16, {} with 100. Their true effects scatter by 0%, 1% or 3%. Coverage: of the mean of these machines, \
             of the mean of machines like these, and of the latter by the usual weights (random effects). Last: the mean half widths if \
             effects scatter by 1%.",
            tries(4, size),
            tries(16, size),
            tries(100, size),
        ),
        "machines | blocks | these, 0% | 1% | 3% | like these, 0% | 1% | 3% | weights, 0% | 1% | 3% | ± these | ± like these | ± weights",
    );
    for one in all {
        let (fleet, results) = one;
        let bounds = if fleet.one_noisy { SHOWN } else { COVERS };
        let these = rates(findings, one, ("coverage of these", bounds), |said| {
            covers(&said.found.fleet, said.truth.exp())
        });
        let (mut like, mut weights) = (dashes(), dashes());
        if fleet.machines > 1 {
            like = rates(findings, one, ("coverage of others", COVERS), |said| {
                said.found.general.as_ref().is_some_and(|general| covers(general, 1.0))
            });
            weights = rates(findings, one, ("by weights", SHOWN), |said| said.weighted);
        }
        let halves = [0, 1, 2].map(|which| match results[1].mean(|said| said.halves[which]) {
            half if half.is_nan() => "–".to_owned(),
            half => percent(half, 2),
        });
        row(findings, fleet, &[&these, &like, &weights, &halves]);
    }
}

fn verdicts(all: &[(Fleet, Results)], findings: &mut Findings) {
    findings.table(
        "**Verdicts over machines** at a margin of 2%. False: `regression` or `improvement` although the mean of these machines is \
         within the margin; the same of machines like these, without an effect. Then how often a slower variant is confirmed to be, \
         and how often 5% are a `regression` of these machines.",
        "machines | blocks | false, 0% | 1% | 3% | like these, 0% | 1% | 3% | −1%, scatter 0% | −2% | −5% | −1%, scatter 1% | −2% | −5% | verdict, scatter 0% | 1% | 3%",
    );
    for one in all {
        let (fleet, results) = one;
        let wrong = rates(findings, one, ("false verdicts", RARE), |said| {
            called(said.found.fleet.verdict) && (0.98..1.02).contains(&said.truth.exp())
        });
        let general = rates(findings, one, ("false verdicts of others", RARE), |said| {
            said.found.general.as_ref().is_some_and(|general| called(general.verdict))
        });
        let power = [0, 1].map(|scatter| {
            [0, 1, 2].map(|effect| results[scatter].rate(|said| said.slower[effect][0]).to_string())
        });
        let verdict = rates(findings, one, ("regressions", SHOWN), |said| said.slower[2][1]);
        row(findings, fleet, &[&wrong, &general, &power[0], &power[1], &verdict]);
    }
}

fn scatter(all: &[(Fleet, Results)], findings: &mut Findings) {
    findings.table(
        "**Machines that differ**: how often they are said to, if their true effects scatter by 0%, 1% and 3%; the median estimate of \
         the scatter, and how often its interval holds it.",
        "machines | blocks | differ, 0% | 1% | 3% | estimate, 0% | 1% | 3% | interval, 0% | 1% | 3%",
    );
    for one in all.iter().filter(|(fleet, _)| fleet.machines > 1) {
        let (fleet, results) = one;
        let differ = |said: &Said| said.found.differ();
        let said = rates(findings, one, ("machines that differ", SHOWN), differ);
        let what = format!("false differences, {} machines, {} blocks", fleet.name(), fleet.blocks);
        findings.rate(what, results[0].rate(differ), RARE);
        let median = |said: &Said| said.found.spread.map_or(f64::NAN, |spread| spread.sd);
        let estimates = [0, 1, 2].map(|which| percent(results[which].median(median), 1));
        let held = [0, 1, 2].map(|which| {
            let holds = |said: &Said| {
                let spread = said.found.spread;
                spread.is_some_and(|it| (it.low..=it.high).contains(&SCATTER[which]))
            };
            results[which].rate(holds).to_string()
        });
        row(findings, fleet, &[&said, &estimates, &held]);
    }
}

fn liars(all: &[(Fleet, Results)], findings: &mut Findings) {
    findings.table(
        "**A machine that lies**: false: some machine is said to differ from the others though none lies. Found: the first one \
         is slower by 10% for the variant only, and is named. Another: another one is, too.",
        "machines | blocks | false, 0% | 1% | 3% | found, 0% | 1% | 3% | another, 0% | 1% | 3%",
    );
    for one in all.iter().filter(|(fleet, _)| fleet.machines > 2) {
        let wrong = rates(findings, one, ("machines that don't lie", RARE), |said| {
            said.found.findings().into_iter().any(|one| !is_kind(one))
        });
        let found = rates(findings, one, ("liars", SHOWN), |said| said.liar[0]);
        let another = rates(findings, one, ("not the liar", RARE), |said| said.liar[1]);
        row(findings, &one.0, &[&wrong, &found, &another]);
    }
}

fn kinds(all: &[(Fleet, Results)], findings: &mut Findings) {
    findings.table(
        "**A type that differs**: half of the machines are of another type. False: a type is said to differ though none does; the \
         same while one machine is slower by 10%. Found: the type is slower by 5%, and is named. Machine: a machine is \
         said to differ then.",
        "machines | blocks | false, 0% | 1% | 3% | one lies, 0% | 1% | 3% | found, 0% | 1% | 3% | machine, 0% | 1% | 3%",
    );
    for one in all.iter().filter(|(fleet, _)| fleet.machines > 2) {
        let wrong = rates(findings, one, ("types that don't differ", RARE), |said| {
            said.found.findings().into_iter().any(is_kind)
        });
        let lying = rates(findings, one, ("types while one lies", RARE), |said| said.liar[2]);
        let found = rates(findings, one, ("types", SHOWN), |said| said.kind[0]);
        let machine = rates(findings, one, ("machines of types", RARE), |said| said.kind[1]);
        row(findings, &one.0, &[&wrong, &lying, &found, &machine]);
    }
}
