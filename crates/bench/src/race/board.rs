//! Who was right how often: the tables.

use std::fmt::Write;

use judge::Verdict;

use super::contenders::{Call, Contender, Score, score};
use super::live::Run;
use super::recording::Recording;
use super::{BUILDS, Build, Condition};

/// What each contender gets, in minutes of the machine.
pub const MINUTES: [f64; 5] = [1.0, 3.0, 5.0, 10.0, 20.0];

/// How many calls were what.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    all: usize,
    right: usize,
    wrong: usize,
    confirmed: usize,
    /// Of the machine, over all calls.
    seconds: f64,
}

impl Tally {
    fn add(&mut self, build: &Build, call: &Call) {
        let score = score(build, call);
        self.all += 1;
        self.right += usize::from(score == Score::Right);
        self.wrong += usize::from(score == Score::Wrong);
        self.confirmed += usize::from(call.confirmed);
        self.seconds += call.seconds;
    }

    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.all.max(1) as f64
    }

    pub fn right(&self) -> f64 {
        self.percent(self.right)
    }

    pub fn wrong(&self) -> f64 {
        self.percent(self.wrong)
    }

    /// `97 / 0 / 3`: right, wrong, undecided, in percent.
    fn text(&self) -> String {
        let undecided = self.percent(self.all - self.right - self.wrong);
        format!("{:.0} / {:.0} / {undecided:.0}", self.right(), self.wrong())
    }
}

/// All tallies of a condition: by build, contender and minutes.
pub struct Board {
    pub condition: Condition,
    pub tallies: Vec<Vec<Vec<Tally>>>,
}

impl Board {
    pub fn of(recording: &Recording) -> Self {
        let of = |build: usize, contender| {
            MINUTES.map(|minutes| tally(recording, contender, build, 60.0 * minutes)).to_vec()
        };
        let tallies = (0..BUILDS.len())
            .map(|build| Contender::ALL.map(|contender| of(build, contender)).to_vec())
            .collect();
        Self { condition: recording.condition, tallies }
    }

    fn rows(&self, build: usize) -> impl Iterator<Item = (&'static str, &Vec<Tally>)> {
        Contender::ALL.into_iter().map(Contender::name).zip(&self.tallies[build])
    }

    /// Shares of right, wrong and undecided calls.
    fn table(&self) -> String {
        let mut text = header(&["planted", "contender"]);
        for (place, build) in BUILDS.iter().enumerate() {
            for (name, tallies) in self.rows(place) {
                let cells = tallies.iter().map(Tally::text);
                row(&mut text, [planted(build), name.to_owned()].into_iter().chain(cells));
            }
        }
        text
    }

    /// What steelyard needs of its budget, and how often it is sure of a difference.
    fn beside(&self) -> String {
        let mut text = header(&["planted", "of steelyard's runs"]);
        for (place, build) in BUILDS.iter().enumerate() {
            let Some((_, tallies)) = self.rows(place).next() else { continue };
            let cells = |of: &dyn Fn(&Tally) -> String| tallies.iter().map(of).collect::<Vec<_>>();
            let used = cells(&|it| format!("{:.1}", it.seconds / 60.0 / it.all.max(1) as f64));
            let sure = cells(&|it| format!("{:.0}%", it.percent(it.confirmed)));
            for (name, cells) in [("minutes used", used), ("a difference is confirmed", sure)] {
                row(&mut text, [planted(build), name.to_owned()].into_iter().chain(cells));
            }
        }
        text
    }
}

fn tally(recording: &Recording, contender: Contender, build: usize, budget: f64) -> Tally {
    let mut tally = Tally::default();
    for call in contender.calls(recording, build, budget) {
        tally.add(&BUILDS[build], &call);
    }
    tally
}

/// Runs of the same kind, with the median and the largest of their minutes.
fn live_table(live: &[Run]) -> String {
    let mut kinds: Vec<_> = live
        .iter()
        .map(|run| (run.condition == Condition::Loaded, run.build, run.budget))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut text = String::from(
        "| machine | planted | budget | runs | regression | equivalent | inconclusive | improvement \
         | a difference is confirmed | mean ratio | minutes: median | most |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (loaded, build, budget) in kinds {
        let same = |run: &&Run| {
            (run.condition == Condition::Loaded, run.build, run.budget) == (loaded, build, budget)
        };
        let runs: Vec<&Run> = live.iter().filter(same).collect();
        let count = |of: &dyn Fn(&Call) -> bool| {
            runs.iter().filter(|run| of(&run.call)).count().to_string()
        };
        let verdict = |wanted: Verdict| count(&|call| call.verdict == wanted);
        let logs: Vec<f64> = runs.iter().map(|run| run.call.ratio.ln()).collect();
        let ratio = judge::mean(&logs).map_or(f64::NAN, f64::exp);
        let minutes: Vec<f64> = runs.iter().map(|run| run.call.seconds / 60.0).collect();
        let machine = if loaded { "loaded" } else { "quiet" };
        let cells = [
            machine.to_owned(),
            planted(&BUILDS[build]),
            plan::format_duration(budget),
            runs.len().to_string(),
            verdict(Verdict::Regression),
            verdict(Verdict::Equivalent),
            verdict(Verdict::Inconclusive),
            verdict(Verdict::Improvement),
            count(&|call| call.confirmed),
            format!("{ratio:.3}"),
            format!("{:.1}", judge::median(&minutes).unwrap_or(f64::NAN)),
            format!("{:.1}", minutes.iter().copied().fold(0.0, f64::max)),
        ];
        row(&mut text, cells.into_iter());
    }
    text
}

