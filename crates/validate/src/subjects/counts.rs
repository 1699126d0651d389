//! Instruction counts: are identical builds called the same, and is half a percent found, however
//! much the counts scatter? And what does a gate say of a change?

use report::{CountVerdict, Spread};

use crate::{Findings, Outcomes as _, Random, Size, figures, simulate};

/// How often everything is counted: at first, and at most.
const COUNTED: (usize, usize) = (2, 5);

/// The instructions of a statement.
const INSTRUCTIONS: f64 = 50e6;

/// The reasons why counts of the same statement scatter.
struct Scatter {
    name: &'static str,
    /// Standard deviation, as a fraction.
    noise: f64,
    /// Chance that something reaches into a count, which then has 0.3% more.
    reached: f64,
}

const SCATTERS: [Scatter; 8] = [
    Scatter { name: "none", noise: 0.0, reached: 0.0 },
    Scatter { name: "0.001%", noise: 1e-5, reached: 0.0 },
    Scatter { name: "0.01%", noise: 1e-4, reached: 0.0 },
    Scatter { name: "0.03%", noise: 3e-4, reached: 0.0 },
    Scatter { name: "0.05%", noise: 5e-4, reached: 0.0 },
    Scatter { name: "0.1%", noise: 1e-3, reached: 0.0 },
    Scatter { name: "none, one in 20 reached into", noise: 0.0, reached: 0.05 },
    Scatter { name: "0.01%, one in 20 reached into", noise: 1e-4, reached: 0.05 },
];

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    let tries = size.pick(2_000, 40_000);
    findings.table(
        format!(
            "**Counts**: two builds, each counted twice and up to {} times where the counts differ, {tries} experiments. How often \
             identical builds are said to differ for certain, and builds that truly differ by 0.5%; the number of counts in the mean. \
             Last, for comparison: identical builds by the closest two counts alone and what these differ by.",
            COUNTED.1
        ),
        "scatter of counts | identical | 0.5% | counts | closest two",
    );
    for (seed, scatter) in (700..).zip(&SCATTERS) {
        let found = simulate(seed, tries, |random| {
            let [base, same, slower] = [1.0, 1.0, 1.005].map(|level| scatter.counts(level, random));
            let [one, other] = [closest(&base), closest(&same)];
            Found {
                identical: apart(&base, &same),
                half: apart(&base, &slower),
                counts: base.len() as f64,
                closest: (other.0 / one.0 - 1.0).abs() > one.1.max(other.1).max(1e-4),
            }
        });
        let identical = found.rate(|one| one.identical);
        let half = found.rate(|one| one.half);
        let counts = found.mean(|one| one.counts);
        let shown = format!("{counts:.2}");
        let quiet = scatter.reached == 0.0;
        let what = |what: &str| format!("{what}, {}", scatter.name);
        findings.rate(what("identical builds told apart"), identical, ..=0.05);
        if quiet && scatter.noise <= 1e-4 {
            findings.rate(what("0.5% found"), half, 0.95..);
        }
        if quiet && scatter.noise <= 1e-5 {
            findings.check(what("number of counts"), &*shown, "≤ 2.01", counts <= 2.01);
        }
        let closest = found.rate(|one| one.closest);
        findings.row(scatter.name, figures![identical, half, shown, closest]);
    }
    gates(size, findings);
}

/// Kinds of statements that a gate counts.
const KINDS: usize = 8;
/// Its margin.
const MARGIN: f64 = 0.005;

/// Changes that leave all kinds as they were, and changes that make one of them slower.
fn gates(size: Size, findings: &mut Findings) {
    let tries = size.pick(1_000, 20_000);
    findings.table(
        format!(
            "**Gates**: {tries} changes each, {KINDS} kinds of statements, margin 0.5%. Of a change that moves nothing, how often the \
             gate fails, and how often a kind is inconclusive. Of one that makes a kind take more: how often that kind is a \
             regression, and fine (equivalent or the same)."
        ),
        "scatter of counts | nothing: fails | inconclusive | 0.5%: regression | 1%: regression | 1%: fine | 2%: regression | 2%: fine",
    );
    for (seed, scatter) in (720..).zip(&SCATTERS) {
        let found = simulate(seed, tries, |random| {
            let unmoved: Vec<_> = (0..KINDS).map(|_| scatter.verdict(1.0, random)).collect();
            (unmoved, [1.005, 1.01, 1.02].map(|level| scatter.verdict(level, random)))
        });
        let any = |wanted: CountVerdict| found.rate(|(unmoved, _)| unmoved.contains(&wanted));
        let moved = |place: usize, wanted: &[CountVerdict]| {
            found.rate(|(_, moved)| wanted.contains(&moved[place]))
        };
        let fine = [CountVerdict::Equivalent, CountVerdict::Same];
        let worse = [CountVerdict::Regression];
        let (fails, open) = (any(CountVerdict::Regression), any(CountVerdict::Inconclusive));
        let edge = moved(0, &worse);
        let [(one, one_fine), (two, two_fine)] =
            [1, 2].map(|place| (moved(place, &worse), moved(place, &fine)));
        let what = |what: &str| format!("{what}, {}", scatter.name);
        findings.rate(what("a gate fails for nothing"), fails, ..=0.001);
        findings.rate(what("0.5% is called more than that"), edge, ..=0.05);
        findings.rate(what("1% is called fine"), one_fine, ..=0.025);
        findings.rate(what("2% is called fine"), two_fine, ..=0.001);
        if scatter.noise <= 1e-4 && scatter.reached == 0.0 {
            findings.rate(what("1% is a regression"), one, 0.99..);
        }
        findings.row(scatter.name, figures![fails, open, edge, one, one_fine, two, two_fine]);
    }
}

/// The result of one experiment.
struct Found {
    /// Identical builds differ.
    identical: bool,
    /// Builds that differ by 0.5% do.
    half: bool,
    counts: f64,
    /// Identical builds differ by their closest two counts.
    closest: bool,
}

impl Scatter {
    /// The counts of a build, as many as it takes.
    fn counts(&self, level: f64, random: &mut Random) -> Vec<u64> {
        let mut counts = Vec::new();
        while counts.len() < COUNTED.0
            || (counts.len() < COUNTED.1 && !Spread::of(&counts).enough())
        {
            let reached = if random.uniform() < self.reached { 1.003 } else { 1.0 };
            let count = INSTRUCTIONS * level * reached * (1.0 + self.noise * random.normal());
            counts.push(count.round() as u64);
        }
        counts
    }
}

impl Scatter {
    /// What is said of a build of this level.
    fn verdict(&self, level: f64, random: &mut Random) -> CountVerdict {
        let [base, build] = [1.0, level].map(|level| Spread::of(&self.counts(level, random)));
        let ratio = build.mean / base.mean;
        CountVerdict::of(ratio, base.threshold(&build, ratio), MARGIN)
    }
}

fn apart(base: &[u64], variant: &[u64]) -> bool {
    let (base, variant) = (Spread::of(base), Spread::of(variant));
    let ratio = variant.mean / base.mean;
    (ratio - 1.0).abs() > base.threshold(&variant, ratio)
}

/// The first of the two counts that differ least, and by which part they do.
fn closest(counts: &[u64]) -> (f64, f64) {
    let mut best = (f64::NAN, f64::INFINITY);
    for (place, second) in counts.iter().enumerate() {
        for first in &counts[..place] {
            let part = first.abs_diff(*second) as f64 / *first as f64;
            if part < best.1 {
                best = (*first as f64, part);
            }
        }
    }
    best
}
