//! Bisections: is the change that is named the one that moved the performance, is none named where
//! none did, and how many looks does that take?

use judge::{Margin, normal_cdf};
use suspect::{Candidate, Effort, Look, Posterior, Range, Rest, Settings, Verdict, looks_bound};

use crate::experiment::{Design, compared};
use crate::noise::{MODELS, Noise};
use crate::{Findings, Outcomes as _, Random, Rate, Size, figures, percent, simulate};

/// Changes above half a percent are looked for.
const MARGIN: f64 = 0.005;
/// Numbers of changes in a range.
const RANGES: [usize; 3] = [8, 64, 1000];
/// Sizes of the change that moves the performance; 0 is none.
const SIZES: [f64; 4] = [0.01, 0.02, 0.05, 0.0];
/// Shares of candidates that don't build, in runs of three on average.
const FAILING: [f64; 3] = [0.0, 0.1, 0.3];
/// Blocks and seconds per trial of a look.
const LOOK: (u32, usize) = (6, 60);
/// Most looks of a search.
const MOST: usize = 200;
/// Of fewer searches, a single wrong one would miss the bound.
const FEWEST: usize = 10;
/// The standard error that is expected of a look before there is one.
const EXPECTED: f64 = 0.006;

/// How a look comes about.
#[derive(Clone, Copy)]
enum Source {
    /// Trials with noise, in blocks.
    Trials(Noise),
    /// Counts that scatter by 0.01%; with the chance that 0.3% is counted that doesn't belong to
    /// it.
    Counts(f64),
}

/// All of them, with their names; for the short form the first and the last of either kind.
fn sources(size: Size) -> Vec<(String, Source)> {
    let counts = [("counts", 0.0), ("counts, one in 20 reached into", 0.05)];
    let counts = counts.map(|(name, reached)| (name.to_owned(), Source::Counts(reached)));
    let trials = MODELS.iter().map(|noise| (noise.name.to_owned(), Source::Trials(*noise)));
    let all: Vec<(String, Source)> = trials.chain(counts).collect();
    let last = MODELS.len() - 1;
    let kept = |place: &usize| size == Size::Long || *place == 0 || *place >= last;
    all.into_iter().enumerate().filter(|(place, _)| kept(place)).map(|(_, one)| one).collect()
}

impl Source {
    fn settings(self) -> Settings {
        let settings = Settings::within(Margin::of(MARGIN));
        match self {
            Self::Trials(_) => settings,
            Self::Counts(_) => Settings { repeatability: 1e-4, ..settings },
        }
    }

    /// A look at a candidate with this level.
    fn look(self, candidate: usize, level: f64, design: &Design, random: &mut Random) -> Look {
        match self {
            Self::Trials(noise) => {
                let (base, variant) = design.pair(&noise, random);
                let mut look = Look::measured(candidate, &compared(&base, &variant, MARGIN))
                    .expect("an error from several blocks");
                look.log_ratio += level;
                look
            }
            Self::Counts(reached) => {
                let reached = if random.uniform() < reached { 0.003 } else { 0.0 };
                let log = level + 1e-4 * random.normal() + reached;
                Look::counted(candidate, log.exp())
            }
        }
    }
}

/// A range with known truth.
struct Truth {
    /// What each change adds, in logarithms: its number and its size.
    changes: Vec<(usize, f64)>,
    /// By candidate: true if it doesn't build.
    fails: Vec<bool>,
}

impl Truth {
    fn new(last: usize, changes: Vec<(usize, f64)>, failing: f64, random: &mut Random) -> Self {
        let length = 3.0;
        let begins = failing / (1.0 - failing) / length;
        let mut now = random.uniform() < failing;
        let fail = |number: usize| {
            let fails = now && number > 0 && number < last;
            now = random.uniform() < if now { 1.0 - 1.0 / length } else { begins };
            fails
        };
        Self { changes, fails: (0..=last).map(fail).collect() }
    }

    fn level(&self, candidate: usize) -> f64 {
        let passed = self.changes.iter().filter(|(change, _)| *change <= candidate);
        passed.map(|(_, size)| size).sum()
    }
}

/// How a search ended.
struct Search {
    /// Culprits that are right.
    right: usize,
    /// Culprits that are wrong.
    wrong: usize,
    /// Some culprit has several suspects.
    several: bool,
    /// Nothing (else) changed, it says.
    nothing: bool,
    /// No culprit is named.
    none: bool,
    looks: f64,
    /// Candidates that were tried and don't build.
    failed: f64,
    /// The looks that theory gives for answers of one bit, if the change is known to exist.
    bound: f64,
}