/// All tables as Markdown, with what they rest on.
pub fn document(recordings: &[Recording], boards: &[Board], live: &[Run]) -> String {
    let mut text = String::new();
    if !live.is_empty() {
        let _ = write!(text, "### Runs that design themselves, for real\n\n{}\n", live_table(live));
    }
    for (recording, board) in recordings.iter().zip(boards) {
        let title = match recording.condition {
            Condition::Quiet => "No competing load",
            Condition::Loaded => "Beside a competing load",
        };
        let of_base = &recording.pairs[0][0];
        let _ = write!(
            text,
            "### {title}\n\nRight / wrong / undecided calls in percent, by minutes of machine time,\n\
             over every place of the recording that an experiment can begin at: {} restarts\n\
             of all builds, {} blocks of trials of {} s. A restart of two servers takes {:.1} s (live \
             runs), a trial {:.1} s beside its load.\n\n{}\n{}\n{}\n",
            of_base.restarts.len(),
            of_base.trials.len(),
            recording.seconds,
            recording.restart,
            recording.fixed,
            board.table(),
            board.beside(),
            fairness(recording, live)
        );
    }
    text
}

/// What resampling rests on: restarts that don't depend on those before them, and live runs that
/// come to the same.
fn fairness(recording: &Recording, live: &[Run]) -> String {
    let mut text = String::from(
        "| planted | ratio | deviation of a restart | alike the one before (lag 1) |\n\
         |---|---|---|---|\n",
    );
    for (build, [pair, _]) in BUILDS.iter().zip(&recording.pairs) {
        let logs: Vec<f64> = pair.restarts.iter().map(|restart| restart.mean_log).collect();
        let ratio = judge::mean(&logs).map_or(f64::NAN, f64::exp);
        let deviation = 100.0 * judge::sd_sample(&logs).unwrap_or(f64::NAN);
        let alike = judge::autocorrelation(&logs, 1).unwrap_or(f64::NAN);
        let name = planted(build);
        let _ = writeln!(text, "| {name} | {ratio:.4} | {deviation:.2}% | {alike:+.2} |");
    }
    text.push_str(
        "\n| planted | budget | live runs | right / wrong / undecided | resampled \
         | minutes, live | resampled |\n|---|---|---|---|---|---|---|\n",
    );
    let mut kinds: Vec<_> = live
        .iter()
        .filter(|run| run.condition == recording.condition)
        .map(|run| (run.build, run.budget))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    for (build, budget) in kinds {
        let mut own = Tally::default();
        let same = |run: &&Run| {
            (run.condition, run.build, run.budget) == (recording.condition, build, budget)
        };
        for run in live.iter().filter(same) {
            own.add(&BUILDS[build], &run.call);
        }
        let drawn = tally(recording, Contender::Steelyard, build, budget.as_secs_f64());
        let minutes = |it: &Tally| format!("{:.1}", it.seconds / 60.0 / it.all.max(1) as f64);
        let budget = plan::format_duration(budget);
        let cells = [own.all.to_string(), own.text(), drawn.text(), minutes(&own), minutes(&drawn)];
        row(&mut text, [planted(&BUILDS[build]), budget].into_iter().chain(cells));
    }
    text
}

/// `−2% (margin 1%)`.
pub fn planted(build: &Build) -> String {
    format!("{} (margin {:.0}%)", slower(build), 100.0 * build.margin)
}

/// `−2%`.
pub fn slower(build: &Build) -> String {
    let sign = if build.slower == 0 { "" } else { "−" };
    format!("{sign}{}%", build.slower)
}

fn header(first: &[&str]) -> String {
    let mut text = String::new();
    let minutes = MINUTES.map(|minutes| format!("{minutes} min"));
    let first = first.iter().map(|title| (*title).to_owned());
    row(&mut text, first.clone().chain(minutes.clone()));
    row(&mut text, first.map(|_| "---".to_owned()).chain(minutes.map(|_| "---".to_owned())));
    text
}

fn row(text: &mut String, cells: impl Iterator<Item = String>) {
    let _ = writeln!(text, "| {} |", cells.collect::<Vec<_>>().join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_told_in_percent() {
        use judge::Verdict::{Equivalent, Inconclusive, Regression};
        let mut tally = Tally::default();
        for verdict in [Regression, Regression, Equivalent, Inconclusive] {
            tally.add(&BUILDS[3], &Call { verdict, ratio: 0.95, confirmed: true, seconds: 30.0 });
        }
        assert_eq!(tally.text(), "50 / 25 / 25");
        assert_eq!(planted(&BUILDS[2]), "−2% (margin 1%)");
        assert!(header(&["a"]).starts_with("| a | 1 min | 3 min |"));
    }

    #[test]
    fn live_runs_are_counted_by_kind() {
        let run = |condition, verdict, seconds| Run {
            condition,
            build: 3,
            budget: std::time::Duration::from_secs(120),
            call: Call { verdict, ratio: 0.95, confirmed: true, seconds },
            low: 0.94,
            high: 0.96,
            restarts: 6,
        };
        let quiet = [18.0, 24.0, 60.0].map(|s| run(Condition::Quiet, Verdict::Regression, s));
        let loaded = run(Condition::Loaded, Verdict::Inconclusive, 30.0);
        let table = live_table(&[&quiet[..], &[loaded]].concat());
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| quiet | −5% (margin 2%) | 2m | 3 | 3 | 0 | 0 | 0 | 3 | 0.950 | 0.4 | 1.0 |",
                "| loaded | −5% (margin 2%) | 2m | 1 | 0 | 0 | 1 | 0 | 1 | 0.950 | 0.5 | 0.5 |",
            ]
        );
    }
}
