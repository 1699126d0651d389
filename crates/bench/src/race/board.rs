//! Who was right how often: the tables.

use judge::{CONFIDENCE, Verdict, binomial_interval, t_quantile};

use super::builds::Build;
use super::calls::{Call, Score, score};
use super::live::{Case, Run};
use crate::publish::table;

/// The numbers of right, wrong and undecided calls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Tally {
    all: usize,
    right: usize,
    wrong: usize,
}

impl Tally {
    fn of<'a>(build: &Build, calls: impl Iterator<Item = &'a Call>) -> Self {
        calls.fold(Self::default(), |tally, call| {
            let score = score(build, call);
            Self {
                all: tally.all + 1,
                right: tally.right + usize::from(score == Score::Right),
                wrong: tally.wrong + usize::from(score == Score::Wrong),
            }
        })
    }

    /// The bound on the share of wrong calls with 95% confidence.
    fn wrong_at_most(self) -> f64 {
        binomial_interval(self.wrong, self.all, 2.0 * CONFIDENCE - 1.0).1
    }
}

/// Runs of the same case, with the median and the largest of their minutes.
pub fn table_of(live: &[Run]) -> String {
    let mut cases: Vec<Case> = live.iter().map(|run| run.case).collect();
    cases.sort_unstable();
    cases.dedup();
    let row = |case: Case| {
        let runs = || live.iter().filter(|run| run.case == case);
        let build = case.build();
        let count = |of: &dyn Fn(&Call) -> bool| runs().filter(|run| of(&run.call)).count();
        let verdict = |wanted: Verdict| count(&|call| call.verdict == wanted).to_string();
        let logs: Vec<f64> = runs().map(|run| run.call.ratio.ln()).collect();
        let minutes: Vec<f64> = runs().map(|run| run.call.seconds / 60.0).collect();
        let tally = Tally::of(build, runs().map(|run| &run.call));
        vec![
            build.subject.shown.to_owned(),
            case.condition.to_string(),
            planted(build),
            measured(&logs),
            plan::format_duration(case.budget),
            tally.all.to_string(),
            verdict(Verdict::Regression),
            verdict(Verdict::Equivalent),
            verdict(Verdict::Inconclusive),
            verdict(Verdict::Improvement),
            count(&|call| call.confirmed).to_string(),
            format!("{:.1}%", 100.0 * tally.wrong_at_most()),
            format!("{:.1}", judge::median(&minutes).unwrap_or(f64::NAN)),
            format!("{:.1}", minutes.iter().copied().fold(0.0, f64::max)),
        ]
    };
    table(
        "step | machine | planted | measured | budget | runs | regression | equivalent | inconclusive \
         | improvement | a difference is confirmed | wrong, at most | minutes: median | most",
        cases.into_iter().map(row),
    )
}

/// The mean ratio of runs that don't depend on each other, with its 95% interval by Student's t:
/// `0.944 (0.940 to 0.948)`.
fn measured(logs: &[f64]) -> String {
    let Some(mean) = judge::mean(logs) else { return String::new() };
    let error = judge::sd_sample(logs).map(|sd| sd / (logs.len() as f64).sqrt());
    let ratio = mean.exp();
    error.map_or(format!("{ratio:.3}"), |error| {
        let half = t_quantile(0.5 + 0.5 * CONFIDENCE, logs.len() as f64 - 1.0) * error;
        format!("{ratio:.3} ({:.3} to {:.3})", (mean - half).exp(), (mean + half).exp())
    })
}

/// `−2% (margin 1%)`.
fn planted(build: &Build) -> String {
    let sign = if build.slower == 0 { "" } else { "−" };
    format!("{sign}{}% (margin {:.0}%)", build.slower, 100.0 * build.margin())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::builds::{BUILDS, Condition};
    use super::*;

    #[test]
    fn shares_have_intervals() {
        use judge::Verdict::{Equivalent, Inconclusive, Regression};
        let call = |verdict| Call { verdict, ratio: 0.95, confirmed: true, seconds: 30.0 };
        let calls = [Regression, Regression, Equivalent, Inconclusive].map(call);
        let tally = Tally::of(&BUILDS[3], calls.iter());
        assert_eq!(tally, Tally { all: 4, right: 2, wrong: 1 });
        // The rule: 1 - 0.05^(1/40).
        let all = Tally { all: 40, right: 40, wrong: 0 };
        assert!((all.wrong_at_most() - (1.0 - 0.05_f64.powf(1.0 / 40.0))).abs() < 1e-9);
        assert_eq!(planted(&BUILDS[2]), "−2% (margin 1%)");
        assert_eq!(measured(&[0.0, 0.0]), "1.000 (1.000 to 1.000)");
    }

    #[test]
    fn live_runs_are_counted_by_case() {
        let run = |condition, verdict, seconds| Run {
            case: Case { condition, build: 3, budget: Duration::from_secs(120) },
            call: Call { verdict, ratio: 0.95, confirmed: true, seconds },
            low: 0.94,
            high: 0.96,
            restarts: 6,
        };
        let quiet = [18.0, 24.0, 60.0].map(|s| run(Condition::Quiet, Verdict::Regression, s));
        let loaded = run(Condition::Loaded, Verdict::Inconclusive, 30.0);
        let table = table_of(&[&quiet[..], &[loaded]].concat());
        let rows: Vec<&str> = table.lines().skip(2).collect();
        let measured = "0.950 (0.950 to 0.950)";
        assert_eq!(
            rows,
            [
                format!("| PostgreSQL, `l.i0` | quiet | −5% (margin 2%) | {measured} | 2m | 3 | 3 | 0 | 0 | 0 | 3 | 63.2% | 0.4 | 1.0 |"),
                "| PostgreSQL, `l.i0` | loaded | −5% (margin 2%) | 0.950 | 2m | 1 | 0 | 0 | 1 | 0 | 1 | 95.0% | 0.5 | 0.5 |".to_owned(),
            ]
        );
    }
}