/// Searches for `wanted` culprits, or until nothing else changed.
fn search(
    truth: &Truth,
    wanted: usize,
    source: Source,
    design: &Design,
    random: &mut Random,
) -> Search {
    let candidate = Candidate { build: 2.0, ..Candidate::default() };
    let candidates = vec![candidate; truth.fails.len()];
    let mut range = Range::new(candidates, source.settings()).expect("a range");
    let (mut looks, mut failed) = (Vec::<Look>::new(), 0);
    loop {
        let errors: Vec<f64> = looks.iter().map(|look| look.error).collect();
        let error = judge::median(&errors).unwrap_or(EXPECTED);
        let posterior = Posterior::new(&range, &looks).expect("looks at candidates");
        let verdict = posterior.verdict();
        let more = verdict.culprits.len() < wanted && looks.len() < MOST;
        let next = posterior.next(Effort { error, most: 1 }).filter(|_| more);
        let Some(candidate) = next.map(|next| next.candidate) else {
            return Search::ended(truth, &verdict, error, looks.len(), failed);
        };
        if truth.fails[candidate] {
            range.fails(candidate);
            failed += 1;
            continue;
        }
        range.built(candidate);
        looks.push(source.look(candidate, truth.level(candidate), design, random));
    }
}

impl Search {
    fn ended(truth: &Truth, verdict: &Verdict, error: f64, looks: usize, failed: usize) -> Self {
        let is_right =
            |suspects: &[usize]| truth.changes.iter().any(|(change, _)| suspects.contains(change));
        let right = verdict.culprits.iter().filter(|one| is_right(&one.suspects)).count();
        let size = truth.changes.first().map_or(0.0, |(_, size)| size.abs());
        let wrong = normal_cdf(-0.5 * size / error.max(1e-4));
        Self {
            right,
            wrong: verdict.culprits.len() - right,
            several: verdict.culprits.iter().any(|one| one.suspects.len() > 1),
            nothing: matches!(verdict.rest, Rest::Nothing { .. }),
            none: verdict.culprits.is_empty(),
            looks: looks as f64,
            failed: failed as f64,
            bound: looks_bound(truth.fails.len() - 1, 0.99, wrong),
        }
    }

    fn undecided(&self) -> bool {
        self.none && !self.nothing
    }
}

/// The conditions of searches.
struct Case {
    last: usize,
    size: f64,
    failing: f64,
    /// Place in the list of sources.
    source: usize,
}

/// See the top of this file.
pub fn run(size: Size, findings: &mut Findings) {
    one_change(size, findings);
    two_changes(size, findings);
}

fn one_change(size: Size, findings: &mut Findings) {
    let tries = size.pick(1, 12);
    let design = Design::new(LOOK.0, 2, LOOK.1);
    let sources = sources(size);
    let ranges = &RANGES[..size.pick(2, RANGES.len())];
    let shares = &FAILING[size.pick(1, 0)..];
    let mut all: Vec<(Case, Search)> = Vec::new();
    for &last in ranges {
        for &failing in shares {
            for change in SIZES {
                for (place, (_, source)) in sources.iter().enumerate() {
                    let seed = 1_000_000 + all.len() as u64;
                    let searches = simulate(seed, tries, |random| {
                        let at = 1 + random.below(last);
                        let changes = if change > 0.0 { vec![(at, -change)] } else { vec![] };
                        let truth = Truth::new(last, changes, failing, random);
                        search(&truth, 1, *source, &design, random)
                    });
                    let case = || Case { last, size: change, failing, source: place };
                    all.extend(searches.into_iter().map(|search| (case(), search)));
                }
            }
        }
    }
    let each = tries * sources.len();
    findings.table(
        format!(
            "**One change**: at a random place of a range, or none (0%); margin {}, {each} searches each, over all kinds of noise below. A \
             look is {} pairs of trials of {} s, or a count. A search ends with the first culprit, when nothing changed, or undecided \
             after {MOST} looks. Wrong: the change is not among those named. Several: more than one is named, because the candidates \
             between them don't build. Bound: the looks that yes or no answers of these looks need if it is known that there is a \
             change, and its size.",
            percent(MARGIN, 1), LOOK.0, LOOK.1
        ),
        "changes | don't build | size | found | wrong | several | nothing | undecided | looks | 95% of them | bound | failed builds",
    );
    for &last in ranges {
        for &failing in shares {
            for change in SIZES {
                let of = |case: &Case| (case.last, case.size, case.failing);
                let these: Vec<&Search> = all
                    .iter()
                    .filter(|(case, _)| of(case) == (last, change, failing))
                    .map(|(_, search)| search)
                    .collect();
                let name = format!("{last} changes, {} fail", percent(failing, 0));
                let row = checked(&name, change, &these, findings);
                let head = figures![percent(failing, 0), percent(change, 0)];
                let failed = format!("{:.1}", these.mean(|search| search.failed));
                findings.row(&last.to_string(), [&head[..], &row, &[failed]].concat());
            }
        }
    }
    let each = tries * ranges.len() * shares.len();
    findings.table(
        format!("**The same by noise**, {each} searches each; together at the end."),
        "noise | size | found | wrong | several | nothing | undecided | looks | 95% of them | bound",
    );
    let names = sources.iter().map(|(name, _)| name.as_str()).enumerate();
    let names = names.map(|(place, name)| (name, Some(place))).chain([("all", None)]);
    for (name, place) in names {
        for change in SIZES {
            let fits = |case: &Case| {
                place.is_none_or(|place| case.source == place)
                    && case.size.total_cmp(&change).is_eq()
            };
            let these = all.iter().filter(|(case, _)| fits(case)).map(|(_, search)| search);
            let row = checked(name, change, &these.collect::<Vec<_>>(), findings);
            findings.row(name, [&figures![percent(change, 0)][..], &row].concat());
        }
    }
}

