//! The progress of a run, on stderr: bars on a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};
use lab::{Event, IntervalRow, Look};
use metrics::counted;

use crate::estimate::{Whole, limit, style};
use crate::intervals;
use crate::live::Live;
use crate::terminal::columns;

/// Shows events.
pub struct Progress {
    quiet: bool,
    /// How far the run is.
    live: Live,
    bars: Option<Bars>,
    budget: Option<Duration>,
    /// The current state of its comparisons, and what was printed of it last.
    rows: Vec<IntervalRow>,
    shown: Vec<String>,
    /// By warning text without digits: its count, and its first text.
    warned: BTreeMap<String, (usize, String)>,
}

struct Bars {
    all: MultiProgress,
    experiment: ProgressBar,
    whole: Whole,
    step: Option<ProgressBar>,
    intervals: Vec<ProgressBar>,
    unit: String,
    /// True if the step ends by time rather than after a number of operations.
    timed: bool,
    rate: Rate,
}

/// The current rate of a step: over the last second or so, not since its start.
#[derive(Default)]
struct Rate {
    last: Option<(Duration, u64)>,
    per_second: f64,
}

impl Rate {
    fn update(&mut self, elapsed: Duration, operations: u64) -> f64 {
        match self.last {
            Some((at, before)) if elapsed > at => {
                if elapsed - at >= Duration::from_millis(900) {
                    self.per_second =
                        operations.saturating_sub(before) as f64 / (elapsed - at).as_secs_f64();
                    self.last = Some((elapsed, operations));
                }
            }
            _ => {
                self.last = Some((elapsed, operations));
                self.per_second = operations as f64 / elapsed.as_secs_f64().max(1e-3);
            }
        }
        self.per_second
    }
}

impl Progress {
    /// Bars when stderr is a terminal, lines otherwise, nothing when `quiet`.
    pub fn new(quiet: bool) -> Progress {
        let terminal = !quiet && std::io::stderr().is_terminal();
        Progress::on(quiet, terminal.then(ProgressDrawTarget::stderr))
    }

    /// Also tells those who watch this results directory.
    #[must_use]
    pub fn telling(self, results: &Path) -> Progress {
        Progress { live: Live::of(results), ..self }
    }

    /// Also tells a service, if there is one.
    pub fn report_to(&mut self, service: Option<&archive::Service>) {
        self.live.report_to(service);
    }

    fn on(quiet: bool, terminal: Option<ProgressDrawTarget>) -> Progress {
        let bars = terminal.map(|terminal| {
            let all = MultiProgress::with_draw_target(terminal);
            let experiment = all.add(ProgressBar::new(0));
            let whole = Whole::default();
            experiment.set_style(whole.style("{msg:34} {wide_bar} {pos}/{len} steps  {time}"));
            experiment.enable_steady_tick(Duration::from_millis(500));
            Bars {
                all,
                experiment,
                whole,
                step: None,
                intervals: Vec::new(),
                unit: String::new(),
                timed: false,
                rate: Rate::default(),
            }
        });
        Progress {
            quiet,
            live: Live::default(),
            bars,
            budget: None,
            rows: Vec::new(),
            shown: Vec::new(),
            warned: BTreeMap::new(),
        }
    }

    /// Shows an event.
    pub fn tell(&mut self, event: Event) {
        self.live.follow(&event);
        // Nothing is written while a step is measured.
        let measuring = matches!(event, Event::Progress { .. } | Event::Settling { .. });
        self.show(event);
        if !measuring {
            self.live.write();
        }
    }

