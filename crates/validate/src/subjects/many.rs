//! Many steps at once: Benjamini and Hochberg's false-discovery rate, with steps that share their
//! trials, and what can be detected among them.

use judge::{Comparison, DEFAULT_MARGIN, control_false_discoveries};

use crate::experiment::{called, compared};
use crate::{Findings, Outcomes as _, Random, Size, figures, percent, simulate};

/// Steps of an experiment.
const STEPS: usize = 40;

/// Deviation of a step's throughput between trials.
const CV: f64 = 0.011;

/// Correlation of the steps of one trial: they share the server, its memory and its files.
const SHARED: f64 = 0.5;

/// Numbers of comparisons in an experiment.
const AMONG: [usize; 3] = [1, 6, 30];

/// The result of one experiment.
struct Said {
    /// Regressions and improvements, corrected for their number.
    claims: usize,
    /// Claims about steps whose true difference is within the margin.
    false_claims: usize,
    /// Confirmed differences.
    confirmed: usize,
    /// Those of steps without any difference.
    false_confirmed: usize,
    /// Intervals that exclude 1 in steps without any difference, not corrected.
    uncorrected: usize,
}

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    let tries = size.pick(300, 20_000);
    findings.table(
        format!(
            "**{STEPS} steps**, 8 blocks, {tries} experiments; trials differ by {} and their steps are correlated by {SHARED}. \
             Some steps of the variant are truly slower by 5%. Not corrected: experiments with an interval that excludes 1 in a step \
             without a difference. Corrected (Benjamini and Hochberg): false discoveries as the mean share of all discoveries, \
             and the share of the true ones that is found.",
            percent(CV, 1)
        ),
        "slower steps | not corrected: any false | confirmed: any false | confirmed: false share | found | verdicts: false share | found",
    );
    for slower in [0, 1, 10, 30] {
        let said = simulate(60 + slower as u64, tries, |random| experiment(slower, random));
        // Three standard errors; a share is never more variable than a rate.
        let allowed = 0.05 + 3.0 * (0.05 * 0.95 / tries as f64).sqrt();
        let mut shares = |name: &str, false_and_all: fn(&Said) -> [usize; 2]| {
            let wrong = said.mean(|one| {
                let [wrong, all] = false_and_all(one);
                wrong as f64 / all.max(1) as f64
            });
            findings.check(
                format!("false discoveries among {name}, {slower} slower steps"),
                percent(wrong, 1),
                "≤ 5%",
                wrong <= allowed,
            );
            let right = |one: &Said| {
                let [wrong, all] = false_and_all(one);
                all - wrong
            };
            let found: usize = said.iter().map(right).sum();
            let found = match slower {
                0 => "–".to_owned(),
                _ => percent(found as f64 / (slower * tries) as f64, 1),
            };
            [percent(wrong, 1), found]
        };
        let [confirmed, true_ones] =
            shares("confirmed", |one| [one.false_confirmed, one.confirmed]);
        let [claims, true_claims] = shares("verdicts", |one| [one.false_claims, one.claims]);
        let [uncorrected, corrected] =
            [said.rate(|one| one.uncorrected > 0), said.rate(|one| one.false_confirmed > 0)];
        findings.row(
            &slower.to_string(),
            figures![uncorrected, corrected, confirmed, true_ones, claims, true_claims],
        );
    }
    detectable(size, findings);
}

/// Checks that the next experiment confirms the detectable effect as often as promised.
fn detectable(size: Size, findings: &mut Findings) {
    findings.table(
        "**Detectable among many**: an experiment without any difference prints the detectable slowdown of a step; in the next \
         one that step is truly slower by as much, the others are not. How often it is confirmed (80% is promised), among so \
         many comparisons. Last: had the slowdown been computed as if it were the only comparison.",
        "blocks | among 1 | among 6 | among 30 | for 1, among 6 | for 1, among 30",
    );
    for blocks in [5, 6, 8, 12, 20] {
        let [one, six, thirty] = AMONG.map(|steps| {
            let found = simulate(600 + steps as u64, size.pick(60, 5_000), |random| {
                let same = vec![1.0; steps];
                let mut first = steps_of(&same, blocks, random);
                let alone = first[0].detectable.unwrap_or_default();
                control_false_discoveries(&mut first);
                let among = first[0].detectable.unwrap_or_default();
                [among, alone].map(|effect| {
                    let mut ratios = same.clone();
                    ratios[0] = 1.0 - effect;
                    let mut next = steps_of(&ratios, blocks, random);
                    control_false_discoveries(&mut next);
                    next[0].confirmed() && next[0].ratio < 1.0
                })
            });
            [0, 1].map(|which| found.rate(|one| one[which]))
        });
        for (steps, [rate, _]) in AMONG.iter().zip([one, six, thirty]) {
            let what = format!("detectable effect confirmed, {blocks} blocks, among {steps}");
            findings.rate(what, rate, 0.79..=0.84);
        }
        findings.row(&blocks.to_string(), [one[0], six[0], thirty[0], six[1], thirty[1]]);
    }
}

/// The first `slower` steps are slower by 5%.
fn experiment(slower: usize, random: &mut Random) -> Said {
    let ratios: Vec<f64> = (0..STEPS).map(|step| if step < slower { 0.95 } else { 1.0 }).collect();
    let mut steps = steps_of(&ratios, 8, random);
    let uncorrected = steps[slower..].iter().filter(|step| step.excludes_one()).count();
    control_false_discoveries(&mut steps);
    let claims = |part: &[Comparison]| part.iter().filter(|step| called(step.verdict)).count();
    let confirmed = |part: &[Comparison]| part.iter().filter(|step| step.confirmed()).count();
    Said {
        claims: claims(&steps),
        false_claims: claims(&steps[slower..]),
        confirmed: confirmed(&steps),
        false_confirmed: confirmed(&steps[slower..]),
        uncorrected,
    }
}

/// The comparisons of one experiment whose steps truly have these ratios.
fn steps_of(ratios: &[f64], blocks: usize, random: &mut Random) -> Vec<Comparison> {
    let (own, common) = ((1.0 - SHARED).sqrt() * CV, SHARED.sqrt() * CV);
    // [variant][block]: the part that the steps of a trial have in common.
    let trials: Vec<Vec<f64>> =
        (0..2).map(|_| (0..blocks).map(|_| common * random.normal()).collect()).collect();
    let step = |ratio: &f64| {
        let mut rates = trials.iter().zip([1.0, *ratio]).map(|(of_variant, level)| {
            let rate = |trial: &f64| level * (trial + own * random.normal()).exp();
            of_variant.iter().map(rate).collect::<Vec<f64>>()
        });
        let (base, variant) = (rates.next().unwrap_or_default(), rates.next().unwrap_or_default());
        compared(&base, &variant, DEFAULT_MARGIN)
    };
    ratios.iter().map(step).collect()
}
