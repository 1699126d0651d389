//! The answer as data: `bisect --format json` prints it, and the text is made of it.

use report::FunctionDocument;
use serde::Serialize;
use suspect::{Culprit, Reason, Rest};

use super::candidates::Candidate;
use super::search::{Ended, Found};
use super::state::{Method, State};

/// Version of the shape; it grows when a key is removed or changes its meaning.
const FORMAT: u32 = 1;

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// Version of this shape: 1.
    pub format: u32,
    /// `count` or `run`.
    pub method: Method,
    /// The metric by which runs are judged; `null` for counts of instructions.
    pub metric: Option<String>,
    /// True if the looks are judged by CPU time, because a hypervisor took much.
    pub by_cpu: bool,
    /// Changes by more than this fraction were looked for.
    pub margin: f64,
    /// The good end.
    pub good: Candidate,
    /// The bad end.
    pub bad: Candidate,
    /// Number of changes between them.
    pub changes: usize,
    /// The answer in one word: `found`, `nothing`, `undecided` or `unconfirmed`.
    pub answer: &'static str,
    /// Why what was found is not confirmed, if it is not.
    pub unconfirmed: Option<String>,
    /// The changes found, in order.
    pub culprits: Vec<Named>,
    /// What is known of all other changes, by measure.
    pub rest: Vec<Remaining>,
    /// Candidates that can't be looked at.
    pub failed: Vec<Unfit>,
    /// Candidates that were not measured because another has the same code.
    pub same_code: Vec<String>,
    /// All looks, in the order in which they were taken.
    pub looks: Vec<Looked>,
}

/// A change that moved the level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named {
    /// What it can be: one, or several if those between can't be looked at.
    pub suspects: Vec<Candidate>,
    /// The one before.
    pub before: Candidate,
    /// Places of the one before and the last suspect.
    #[serde(skip)]
    pub ends: (usize, usize),
    /// The files that differ, as git shows it; `null` for releases.
    pub diffstat: Option<String>,
    /// By how much, by measure.
    pub moved: Vec<Moved>,
    /// Counts of both beside each other.
    pub counted: Vec<CountedAgain>,
    /// Runs of both beside each other; `null` if there was none.
    pub run: Option<Vec<RunStep>>,
    /// How both differ besides their version, in sentences: other compilers, for example.
    pub differences: Vec<String>,
    /// True if only instructions are known, so that it need not be slower.
    pub instructions_only: bool,
    /// A command that looks at these two again.
    pub command: String,
}

/// By how much a change moved a measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved {
    /// What was measured.
    pub measure: String,
    /// The value after the change divided by that before.
    pub ratio: f64,
    /// The lower end of its 95% interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Probability that it is this change, or one of the suspects.
    pub probability: f64,
}

/// A count of both beside each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountedAgain {
    /// What was counted.
    pub measure: String,
    /// Instructions per statement before.
    pub before: f64,
    /// Instructions per statement after.
    pub after: f64,
    /// After divided by before.
    pub ratio: f64,
    /// The functions whose own instructions per statement differ most.
    pub functions: Vec<FunctionDocument>,
}

/// A step of a run of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunStep {
    /// The step.
    pub step: String,
    /// After divided by before, of the metric.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// `regression`, `improvement`, `equivalent` or `inconclusive`.
    pub verdict: String,
}

/// What is known of the changes that were not found to move a measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remaining {
    /// What was measured.
    pub measure: String,
    /// True if it is known that none did.
    pub nothing: bool,
    /// The probability of that; `null` if it is not known.
    pub probability: Option<f64>,
    /// The same in words.
    pub says: String,
}

/// A candidate that can't be looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unfit {
    /// Which.
    pub candidate: String,
    /// Why not.
    pub reason: String,
}

/// A look.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Looked {
    /// At which candidate.
    pub candidate: String,
    /// The experiment in the results directory.
    pub experiment: i64,
    /// How long it took.
    pub seconds: f64,
    /// By measure, its level relative to the good end.
    pub relative: Vec<(String, f64)>,
}

