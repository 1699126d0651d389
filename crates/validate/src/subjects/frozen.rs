//! Frozen slices: each server has its own time, in which bursts of its work in the background come
//! again and again. A restart is judged by all operations, and only restarts say how much they
//! scatter. Is that right where a step sees many cycles, one, or a part of one?

use std::ops::Bound;

use judge::Verdict;

use crate::{Findings, Outcomes as _, Rate, Size, figures, percent, simulate};

mod runs;
mod scenes;
mod servers;

use scenes::{
    CLEAR, EDGE, LOST, MOST, RESTARTS, SAME, SMALL, STEPS, TRUTHS, bounded, cycle_name, cycles,
    marked,
};
use servers::{BETWEEN, BURST, Cause, LEFT, Lengths, Read, Restart, SLICE, Scene, Told};

/// Steps of several lengths, and the number of restarts in which they have the same time.
const SPLITS: [(f64, [(f64, usize); 4]); 2] = [
    (60.0, [(15.0, 24), (30.0, 12), (45.0, 8), (60.0, 6)]),
    (300.0, [(75.0, 24), (150.0, 12), (225.0, 8), (300.0, 6)]),
];

/// Numbers of restarts, to see how many a rare burst takes.
const MANY: [usize; 5] = [6, 12, 24, 48, 96];

/// The results of each experiment of a scene, by true difference and number of restarts.
type Reads = [Vec<[Read; RESTARTS.len()]>; TRUTHS.len()];

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    let scenes = |cause| -> Vec<(Scene, Reads)> {
        let steps = |cycle| STEPS.into_iter().take(size.pick(1, 2)).map(move |step| (cycle, step));
        let all = cycles(size, cause).flat_map(steps);
        let scenes = all.map(|(cycle, step)| Scene { cycle, step, cause, lost: 0.0 });
        scenes.map(|scene| (scene, reads(scene, size.pick(50, 1_000)))).collect()
    };
    let (everything, bursts) = (scenes(Cause::Everything), scenes(Cause::Bursts));
    slower_in_everything(&everything, findings);
    slower_in_bursts(&bursts, findings);
    too_short(size, findings);
    rare(size, findings);
    runs::looks(size, findings);
    runs::longer(size, findings);
    whole_cycles(size, findings);
}

/// Simulates experiments of a scene.
fn reads(scene: Scene, tries: usize) -> Reads {
    let read =
        |restarts: &[Restart], truth| RESTARTS.map(|count| Read::of(&restarts[..count], truth));
    if scene.cause == Cause::Everything {
        let found = simulate(730, tries, |random| {
            let restarts = scene.restarts(MOST, 0.0, random);
            TRUTHS.map(|truth| {
                let slower: Vec<Restart> = restarts.iter().map(|one| one.slower(truth)).collect();
                read(&slower, truth)
            })
        });
        return [0, 1, 2, 3].map(|truth: usize| found.iter().map(|one| one[truth]).collect());
    }
    TRUTHS.map(|truth| {
        simulate(730, tries, |random| read(&scene.restarts(MOST, truth, random), truth))
    })
}

/// The rows of a table, by scene and number of restarts: whether bursts are too rare for the
/// bounds, a name, and the experiments by true difference.
fn rows(
    scenes: &[(Scene, Reads)],
) -> impl Iterator<Item = (bool, String, [Vec<Read>; TRUTHS.len()])> {
    scenes.iter().flat_map(|(scene, reads)| {
        RESTARTS.into_iter().enumerate().map(move |(place, restarts)| {
            let after = |reads: &Vec<_>| reads.iter().map(|one: &[Read; 3]| one[place]).collect();
            let name = format!("{}, {restarts}", scene.name());
            (scene.is_rare(restarts), name, reads.each_ref().map(after))
        })
    })
}