    fn show(&mut self, event: Event) {
        match event {
            Event::Note(text) => self.line(&text),
            Event::Began { name, trials, finished, steps, budget, .. } => {
                self.budget = budget;
                self.began(name, trials, finished, steps);
            }
            Event::LoadBegan { .. } => self.line(&self.live.run.at.clone()),
            Event::Kept { digest, files, bytes, seconds } => {
                let line = step_line("keep", &format!("{:>12.0} MB", bytes as f64 / 1e6), seconds);
                self.line(&format!("{line}  {files} files, load {digest}"));
            }
            Event::Narrowing { restarts, used, rows } => self.narrowing(restarts, used, rows),
            Event::TrialBegan { .. } => {
                let (text, done) = (self.live.run.at.clone(), self.live.run.done);
                if !self.live.designed {
                    // Also printed above the bars, so that it stays in view with the steps that
                    // follow.
                    self.line(&text);
                    // Steps of a trial that is repeated are taken back.
                    self.experiment(|bar| bar.set_position(done));
                }
                self.experiment(|bar| bar.set_message(text));
            }
            Event::StepBegan { name, operations, seconds, unit, .. } => {
                if let Some(bars) = &mut self.bars {
                    bars.begin(&name, operations, seconds, unit);
                }
            }
            Event::Progress { operations, elapsed } => {
                if let Some(bars) = &mut self.bars {
                    bars.update(operations, elapsed);
                }
            }
            Event::Settling { at_most } => {
                if let Some(step) = self.bars.as_ref().and_then(|bars| bars.step.as_ref()) {
                    step.set_message(limit(at_most));
                }
            }
            Event::StepEnded { name, variant, rate, unit, seconds, warnings } => {
                // Names of variants differ in length, so the text after them is not aligned.
                let name = variant.map_or(name.clone(), |variant| format!("{name:<7} {variant} "));
                self.step_ended(&name, rate, &unit, seconds, &warnings);
            }
            Event::Look(look) => self.look(&look),
            Event::CountBegan { name, counts, .. } => {
                if self.bars.is_none() {
                    self.line(&format!("{name}: {counts} counts"));
                }
                if let Some(Bars { experiment: bar, whole, .. }) = &self.bars {
                    bar.set_style(whole.style("{msg:34} {wide_bar} {pos}/{len} counts  {time}"));
                    bar.set_length(counts as u64);
                    bar.set_position(self.live.run.done);
                    bar.set_message(name);
                }
            }
            Event::CountLoaded { variant } => self.line(&format!("{variant}: data loaded")),
            Event::Counted { variant, kind, protocol, instructions } => {
                self.line(&format!(
                    "  {kind:<22}{protocol:<10}{instructions:>12} instructions  {variant}"
                ));
                self.advance();
            }
            Event::CountAgain { differ, counts } => {
                self.experiment(|bar| bar.inc_length(counts as u64));
                self.line(&format!(
                    "counts differ: {}; repeating them and what runs before them on the same server: {counts} counts",
                    differ.join(", ")
                ));
            }
            Event::TrialEnded | Event::Enough { .. } | Event::Ended => {}
        }
    }

    /// Moves the experiment's bar, if a step or count more is done.
    fn advance(&self) {
        let done = self.live.run.done;
        if let Some(Bars { experiment, whole, .. }) = &self.bars
            && experiment.position() < done
        {
            experiment.set_position(done);
            whole.advanced(experiment.elapsed(), experiment.position(), experiment.length());
        }
    }

    /// Changes the experiment's bar, if there is one.
    fn experiment(&self, change: impl FnOnce(&ProgressBar)) {
        if let Some(bars) = &self.bars {
            change(&bars.experiment);
        }
    }

    /// Shows that the experiment begins. One that designs itself has no number of trials.
    fn began(&mut self, name: String, trials: usize, finished: usize, steps: usize) {
        let designed = self.live.designed;
        if self.bars.is_none() && !designed {
            let kept = if finished > 0 { format!(", {finished} kept") } else { String::new() };
            let (steps, trials) = (counted(steps, "step"), counted(trials, "trial"));
            self.line(&format!("{name}: {steps}, measured in {trials}{kept}"));
        }
        if let Some(bars) = &self.bars {
            bars.whole.begins((finished * steps) as u64);
        }
        self.experiment(|bar| {
            if let Some(budget) = self.budget {
                bar.set_style(style("{msg:34} {wide_bar} {elapsed} of {prefix}"));
                bar.set_prefix(plan::format_duration(budget));
            } else if designed {
                bar.set_style(style("{msg:34} {spinner} {elapsed}"));
            } else {
                bar.set_length((trials * steps) as u64);
                bar.set_position((finished * steps) as u64);
            }
            bar.set_message(name);
        });
    }

