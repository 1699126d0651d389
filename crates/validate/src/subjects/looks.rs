//! Experiments that grow until they are decided: the effect of several looks on the error rate, and
//! ways to split it.

use judge::{Looks, Margin, Verdict, compare_at, normal_cdf, quantile, t_cdf, t_quantile};
use plan::Plan;

use crate::experiment::{Design, SECONDS, covers, scaled};
use crate::noise::{MODELS, Noise, PLAIN};
use crate::{Findings, Outcomes as _, Rate, Size, figures, simulate};

/// True differences in the table.
const TRUTHS: [f64; 5] = [0.0, -0.01, -0.02, -0.03, -0.05];

/// Error rate of all looks together.
const ERROR: f64 = 1.0 - judge::CONFIDENCE;

/// How the error rate is split.
struct Scheme {
    name: &'static str,
    /// Level (1 - confidence) of each look.
    levels: Vec<f64>,
}

/// One adaptive experiment.
struct Course {
    /// Up to the end some look's interval excluded the truth.
    ever_missed: bool,
    blocks: u32,
    verdict: Verdict,
}

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    let planned = planned_looks();
    let schemes = schemes(&planned, size);
    let last = planned.last().copied().unwrap_or(1);
    let design = Design::new(last, 2, SECONDS);
    let tries = size.pick(80, 10_000);
    findings.table(
        format!(
            "**Adaptive runs**: looks after {} blocks, stopping when the verdict at a margin of 2% is decided; {} noise, \
             {tries} experiments. Some look wrong: the interval of one of the looks up to the end excludes the truth (the largest \
             share over true differences from 0 to −5%). Blocks: their mean number until the end.",
            planned.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
            PLAIN.name,
        ),
        "levels | some look wrong | blocks at 0% | at −1% | at −3% | at −5% | decided at −1% | at −3%",
    );
    for scheme in &schemes {
        let courses = TRUTHS.map(|truth| courses(&design, &PLAIN, &planned, scheme, truth, tries));
        let ever = worst(&courses);
        if scheme.name.contains("judge") {
            findings.rate("some look wrong, adaptive", ever, ..=ERROR);
        }
        let blocks =
            [0, 1, 3, 4].map(|truth: usize| courses[truth].mean(|one| f64::from(one.blocks)));
        let [none, one, three, five] = blocks.map(|blocks| format!("{blocks:.1}"));
        let decided =
            |truth: usize| courses[truth].rate(|one| one.verdict != Verdict::Inconclusive);
        findings.row(scheme.name, figures![ever, none, one, three, five, decided(1), decided(3)]);
    }
    findings.table(
        "**Other noise**, error rate split evenly, true difference 0 or −2%: the same error, and the share of regressions that were called where the true \
         difference is −2%, on the edge of the margin.",
        "noise | some look wrong | false regressions",
    );
    for noise in MODELS {
        let tries = size.pick(60, 5_000);
        let courses =
            [0.0, -0.02].map(|truth| courses(&design, &noise, &planned, &schemes[1], truth, tries));
        let ever = worst(&courses);
        let called = courses[1].rate(|one| one.verdict == Verdict::Regression);
        let what = |name: &str| format!("{name}, adaptive, {}", noise.name);
        findings.rate(what("some look wrong"), ever, ..=ERROR);
        findings.rate(what("on the edge"), called, ..=ERROR);
        findings.row(noise.name, [ever, called]);
    }
}

/// The ways to split the error rate over these looks.
fn schemes(planned: &[u32], size: Size) -> [Scheme; 4] {
    let own = Looks::new(planned);
    [
        Scheme { name: "95% at every look", levels: vec![ERROR; planned.len()] },
        Scheme {
            name: "split evenly (judge)",
            levels: planned.iter().map(|blocks| 1.0 - own.confidence_at(*blocks)).collect(),
        },
        Scheme { name: "Pocock", levels: calibrated(planned, size, |_| 1.0) },
        Scheme {
            name: "O'Brien and Fleming",
            levels: calibrated(planned, size, |share| share.sqrt()),
        },
    ]
}

/// The looks of a plan that sets only a precision.
fn planned_looks() -> Vec<u32> {
    let text = "precision = 0.02\n[workload.insert]\n[variants.a]\ndbms = \"postgres@14.3\"\n";
    Plan::parse(text, None, "validate").expect("a plan with a precision").looks()
}

/// The largest share of experiments in which some look missed the truth.
fn worst(courses: &[Vec<Course>]) -> Rate {
    let rates = courses.iter().map(|of_truth| of_truth.rate(|one| one.ever_missed));
    rates.max_by(|a, b| a.share().total_cmp(&b.share())).unwrap_or(Rate { hits: 0, tries: 0 })
}

fn courses(
    design: &Design,
    noise: &Noise,
    planned: &[u32],
    scheme: &Scheme,
    truth: f64,
    tries: usize,
) -> Vec<Course> {
    let ratio = 1.0 + truth;
    simulate(50, tries, |random| {
        let (base, variant) = design.pair(noise, random);
        let variant = scaled(&variant, ratio);
        let mut found = Course { ever_missed: false, blocks: 0, verdict: Verdict::Inconclusive };
        for (blocks, level) in planned.iter().zip(&scheme.levels) {
            let k = *blocks as usize;
            let outcome = compare_at(&base[..k], &variant[..k], Margin::default(), 1.0 - level)
                .expect("positive rates in pairs");
            found.blocks = *blocks;
            found.verdict = outcome.verdict;
            found.ever_missed |= !covers(&outcome, ratio);
            if judge::decided(&outcome, None) {
                break;
            }
        }
        found
    })
}

/// Levels of the shape `shape` (of the share of blocks seen) times a constant of z values, such
/// that t tests of normal noise at all looks are wrong in 5% together: the "significance level
/// approach" (C. Jennison and B. W. Turnbull, *Group Sequential Methods*, 2000, §4.4), with the
/// constant from simulation instead of the limit of many blocks.
fn calibrated(planned: &[u32], size: Size, shape: fn(f64) -> f64) -> Vec<f64> {
    let last = f64::from(planned.last().copied().unwrap_or(1));
    let shapes: Vec<f64> = planned.iter().map(|blocks| shape(f64::from(*blocks) / last)).collect();
    let largest = simulate(51, size.pick(400, 100_000), |random| {
        let noise: Vec<f64> = (0..last as usize).map(|_| random.normal()).collect();
        let z = planned
            .iter()
            .zip(&shapes)
            .map(|(blocks, shape)| shape * z_of_t(&noise[..*blocks as usize]));
        z.fold(0.0, f64::max)
    });
    let constant = quantile(&largest, 1.0 - ERROR).unwrap_or(f64::INFINITY);
    shapes.iter().map(|shape| 2.0 * normal_cdf(-constant / shape)).collect()
}

/// |z| with the same p value as the t test of these differences.
fn z_of_t(differences: &[f64]) -> f64 {
    let n = differences.len() as f64;
    let mean = judge::mean(differences).unwrap_or_default();
    let error = judge::sd_sample(differences).unwrap_or_default() / n.sqrt();
    let p = t_cdf(-mean.abs() / error, n - 1.0);
    // The normal distribution is Student's with endless degrees of freedom.
    -t_quantile(p, 1e9)
}
