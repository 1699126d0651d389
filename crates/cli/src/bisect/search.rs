//! The search: where to look next, until the answer is known.

use std::time::{Duration, Instant};

use judge::Margin;
use suspect::{Candidate, Effort, Next, Posterior, Range, Rest, Settings, Verdict};

use super::state::{Built, Look, Method, State};
use crate::exit::refuse;

/// No search takes more looks than this.
const MOST: usize = 200;

/// A count is repeated so often at most, and only if no other candidate can tell more: one count
/// decides.
const AGAIN: usize = 2;

/// How exact a look is before there is one: the counts' own spread, and that of a few restarts.
const EXPECTED: [(Method, f64); 2] = [(Method::Count, 1e-4), (Method::Run, 4e-3)];

/// What builds and looks cost in seconds before there are any.
const BUILD: f64 = 200.0;
const LOOK: f64 = 60.0;

/// Standard deviation, in logarithms, of counts of builds that cost the same: where code and data
/// lie changes what functions such as strncmp execute.
const COUNTS_REPEAT: f64 = 1e-4;

/// Builds and measures. An error ends the bisection; a reason (`Err` inside) says that this
/// candidate can't be looked at.
pub trait Bench {
    /// Builds or fetches a candidate.
    fn build(&mut self, candidate: usize) -> anyhow::Result<Result<Built, String>>;
    /// Looks at it, for about this time if it is limited.
    fn look(
        &mut self,
        candidate: usize,
        time: Option<Duration>,
    ) -> anyhow::Result<Result<Look, String>>;
    /// Shows how far it is.
    fn tell(&mut self, line: String);
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left to learn.
    Done,
    /// The budget is used up.
    OutOfTime,
    /// There were too many looks.
    TooMany,
}

/// The verdict by one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The measure.
    pub measure: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// Looks until the answer is known, or the `budget` for looks is used up. `keep` stores the state
/// after each step.
pub fn search(
    state: &mut State,
    bench: &mut dyn Bench,
    budget: Option<Duration>,
    keep: &mut dyn FnMut(&State) -> anyhow::Result<()>,
) -> anyhow::Result<Ended> {
    loop {
        let Some(next) = next(state)? else { return Ok(Ended::Done) };
        if state.looks.len() >= MOST {
            return Ok(Ended::TooMany);
        }
        let left = budget.map(|budget| budget.saturating_sub(state.measured()));
        if left == Some(Duration::ZERO) {
            return Ok(Ended::OutOfTime);
        }
        bench.tell(progress(state, next)?);
        let new = !state.built.contains_key(&next);
        // The good end is needed by all looks, or its code is known to be that of others.
        for place in [0, next] {
            if !state.built.contains_key(&place) && !state.failed.contains_key(&place) {
                match bench.build(place)? {
                    Ok(built) => drop(state.built.insert(place, built)),
                    Err(reason) => fails(state, place, reason, bench)?,
                }
                keep(state)?;
            }
        }
        if state.failed.contains_key(&next) {
            continue;
        }
        if let Some(same) = state.known_as(next).filter(|_| new) {
            let [own, other] = [next, same].map(|place| state.candidates()[place].short());
            bench.tell(format!("{own} has the code of {other}, which is known"));
            continue;
        }
        let begin = Instant::now();
        // What is found by runs runs once more, beside the one before it.
        let once_more = f64::from(state.request.method == Method::Run);
        let expected = expected_looks(state)?.max(1.0) + once_more;
        // Nor does a look get less than those before it: shorter and shorter ones tell nothing.
        let usual = state.usual_look();
        if left.is_some_and(|left| left < usual / 2) {
            return Ok(Ended::OutOfTime);
        }
        let part = left.map(|left| left.div_f64(expected).max(usual).min(left));
        // If a part is too short for any look, there will be fewer of them.
        let looked = match bench.look(next, part) {
            Err(error) if is_too_short(&error) && left > part => bench.look(next, left),
            looked => looked,
        };
        let looked = match looked {
            Err(error) if is_too_short(&error) && !state.looks.is_empty() => {
                return Ok(Ended::OutOfTime);
            }
            looked => looked?,
        };
        match looked {
            Ok(look) => {
                let seconds = begin.elapsed().as_secs_f64();
                state.looks.push(Look { seconds, ..look });
            }
            Err(reason) => fails(state, next, reason, bench)?,
        }
        keep(state)?;
    }
}

