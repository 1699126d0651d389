//! Slices without any operation: stalls of one server, of both, of the machine.

use judge::{RestartRatio, Side, Verdict, Warning};

use crate::experiment::called;
use crate::rounds::{MODELS, ROUNDS, judged, ratio, stalled};
use crate::{Findings, Outcomes as _, Random, figures, simulate};

/// Restarts of an experiment.
const RESTARTS: usize = judge::ENOUGH_BLOCKS;

/// The variant that stalls, and the share of its slices.
struct Stalls {
    name: &'static str,
    base: f64,
    variant: f64,
    /// Both in the same rounds.
    machine: f64,
    /// A stall lasts for 1 to as many slices.
    longest: usize,
}

const NONE: Stalls = Stalls { name: "nobody", base: 0.0, variant: 0.0, machine: 0.0, longest: 5 };

/// The largest loss of a variant that is equivalent at the default margin.
const SMALL: f64 = 0.02;

const STALLS: [Stalls; 10] = [
    NONE,
    Stalls { name: "both, 5% each", base: 0.05, variant: 0.05, ..NONE },
    Stalls { name: "the machine, 10%", machine: 0.1, ..NONE },
    Stalls { name: "the variant, 1%", variant: 0.01, ..NONE },
    Stalls { name: "the variant, 3%", variant: 0.03, ..NONE },
    Stalls { name: "the variant, 5%", variant: 0.05, ..NONE },
    Stalls { name: "the variant, 5%, one slice each", variant: 0.05, longest: 1, ..NONE },
    Stalls { name: "the variant, 5%, up to 25 slices", variant: 0.05, longest: 25, ..NONE },
    Stalls { name: "the variant, 20%", variant: 0.2, ..NONE },
    Stalls { name: "the variant, 40%", variant: 0.4, ..NONE },
];

/// See the top of this file. Otherwise the servers are identical, with slices that differ by 3%.
pub(super) fn look(tries: usize, findings: &mut Findings) {
    findings.table(
        format!(
            "**Slices without any operation**: {RESTARTS} restarts of {ROUNDS} rounds of identical servers that stall for 1 to {} \
             slices at a time, unless it says otherwise, so that they do nothing in such a share of them. Median ratio; verdicts; the \
             warnings that rare slices lack more than the typical one and all operations decide (`rare-slices`), that it is not sure \
             that they don't (`totals-open`), that there is no typical slice (`stalled`), and that neither did anything (`idle-rounds`).",
            NONE.longest
        ),
        "who stalls | ratio | regression | equivalent | rare-slices | totals-open | stalled | idle-rounds",
    );
    for (seed, stalls) in (540..).zip(&STALLS) {
        let found = simulate(seed, tries, |random| {
            judged(&(0..RESTARTS).map(|_| restart(stalls, random)).collect::<Vec<_>>())
        });
        let verdict = |wanted: Verdict| found.rate(|one| one.verdict == wanted);
        let regression = verdict(Verdict::Regression);
        let equivalent = verdict(Verdict::Equivalent);
        let warned = |code: &str| {
            found.rate(|one| one.warnings.iter().any(|warning| warning.code() == code))
        };
        let codes = ["rare-slices", "totals-open", "stalled", "idle-rounds"];
        let [rare, open, stalled, idle] = codes.map(warned);
        let what = |name: &str| format!("{name}, stalls of {}", stalls.name);
        if stalls.variant <= stalls.base {
            let alarms = found.rate(|one| called(one.verdict) || one.excludes_one());
            findings.rate(what("false alarms"), alarms, ..=0.05);
            findings.rate(what("rare-slices"), rare, ..=0.05);
        } else if stalls.variant > SMALL {
            findings.rate(what("equivalent"), equivalent, ..=0.05);
        }
        if stalls.variant + stalls.base + stalls.machine == 0.0 {
            findings.rate(what("equivalent"), equivalent, 0.99..);
        }
        if stalls.variant > 0.25 {
            findings.rate(what("stalled"), stalled, 0.99..);
            findings.rate(what("regression"), regression, 0.95..);
            let of_variant = Warning::Stalled { side: Side::Variant };
            let right = found.rate(|one| one.warnings.contains(&of_variant));
            findings.rate(what("who stalled"), right, 0.99..);
        }
        if stalls.machine > 0.0 {
            findings.rate(what("idle-rounds"), idle, 0.99..);
        }
        let ratio = format!("{:.3}", found.median(|one| one.ratio));
        findings
            .row(stalls.name, figures![ratio, regression, equivalent, rare, open, stalled, idle]);
    }
}

fn restart(stalls: &Stalls, random: &mut Random) -> RestartRatio {
    let (mut base, mut variant) = MODELS[0].pair(ROUNDS, random);
    for (rates, share) in [(&mut base, stalls.base), (&mut variant, stalls.variant)] {
        for round in stalled(ROUNDS, share, stalls.longest, random) {
            rates[round] = 0.0;
        }
    }
    for round in stalled(ROUNDS, stalls.machine, stalls.longest, random) {
        (base[round], variant[round]) = (0.0, 0.0);
    }
    ratio(&base, &variant)
}