/// The document of what was found, without what is known only after another measurement.
pub fn document(state: &State, found: &[Found], ended: Ended) -> Document {
    let request = &state.request;
    let candidates = state.candidates();
    let mut culprits: Vec<Named> = Vec::new();
    for Found { measure, verdict } in found {
        for culprit in &verdict.culprits {
            let moved = moved(measure, culprit);
            let ends = ends(state, &culprit.suspects);
            match culprits.iter_mut().find(|known| known.ends == ends) {
                Some(known) => known.moved.push(moved),
                None => culprits.push(named(state, culprit, ends, moved)),
            }
        }
    }
    culprits.sort_by_key(|culprit| culprit.ends);
    let rest: Vec<Remaining> = found.iter().map(|found| remaining(state, found, ended)).collect();
    let decided = !rest.is_empty() && rest.iter().all(|rest| rest.nothing);
    let looked = |look: &super::state::Look| {
        let relative = look.figures.keys().filter_map(|measure| {
            let seen = state.seen(measure);
            let own = seen.iter().find(|seen| seen.candidate == look.candidate);
            Some((measure.clone(), own?.log_ratio.exp()))
        });
        Looked {
            candidate: candidates[look.candidate].short().to_owned(),
            experiment: look.experiment,
            seconds: look.seconds,
            relative: relative.collect(),
        }
    };
    let same = state.built.keys().filter(|place| {
        **place > 0 && !state.looked_at(**place) && state.known_as(**place).is_some()
    });
    let unfit = |(place, reason): (&usize, &String)| Unfit {
        candidate: candidates[*place].titled(),
        reason: reason.clone(),
    };
    Document {
        format: FORMAT,
        method: request.method,
        metric: request.metric.clone(),
        by_cpu: state.is_by_cpu(),
        margin: request.margin,
        good: candidates[0].clone(),
        bad: candidates[state.last()].clone(),
        changes: state.last(),
        answer: match (decided, culprits.is_empty()) {
            (false, _) => "undecided",
            (true, true) => "nothing",
            (true, false) => "found",
        },
        unconfirmed: None,
        culprits,
        rest,
        failed: state.failed.iter().map(unfit).collect(),
        same_code: same.map(|place| candidates[*place].short().to_owned()).collect(),
        looks: state.looks.iter().map(looked).collect(),
    }
}

/// The candidates nearest to the suspects that can be looked at: the one before them, and the last
/// of them or one after.
fn ends(state: &State, suspects: &[usize]) -> (usize, usize) {
    let fit = |place: &usize| !state.failed.contains_key(place);
    let first = suspects.first().copied().unwrap_or(1);
    let last = suspects.last().copied().unwrap_or(1);
    let before = (0..first).rev().find(fit).unwrap_or(0);
    let after = (last..=state.last()).find(fit).unwrap_or(last);
    (before, after)
}

fn moved(measure: &str, culprit: &Culprit) -> Moved {
    let Culprit { probability, ratio, low, high, .. } = *culprit;
    Moved { measure: measure.to_owned(), ratio, low, high, probability }
}

fn named(state: &State, culprit: &Culprit, ends: (usize, usize), moved: Moved) -> Named {
    let candidates = state.candidates();
    Named {
        suspects: culprit.suspects.iter().map(|place| candidates[*place].clone()).collect(),
        before: candidates[ends.0].clone(),
        ends,
        diffstat: None,
        moved: vec![moved],
        counted: Vec::new(),
        differences: Vec::new(),
        run: None,
        instructions_only: state.request.method == Method::Count,
        command: String::new(),
    }
}