fn slower_in_everything(scenes: &[(Scene, Reads)], findings: &mut Findings) {
    findings.table(
        format!(
            "**Frozen slices**, a variant that is slower in everything it does. Both servers drop to {} of their throughput for {} of \
             each cycle, from a random moment of it on; restarts of a server differ by {}. Coverage of the 95% interval, and what it \
             would be of the typical slice; false alarms where both are the same; half the width of the interval (median, at −5%); how \
             often a variant is confirmed to be slower; how often `equivalent`, which needs 12 restarts, is said of the same and, wrongly, of −2%; how \
             often `regression` of −2%, on the edge of the margin, and of −5%. Rows: cycle, step (seconds of own time), restarts.",
            percent(LEFT, 0),
            percent(BURST, 0),
            percent(BETWEEN, 1),
        ),
        "cycle, step, restarts | coverage | typical slice | false alarms | half | confirmed −1% | −2% | −5% | equivalent, same | −2% | regression, −2% | −5%",
    );
    for (_, name, reads) in rows(scenes) {
        let what = |what: &str| format!("{what}, frozen, slower in everything, {name}");
        let covered = reads[CLEAR].rate(|one| one.covered);
        let alarms = reads[SAME].rate(|one| !one.covered);
        let wrong = reads[EDGE].rate(|one| one.verdict == Verdict::Equivalent);
        let edge = reads[EDGE].rate(|one| one.verdict == Verdict::Regression);
        let slower = [SMALL, EDGE, CLEAR].map(|truth| reads[truth].rate(|one| one.slower));
        let cells = figures![
            bounded(findings, &what("coverage"), covered, 0.94.., false),
            reads[CLEAR].rate(|one| one.typical),
            bounded(findings, &what("false alarms"), alarms, ..=0.05, false),
            percent(reads[CLEAR].median(|one| one.half), 1),
            slower[0],
            slower[1],
            slower[2],
            reads[SAME].rate(|one| one.verdict == Verdict::Equivalent),
            bounded(findings, &what("equivalent on the edge"), wrong, ..=0.05, false),
            bounded(findings, &what("regression on the edge"), edge, ..=0.05, false),
            reads[CLEAR].rate(|one| one.verdict == Verdict::Regression),
        ];
        findings.row(&name, cells);
    }
}

fn slower_in_bursts(scenes: &[(Scene, Reads)], findings: &mut Findings) {
    findings.table(
        "**The same with a variant whose bursts are longer**, and which is as fast as the base between them. Coverage by true \
         difference: of frozen slices, of the typical slice, and of slices without freezing, which take all operations only where \
         these certainly differ; `equivalent`, wrongly; `regression`, wrongly at −2% and rightly at −5%. Marked (!): beyond the bound.",
        "cycle, step, restarts | coverage −1% | −2% | −5% | typical slice −1% | −2% | −5% | not frozen −1% | −2% | −5% | equivalent −2% | −5% | regression −2% | −5%",
    );
    for (rare, name, reads) in rows(scenes) {
        let mut cells = Vec::new();
        let differing = [SMALL, EDGE, CLEAR];
        for truth in differing {
            let covered = reads[truth].rate(|one| one.covered);
            let what = format!("coverage at {}, frozen, longer bursts, {name}", TRUTHS[truth]);
            cells.push(bounded(findings, &what, covered, 0.94.., rare));
        }
        cells.extend(differing.map(|truth| reads[truth].rate(|one| one.typical).to_string()));
        cells.extend(differing.map(|truth| reads[truth].rate(|one| one.plain).to_string()));
        for (said, truth) in [Verdict::Equivalent, Verdict::Regression]
            .into_iter()
            .flat_map(|said| [EDGE, CLEAR].map(|truth| (said, truth)))
        {
            let rate = reads[truth].rate(|one| one.verdict == said);
            let what = format!("{said} at {}, frozen, longer bursts, {name}", TRUTHS[truth]);
            let right = said == Verdict::Regression && truth == CLEAR;
            cells.push(match right {
                true => rate.to_string(),
                false => bounded(findings, &what, rate, ..=0.05, rare),
            });
        }
        findings.row(&name, cells);
    }
}

