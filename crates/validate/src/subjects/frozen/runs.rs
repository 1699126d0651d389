//! Runs with a budget: they look at their results, and go on with longer slices where those of two
//! lengths disagree.

use judge::{
    ENOUGH_BLOCKS, Looks, Margin, RestartRatio, Verdict, Warning, compare_frozen, decided,
    long_enough, longer_slices,
};

use super::scenes::{
    CLEAR, EDGE, FIRST_LOOK, LOST, MOST, SAME, STEPS, TRUTHS, bounded, cycle_name, cycles,
};
use super::servers::{Cause, Restart, SLICE, Scene};
use crate::experiment::covers;
use crate::{Findings, Outcomes as _, Random, Rate, Size, figures, simulate};

/// Seconds of a step, as a run chooses them that has many restarts.
const SHORT: f64 = 5.0;
/// The longest slices that a run chooses, in seconds.
const LONGEST: f64 = 0.6;

/// A run that looks at its results.
struct Ended {
    missed: bool,
    restarts: usize,
    verdict: Verdict,
    /// It went on with longer slices.
    longer: bool,
}

/// A run with a budget for [`MOST`] restarts, up to the look that decides. `restart` makes the next
/// one, with slices of so many seconds; `lengthens`: the run may choose longer ones.
fn ended(
    restart: impl Fn(f64, &mut Random) -> Restart,
    truth: f64,
    lengthens: bool,
    random: &mut Random,
) -> Ended {
    let used: Vec<f64> = (1..=MOST).map(|count| count as f64).collect();
    let looks = Looks::within(MOST as f64, &used);
    let mut ended =
        Ended { missed: false, restarts: 0, verdict: Verdict::Inconclusive, longer: false };
    let (mut slice, mut since) = (SLICE, 0);
    let mut restarts: Vec<RestartRatio> = Vec::new();
    for done in 1..=MOST {
        restarts.push(restart(slice, random).frozen);
        if !looks.is_due(done as u32) {
            continue;
        }
        let counted = long_enough(&restarts).expect("restarts");
        let counted: Vec<RestartRatio> = counted.into_iter().flatten().collect();
        let confidence = looks.confidence_at(done as u32);
        let found =
            compare_frozen(&counted, Margin::default(), confidence).expect("at least one restart");
        ended.missed |= !covers(&found, 1.0 + truth);
        (ended.restarts, ended.verdict) = (done, found.verdict);
        if decided(&found, None) {
            break;
        }
        let disagree = found.warnings.iter().find_map(|warning| match *warning {
            Warning::LengthsDisagree { short, long } => Some((short, long)),
            _ => None,
        });
        let enough = since == 0 || done - since >= ENOUGH_BLOCKS;
        if let Some((short, long)) = disagree.filter(|_| lengthens && enough)
            && done + ENOUGH_BLOCKS <= MOST
            && let Some(longer) = longer_slices(slice, short, long, LONGEST)
        {
            (slice, since, ended.longer) = (longer, done, true);
        }
    }
    ended
}

pub(super) fn looks(size: Size, findings: &mut Findings) {
    findings.table(
        format!(
            "**Looks**: the looks of a run with a budget for {MOST} restarts, up to the one that decides. Some look wrong: the \
             interval of one of them excludes the truth (the larger share of true differences of 0 and −2%); wrong verdicts at −2%, \
             on the edge; restarts until the end."
        ),
        "slower in, cycle, step | some look wrong | equivalent −2% | regression −2% | restarts, same | −5%",
    );
    for cause in [Cause::Everything, Cause::Bursts] {
        for cycle in cycles(size, cause) {
            let scene = Scene { cycle, step: STEPS[size.pick(0, 1)], cause, lost: 0.0 };
            let [same, edge, clear] = [SAME, EDGE, CLEAR].map(|truth| {
                simulate(750, size.pick(20, 500), |random| {
                    ended(
                        |slice, random| scene.restart(slice, TRUTHS[truth], random),
                        TRUTHS[truth],
                        true,
                        random,
                    )
                })
            });
            let [none, some] = [&same, &edge].map(|ended| ended.rate(|one| one.missed));
            let missed = if none.share() > some.share() { none } else { some };
            let cause = if cause == Cause::Bursts { "bursts" } else { "everything" };
            let name = format!("{cause}, {}", scene.name());
            let of = |said: Verdict| edge.rate(|one| one.verdict == said);
            let mut check = |what: &str, rate| {
                let what = format!("{what}, frozen, looks, {name}");
                bounded(findings, &what, rate, ..=0.05, scene.is_rare(FIRST_LOOK))
            };
            let cells = figures![
                check("some look wrong", missed),
                check("equivalent on the edge", of(Verdict::Equivalent)),
                check("regression on the edge", of(Verdict::Regression)),
                format!("{:.1}", same.mean(|one| one.restarts as f64)),
                format!("{:.1}", clear.mean(|one| one.restarts as f64)),
            ];
            findings.row(&name, cells);
        }
    }
}

