//! Runs that design themselves, for real, one line for each in `live.tsv`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use judge::Verdict;
use plan::format_duration;
use report::Which;
use store::Store;

use super::builds::{BUILDS, Build, Condition, build_named};
use super::calls::Call;
use super::competing::Competing;
use super::plans;
use crate::steelyard::Steelyard;

/// The machine's condition, the build and the budget of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    pub condition: Condition,
    /// Place in [`BUILDS`].
    pub build: usize,
    pub budget: Duration,
}

impl Case {
    pub fn build(self) -> &'static Build {
        &BUILDS[self.build]
    }
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub case: Case,
    pub call: Call,
    /// The interval of its ratio; NaN where there is none.
    pub low: f64,
    pub high: f64,
    pub restarts: u32,
}

const HEADER: &str =
    "condition\tbuild\trounds\tbudget\tverdict\tratio\tlow\thigh\texcludes 1\trestarts\tseconds";

/// Runs until `live.tsv` has this many lines of this case.
pub fn live(directory: &Path, steelyard: &Steelyard, case: Case, runs: usize) -> Result<()> {
    println!("{HEADER}");
    loop {
        let done = read(directory)?.iter().filter(|run| run.case == case).count();
        if done >= runs {
            return Ok(());
        }
        let loaded = case.condition == Condition::Loaded;
        let _load = loaded.then(|| Competing::start(done as u64)).transpose()?;
        let results = directory.join(format!("{}-live", case.condition));
        let budget = format_duration(case.budget);
        let plan = plans::live(directory, case.build());
        steelyard.run("run", &plan, &results, &["--quiet", "--budget", &budget])?;
        let run = latest(&results, case)?;
        println!("{}", run.line());
        append(directory, &run)?;
    }
}

/// The outcome of the newest run of a store.
fn latest(results: &Path, case: Case) -> Result<Run> {
    let store = Store::open_read_only(results)?;
    let loaded = report::load(&store, Which::Newest)?;
    let judged = report::judge_results(&loaded, None, None)?;
    let build = case.build();
    let place = loaded.variant_named(build.name).context("no such variant")?;
    let step = loaded.steps.iter().position(|step| step.key.name == build.subject.step);
    let Some(comparison) = step.and_then(|step| judged.of(step, place)) else {
        bail!("the run has nothing to compare")
    };
    let trials = store.trials(loaded.experiment.id)?;
    let spans = trials.iter().filter_map(|it| Some((it.started_ms, it.ended_ms?))).collect();
    let seconds = report::covered(spans).as_secs_f64();
    Ok(Run {
        case,
        call: Call::of(comparison, seconds),
        low: comparison.low.unwrap_or(f64::NAN),
        high: comparison.high.unwrap_or(f64::NAN),
        restarts: trials.iter().map(|trial| trial.block).max().unwrap_or(0),
    })
}

fn file(directory: &Path) -> PathBuf {
    directory.join("live.tsv")
}

fn append(directory: &Path, run: &Run) -> Result<()> {
    let path = file(directory);
    let new = !path.exists();
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    if new {
        writeln!(file, "{HEADER}")?;
    }
    writeln!(file, "{}", run.line())?;
    file.sync_all().with_context(|| format!("cannot write {}", path.display()))
}

/// All runs so far of builds as they are now: those with other rounds of the loop don't count.
pub fn read(directory: &Path) -> Result<Vec<Run>> {
    let path = file(directory);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path)?;
    let run = |line| Run::read(line).with_context(|| format!("{}: {line}", path.display()));
    let runs: Vec<(u32, Run)> = text.lines().skip(1).map(run).collect::<Result<_>>()?;
    let now = |(rounds, run): (u32, Run)| (rounds == run.case.build().rounds).then_some(run);
    Ok(runs.into_iter().filter_map(now).collect())
}

impl Run {
    fn line(&self) -> String {
        let Call { verdict, ratio, confirmed, seconds } = self.call;
        format!(
            "{}\t{}\t{}\t{}\t{verdict}\t{ratio:.4}\t{:.4}\t{:.4}\t{}\t{}\t{seconds:.1}",
            self.case.condition,
            self.case.build().name,
            self.case.build().rounds,
            format_duration(self.case.budget),
            self.low,
            self.high,
            if confirmed { "yes" } else { "no" },
            self.restarts,
        )
    }

    /// The rounds of the build of a line, and its run.
    fn read(line: &str) -> Option<(u32, Self)> {
        let mut fields = line.split('\t');
        let condition = fields.next()?;
        let condition = Condition::ALL.into_iter().find(|it| it.to_string() == condition)?;
        let build = build_named(fields.next()?)?;
        let rounds = fields.next()?.parse().ok()?;
        let budget = plan::parse_duration(fields.next()?).ok()?;
        let word = fields.next()?;
        let verdicts = [Verdict::Regression, Verdict::Improvement, Verdict::Equivalent];
        let known = verdicts.into_iter().find(|verdict| verdict.as_str() == word);
        let mut number = || fields.next()?.parse::<f64>().ok();
        let (ratio, low, high) = (number()?, number()?, number()?);
        let confirmed = fields.next()? == "yes";
        let restarts = fields.next()?.parse().ok()?;
        let seconds = fields.next()?.parse().ok()?;
        let verdict = known.unwrap_or(Verdict::Inconclusive);
        let call = Call { verdict, ratio, confirmed, seconds };
        let case = Case { condition, build, budget };
        Some((rounds, Self { case, call, low, high, restarts }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_kept_and_read_again() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read(directory.path()).unwrap(), []);
        let run = Run {
            case: Case { condition: Condition::Loaded, build: 3, budget: Duration::from_secs(120) },
            call: Call {
                verdict: Verdict::Regression,
                ratio: 0.951,
                confirmed: true,
                seconds: 61.5,
            },
            low: 0.93,
            high: 0.97,
            restarts: 14,
        };
        let call = Call { verdict: Verdict::Inconclusive, ..run.call };
        let case = Case { condition: Condition::Quiet, ..run.case };
        let open = Run { case, call, ..run.clone() };
        for run in [&run, &open] {
            append(directory.path(), run).unwrap();
        }
        assert_eq!(read(directory.path()).unwrap(), [run, open]);
        // What was measured with other rounds is of another build.
        let text = fs::read_to_string(file(directory.path())).unwrap();
        let other = text.replace("\t28900\t", "\t28901\t");
        fs::write(file(directory.path()), other).unwrap();
        assert_eq!(read(directory.path()).unwrap(), []);
        fs::write(file(directory.path()), "header\nhalf a li").unwrap();
        assert!(read(directory.path()).is_err());
    }
}
