//! What a bisection has found so far: one JSON file in the results directory, written whole after
//! every build and every look, so that it can go on after any end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use suspect::Look as Seen;

use super::candidates::Candidate;
use crate::exit::WrongRequest;

/// Version of the file; it grows when an older steelyard can't read it.
const FORMAT: u32 = 1;

/// The folder in a results directory.
const FOLDER: &str = "bisect";

/// How candidates are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Each is counted once: exact numbers of instructions.
    Count,
    /// Each is measured beside the good end.
    Run,
}

/// What was asked. Only a bisection that asks the same goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// How.
    pub method: Method,
    /// In order; the first is good, the last is bad.
    pub candidates: Vec<Candidate>,
    /// The metric by which runs are judged; `None` for counts.
    pub metric: Option<String>,
    /// Changes by more than this fraction are looked for.
    pub margin: f64,
    /// The plan for the two ends, without the budget.
    pub plan: String,
}

/// A candidate that was built or fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Built {
    /// How long that took, in seconds.
    pub seconds: f64,
    /// The hash of its code; `None` for a release.
    pub code: Option<String>,
    /// The version of a release and the hash of its server; `None` for a commit, which stays what
    /// it is.
    #[serde(default)]
    pub server: Option<String>,
}

/// A figure of a look: a level as a logarithm. That of a count is one of instructions, that of a
/// run is relative to the good end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The logarithm.
    pub log: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// True if it is of CPU time instead of time, because a hypervisor took much.
    #[serde(default)]
    pub by_cpu: bool,
}

/// A look at a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Its place in the request.
    pub candidate: usize,
    /// The experiment in the results directory.
    pub experiment: i64,
    /// How long it took.
    pub seconds: f64,
    /// By what was measured: a kind of statement with its protocol, or a step.
    pub figures: BTreeMap<String, Figure>,
}

/// Two candidates measured beside each other at the end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// How.
    pub method: Method,
    /// Place of the one before the change.
    pub before: usize,
    /// Place of the one after it.
    pub after: usize,
    /// The experiment in the results directory.
    pub experiment: i64,
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Version of this shape.
    pub format: u32,
    /// The words of the command.
    pub words: Vec<String>,
    /// What was asked.
    pub request: Request,
    /// By candidate.
    pub built: BTreeMap<usize, Built>,
    /// Candidates that can't be looked at, and why.
    pub failed: BTreeMap<usize, String>,
    /// In the order in which they were taken.
    pub looks: Vec<Look>,
    /// Comparisons after the search.
    pub pairs: Vec<Pair>,
}