/// Slices that are too short, in runs that go on with longer ones.
pub(super) fn longer(size: Size, findings: &mut Findings) {
    findings.table(
        format!(
            "**Longer slices**: the same losses in runs with a budget for {MOST} restarts of {} s, which go on with longer slices \
             where those of two lengths disagree, and what such runs would be with slices of {:.0} and {:.0} ms throughout \
             (without). How many choose longer slices; how many have a verdict where both are the same, how often that is \
             `regression`, wrongly, and how often some look is wrong. With a variant that is slower by 5%: `regression` if it \
             also loses that time; `regression` and, wrongly, `equivalent` if it gains it. Marked (!): beyond the bound.",
            SHORT,
            1000.0 * SLICE,
            2000.0 * SLICE
        ),
        "cycle, lost | longer | verdict, same | without | regression, same | without | some look wrong | without | regression, −5% | without | −5%, gains | without | equivalent, gains | without",
    );
    for cycle in [None, Some(1.0), Some(7.0)].into_iter().step_by(size.pick(2, 1)) {
        for lost in LOST.into_iter().step_by(size.pick(3, 1)) {
            let scene = |lost: f64| {
                let cause = Cause::Everything;
                Scene { cycle, step: SHORT, cause, lost: lost / 1000.0 }
            };
            let runs = |lost: f64, truth: f64, lengthens: bool| {
                simulate(780, size.pick(20, 400), |random| {
                    let next = |slice: f64, random: &mut Random| {
                        scene(lost).restart(slice, 0.0, random).slower(truth)
                    };
                    ended(next, truth, lengthens, random)
                })
            };
            let both = |lost: f64, truth: usize| {
                [true, false].map(|lengthens| runs(lost, TRUTHS[truth], lengthens))
            };
            let (same, loses, gains) = (both(lost, SAME), both(lost, CLEAR), both(-lost, CLEAR));
            let said = |runs: &[Vec<Ended>; 2], said: Verdict| {
                runs.each_ref().map(|runs| runs.rate(|one| one.verdict == said))
            };
            let name = format!("{}, {lost} ms", cycle_name(cycle));
            let decided =
                same.each_ref().map(|runs| runs.rate(|one| one.verdict != Verdict::Inconclusive));
            let missed = same.each_ref().map(|runs| runs.rate(|one| one.missed));
            let wrong = said(&same, Verdict::Regression);
            let equivalent = said(&gains, Verdict::Equivalent);
            let [slower, hidden] = [&loses, &gains].map(|runs| said(runs, Verdict::Regression));
            // Looks after few restarts often miss what is lost, with or without longer slices.
            let beyond = |rates: &[Rate; 2]| !rates[1].within(&(..=0.05));
            let what = |what: &str| format!("{what}, frozen, longer, {name}");
            // Nor do longer slices make them more often wrong.
            for (told, [with, without]) in
                [("regression", &wrong), ("some look", &missed), ("equivalent", &equivalent)]
            {
                let most = without.share() + 0.05;
                findings.rate(what(&format!("{told}, more than without")), *with, ..=most);
            }
            let cells = figures![
                same[0].rate(|one| one.longer),
                decided[0],
                decided[1],
                bounded(
                    findings,
                    &what("regression of the same"),
                    wrong[0],
                    ..=0.05,
                    beyond(&wrong)
                ),
                wrong[1],
                bounded(findings, &what("some look wrong"), missed[0], ..=0.05, beyond(&missed)),
                missed[1],
                slower[0],
                slower[1],
                hidden[0],
                hidden[1],
                bounded(
                    findings,
                    &what("equivalent at −5%"),
                    equivalent[0],
                    ..=0.05,
                    beyond(&equivalent)
                ),
                equivalent[1],
            ];
            findings.row(&name, cells);
        }
    }
}