/// A look that was too short to tell anything.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TooShort(pub String);

/// True if there is not enough time for a look.
fn is_too_short(error: &anyhow::Error) -> bool {
    error.is::<TooShort>() || matches!(error.downcast_ref(), Some(lab::Error::Budget { .. }))
}

/// Notes that a candidate can't be looked at; an end has to be.
fn fails(
    state: &mut State,
    candidate: usize,
    reason: String,
    bench: &mut dyn Bench,
) -> anyhow::Result<()> {
    let name = state.candidates()[candidate].titled();
    if candidate == 0 || candidate == state.last() {
        let end = if candidate == 0 { "good" } else { "bad" };
        anyhow::bail!("the {end} end, {name}, can't be looked at: {reason}\nChoose another end");
    }
    bench.tell(format!("{name} is left out: {reason}"));
    state.failed.insert(candidate, reason);
    Ok(())
}

/// The candidate to look at next; `None` if the answer is known.
fn next(state: &State) -> anyhow::Result<Option<usize>> {
    if state.request.method == Method::Count && !state.looked_at(0) {
        return Ok(Some(0));
    }
    let range = range(state)?;
    // The good end of a run has none before the first look, nor has that of a count.
    if state.looks.iter().all(|look| look.candidate == 0) {
        let posterior = Posterior::new(&range, &[])?;
        return Ok(posterior.next(effort(state, &[])).map(|next| next.candidate));
    }
    let mut best: Option<Next> = None;
    for measure in state.measures() {
        let seen = state.seen(measure);
        let posterior = Posterior::new(&range, &seen)?;
        // More than those that may not be taken again.
        let looks = posterior.next_many(effort(state, &seen), state.built.len() + 1);
        let next = [0, AGAIN].into_iter().find_map(|times| {
            looks.iter().find(|next| state.may_look(next.candidate, times)).copied()
        });
        let rate = |next: &Next| next.bits / next.cost;
        best = match (best, next) {
            (Some(best), Some(next)) if rate(&next) <= rate(&best) => Some(best),
            (best, next) => next.or(best),
        };
    }
    Ok(best.map(|next| next.candidate))
}

/// The verdict by each measure.
pub fn verdicts(state: &State) -> anyhow::Result<Vec<Found>> {
    let range = range(state)?;
    let measures = state.measures().into_iter();
    measures
        .map(|measure| {
            let verdict = Posterior::new(&range, &state.seen(measure))?.verdict();
            Ok(Found { measure: measure.to_owned(), verdict })
        })
        .collect()
}

/// The range with all that is known of its candidates.
fn range(state: &State) -> anyhow::Result<Range> {
    let mean = |seconds: Vec<f64>, otherwise: f64| {
        judge::mean(&seconds).filter(|mean| *mean > 0.0).unwrap_or(otherwise)
    };
    // One that was in the cache says nothing of the others.
    let builds = state.built.values().map(|built| built.seconds).filter(|seconds| *seconds > 1.0);
    let build = mean(builds.collect(), BUILD);
    let look = mean(state.looks.iter().map(|look| look.seconds).collect(), LOOK);
    let candidate = |(place, candidate): (usize, &super::candidates::Candidate)| Candidate {
        weight: match &candidate.commit {
            Some(commit) if commit.same_files => 0.0,
            _ => 1.0,
        },
        build: if state.built.contains_key(&place) { 0.0 } else { build },
        look,
        fails: state.failed.contains_key(&place),
    };
    let candidates: Vec<Candidate> = state.candidates().iter().enumerate().map(candidate).collect();
    if candidates[1..].iter().all(|candidate| candidate.weight == 0.0) {
        return refuse("all commits between the two ends have the same files");
    }
    Ok(Range::new(candidates, settings(state))?)
}