    /// Shows the result of a look, after which the run continues.
    fn look(&mut self, look: &Look) {
        let Look { blocks, decided, all, open, unjudged, next, .. } = look;
        match self.live.run.all {
            Some(all) => self.experiment(|bar| bar.set_length(all)),
            None => self.show_intervals(),
        }
        self.line(&format!(
            "look after {blocks} blocks: {decided} of {all} comparisons decided; undecided: {}",
            open.join(", ")
        ));
        if !unjudged.is_empty() {
            self.line(&format!("  can't be judged: {}", unjudged.join(", ")));
        }
        self.line(&format!("  next: {next}"));
    }

    /// Shows the intervals after a restart, as moving bars on a terminal.
    fn narrowing(&mut self, restarts: u32, used: Duration, rows: Vec<IntervalRow>) {
        self.rows = rows;
        let lines = intervals::lines(&self.rows, columns());
        let Some(bars) = &mut self.bars else {
            if restarts == 3 {
                self.show_intervals();
            }
            return;
        };
        while bars.intervals.len() < lines.len() {
            let line = bars.all.insert_before(&bars.experiment, ProgressBar::new(0));
            line.set_style(style("{msg}"));
            bars.intervals.push(line);
        }
        for (bar, line) in bars.intervals.iter().zip(lines) {
            bar.set_message(line);
        }
        if let Some(budget) = self.budget {
            bars.experiment.set_length(budget.as_secs());
            bars.experiment.set_position(used.as_secs().min(budget.as_secs()));
        }
    }

    /// Prints the intervals as lines if there are no progress bars.
    fn show_intervals(&mut self) {
        let lines = intervals::lines(&self.rows, columns());
        if self.bars.is_none() && lines != self.shown {
            lines.iter().for_each(|line| self.line(line));
            self.shown = lines;
        }
    }

    /// Prints a warning unless the same one was printed before with other numbers.
    fn warning(&mut self, text: &str) {
        let without: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
        let told = self.warned.entry(without).or_insert((0, text.to_owned()));
        told.0 += 1;
        if told.0 == 1 {
            self.line(&format!("    warning: {text}"));
            self.live.warning(&reference::without_passwords(text));
        }
    }

    fn step_ended(
        &mut self,
        name: &str,
        rate: Option<f64>,
        unit: &str,
        seconds: f64,
        warnings: &[String],
    ) {
        if let Some(step) = self.bars.as_mut().and_then(|bars| bars.step.take()) {
            step.finish_and_clear();
        }
        if !self.live.designed {
            self.advance();
        }
        // The first of many restarts shows the steps that they consist of.
        if !self.live.designed || self.rows.is_empty() {
            let digits = |rate: f64| if rate < 10.0 { 2 } else { usize::from(rate < 100.0) };
            let figure = |rate: f64| format!("{rate:>12.*} {unit}", digits(rate));
            let figure = rate.map_or(String::new(), figure);
            self.line(&step_line(name, &figure, seconds));
        }
        for warning in warnings {
            self.warning(warning);
        }
    }

    fn line(&mut self, text: &str) {
        let text = reference::without_passwords(text);
        self.live.line(&text);
        match &self.bars {
            _ if self.quiet => {}
            Some(bars) => {
                // This fails only when the terminal is gone.
                let _ = bars.all.println(fitted(&text, columns()));
            }
            // A closed stderr does not end a run.
            None => {
                let _ = writeln!(std::io::stderr(), "{text}");
            }
        }
    }

    /// Removes the bars and prints which warnings were repeated.
    pub fn finish(&mut self) {
        self.live.end_reports();
        let bars = self.bars.take();
        // A terminal would break words.
        let width = bars.as_ref().map_or(usize::MAX, |_| columns());
        if let Some(bars) = bars {
            let own = bars.step.iter().chain(&bars.intervals).chain([&bars.experiment]);
            own.for_each(ProgressBar::finish_and_clear);
        }
        // There the notes on the results say it, and the verdicts stay in view.
        let told = width < usize::MAX && std::io::stdout().is_terminal();
        self.show_intervals();
        self.rows.clear();
        for (times, text) in std::mem::take(&mut self.warned).into_values() {
            if times > 1 && !self.quiet && !told {
                self.line(&fitted(&format!("warned {times} times: {text}"), width));
            }
        }
    }
}

