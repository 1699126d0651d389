//! This machine at work for a bisection: builds, counts and runs.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dbms::{Cache, Diagnosis, Installation, Ledger};
use lab::{Event, Options, Resume};
use plan::Plan;
use store::{ExperimentId, Store};

use super::candidates::Candidate;
use super::plans::Plans;
use super::state::{Built, State};
use crate::exit::refuse;
use crate::progress::Progress;

/// Everything that builds, counts and runs need.
pub struct Site<'a> {
    pub candidates: &'a [Candidate],
    pub plans: &'a Plans<'a>,
    pub options: Options,
    pub cache: Cache,
    pub ledger: Ledger,
    pub interrupted: &'a AtomicBool,
    pub progress: Progress,
}

/// What came of something that a candidate may be unfit for: the reason, if it is.
pub type Outcome<T> = anyhow::Result<Result<T, String>>;

impl Site<'_> {
    /// The plan that compares these candidates.
    pub fn plan(&self, places: &[usize], budget: Option<Duration>) -> anyhow::Result<Plan> {
        let candidates: Vec<&Candidate> = places.iter().map(|it| &self.candidates[*it]).collect();
        self.plans.of(&candidates, budget)
    }

    /// Builds or fetches a candidate.
    pub fn build(&mut self, place: usize) -> Outcome<Built> {
        let begin = Instant::now();
        let installation = match self.obtain(place)? {
            Ok(installation) => installation,
            Err(why) => return Ok(Err(why)),
        };
        let commit = self.candidates[place].commit.is_some();
        let code = installation.build.get(dbms::builds::CODE_HASH).filter(|_| commit).cloned();
        let hash = installation.build.get(dbms::builds::SERVER_HASH);
        let server = hash.filter(|_| !commit).map(|it| format!("{} {it}", installation.version));
        Ok(Ok(Built { seconds: begin.elapsed().as_secs_f64(), code, server }))
    }

    /// A candidate's installation, built or fetched.
    pub fn obtain(&mut self, place: usize) -> Outcome<Installation> {
        let plan = self.plan(&[place], None)?;
        let reference = lab::variant_reference(&plan.variants[0])?;
        let progress = std::cell::RefCell::new(&mut self.progress);
        let note = |line: &str| progress.borrow_mut().tell(Event::Note(line.to_owned()));
        let user = self.options.server_user.as_deref();
        let obtained =
            dbms::obtain_interruptible(&reference, &self.cache, user, self.interrupted, &note);
        obtained.map_or_else(unfit_build, |installation| Ok(Ok(installation)))
    }

    /// Refuses to go on with looks at what has become something else since: a directory that was
    /// built anew, or a release that has a newer one. A commit stays what it is.
    pub fn check_unchanged(&mut self, state: &State, kept: &Path) -> anyhow::Result<()> {
        for (place, known) in &state.built {
            let name = &self.candidates[*place].name;
            if known.server.is_none() {
                continue;
            }
            let found = self.build(*place)?.map_err(anyhow::Error::msg)?;
            if found.server != known.server {
                return refuse(format!(
                    "{name} is not what it was when it was looked at; to search anew, remove {}",
                    kept.display()
                ));
            }
        }
        Ok(())
    }

    /// Counts a plan.
    pub fn count(&mut self, plan: Plan) -> Outcome<ExperimentId> {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let Self { options, cache, ledger, interrupted, progress, .. } = self;
        // Of several, the last one is what is asked about.
        let last = plan.variants.last().filter(|_| plan.variants.len() > 1);
        let last = last.map(|variant| variant.name.clone());
        let counted =
            lab::count(plan, options, cpus, cache.clone(), ledger, interrupted, &mut |event| {
                progress.tell(event);
            });
        fit(counted, last.as_deref())
    }

    /// Runs a plan. Only the last of its variants can be unfit: the other was measured before.
    pub fn run(&mut self, plan: Plan) -> Outcome<ExperimentId> {
        lab::check_budget(&plan)?;
        let systems = lab::Installed(self.cache.clone());
        let Self { options, ledger, interrupted, progress, .. } = self;
        let last = plan.variants.last().map(|variant| variant.name.clone());
        let plan = Resume::New(Box::new(plan));
        let run = lab::run(plan, options, &systems, ledger, interrupted, &mut |event| {
            progress.tell(event);
        });
        fit(run, last.as_deref())
    }

    /// The results.
    pub fn store(&self) -> anyhow::Result<Store> {
        crate::results::open_directory(&self.options.results)
    }
}

