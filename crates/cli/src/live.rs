//! How far a run is, for its own progress and for those who watch it in a service (`steelyard
//! serve`).

use std::path::{Path, PathBuf};

use archive::Service;
use lab::{Event, IntervalRow};
use report::catalog::{LiveInterval, LiveRun, LiveStep};
use site::live::Telling;
use store::ExperimentId;

use crate::reporting::Reporting;

/// Lines of the log that are told.
const LINES: usize = 60;

/// Follows the events of a run.
#[derive(Default)]
pub struct Live {
    /// The results directory whose watchers are told.
    results: Option<PathBuf>,
    /// Begun when that is there.
    telling: Option<Telling>,
    /// The service that is also told.
    reporting: Option<Reporting>,
    /// What is known.
    pub run: LiveRun,
    /// The run designs itself: it has no number of trials.
    pub designed: bool,
    /// The steps running now do not belong to a trial.
    loading: bool,
    trials: usize,
    /// The trial that is running, and how much was done when it first began.
    trial: (usize, u64),
}

impl Live {
    /// Also tells those who watch a results directory, once there is one.
    pub fn of(results: &Path) -> Live {
        let run = LiveRun {
            process: std::process::id(),
            began_ms: store::now_ms(),
            part: "step".to_owned(),
            ..LiveRun::default()
        };
        Live { results: Some(results.to_owned()), run, ..Live::default() }
    }

    /// Also tells a service, which shows runs of many machines.
    pub fn report_to(&mut self, service: Option<&Service>) {
        self.reporting = service.cloned().map(Reporting::to);
    }

    /// Adds a line to the log.
    pub fn line(&mut self, text: &str) {
        if self.run.log.len() == LINES {
            self.run.log.remove(0);
        }
        self.run.log.push(text.to_owned());
    }

    /// Adds a warning that was not told before.
    pub fn warning(&mut self, text: &str) {
        self.run.warnings.push(text.to_owned());
    }

    /// Follows an event.
    pub fn follow(&mut self, event: &Event) {
        let run = &mut self.run;
        match event {
            Event::Began { experiment, name, trials, finished, steps, budget } => {
                (self.trials, self.designed) = (*trials, *trials == 0);
                self.trial = (0, 0);
                *run = begun(run, *experiment, name);
                run.budget = budget.map(|budget| budget.as_secs_f64());
                run.done = (finished * steps) as u64;
                run.all = (!self.designed).then_some((trials * steps) as u64);
                run.part = if self.designed { "restart" } else { "step" }.to_owned();
            }
            Event::LoadBegan { variant, clients } => {
                self.loading = true;
                run.step = None;
                run.at = format!("load of {variant} ({clients})");
            }
            Event::Kept { .. } => self.loading = false,
            Event::TrialBegan { number, block, variant, clients } => {
                self.loading = false;
                run.step = None;
                run.at = match self.designed {
                    true => format!("block {block}"),
                    false => {
                        let all = self.trials;
                        format!("trial {number}/{all}: {variant} (block {block}, {clients})")
                    }
                };
                match self.trial {
                    // It is repeated.
                    (before, done) if before == *number && !self.designed => run.done = done,
                    _ => self.trial = (*number, run.done),
                }
            }
            Event::StepBegan { name, seconds, .. } => {
                let (name, began_ms) = (name.clone(), store::now_ms());
                run.step = Some(LiveStep { name, began_ms, seconds: *seconds });
            }
            Event::StepEnded { rate, .. } => {
                run.step = None;
                run.done += u64::from(rate.is_some() && !self.loading && !self.designed);
            }
            Event::Narrowing { restarts, rows, used } => {
                run.used = used.as_secs_f64();
                run.done = u64::from(*restarts);
                run.intervals = rows.iter().map(interval).collect();
            }
            Event::Look(look) => {
                self.trials += look.trials;
                run.next = Some(look.next.clone());
                run.all = run.all.map(|all| all + look.steps as u64);
            }
            Event::CountBegan { experiment, name, counts } => {
                *run = begun(run, *experiment, name);
                (run.all, run.part) = (Some(*counts as u64), "count".to_owned());
            }
            Event::CountLoaded { variant } => run.at = format!("data of {variant} loaded"),
            Event::Counted { variant, kind, protocol, .. } => {
                run.at = format!("{kind} ({protocol}) of {variant} counted");
                run.done += 1;
            }
            Event::CountAgain { counts, .. } => run.all = run.all.map(|all| all + *counts as u64),
            Event::Progress { .. }
            | Event::Settling { .. }
            | Event::Note(_)
            | Event::TrialEnded
            | Event::Enough { .. }
            | Event::Ended => {}
        }
    }

    /// Ends the reports to a service.
    pub fn end_reports(&mut self) {
        self.reporting = None;
    }