/// The figures of searches, with their bounds.
fn checked(name: &str, change: f64, searches: &[&Search], findings: &mut Findings) -> Vec<String> {
    let wrong = searches.rate(|search| search.wrong > 0);
    let nothing = searches.rate(|search| search.nothing && search.none);
    let what = format!("{name}, {}", percent(change, 0));
    let none = if change > 0.0 { "" } else { " where there is none" };
    if searches.len() >= FEWEST {
        findings.rate(format!("wrong culprits{none}, {what}"), wrong, ..=0.01);
        if change > 0.0 {
            findings.rate(format!("said to be nothing, {what}"), nothing, ..=0.01);
        }
    }
    let looks = searches.each(|search| search.looks);
    let most = judge::quantile(&looks, 0.95).unwrap_or(f64::NAN);
    let bound = searches.mean(|search| search.bound);
    figures![
        searches.rate(|search| search.right > 0),
        wrong,
        searches.rate(|search| search.several),
        nothing,
        searches.rate(|search| search.undecided()),
        format!("{:.1}", searches.mean(|search| search.looks)),
        format!("{most:.0}"),
        if change > 0.0 { format!("{bound:.1}") } else { "–".to_owned() },
    ]
    .to_vec()
}

fn two_changes(size: Size, findings: &mut Findings) {
    let tries = size.pick(1, 40);
    let design = Design::new(LOOK.0, 2, LOOK.1);
    findings.table(
        format!(
            "**Two changes** in a range of 100, all of which build, plain noise, {tries} searches each, that go on until nothing else \
             changed or for {MOST} looks. In the last three rows the ends are equal: a search sees only what its three inner looks see."
        ),
        "changes | both found | one | none | wrong | nothing else | undecided | looks | 95% of them",
    );
    let plain = Source::Trials(MODELS[0]);
    let counts = Source::Counts(0.0);
    for (seed, (name, source, sizes, apart)) in (1_100_000..).zip([
        ("−2% and −2%", plain, [0.02, 0.02], 5..90),
        ("−5% and −2%", plain, [0.05, 0.02], 5..90),
        ("−2% and −2%, counted", counts, [0.02, 0.02], 5..90),
        ("−2% and its fix, 50 to 90 later", plain, [0.02, -0.02], 50..90),
        ("−5% and its fix, 50 to 90 later", plain, [0.05, -0.05], 50..90),
        ("−5% and its fix, 1 to 10 later", plain, [0.05, -0.05], 1..10),
    ]) {
        let searches = simulate(seed, tries, |random| {
            let apart = apart.start + random.below(apart.len());
            let first = 1 + random.below(100 - apart);
            let changes = vec![(first, -sizes[0]), (first + apart, -sizes[1])];
            search(&Truth::new(100, changes, 0.0, random), usize::MAX, source, &design, random)
        });
        let found = |count: usize| searches.rate(|search| search.right == count);
        let wrong = searches.rate(|search| search.wrong > 0);
        findings.rate(format!("wrong culprits of two, {name}"), wrong, ..=0.01);
        let looks = searches.each(|search| search.looks);
        let most = judge::quantile(&looks, 0.95).unwrap_or(f64::NAN);
        let nothing: Rate = searches.rate(|search| search.nothing);
        findings.row(
            name,
            figures![
                found(2),
                found(1),
                found(0),
                wrong,
                nothing,
                searches.rate(|search| !search.nothing),
                format!("{:.1}", searches.mean(|search| search.looks)),
                format!("{most:.0}"),
            ],
        );
    }
}
