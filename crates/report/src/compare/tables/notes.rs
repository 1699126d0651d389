//! The notes of the short output: what to know about the verdicts, in a few lines.

use std::collections::BTreeSet;

use super::other;
use super::view::View;
use crate::compare::document::WarningDocument;
use crate::judging::gate::unfinished;
use crate::output::fit::wrapped;
use crate::output::table::{distinct, has_content, one_line};

/// Lines at most, so that a screen of 24 has room for the verdicts.
const LINES: usize = 8;

/// A note: all warnings of one code.
struct Note {
    code: String,
    /// How often it was found.
    times: usize,
    /// The steps that it is about, if it is about some.
    steps: BTreeSet<String>,
    /// The worst one, with its size.
    worst: (f64, String),
}

/// Notes: of each kind its code, how often there is one, and the worst.
#[derive(Default)]
struct Notes(Vec<Note>);

impl Notes {
    fn add(&mut self, code: &str, text: String) {
        self.add_about(code, (None, ""), text);
    }

    /// Adds a note on a step, and a variant.
    fn add_about(&mut self, code: &str, (step, variant): (Option<&str>, &str), text: String) {
        let about = [step.unwrap_or_default(), variant].join(" ");
        let about = about.trim();
        let size = size(&text);
        let text = if about.is_empty() { text } else { format!("{about}: {text}") };
        let steps = step.map(str::to_owned).into_iter();
        match self.0.iter_mut().find(|note| note.code == code) {
            Some(note) => {
                note.times += 1;
                note.steps.extend(steps);
                if size > note.worst.0 {
                    note.worst = (size, text);
                }
            }
            None => self.0.push(Note {
                code: code.to_owned(),
                times: 1,
                steps: steps.collect(),
                worst: (size, text),
            }),
        }
    }

    /// True if one of the notes that are shown already says this.
    fn tell(&self, why: &str) -> bool {
        has_content(why) && self.0.iter().any(|note| note.worst.1.contains(why))
    }
}

impl Note {
    /// `! steal, 10 times in 3 steps: load pg13.7: the hypervisor took …`.
    fn said(&self) -> String {
        let Self { code, times, steps, worst: (_, text) } = self;
        let often = match (times, steps.len()) {
            (1, _) => String::new(),
            (_, 0 | 1) => format!(", {times} times"),
            (_, steps) => format!(", {times} times in {steps} steps"),
        };
        format!("! {code}{often}: {text}")
    }
}

/// By how much one note of a kind is worse than another: its first number, where less is worse with
/// the opposite sign.
fn size(text: &str) -> f64 {
    let number =
        text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|it| it.parse().ok());
    let number: f64 = number.unwrap_or(0.0);
    let less = ["only", "few", "not held"].iter().any(|word| text.contains(word));
    if less { -number } else { number }
}

/// Notes about the verdicts, those that say most about them first.
pub(super) fn notes(view: View<'_>, warnings: &[WarningDocument], width: usize) -> Vec<String> {
    let mut notes = Notes::default();
    if let Some(text) = unfinished(view.results) {
        notes.add("not finished", text);
    }
    for judged in view.verdicts {
        for finding in judged.findings(view.results) {
            // For a single block, a warning gives the reason.
            let unknown = finding.comparison.is_none() && finding.ratio.is_none();
            if let Some(reason) = finding.reason.as_deref().filter(|_| unknown) {
                let step = view.results.step_label(&view.results.steps[finding.step]);
                notes.add_about("not judged", (Some(&step), ""), reason.to_owned());
            }
        }
        for (code, text) in judged.told_warnings(view.results) {
            notes.add(code, text);
        }
    }
    for (step, variant, failure) in other::failed(view) {
        let text = other::failure_in_words(failure);
        notes.add_about("failed statements", (Some(&step), variant), text);
    }
    for lost in other::lost(view) {
        let why = if notes.tell(&lost.why) { String::new() } else { lost.why.clone() };
        notes.add(lost.state, lost.in_words(&why));
    }
    let gaps = view.verdicts.iter().flat_map(|judged| judged.told_gaps(view.results));
    for text in distinct(gaps) {
        notes.add("gap", text);
    }
    for warning in warnings {
        let text = one_line(&warning.text);
        // The note that it is not finished says that no resumption helps.
        if warning.code != store::FAILED || !notes.tell(&text) {
            let about = (warning.step.as_deref(), warning.variant.as_deref().unwrap_or_default());
            notes.add_about(&warning.code, about, text);
        }
    }
    fitted(notes.0.iter().map(Note::said).collect(), width, view.command)
}