/// 1% of wrong answers, shared by all measures.
fn settings(state: &State) -> Settings {
    let settings = Settings::within(Margin::of(state.request.margin));
    let measures = state.measures().len().max(1) as f64;
    let confidence = 1.0 - (1.0 - settings.confidence) / measures;
    let repeatability = match state.request.method {
        Method::Count => settings.repeatability.max(COUNTS_REPEAT),
        Method::Run => settings.repeatability,
    };
    Settings { confidence, repeatability, ..settings }
}

/// The error of the next look: that of those before.
fn effort(state: &State, seen: &[suspect::Look]) -> Effort {
    let errors: Vec<f64> = seen.iter().map(|look| look.error).filter(|it| *it > 0.0).collect();
    let expected = EXPECTED.iter().find(|(method, _)| *method == state.request.method);
    let expected = expected.map_or(EXPECTED[0].1, |(_, error)| *error);
    Effort { error: judge::median(&errors).unwrap_or(expected), most: 1 }
}

/// Looks that are still needed if each halves what is left, and those that have to be taken.
fn expected_looks(state: &State) -> anyhow::Result<f64> {
    let range = range(state)?;
    let mut most = 0.0_f64;
    let mut measures = state.measures();
    // Before the first look, there is nothing seen by any.
    if measures.is_empty() {
        measures.insert("");
    }
    for measure in measures {
        let posterior = Posterior::new(&range, &state.seen(measure))?;
        let places = posterior.probabilities();
        let bits: f64 = places.iter().filter(|p| **p > 0.0).map(|p| -p * p.log2()).sum();
        let due = match posterior.verdict().rest {
            Rest::Undecided(suspect::Reason::Unlooked(due)) => due.len() as f64,
            Rest::Nothing { .. } => 0.0,
            // The look that makes it sure.
            Rest::Undecided(_) => 1.0,
        };
        most = most.max(bits.ceil() + due);
    }
    Ok(most)
}

