//! Submissions that look at the machines that are done, and run no more once they decide.

use fleet::{Submission, Wishes, Work};
use judge::{CONFIDENCE, Looks, Margin, OverMachines, decided, over_machines};
use plan::Plan;

use super::fleets::{Bounds, COVERS, Fleet, RARE, SCATTER, tries};
use crate::experiment::{called, covers};
use crate::noise::Tails;
use crate::{Findings, Outcomes as _, Random, Size, percent, simulate};

/// Numbers of machines, and of blocks on each.
const FLEETS: [(usize, usize); 4] = [(4, 3), (8, 3), (16, 3), (40, 2)];

/// True effects.
const EFFECTS: [f64; 4] = [0.0, -0.019, -0.03, -0.05];

/// Differences up to it don't matter.
const MARGIN: f64 = 0.02;

/// One submission.
struct Ended {
    /// A look, perhaps a later one than the last that was taken, missed the truth.
    ever_missed: bool,
    /// The share of machines that ran.
    share: f64,
    wrong: bool,
    regression: bool,
    /// What all machines without looks would have said.
    without: bool,
}

/// Numbers of machines after which a submission is looked at, and the confidence of each look.
fn looks(fleet: &Fleet) -> Vec<(usize, f64)> {
    let text = format!(
        "blocks = {}\n[workload.insert]\n[variants.a]\ndbms = \"postgres@14.3\"\n\
         [variants.b]\ndbms = \"postgres@15.1\"\n",
        fleet.blocks
    );
    let plan = Plan::parse(&text, None, "validate").expect("a plan with blocks");
    let how = (Wishes::default(), Vec::new());
    let name = "validate".to_owned();
    let machines = fleet.machines as u32;
    let submission = Submission::new(name, (&plan, Work::Run), machines, (0, 1), "0", how);
    let submission = submission.and_then(Submission::stopping_early).expect("several looks");
    let whole = submission.whole_plan(0).expect("the same plan");
    let planned = Looks::new(&whole.looks());
    let looks = submission.looks().expect("the same plan").into_iter();
    looks.map(|it| (it as usize, planned.confidence_at(it * plan.blocks))).collect()
}

/// A submission whose machines get done one after the other, those of the first type first.
fn submission(
    fleet: &Fleet,
    looks: &[(usize, f64)],
    (scatter, effect): (f64, f64),
    random: &mut Random,
) -> Ended {
    let (mut machines, own) = fleet.simulate(scatter, random);
    for one in &mut machines {
        one.logs.iter_mut().for_each(|log| *log += effect.ln_1p());
    }
    let truth = |count: usize| own[..count].iter().sum::<f64>() / count as f64 + effect.ln_1p();
    let judged = |count: usize, confidence: f64| -> OverMachines {
        over_machines(&machines[..count], Margin::of(MARGIN), confidence).expect("finite logs")
    };
    let mut ended: Option<(usize, OverMachines)> = None;
    let mut ever_missed = false;
    for (count, confidence) in looks {
        let found = judged(*count, *confidence);
        ever_missed |= !covers(&found.fleet, truth(*count).exp());
        if ended.is_none() && (decided(&found.fleet, None) || *count == fleet.machines) {
            ended = Some((*count, found));
        }
    }
    let (count, found) = ended.expect("the last look ends it");
    let regression = |of: &OverMachines| of.fleet.verdict == judge::Verdict::Regression;
    Ended {
        ever_missed,
        share: count as f64 / fleet.machines as f64,
        wrong: called(found.fleet.verdict)
            && (1.0 - MARGIN..1.0 + MARGIN).contains(&truth(count).exp()),
        regression: regression(&found),
        without: regression(&judged(fleet.machines, CONFIDENCE)),
    }
}

pub(super) fn run(size: Size, findings: &mut Findings) {
    findings.table(
        "**Submissions that stop early**, at a margin of 2%: machines get done one after the other, and are looked at when planned. \
         Covered: the intervals of all looks hold the mean of the machines seen so far. False: `regression` or `improvement` although \
         that mean is within the margin, without an effect and with one of −1.9%. Then the share of machines that run, and how often 5% \
         are a `regression`; last, the same if all machines run and are looked at once.",
        "machines | blocks | looks | covered, 0% | 1% | 3% | false, 0% | 1% | 3% | at −1.9%, 0% | 1% | 3% | run, no effect | −1.9% | −3% | −5% | verdict, scatter 0% | 1% | 3% | once, 0% | 1% | 3%",
    );
    let chosen = FLEETS.iter().filter(|(machines, _)| size == Size::Long || *machines < 9);
    for (machines, blocks) in chosen {
        let (tails, one_noisy) = (Tails::Light, false);
        let fleet = Fleet { machines: *machines, blocks: *blocks, tails, one_noisy };
        let looks = looks(&fleet);
        let ended: Vec<[Vec<Ended>; 3]> = EFFECTS
            .iter()
            .map(|effect| {
                [0, 1, 2].map(|which| {
                    let seed = 1500 + 100 * which as u64 + (machines * 13 + blocks) as u64;
                    let truth = (SCATTER[which], *effect);
                    simulate(seed, 2 * tries(*machines, size), |random| {
                        submission(&fleet, &looks, truth, random)
                    })
                })
            })
            .collect();
        let mut checked =
            |effect: usize, what: &str, bounds: Bounds, is: &dyn Fn(&Ended) -> bool| {
                [0, 1, 2].map(|which| {
                    let rate = ended[effect][which].rate(is);
                    let scatter = percent(SCATTER[which], 0);
                    let of = format!("{machines} machines, {blocks} blocks, scatter {scatter}");
                    findings.rate(format!("{what}, {of}"), rate, bounds);
                    rate.to_string()
                })
            };
        let covered = checked(0, "looks cover", COVERS, &|it| !it.ever_missed);
        let wrong = checked(0, "false at a look", RARE, &|it| it.wrong);
        let edge = checked(1, "false at a look, −1.9%", RARE, &|it| it.wrong);
        let share =
            [0, 1, 2, 3].map(|effect| percent(ended[effect][0].mean(|it: &Ended| it.share), 0));
        let verdict = [0, 1, 2].map(|which| ended[3][which].rate(|it| it.regression).to_string());
        let once = [0, 1, 2].map(|which| ended[3][which].rate(|it| it.without).to_string());
        let numbers = [blocks.to_string(), looks.len().to_string()];
        let cells = [&numbers[..], &covered, &wrong, &edge, &share, &verdict, &once].concat();
        findings.row(&machines.to_string(), cells.iter());
    }
}