/// These notes in at most [`LINES`] lines: the last ones are cut to a line each where they must be,
/// and the end says which `command` shows all.
fn fitted(notes: Vec<String>, width: usize, command: &str) -> Vec<String> {
    let mut shown: Vec<Vec<String>> = notes.iter().map(|note| wrapped(note, width)).collect();
    let lines = |shown: &[Vec<String>]| shown.iter().map(Vec::len).sum::<usize>();
    if lines(&shown) <= LINES {
        return shown.concat();
    }
    let end = |more: &str| {
        wrapped(&format!("!{more} all in full: {command} --tables verdicts,other"), width)
    };
    let room = LINES.saturating_sub(end(" 99 more kinds;").len());
    for place in (0..shown.len()).rev() {
        if lines(&shown) <= room {
            break;
        }
        if shown[place].len() > 1 {
            let cut = wrapped(&notes[place], width - " …".chars().count()).into_iter().next();
            shown[place] = cut.into_iter().map(|line| format!("{line} …")).collect();
        }
    }
    let more = match shown.len().saturating_sub(room) {
        0 => String::new(),
        more => format!(" {more} more kinds;"),
    };
    shown.truncate(room);
    shown.push(end(&more));
    shown.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_grouped_and_the_worst_is_shown() {
        let mut notes = Notes::default();
        for (step, share) in [("l.i0", 3.8), ("l.i1", 12.7), ("l.i1", 5.0)] {
            let text = format!("the hypervisor took {share}% of the CPU time");
            notes.add_about("steal", (Some(step), "pg13.7"), text);
        }
        for seconds in ["0.4", "0.2", "0.3"] {
            let text = format!("l.x took only {seconds} s");
            notes.add_about("short", (Some("l.x"), "pg13.7"), text);
        }
        let said: Vec<String> = notes.0.iter().map(Note::said).collect();
        assert_eq!(
            said,
            [
                "! steal, 3 times in 2 steps: l.i1 pg13.7: the hypervisor took 12.7% of the CPU time",
                "! short, 3 times: l.x pg13.7: l.x took only 0.2 s",
            ]
        );
    }

    #[test]
    fn notes_leave_room_for_verdicts() {
        let note = |number: usize| format!("! code{number}: {}", "word ".repeat(25).trim_end());
        let few: Vec<String> = (0..4).map(note).collect();
        assert_eq!(fitted(few.clone(), 80, "compare").len(), 8, "whole, while there is room");
        assert_eq!(fitted(few, 80, "compare").concat().matches("word").count(), 100);
        for count in [5, 7, 12] {
            let shown = fitted((0..count).map(note).collect(), 80, "compare");
            assert_eq!(shown.len(), 8, "{shown:?}");
            assert!(shown.iter().all(|line| line.chars().count() <= 80), "{shown:?}");
            assert!(
                shown[7].ends_with("all in full: compare --tables verdicts,other"),
                "{shown:?}"
            );
            assert!(shown[0].starts_with("! code0: "), "the first ones last longest: {shown:?}");
        }
        assert!(
            fitted((0..12).map(note).collect(), 80, "compare")[7].contains("! 5 more kinds; all")
        );
    }
}