/// A variant that loses or gains time at the beginning of each slice, which long ones would not
/// show.
fn too_short(size: Size, findings: &mut Findings) {
    findings.table(
        format!(
            "**Slices that are too short**: the variant loses time at the beginning of each slice of {:.0} or {:.0} ms, and is otherwise as \
             fast as the base. How often the two lengths disagree; coverage of the 95% interval; half its width (median); \
             `regression`, wrongly. In the last columns, the variant is slower by 5%: `regression` if it also loses that time, and \
             `equivalent`, wrongly, if it gains it. What it would be without the second length is beside each. Marked (!): beyond \
             the bound. Rows: cycle, ms lost, restarts of 10 s.",
            1000.0 * SLICE,
            2000.0 * SLICE
        ),
        "cycle, lost, restarts | disagree | coverage | without | half | without | regression, same | without | regression, −5% | without | equivalent, −5% | without",
    );
    for cycle in [None, Some(1.0), Some(7.0)].into_iter().step_by(size.pick(2, 1)) {
        for lost in LOST.into_iter().step_by(size.pick(3, 1)) {
            let found = simulate(770, size.pick(20, 400), |random| {
                let mut restarts = |lost: f64| {
                    let cause = Cause::Everything;
                    Scene { cycle, step: STEPS[0], cause, lost }.restarts(MOST, 0.0, random)
                };
                let (loses, gains) = (restarts(lost / 1000.0), restarts(-lost / 1000.0));
                let slower = |restarts: &[Restart]| -> Vec<Restart> {
                    restarts.iter().map(|one| one.slower(TRUTHS[CLEAR])).collect()
                };
                let read = |restarts: &[Restart], truth| {
                    RESTARTS.map(|count| Lengths::of(&restarts[..count], truth))
                };
                [
                    read(&loses, TRUTHS[SAME]),
                    read(&slower(&loses), TRUTHS[CLEAR]),
                    read(&slower(&gains), TRUTHS[CLEAR]),
                ]
            });
            for (place, restarts) in RESTARTS.into_iter().enumerate() {
                let found: Vec<[Lengths; 3]> =
                    found.iter().map(|one| one.map(|lengths| lengths[place])).collect();
                let name = format!("{}, {lost} ms, {restarts}", cycle_name(cycle));
                // Six restarts often miss that, and more of them miss less.
                let little = lost > 0.0 && (lost <= 1.0 || lost <= 2.5 && restarts == 6);
                lengths_row(&name, little, &found, findings);
            }
        }
    }
}

/// A row of the table of [`too_short`]. `little`: the two lengths often don't show what is lost.
fn lengths_row(name: &str, little: bool, found: &[[Lengths; 3]], findings: &mut Findings) {
    let rate = |scene: usize, told: fn(&Told) -> bool| {
        [0, 1].map(|way: usize| found.rate(|one| told(&one[scene].read[way])))
    };
    let covered = rate(0, |told| told.covered);
    let half = [0, 1].map(|way: usize| percent(found.median(|one| one[0].read[way].half), 1));
    let regression: fn(&Told) -> bool = |told| told.verdict == Verdict::Regression;
    let [same, slower] = [rate(0, regression), rate(1, regression)];
    let equivalent = rate(2, |told| told.verdict == Verdict::Equivalent);
    let what = |what: &str| format!("{what}, frozen, too short, {name}");
    let cells = figures![
        found.rate(|one| one[0].disagree),
        bounded(findings, &what("coverage"), covered[0], 0.94.., little),
        covered[1],
        half[0],
        half[1],
        bounded(findings, &what("regression of the same"), same[0], ..=0.05, little),
        same[1],
        slower[0],
        slower[1],
        bounded(findings, &what("equivalent at −5%"), equivalent[0], ..=0.05, false),
        equivalent[1],
    ];
    findings.row(name, cells);
}