    /// Tells watchers what is known. What can't be written is left out: a full disk, say, ends a
    /// run elsewhere, if it has to.
    pub fn write(&mut self) {
        if self.telling.is_none()
            && let Some(results) = self.results.as_ref().filter(|it| it.is_dir())
        {
            self.telling = Telling::begin(results, self.run.began_ms).ok();
        }
        if let Some(telling) = &self.telling {
            let _ = telling.tell(&self.run);
        }
        if let Some(reporting) = &self.reporting {
            reporting.tell(&self.run);
        }
    }
}

/// What is told once another experiment has begun: of the one before only what is said once.
fn begun(before: &mut LiveRun, experiment: ExperimentId, name: &str) -> LiveRun {
    LiveRun {
        process: before.process,
        began_ms: before.began_ms,
        name: name.to_owned(),
        experiment: Some(experiment.0),
        warnings: std::mem::take(&mut before.warnings),
        log: std::mem::take(&mut before.log),
        ..LiveRun::default()
    }
}

fn interval(row: &IntervalRow) -> LiveInterval {
    let finite = |value: f64| value.is_finite().then_some(value);
    let (low, high) = row.interval.unzip();
    LiveInterval {
        step: row.step.clone(),
        variant: row.variant.clone(),
        ratio: finite(row.ratio),
        low: low.and_then(finite),
        high: high.and_then(finite),
        margin: row.margin,
        verdict: row.verdict.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn told(results: &Path) -> LiveRun {
        site::live::runs(results).runs.remove(0)
    }

    /// Follows an event, and tells of it.
    fn follow(live: &mut Live, event: &Event) {
        live.follow(event);
        live.write();
    }

    #[test]
    fn a_run_is_followed_from_its_beginning_to_its_end() {
        let results = tempfile::tempdir().unwrap();
        let mut live = Live::of(&results.path().join("none"));
        follow(&mut live, &Event::Note("nothing is there".to_owned()));
        assert!(!results.path().join("none").exists());
        let mut live = Live::of(results.path());
        follow(&mut live, &Event::Note("something is there".to_owned()));
        assert_eq!(told(results.path()).name, "");
        follow(
            &mut live,
            &Event::Began {
                experiment: ExperimentId(7),
                name: "small".to_owned(),
                trials: 2,
                finished: 0,
                steps: 2,
                budget: None,
            },
        );
        let mut trial = |number, ended| {
            let (variant, clients) = ("a".to_owned(), plan::Clients::of(1));
            follow(&mut live, &Event::TrialBegan { number, block: 1, variant, clients });
            for _ in 0..ended {
                let (name, unit) = ("l.i0".to_owned(), "rows/s".to_owned());
                follow(
                    &mut live,
                    &Event::StepBegan {
                        name: name.clone(),
                        operations: None,
                        seconds: Some(2.0),
                        unit: unit.clone(),
                    },
                );
                assert_eq!(told(results.path()).step.unwrap().seconds, Some(2.0));
                let (rate, variant, warnings) = (Some(1.0), None, Vec::new());
                follow(
                    &mut live,
                    &Event::StepEnded { name, variant, rate, unit, seconds: 1.0, warnings },
                );
            }
            let run = told(results.path());
            assert_eq!((run.all, run.step, run.experiment), (Some(4), None, Some(7)));
            run.done
        };
        assert_eq!([trial(1, 2), trial(2, 1), trial(2, 2), trial(2, 2)], [2, 3, 4, 4]);
        assert_eq!(told(results.path()).at, "trial 2/2: a (block 1, dop 1)");
        // A bisection has another one after it.
        let name = "counts".to_owned();
        follow(&mut live, &Event::CountBegan { experiment: ExperimentId(8), name, counts: 5 });
        let run = told(results.path());
        assert_eq!((run.experiment, run.done, run.all), (Some(8), 0, Some(5)));
        assert_eq!((run.at.as_str(), run.part.as_str()), ("", "count"));
        drop(live);
        assert_eq!(site::live::runs(results.path()).runs, []);
    }

    #[test]
    fn intervals_and_the_latest_lines_are_told() {
        let results = tempfile::tempdir().unwrap();
        let mut live = Live::of(results.path());
        (0..=LINES).for_each(|line| live.line(&line.to_string()));
        let row = IntervalRow {
            step: "qr100".to_owned(),
            variant: "b".to_owned(),
            ratio: 1.1,
            interval: Some((1.0, 1.2)),
            margin: 0.02,
            verdict: Some("improvement"),
        };
        let (rows, used) = (vec![row], Duration::from_secs(9));
        follow(&mut live, &Event::Narrowing { restarts: 4, used, rows });
        let run = told(results.path());
        assert_eq!((run.done, run.log.len()), (4, LINES));
        assert_eq!((run.log[0].as_str(), run.intervals[0].high), ("1", Some(1.2)));
    }
}