impl State {
    /// Of a bisection that begins.
    pub fn new(words: Vec<String>, request: Request) -> Self {
        Self {
            format: FORMAT,
            words,
            request,
            built: BTreeMap::new(),
            failed: BTreeMap::new(),
            looks: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// The candidates.
    pub fn candidates(&self) -> &[Candidate] {
        &self.request.candidates
    }

    /// Place of the bad end.
    pub fn last(&self) -> usize {
        self.request.candidates.len() - 1
    }

    /// True if there is a look at this candidate.
    pub fn looked_at(&self, candidate: usize) -> bool {
        self.looks.iter().any(|look| look.candidate == candidate)
    }

    /// What is measured; empty before the first look.
    pub fn measures(&self) -> BTreeSet<&str> {
        self.looks.iter().flat_map(|look| look.figures.keys()).map(String::as_str).collect()
    }

    /// Seconds spent on looks.
    pub fn measured(&self) -> Duration {
        Duration::from_secs_f64(self.looks.iter().map(|look| look.seconds).sum())
    }

    /// How long a look took so far, on average.
    pub fn usual_look(&self) -> Duration {
        self.measured() / u32::try_from(self.looks.len()).unwrap_or(u32::MAX).max(1)
    }

    /// What is left of a budget, and not less than what a look took so far.
    pub fn left_for_one(&self, budget: Duration) -> Duration {
        budget.saturating_sub(self.measured()).max(self.usual_look())
    }

    /// The candidates that have the code of this one, itself among them.
    fn of_same_code(&self, candidate: usize) -> Vec<usize> {
        let code = |place: usize| self.built.get(&place).and_then(|built| built.code.as_deref());
        let all = 0..self.candidates().len();
        match code(candidate) {
            Some(own) => all.filter(|place| code(*place) == Some(own)).collect(),
            None => vec![candidate],
        }
    }

    /// Another candidate with the same code that was looked at, or is the good end: nothing is left
    /// to measure.
    pub fn known_as(&self, candidate: usize) -> Option<usize> {
        let mut same = self.of_same_code(candidate).into_iter();
        same.find(|other| {
            // Counts are relative to that of the good end, which is none before it is taken.
            let good = *other == 0 && candidate > 0;
            *other != candidate && (good || self.looked_at(*other))
        })
    }

    /// True if a look at a candidate can tell something: its code is not that of the good end, and,
    /// for counts, it or its equals were counted no more than so many `times`.
    pub fn may_look(&self, candidate: usize, times: usize) -> bool {
        let same = self.of_same_code(candidate);
        let looks = self.looks.iter().filter(|look| same.contains(&look.candidate)).count();
        let good = same.contains(&0) && candidate > 0;
        !good && (self.request.method == Method::Run || looks <= times)
    }

    /// True if CPU time is all that is known of the runs.
    pub fn is_by_cpu(&self) -> bool {
        let mut figures = self.looks.iter().flat_map(|look| look.figures.values()).peekable();
        figures.peek().is_some() && figures.all(|figure| figure.by_cpu)
    }

    /// All looks by one measure, relative to the good end. Those by CPU time count only if there
    /// are no others: a change need not move both. A look at one of several candidates with
    /// the same code is a look at all of them: each carries the part of its information that leaves
    /// the whole as it is.
    pub fn seen(&self, measure: &str) -> Vec<Seen> {
        let by_cpu = self.is_by_cpu();
        let of = |look: &Look| {
            look.figures.get(measure).copied().filter(|figure| figure.by_cpu == by_cpu)
        };
        let base = self.looks.iter().filter(|look| look.candidate == 0).find_map(of);
        let base = match (base, self.request.method) {
            (Some(base), _) => base,
            (None, Method::Run) => Figure { log: 0.0, error: 0.0, freedom: 1.0, by_cpu },
            (None, Method::Count) => return Vec::new(),
        };
        let mut seen = Vec::new();
        for look in self.looks.iter().filter(|look| look.candidate > 0) {
            let Some(Figure { log, error, freedom, .. }) = of(look) else { continue };
            let same = self.of_same_code(look.candidate);
            if same.contains(&0) {
                continue;
            }
            let error = error.hypot(base.error) * (same.len() as f64).sqrt();
            let log_ratio = log - base.log;
            seen.extend(same.into_iter().map(|it| Seen {
                candidate: it,
                log_ratio,
                error,
                freedom,
            }));
        }
        let equal = self.of_same_code(0).into_iter().filter(|candidate| *candidate > 0);
        seen.extend(equal.map(|candidate| Seen::counted(candidate, 1.0)));
        seen
    }
}

/// The file of a bisection.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    /// Files that should be those of bisections, and can't be read as such.
    unread: Vec<PathBuf>,
}

impl Kept {
    /// The file of the bisection that asks this, with its state, new if there is none yet.
    ///
    /// # Errors
    /// When the folder can't be read or written.
    pub fn open(
        results: &Path,
        words: Vec<String>,
        request: Request,
    ) -> anyhow::Result<(Self, State)> {
        let folder = results.join(FOLDER);
        fs::create_dir_all(&folder).with_context(|| format!("cannot use {}", folder.display()))?;
        let All { read, unread } = all(&folder)?;
        if let Some((path, state)) = read.into_iter().find(|(_, state)| state.request == request) {
            return Ok((Self { path, unread }, State { words, ..state }));
        }
        let ends = [&request.candidates[0], &request.candidates[request.candidates.len() - 1]];
        let name = ends.map(|end| end.short().to_owned()).join("-");
        let file = |number: u32| match number {
            1 => folder.join(format!("{name}.json")),
            number => folder.join(format!("{name}-{number}.json")),
        };
        let free = (1..).map(file).find(|path| !path.exists());
        let path = free.unwrap_or_else(|| folder.join(name));
        Ok((Self { path, unread }, State::new(words, request)))
    }