/// How many restarts a burst takes that most of them don't see.
fn rare(size: Size, findings: &mut Findings) {
    findings.table(
        "**Rare bursts**: longer ones of the variant, in a cycle that is longer than the step. Coverage at −5%, and `equivalent` at \
         −5%, wrongly, if it took no more than six restarts, both by the number of restarts.",
        format!(
            "cycle, step | {} | {}",
            MANY.map(|many| format!("coverage, {many}")).join(" | "),
            MANY.map(|many| format!("equivalent, {many}")).join(" | ")
        ),
    );
    for cycle in [60.0, 300.0] {
        for step in STEPS.into_iter().take(size.pick(1, 2)) {
            let scene = Scene { cycle: Some(cycle), step, cause: Cause::Bursts, lost: 0.0 };
            let truth = TRUTHS[CLEAR];
            let found = simulate(740, size.pick(2, 400), |random| {
                let restarts = scene.restarts(MANY[MANY.len() - 1], truth, random);
                MANY.map(|many| {
                    let read = Read::of(&restarts[..many], truth);
                    (read.covered, read.early)
                })
            });
            let covered =
                [0, 1, 2, 3, 4].map(|many: usize| marked(found.rate(|one| one[many].0), &(0.94..)));
            let wrong = [0, 1, 2, 3, 4]
                .map(|many: usize| marked(found.rate(|one| one[many].1), &(..=0.05)));
            findings.row(&scene.name(), covered.into_iter().chain(wrong));
        }
    }
}

fn whole_cycles(size: Size, findings: &mut Findings) {
    findings.table(
        "**Whole cycles or parts of them**: the same time of a server, in steps shorter than a cycle and in steps of a whole one. \
         Half the width of the interval (median, at −5%); `equivalent`, rightly, and if it took no more than six restarts; with longer bursts of the variant, coverage and \
         `equivalent`, wrongly, at −2% and −5%, and `regression` at −5%.",
        "cycle, step, restarts | half | equivalent, same | from six | coverage −2% | −5% | equivalent −2% | −5% | regression −5%",
    );
    for (cycle, splits) in SPLITS.into_iter().take(size.pick(1, 2)) {
        for (step, count) in splits {
            let scene = Scene { cycle: Some(cycle), step, cause: Cause::Bursts, lost: 0.0 };
            let [same, edge, clear] = [SAME, EDGE, CLEAR].map(|truth| {
                simulate(760, size.pick(10, 400), |random| {
                    Read::of(&scene.restarts(count, TRUTHS[truth], random), TRUTHS[truth])
                })
            });
            let said = |reads: &[Read], said: Verdict| reads.rate(|one| one.verdict == said);
            let name = format!("{}, {count}", scene.name());
            let rare = scene.is_rare(count);
            let mut checked = |what: &str, rate: Rate, bounds: (Bound<f64>, Bound<f64>)| {
                bounded(
                    findings,
                    &format!("{what}, frozen, whole cycles, {name}"),
                    rate,
                    bounds,
                    rare,
                )
            };
            let least = (Bound::Included(0.94), Bound::Unbounded);
            let most = (Bound::Unbounded, Bound::Included(0.05));
            let cells = figures![
                percent(clear.median(|one| one.half), 1),
                said(&same, Verdict::Equivalent),
                same.rate(|one| one.early),
                checked("coverage at −2%", edge.rate(|one| one.covered), least),
                checked("coverage at −5%", clear.rate(|one| one.covered), least),
                checked("equivalent at −2%", said(&edge, Verdict::Equivalent), most),
                checked("equivalent at −5%", said(&clear, Verdict::Equivalent), most),
                said(&clear, Verdict::Regression),
            ];
            findings.row(&name, cells);
        }
    }
}