fn remaining(state: &State, Found { measure, verdict }: &Found, ended: Ended) -> Remaining {
    let margin = percent(state.request.margin);
    let first = &state.candidates()[0];
    let (noun, name) = (first.noun(), |place: usize| state.candidates()[place].short().to_owned());
    let (between, else_) = match verdict.culprits.is_empty() {
        true => (format!("between {} and {}", name(0), name(state.last())), ""),
        false => ("in the rest of the range".to_owned(), " else"),
    };
    let (probability, says) = match &verdict.rest {
        Rest::Nothing { probability } => {
            (Some(*probability), format!("nothing{else_} changed {between} by more than {margin}"))
        }
        Rest::Undecided(reason) => (
            None,
            match reason {
                Reason::Gradual => format!(
                    "the ends differ by more than {margin}, but no single {noun} does: it is the sum \
                 of small changes"
                ),
                Reason::Whether { moved } => format!(
                    "it is not known whether anything{else_} changed {between} by more than {margin} \
                 (probability {})",
                    percent(*moved)
                ),
                Reason::Where { from, to } => format!(
                    "something{else_} changed by more than {margin} after {} up to {}, but it is not \
                 known where",
                    name(*from),
                    name(*to)
                ),
                Reason::Unlooked(places) => {
                    let missing: Vec<String> = places.iter().map(|place| name(*place)).collect();
                    format!(
                        "no{} change was found so far; not yet looked at: {}",
                        if else_.is_empty() { "" } else { " other" },
                        missing.join(", ")
                    )
                }
            },
        ),
    };
    let why = match (probability, ended) {
        (Some(_), _) | (None, Ended::Done) => "",
        (None, Ended::OutOfTime) => {
            "; the budget is used up, and the same command with a larger one goes on"
        }
        (None, Ended::TooMany) => {
            "; no search takes more looks than it took: name a narrower range or a larger --margin"
        }
    };
    let says = format!("{says}{why}");
    Remaining { measure: measure.clone(), nothing: probability.is_some(), probability, says }
}

/// A fraction in percent, without trailing zeros.
pub fn percent(fraction: f64) -> String {
    let text = format!("{:.2}", 100.0 * fraction);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}%")
}

#[cfg(test)]
mod tests {
    use super::super::search::verdicts;
    use super::super::state::tests::{look, state};
    use super::*;

    fn of(levels: &[(usize, f64)], failed: &[usize]) -> Document {
        let mut state = state(Method::Count, 4);
        state.looks = levels.iter().map(|(place, log)| look(*place, *log)).collect();
        state.failed = failed.iter().map(|place| (*place, "no".to_owned())).collect();
        document(&state, &verdicts(&state).unwrap(), Ended::Done)
    }

    #[test]
    fn a_culprit_has_the_one_before_it() {
        let all = [(0, 10.0), (4, 10.05), (2, 10.0), (3, 10.05), (1, 10.0)];
        let document = of(&all, &[]);
        let [culprit] = &document.culprits[..] else { panic!("{document:#?}") };
        assert_eq!((culprit.ends, culprit.before.name.as_str()), ((2, 3), "pg-2"));
        let Moved { ratio, low, high, probability, .. } = culprit.moved[0];
        assert!(low < ratio && ratio < high && probability > 0.99, "{culprit:?}");
        assert!((ratio.ln() - 0.05).abs() < 0.001);
        assert_eq!((document.answer, culprit.instructions_only), ("found", true));
        assert_eq!(
            document.rest[0].says,
            "nothing else changed in the rest of the range by more than 0.5%"
        );
        assert!((document.looks[1].relative[0].1.ln() - 0.05).abs() < 1e-9);
    }

    #[test]
    fn several_suspects_if_those_between_fail() {
        let document = of(&[(0, 10.0), (4, 10.05), (1, 10.0)], &[2, 3]);
        let [culprit] = &document.culprits[..] else { panic!("{document:#?}") };
        assert_eq!((culprit.ends, culprit.suspects.len()), ((1, 4), 3));
        assert_eq!(document.failed.len(), 2);
    }

    #[test]
    fn what_is_not_known_is_said() {
        let nothing = of(&[(0, 10.0), (4, 10.0), (1, 10.0), (2, 10.0), (3, 10.0)], &[]);
        assert_eq!(nothing.answer, "nothing");
        assert_eq!(nothing.rest[0].says, "nothing changed between pg-0 and pg-4 by more than 0.5%");
        let open = of(&[(0, 10.0), (4, 10.05)], &[]);
        assert_eq!((open.answer, open.rest[0].probability), ("undecided", None));
        assert!(open.rest[0].says.contains("after pg-0 up to pg-4"), "{:?}", open.rest);
        assert_eq!(of(&[(0, 10.0)], &[]).answer, "undecided");
    }

    #[test]
    fn percents_are_short() {
        assert_eq!([0.005, 0.02, 0.1234].map(percent), ["0.5%", "2%", "12.34%"]);
    }
}