/// `look 4 at 0123456789ab, about 3 left; 5 of 12 commits suspect`.
fn progress(state: &State, next: usize) -> anyhow::Result<String> {
    let range = range(state)?;
    let candidates = state.candidates();
    let noun = candidates[0].noun();
    let mut suspects = 0;
    for measure in state.measures() {
        let posterior = Posterior::new(&range, &state.seen(measure))?;
        let places = posterior.probabilities();
        // Those that have to be looked at before anything is known are suspect, too.
        let likely = places[1..].iter().filter(|p| **p > 1e-3).count();
        suspects = suspects.max(likely);
    }
    let all = candidates.len() - 1;
    let suspects = if state.looks.is_empty() { all } else { suspects };
    let number = state.looks.len() + 1;
    let left = expected_looks(state)?.max(1.0);
    Ok(format!(
        "look {number} at {}; about {left:.0} left; {suspects} of {all} {noun}s suspect",
        candidates[next].titled()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::{look, state};
    use super::*;

    /// A range whose level rises by these logarithms at these candidates.
    #[derive(Default)]
    struct Toy {
        base: f64,
        changes: Vec<(usize, f64)>,
        broken: Vec<usize>,
        /// Candidates whose code is that of the one before.
        same: Vec<usize>,
        built: Vec<usize>,
        looked: Vec<usize>,
        said: Vec<String>,
        /// Ends with an error at this call.
        dies: Option<usize>,
        /// The least time of a look.
        least: Duration,
        times: Vec<Option<Duration>>,
    }

    impl Toy {
        fn new(changes: &[(usize, f64)]) -> Self {
            Self { base: 10.0, changes: changes.to_vec(), ..Self::default() }
        }

        fn level(&self, candidate: usize) -> f64 {
            let passed = self.changes.iter().filter(|(at, _)| *at <= candidate);
            self.base + passed.map(|(_, size)| size).sum::<f64>()
        }

        fn live(&mut self) -> anyhow::Result<()> {
            let calls = self.built.len() + self.looked.len();
            if self.dies == Some(calls) { anyhow::bail!("killed") } else { Ok(()) }
        }
    }

    impl Bench for Toy {
        fn build(&mut self, candidate: usize) -> anyhow::Result<Result<Built, String>> {
            self.live()?;
            self.built.push(candidate);
            if self.broken.contains(&candidate) {
                return Ok(Err("it does not build".to_owned()));
            }
            let of = (0..=candidate).rev().find(|it| !self.same.contains(it));
            Ok(Ok(Built { seconds: 100.0, code: of.map(|it| it.to_string()), server: None }))
        }

        fn look(
            &mut self,
            candidate: usize,
            time: Option<Duration>,
        ) -> anyhow::Result<Result<Look, String>> {
            self.live()?;
            if time.is_some_and(|time| time < self.least) {
                let none = String::new;
                let error = lab::Error::Budget { budget: none(), needed: none(), remedy: none() };
                return Err(error.into());
            }
            self.times.push(time);
            self.looked.push(candidate);
            let noise = 3e-5 * (candidate as f64 * 7.3).sin();
            Ok(Ok(look(candidate, self.level(candidate) + noise)))
        }

        fn tell(&mut self, line: String) {
            self.said.push(line);
        }
    }

    fn searched(toy: &mut Toy, last: usize) -> (State, Vec<Vec<usize>>) {
        let mut state = state(Method::Count, last);
        let ended = search(&mut state, toy, None, &mut |_| Ok(())).unwrap();
        assert_eq!(ended, Ended::Done);
        let culprits = culprits(&state);
        (state, culprits)
    }

    fn culprits(state: &State) -> Vec<Vec<usize>> {
        let [found] = &verdicts(state).unwrap()[..] else { panic!() };
        assert!(matches!(found.verdict.rest, Rest::Nothing { .. }), "{found:?}");
        found.verdict.culprits.iter().map(|culprit| culprit.suspects.clone()).collect()
    }

    #[test]
    fn one_look_decides_each_commit() {
        for (last, at) in [(12, 7), (64, 1), (64, 64), (500, 333), (1, 1)] {
            let mut toy = Toy::new(&[(at, 0.03)]);
            let (state, culprits) = searched(&mut toy, last);
            assert_eq!(culprits, [[at]], "{last}");
            let mut looked = toy.looked.clone();
            looked.sort_unstable();
            looked.dedup();
            assert_eq!(looked.len(), toy.looked.len(), "none twice: {:?}", toy.looked);
            let most = 2.0 + (last as f64).log2().ceil() + 3.0;
            assert!(state.looks.len() as f64 <= most, "{} of {last}", state.looks.len());
            assert!(toy.said.iter().all(|line| line.contains(" left; ")), "{:?}", toy.said);
        }
    }

    #[test]
    fn nothing_is_an_answer_and_small_changes_are_none() {
        for changes in [&[][..], &[(5, 0.002)]] {
            let (state, culprits) = searched(&mut Toy::new(changes), 40);
            assert!(culprits.is_empty());
            assert!(state.looks.len() <= 6, "the ends and three between: {:?}", state.looks);
        }
    }

    #[test]
    fn a_regression_and_its_fix_are_found() {
        let (_, culprits) = searched(&mut Toy::new(&[(9, 0.04), (31, -0.04)]), 40);
        assert_eq!(culprits, [[9], [31]]);
    }

    #[test]
    fn commits_that_do_not_build_are_left_out() {
        let mut toy = Toy::new(&[(20, 0.03)]);
        toy.broken = (17..23).collect();
        let (state, culprits) = searched(&mut toy, 40);
        assert_eq!(culprits, [(17..24).collect::<Vec<_>>()], "any of those between");
        assert!(state.failed.len() <= 6 && toy.looked.iter().all(|it| !toy.broken.contains(it)));
        let mut toy = Toy::new(&[]);
        toy.broken = vec![0];
        let mut state = state_of(3);
        let error = search(&mut state, &mut toy, None, &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("the good end") && error.contains("does not build"), "{error}");
        assert!(state.failed.is_empty(), "it may be built by now");
    }

    fn state_of(last: usize) -> State {
        state(Method::Count, last)
    }

    #[test]
    fn equal_code_is_not_measured_again() {
        let mut toy = Toy::new(&[(8, 0.03)]);
        toy.same = vec![1, 2, 3, 4, 5, 6, 7];
        let (_, culprits) = searched(&mut toy, 16);
        assert_eq!(culprits, [[8]]);
        assert!(toy.looked.iter().all(|it| !toy.same.contains(it)), "{:?}", toy.looked);
        assert!(toy.said.iter().any(|line| line.contains("has the code of")), "{:?}", toy.said);
    }

    #[test]
    fn it_goes_on_after_the_end_at_any_moment() {
        let mut whole = Toy::new(&[(7, 0.03)]);
        let (_, expected) = searched(&mut whole, 12);
        let calls = whole.built.len() + whole.looked.len();
        for dies in 0..calls {
            let mut kept = state(Method::Count, 12);
            let mut toy = Toy::new(&[(7, 0.03)]);
            toy.dies = Some(dies);
            let mut state = kept.clone();
            let mut keep = |state: &State| {
                kept = serde_json::from_slice(&serde_json::to_vec(state)?)?;
                Ok(())
            };
            if search(&mut state, &mut toy, None, &mut keep).is_ok() {
                assert!(toy.built.len() + toy.looked.len() <= dies, "it got by with less");
                continue;
            }
            toy.dies = None;
            search(&mut kept, &mut toy, None, &mut |_| Ok(())).unwrap();
            assert_eq!(culprits(&kept), expected);
            // The order may depend on how long the looks took.
            for mut places in [toy.built, toy.looked] {
                let all = places.len();
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), all, "none twice, though it ended at {dies}");
            }
        }
    }

    #[test]
    fn a_budget_ends_it() {
        let mut state = state(Method::Count, 100);
        let mut toy = Toy::new(&[(50, 0.03)]);
        state.looks.push(Look { seconds: 100.0, ..look(0, 10.0) });
        let budget = Some(Duration::from_secs(100));
        let ended = search(&mut state, &mut toy, budget, &mut |_| Ok(())).unwrap();
        assert_eq!((ended, toy.looked.len()), (Ended::OutOfTime, 0));
    }

    #[test]
    fn a_look_gets_its_part_of_the_budget_or_more_if_that_is_too_short() {
        let mut state = state(Method::Run, 100);
        let mut toy = Toy { base: 0.0, ..Toy::new(&[(50, 0.03)]) };
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        search(&mut state, &mut toy, Some(minutes(80)), &mut |_| Ok(())).unwrap();
        let first = toy.times[0].unwrap();
        assert!(minutes(5) < first && first < minutes(20), "{first:?}");
        let search = |least: u64, seconds: f64| {
            let mut state = self::state(Method::Run, 100);
            let mut toy = Toy { base: 0.0, least: minutes(least), ..Toy::new(&[(50, 0.03)]) };
            state.looks.push(Look { seconds, ..look(100, 0.03) });
            let ended = search(&mut state, &mut toy, Some(minutes(80)), &mut |_| Ok(()));
            (ended.unwrap(), toy.times)
        };
        let (ended, times) = search(1, 1200.0);
        assert_eq!(ended, Ended::Done);
        assert_eq!(times[0], Some(minutes(20)), "as long as the one before");
        let (ended, times) = search(79, 1.0);
        assert_eq!(ended, Ended::Done);
        assert!(times[0] > Some(minutes(79)), "all that is left");
        assert_eq!(search(79, 120.0), (Ended::OutOfTime, Vec::new()));
    }
}
