//! Runs of many variants, from which decided ones drop out: is it seen if the ratio of those that
//! stay then moves?

use judge::{Comparison, RestartRatio, Verdict, Warning};

use crate::experiment::covers;
use crate::rounds::judged;
use crate::{Findings, Outcomes as _, Random, figures, percent, simulate};

/// Restarts with all servers.
const BEFORE: usize = 12;
/// Restarts with two servers.
const AFTER: [usize; 3] = [3, 6, 12];
/// Deviation of the restarts' log ratios.
const SCATTER: f64 = 0.02;
/// The ratio with two servers divided by that with all, minus 1.
const MOVES: [f64; 4] = [0.0, -0.01, -0.02, -0.05];

/// See the top of this file. The ratio with all servers is 1.
pub(super) fn look(tries: usize, findings: &mut Findings) {
    findings.table(
        format!(
            "**The number of servers**: {BEFORE} restarts of many servers, in which a variant is as fast as the base, and later ones \
             of two, in which it is not. Restarts differ by {}. How often the two are said to disagree; coverage of the 95% interval for the ratio with two servers and for that with all, \
             and what they would be without the test; how often `equivalent` is said, and would be.",
            percent(SCATTER, 0)
        ),
        "restarts with two, moves by | disagree | covers two | all | without: two | all | equivalent | without",
    );
    for restarts in AFTER {
        for moves in MOVES {
            let found = simulate(540, tries, |random| experiment(restarts, moves, random));
            let name = format!("{restarts}, {}", percent(moves, 0));
            let disagree = found.rate(|one| one.disagree());
            let covered = found.rate(|one| covers(&one.tested, 1.0 + moves));
            let equivalent = found.rate(|one| one.tested.verdict == Verdict::Equivalent);
            if moves == 0.0 {
                let what = format!("numbers of servers said to disagree, {name}");
                findings.rate(what, disagree, ..=0.07);
                findings.rate(format!("coverage, servers drop out, {name}"), covered, 0.94..);
            }
            if moves <= -0.05 && restarts >= 6 {
                let what = format!("coverage with two servers, {name}");
                findings.rate(what, covered, 0.94..);
                findings.rate(format!("equivalent, {name}"), equivalent, ..=0.01);
            }
            findings.row(
                &name,
                figures![
                    disagree,
                    covered,
                    found.rate(|one| covers(&one.tested, 1.0)),
                    found.rate(|one| covers(&one.plain, 1.0 + moves)),
                    found.rate(|one| covers(&one.plain, 1.0)),
                    equivalent,
                    found.rate(|one| one.plain.verdict == Verdict::Equivalent),
                ],
            );
        }
    }
}

/// The same restarts, judged with their numbers of servers and without.
struct Found {
    tested: Comparison,
    plain: Comparison,
}

impl Found {
    fn disagree(&self) -> bool {
        matches!(self.tested.disagreement(), Some(Warning::ServersDisagree { .. }))
    }
}

fn experiment(after: usize, moves: f64, random: &mut Random) -> Found {
    let count = BEFORE + after;
    let one = |place| {
        let (log, servers) = if place < BEFORE { (0.0, 12) } else { (moves.ln_1p(), 2) };
        let log = log + SCATTER * random.normal();
        RestartRatio { servers, ..RestartRatio::even(log, 1e-12, 20) }
    };
    let restarts: Vec<RestartRatio> = (0..count).map(one).collect();
    let alike: Vec<RestartRatio> =
        restarts.iter().map(|one| RestartRatio { servers: 2, ..*one }).collect();
    Found { tested: judged(&restarts), plain: judged(&alike) }
}