    /// The words of the bisection that was at work last in a results directory.
    ///
    /// # Errors
    /// When there is none.
    pub fn latest(results: &Path) -> anyhow::Result<Vec<String>> {
        let folder = results.join(FOLDER);
        let modified = |path: &PathBuf| fs::metadata(path).and_then(|it| it.modified()).ok();
        let All { read, unread } = if folder.is_dir() { all(&folder)? } else { All::default() };
        let latest = read.into_iter().max_by_key(|(path, _)| modified(path));
        let none = || {
            let unread = unread.iter().map(|path| format!("; {}", damaged(path)));
            WrongRequest(format!(
                "no bisection in {} to resume{}",
                results.display(),
                unread.collect::<String>()
            ))
        };
        Ok(latest.ok_or_else(none)?.1.words)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A sentence for each file that can't be read as a bisection.
    pub fn unread(&self) -> impl Iterator<Item = String> {
        self.unread.iter().map(|path| damaged(path))
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn write(&self, state: &State) -> anyhow::Result<()> {
        let text = serde_json::to_vec_pretty(state)?;
        Ok(archive::write_whole(&self.path, &text)?)
    }
}

/// The bisections in a folder.
#[derive(Default)]
struct All {
    read: Vec<(PathBuf, State)>,
    /// Files that this steelyard can't read.
    unread: Vec<PathBuf>,
}

fn all(folder: &Path) -> anyhow::Result<All> {
    let unreadable = || format!("cannot read {}", folder.display());
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).with_context(unreadable)?.collect();
    let paths = entries.with_context(unreadable)?.into_iter().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
    paths.sort();
    let mut all = All::default();
    for path in paths {
        let state: Option<State> =
            fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match state.filter(|state| state.format == FORMAT) {
            Some(state) => all.read.push((path, state)),
            None => all.unread.push(path),
        }
    }
    Ok(all)
}

/// That a file is left alone.
fn damaged(path: &Path) -> String {
    format!(
        "expected a bisection in {}, found what this steelyard can't read: it is left out; remove \
         it if no other needs it",
        path.display()
    )
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A bisection of commits 0 to `last`.
    pub fn state(method: Method, last: usize) -> State {
        let candidate = |number: usize| Candidate {
            name: format!("pg-{number}"),
            dbms: format!("postgres@git:/x#{number}"),
            commit: None,
        };
        let request = Request {
            method,
            candidates: (0..=last).map(candidate).collect(),
            metric: None,
            margin: 0.005,
            plan: String::new(),
        };
        State::new(vec!["bisect".to_owned()], request)
    }

    pub fn look(candidate: usize, log: f64) -> Look {
        let figure = Figure { log, error: 1e-4, freedom: 6.0, by_cpu: false };
        let figures = BTreeMap::from([("a".to_owned(), figure)]);
        Look { candidate, experiment: 1, seconds: 1.0, figures }
    }

    fn built(code: &str) -> Built {
        Built { seconds: 100.0, code: Some(code.to_owned()), server: None }
    }

    #[test]
    fn the_same_request_goes_on_and_another_begins() {
        let directory = tempfile::tempdir().unwrap();
        let open = |request: &Request| {
            Kept::open(directory.path(), vec!["x".to_owned()], request.clone()).unwrap()
        };
        let mut first = state(Method::Count, 3);
        let (kept, found) = open(&first.request);
        assert!(found.looks.is_empty() && !kept.path().exists());
        first.looks.push(look(0, 12.0));
        first.built.insert(0, built("a"));
        first.failed.insert(2, "no".to_owned());
        kept.write(&first).unwrap();
        let (again, found) = open(&first.request);
        assert_eq!((again.path(), &found.looks), (kept.path(), &first.looks));
        assert_eq!((&found.built, &found.failed), (&first.built, &first.failed));
        assert_eq!(found.words, ["x"]);
        let other = Request { margin: 0.01, ..first.request.clone() };
        let (other, found) = open(&other);
        assert!(found.looks.is_empty() && other.path() != kept.path());
        assert_eq!(Kept::latest(directory.path()).unwrap(), ["bisect"]);
        let none = tempfile::tempdir().unwrap();
        assert!(Kept::latest(none.path()).unwrap_err().to_string().contains("no bisection"));
        // What another steelyard or a person left there is no state.
        fs::write(kept.path(), "{").unwrap();
        let (anew, found) = open(&first.request);
        assert!(found.looks.is_empty() && anew.path() != kept.path());
        let said: Vec<String> = anew.unread().collect();
        assert!(said.len() == 1 && said[0].contains("can't read"), "{said:?}");
    }

    #[test]
    fn looks_by_cpu_time_are_not_mixed_with_others() {
        let mut state = state(Method::Run, 3);
        let mut by_cpu = look(3, 0.05);
        by_cpu.figures.values_mut().for_each(|figure| figure.by_cpu = true);
        state.looks.push(by_cpu);
        assert!(state.is_by_cpu());
        assert_eq!(state.seen("a").iter().map(|seen| seen.candidate).collect::<Vec<_>>(), [3]);
        state.looks.push(look(2, 0.0));
        assert!(!state.is_by_cpu());
        assert_eq!(state.seen("a").iter().map(|seen| seen.candidate).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn counts_are_relative_to_the_good_end() {
        let mut state = state(Method::Count, 3);
        state.looks.push(look(3, 10.5));
        assert!(state.seen("a").is_empty(), "the good end is not counted yet");
        state.looks.push(look(0, 10.0));
        let [seen] = state.seen("a")[..] else { panic!() };
        assert_eq!((seen.candidate, seen.log_ratio), (3, 0.5));
        assert!((seen.error - 1e-4 * 2_f64.sqrt()).abs() < 1e-12);
        assert!(state.seen("b").is_empty());
    }

    #[test]
    fn equal_code_is_looked_at_once() {
        let mut state = state(Method::Run, 5);
        for (place, code) in ["x", "x", "y", "y", "z"].iter().enumerate() {
            state.built.insert(place, built(code));
        }
        state.looks.push(look(2, 0.05));
        assert_eq!(
            [1, 2, 3, 4, 5].map(|place| state.known_as(place)),
            [Some(0), None, Some(2), None, None]
        );
        let seen = state.seen("a");
        let places: Vec<_> = seen.iter().map(|seen| (seen.candidate, seen.log_ratio)).collect();
        assert_eq!(places, [(2, 0.05), (3, 0.05), (1, 0.0)]);
        // Two that carry half of the information each.
        let precision: f64 = seen[..2].iter().map(|seen| seen.error.powi(-2)).sum();
        assert!((precision.powf(-0.5) - 1e-4).abs() < 1e-12);
    }
}