/// Whether the candidate is why it could not be built, rather than this machine.
fn unfit_build(error: dbms::Error) -> Outcome<Installation> {
    match error {
        // A compiler that was killed says nothing of what it compiled.
        dbms::Error::Build { command, status, lines, log, .. }
            if !is_full(&lines) && !status.contains("signal") =>
        {
            let line = lines.lines().find(|line| line.contains("error")).or(lines.lines().last());
            let line = line.map_or_else(String::new, |line| format!(": {}", line.trim()));
            let log = log.display();
            Ok(Err(format!("it does not build; `{command}` ended with {status}{line} (see {log})")))
        }
        dbms::Error::Installation { .. } => Ok(Err(error.to_string())),
        other => Err(lab::Error::from(other).into()),
    }
}

/// True if what a program or an error said is that a disk is full.
fn is_full(said: &str) -> bool {
    ["No space left on device", "disk with the data directory is full"]
        .iter()
        .any(|words| said.contains(words))
}

/// Whether a candidate (the variant that is `blamed`, if there are others) is why it could not be
/// measured: its server does not start, refuses what it gets, or ends.
fn fit<T>(result: Result<T, lab::Error>, blamed: Option<&str>) -> Outcome<T> {
    let error = match result {
        Ok(value) => return Ok(Ok(value)),
        Err(error) => error,
    };
    let of_server = |source: &dbms::Error| {
        use dbms::Error::{Answer, Program, Query, Rejected, Start};
        matches!(
            source,
            Start { .. } | Program { .. } | Query { .. } | Answer { .. } | Rejected { .. }
        ) && source.diagnosis() != Some(Diagnosis::DiskFull)
    };
    // No candidate is to blame for that, and all others would fail in the same way.
    let full = is_full(&error.to_string()) || is_full(error.log());
    let is_blamed = |variant: &String| blamed.is_none_or(|blamed| variant == blamed);
    let unfit = match &error {
        lab::Error::Count { variant, .. } => is_blamed(variant),
        lab::Error::Step { variant, unfit, .. } => !unfit && is_blamed(variant),
        lab::Error::Variant { variant, source } => is_blamed(variant) && of_server(source),
        lab::Error::Dbms(source) => blamed.is_none() && of_server(source),
        _ => false,
    };
    if unfit && !full { Ok(Err(error.to_string())) } else { Err(error.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_candidate_does_itself_makes_it_unfit() {
        let failed = |variant: &str| lab::Error::Count {
            variant: variant.to_owned(),
            kind: "point".to_owned(),
            reason: "it ended".to_owned(),
            log: String::new(),
        };
        let ends = |error: lab::Error, blamed: Option<&str>| fit::<()>(Err(error), blamed).is_err();
        assert!(!ends(failed("b"), None) && !ends(failed("b"), Some("b")));
        assert!(ends(failed("a"), Some("b")));
        assert!(ends(lab::Error::Interrupted, None));
        assert!(ends(lab::Error::Busy { pid: 1 }, Some("b")));
        let unreadable = || dbms::Error::Interrupted { doing: "building" };
        assert!(unfit_build(unreadable()).is_err());
        let full = lab::Error::Count {
            variant: "b".to_owned(),
            kind: "point".to_owned(),
            reason: "it ended".to_owned(),
            log: "PANIC: could not write: No space left on device".to_owned(),
        };
        assert!(fit::<()>(Err(full), None).is_err(), "the disk is to blame");
    }
}