impl Bars {
    fn begin(&mut self, name: &str, operations: Option<u64>, seconds: Option<f64>, unit: String) {
        let template = match (operations, seconds) {
            (Some(_), _) => "  {prefix:8} {msg:24} {wide_bar} {percent:>3}%  {eta} left",
            (None, Some(_)) => "  {prefix:8} {msg:24} {wide_bar} {pos}/{len} s",
            (None, None) => "  {prefix:8} {elapsed} so far{msg}  {spinner}",
        };
        let length = operations.or(seconds.map(|seconds| seconds.ceil() as u64)).unwrap_or(0);
        let bar = self.all.add(ProgressBar::new(length));
        bar.set_style(style(template));
        bar.set_prefix(if name == "settle" { "settling," } else { name }.to_owned());
        if length == 0 {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        (self.unit, self.timed) = (unit, operations.is_none());
        self.rate = Rate::default();
        self.step = Some(bar);
    }

    fn update(&mut self, operations: u64, elapsed: Duration) {
        let rate = self.rate.update(elapsed, operations);
        let Some(bar) = &self.step else { return };
        if operations > 0 {
            bar.set_message(format!("{rate:.0} {}", self.unit));
        }
        match bar.length() {
            Some(0) | None => {}
            Some(length) if self.timed => bar.set_position(elapsed.as_secs().min(length)),
            Some(_) => bar.set_position(operations),
        }
    }
}

/// A line for a terminal of this width, broken between words if it is longer.
fn fitted(text: &str, columns: usize) -> String {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let lines = report::wrapped(text.trim_start_matches(' '), columns.saturating_sub(indent));
    let lines: Vec<String> = lines.iter().map(|line| " ".repeat(indent) + line).collect();
    lines.join("\n")
}

/// The line of a step that has ended.
fn step_line(name: &str, figure: &str, seconds: f64) -> String {
    format!("  {name:<8}{figure:<22}{seconds:>8.1} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_a_repeated_trial_count_once() {
        let mut progress = Progress::on(false, Some(ProgressDrawTarget::hidden()));
        let name = || "l.i0".to_owned();
        progress.tell(Event::Began {
            experiment: store::ExperimentId(1),
            name: name(),
            trials: 2,
            finished: 0,
            steps: 2,
            budget: None,
        });
        let mut trial = |number, ended| {
            let (variant, clients) = ("a".to_owned(), plan::Clients::of(1));
            progress.tell(Event::TrialBegan { number, block: 1, variant, clients });
            for _ in 0..ended {
                progress.tell(Event::StepEnded {
                    name: name(),
                    variant: None,
                    rate: Some(1.0),
                    unit: "rows/s".to_owned(),
                    seconds: 1.0,
                    warnings: Vec::new(),
                });
            }
            progress.bars.as_ref().unwrap().experiment.position()
        };
        assert_eq!([trial(1, 2), trial(2, 1), trial(2, 2), trial(2, 2)], [2, 3, 4, 4]);
    }

    #[test]
    fn intervals_are_printed_when_they_have_changed() {
        let mut progress = Progress::on(false, None);
        let row = |ratio| IntervalRow {
            step: "qr100".to_owned(),
            variant: "b".to_owned(),
            ratio,
            interval: None,
            margin: 0.02,
            verdict: None,
        };
        progress.narrowing(3, Duration::ZERO, vec![row(1.1)]);
        let first = progress.shown.clone();
        assert_eq!(first.len(), 1);
        progress.narrowing(4, Duration::ZERO, vec![row(1.2)]);
        assert_eq!(progress.shown, first, "not after every restart");
        progress.finish();
        assert_ne!(progress.shown, first);
    }

    #[test]
    fn a_long_line_is_broken_between_words() {
        let text = fitted("    warning: no trial has an end that is known", 30);
        assert_eq!(text, "    warning: no trial has an\n      end that is known");
        let short = "  l.i0      1000 rows/s    1.0 s";
        assert_eq!(fitted(short, 80), short);
    }

    #[test]
    fn the_rate_is_the_current_one() {
        let mut rate = Rate::default();
        rate.update(Duration::from_secs(1), 1000);
        rate.update(Duration::from_secs(2), 2000);
        let now = rate.update(Duration::from_secs(3), 2100);
        assert!((now - 100.0).abs() < 1e-9);
    }
}
