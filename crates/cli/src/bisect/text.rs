//! The answer as text, to be pasted into a mail.

use std::fmt::Write;

use metrics::counted;
use report::FunctionDocument;

use super::document::{CountedAgain, Document, Moved, Named, RunStep, percent};
use super::slicing::METRIC;
use super::state::Method;

/// Functions to show.
const FUNCTIONS: usize = 5;

/// A function is shown if it makes up this share of the difference at least.
const SHARE: f64 = 0.01;

/// The text.
pub fn text(document: &Document) -> String {
    let mut text = head(document);
    for culprit in &document.culprits {
        text.push('\n');
        text.push_str(&named(document, culprit));
    }
    if let Some(reason) = &document.unconfirmed {
        let _ = writeln!(text, "\nnot confirmed: {reason}");
    }
    if !document.rest.is_empty() {
        text.push('\n');
    }
    for rest in &document.rest {
        let probability =
            rest.probability.map_or(String::new(), |p| format!(" (probability {})", sure(p)));
        let _ = writeln!(text, "{}: {}{probability}", rest.measure, rest.says);
    }
    for line in left_out(document) {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// What can't be looked at, and why.
pub fn left_out(document: &Document) -> impl Iterator<Item = String> {
    document.failed.iter().map(|it| format!("left out: {}: {}", it.candidate, it.reason))
}

/// That suspects can't be told apart, if there are several.
pub fn several(culprit: &Named) -> Option<String> {
    let suspects = culprit.suspects.len();
    (suspects > 1).then(|| {
        let suspects = counted(suspects, culprit.before.noun());
        format!("one or more of these {suspects}; the ones between can't be looked at")
    })
}

/// What else may be the reason.
pub fn besides(culprit: &Named) -> impl Iterator<Item = String> {
    culprit.differences.iter().map(|text| format!("not the version alone: {text}"))
}

/// That a change is only known to be one of instructions, if it is.
pub fn instructions_only(culprit: &Named) -> Option<String> {
    let why = match culprit.run {
        None => "no time was measured, so it need not be slower",
        Some(_) => "in time, it is not shown to be slower or faster",
    };
    culprit.instructions_only.then(|| format!("instructions only: {why}"))
}

fn head(document: &Document) -> String {
    let Document { good, bad, changes, margin, looks, same_code, .. } = document;
    let noun = good.noun();
    let by = match document.method {
        Method::Count => "instructions per statement, counted".to_owned(),
        Method::Run => {
            let by_cpu = if document.by_cpu {
                ", judged by CPU time because a hypervisor took much"
            } else {
                ""
            };
            format!("{}, measured beside the good end{by_cpu}", metric(document))
        }
    };
    let parents = if good.commit.is_some() { " by first parents" } else { "" };
    let same = match same_code.len() {
        0 => String::new(),
        same => format!("; {} had the code of another", counted(same, noun)),
    };
    format!(
        "bisect: {} after {} up to {}{parents}\n{by}; margin {}; {}{same}\n",
        counted(*changes, noun),
        good.short(),
        bad.short(),
        percent(*margin),
        counted(looks.len(), "look"),
    )
}

/// The metric by which runs are judged.
pub fn metric(document: &Document) -> &str {
    document.metric.as_deref().unwrap_or(METRIC)
}

fn named(document: &Document, culprit: &Named) -> String {
    let mut text = String::new();
    if let Some(several) = several(culprit) {
        let _ = writeln!(text, "{several}");
    }
    for suspect in &culprit.suspects {
        match &suspect.commit {
            Some(commit) => {
                let _ = writeln!(
                    text,
                    "commit {}\nAuthor: {}\nDate:   {}\n\n    {}\n",
                    commit.id, commit.author, commit.date, commit.subject
                );
            }
            None => {
                let _ = writeln!(text, "{}, after {}\n", suspect.name, culprit.before.name);
            }
        }
    }
    if let Some(stat) = culprit.diffstat.as_ref().filter(|stat| !stat.is_empty()) {
        stat.lines().for_each(|line| text.push_str(&format!(" {line}\n")));
        text.push('\n');
    }
    for moved in &culprit.moved {
        let _ = writeln!(text, "{}", said(document, moved));
    }
    for again in &culprit.counted {
        text.push_str(&functions(again, &culprit.before.name));
    }
    for step in culprit.run.iter().flatten() {
        let _ = writeln!(text, "{}", run(document, step));
    }
    for besides in besides(culprit) {
        let _ = writeln!(text, "{besides}");
    }
    if let Some(only) = instructions_only(culprit) {
        let _ = writeln!(text, "{only}");
    }
    let _ = writeln!(text, "again: {}", culprit.command);
    text
}

/// By how much a change moved a measure, in words.
pub fn said(document: &Document, moved: &Moved) -> String {
    let what = match document.method {
        Method::Count => "instructions",
        Method::Run => metric(document),
    };
    format!(
        "{}: {} {what} (ratio {:.4}, 95% interval {:.4} to {:.4}; probability {})",
        moved.measure,
        change(moved.ratio),
        moved.ratio,
        moved.low,
        moved.high,
        sure(moved.probability)
    )
}

/// `+5.30%`.
pub fn change(ratio: f64) -> String {
    format!("{:+.2}%", 100.0 * (ratio - 1.0)).replace('-', "−")
}

/// A probability, never as certainty.
fn sure(probability: f64) -> String {
    if probability > 0.9999 {
        return "above 99.99%".to_owned();
    }
    format!("{:.2}%", 100.0 * probability)
}

fn functions(again: &CountedAgain, before: &str) -> String {
    let whole = again.after - again.before;
    let mut text = format!(
        "  counted beside {before}: {:.0}, before {:.0} ({})\n",
        again.after,
        again.before,
        change(again.ratio)
    );
    let own = |function: &FunctionDocument| function.difference.map_or(0.0, |moved| moved.own);
    let shown = again.functions.iter().filter(|function| {
        own(function).abs() >= SHARE * whole.abs() && own(function).abs() >= 1.0
    });
    for function in shown.take(FUNCTIONS) {
        let _ = writeln!(text, "  {:>+12.0}  {}", own(function), function.name);
    }
    text
}

fn run(document: &Document, step: &RunStep) -> String {
    let interval = match (step.low, step.high) {
        (Some(low), Some(high)) => format!(", {low:.4} to {high:.4}"),
        _ => String::new(),
    };
    let ratio = step.ratio;
    format!("{}: {}: {} (ratio {ratio:.4}{interval})", step.step, step.verdict, metric(document))
}

#[cfg(test)]
mod tests {
    use super::super::search::{Ended, verdicts};
    use super::super::state::tests::{look, state};
    use super::*;

    #[test]
    fn a_mail_has_everything() {
        let mut state = state(Method::Count, 2);
        state.looks = vec![look(0, 10.0), look(2, 10.05), look(1, 10.05)];
        state.request.candidates[1].commit = Some(super::super::candidates::Commit {
            id: "0123456789abcdef".to_owned(),
            author: "A <a@example.org>".to_owned(),
            date: "2024-01-02".to_owned(),
            subject: "Add a loop".to_owned(),
            same_files: false,
        });
        let mut found =
            super::super::document::document(&state, &verdicts(&state).unwrap(), Ended::Done);
        let culprit = &mut found.culprits[0];
        culprit.diffstat = Some("a.c | 2 ++\n1 file changed".to_owned());
        culprit.command = "steelyard bisect".to_owned();
        culprit.differences = vec!["pg-1 was compiled by GCC 7".to_owned()];
        let text = text(&found);
        for part in [
            "not the version alone: pg-1 was compiled by GCC 7\n",
            "bisect: 2 releases after pg-0 up to pg-2\n",
            "margin 0.5%; 3 looks\n",
            "commit 0123456789abcdef\nAuthor: A <a@example.org>\nDate:   2024-01-02\n\n    Add a loop\n",
            " a.c | 2 ++\n",
            "a: +5.13% instructions (ratio 1.0513, 95% interval 1.05",
            "instructions only",
            "again: steelyard bisect\n",
            "a: nothing else changed in the rest of the range by more than 0.5% (probability ",
        ] {
            assert!(text.contains(part), "`{part}` is missing in\n{text}");
        }
    }
}
