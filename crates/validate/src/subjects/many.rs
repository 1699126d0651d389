//! Many steps at once: Benjamini and Hochberg's false-discovery rate, with steps that share their
//! trials, and what can be detected among them.

use judge::{Comparison, Margin, Verdict, compare, control_false_discoveries};

use crate::{Findings, Random, Rate, Size, Table, in_parallel};

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
pub fn run(size: Size) -> Findings {
    let mut findings = Findings::default();
    let tries = size.pick(300, 20_000);
    let mut table = Table::new(
        format!(
            "**{STEPS} steps**, 8 blocks, {tries} experiments; trials differ by {:.1}% and their steps are correlated by {SHARED}. \
             Some steps of the variant are truly slower by 5%. Not corrected: experiments with an interval that excludes 1 in a step \
             without a difference. Corrected (Benjamini and Hochberg): false discoveries as the mean share of all discoveries, \
             and the share of the true ones that is found.",
            100.0 * CV
        ),
        &[
            "slower steps",
            "not corrected: any false",
            "confirmed: any false",
            "confirmed: false share",
            "found",
            "verdicts: false share",
            "found",
        ],
    );
    for slower in [0, 1, 10, 30] {
        let said = in_parallel(tries, |number| {
            experiment(slower, &mut Random::new(60 + slower as u64, number))
        });
        let any = |count: fn(&Said) -> usize| Rate::of(said.iter().map(|one| count(one) > 0));
        let share = |part: fn(&Said) -> usize, all: fn(&Said) -> usize| {
            said.iter().map(|one| part(one) as f64 / all(one).max(1) as f64).sum::<f64>()
                / tries as f64
        };
        let found = |claims: fn(&Said) -> usize| {
            let all: usize = said.iter().map(claims).sum();
            if slower == 0 {
                return "–".to_owned();
            }
            format!("{:.1}%", 100.0 * all as f64 / (slower * tries) as f64)
        };
        let of_confirmed = share(|one| one.false_confirmed, |one| one.confirmed);
        let of_claims = share(|one| one.false_claims, |one| one.claims);
        // Three standard errors; a share is never more variable than a rate.
        let allowed = 0.05 + 3.0 * (0.05 * 0.95 / tries as f64).sqrt();
        for (name, rate) in [("confirmed", of_confirmed), ("verdicts", of_claims)] {
            findings.check(
                format!("false discoveries among {name}, {slower} slower steps"),
                format!("{:.1}%", 100.0 * rate),
                "≤ 5%",
                rate <= allowed,
            );
        }
        table.row([
            slower.to_string(),
            any(|one| one.uncorrected).to_string(),
            any(|one| one.false_confirmed).to_string(),
            format!("{:.1}%", 100.0 * of_confirmed),
            found(|one| one.confirmed - one.false_confirmed),
            format!("{:.1}%", 100.0 * of_claims),
            found(|one| one.claims - one.false_claims),
        ]);
    }
    findings.tables.push(table);
    detectable(size, &mut findings);
    findings
}

/// Checks that the next experiment confirms the detectable effect as often as promised.
fn detectable(size: Size, findings: &mut Findings) {
    let mut table = Table::new(
        "**Detectable among many**: an experiment without any difference prints the detectable slowdown of a step; in the next \
         one that step is truly slower by as much, the others are not. How often it is confirmed (80% is promised), among so \
         many comparisons. Last: had the slowdown been computed as if it were the only comparison.",
        &["blocks", "among 1", "among 6", "among 30", "for 1, among 6", "for 1, among 30"],
    );
    for blocks in [5, 6, 8, 12, 20] {
        let tries = size.pick(60, 5_000);
        let [one, six, thirty] = AMONG.map(|steps| {
            let found = in_parallel(tries, |number| {
                let random = &mut Random::new(600 + steps as u64, number);
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
            [0, 1].map(|which| Rate::of(found.iter().map(|one| one[which])))
        });
        for (steps, [rate, _]) in AMONG.iter().zip([one, six, thirty]) {
            findings.rate(
                format!("detectable effect confirmed, {blocks} blocks, among {steps}"),
                rate,
                "79% to 84%",
                rate.at_least(0.79) && rate.at_most(0.84),
            );
        }
        let rates = [one[0], six[0], thirty[0], six[1], thirty[1]];
        table.row([blocks.to_string()].into_iter().chain(rates.map(|rate| rate.to_string())));
    }
    findings.tables.push(table);
}

/// The first `slower` steps are slower by 5%.
fn experiment(slower: usize, random: &mut Random) -> Said {
    let ratios: Vec<f64> = (0..STEPS).map(|step| if step < slower { 0.95 } else { 1.0 }).collect();
    let mut steps = steps_of(&ratios, 8, random);
    let uncorrected = steps[slower..].iter().filter(|step| step.excludes_one()).count();
    control_false_discoveries(&mut steps);
    let claims = |part: &[Comparison]| {
        let decided =
            |step: &&Comparison| matches!(step.verdict, Verdict::Regression | Verdict::Improvement);
        part.iter().filter(decided).count()
    };
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
    let compared = |ratio: &f64| {
        let mut rates = trials.iter().zip([1.0, *ratio]).map(|(of_variant, level)| {
            let rate = |trial: &f64| level * (trial + own * random.normal()).exp();
            of_variant.iter().map(rate).collect::<Vec<f64>>()
        });
        let (base, variant) = (rates.next().unwrap_or_default(), rates.next().unwrap_or_default());
        compare(&base, &variant, Margin::default()).expect("positive rates in pairs")
    };
    ratios.iter().map(compared).collect()
}
