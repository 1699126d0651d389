//! The table of an advice, and the plan.

use metrics::counted;

use super::document::{AdviseDocument, AdvisedStep};
use super::evidence::titled;
use super::search::duration;
use crate::load::trials::named;
use crate::output::number::{UNKNOWN, hundredths, or_unknown, tenths, whole};
use crate::output::sheet::{Part, Sheet};
use crate::output::table::{RowKind, Section, Table, yes_or_no};

pub(super) fn sheet(document: &AdviseDocument) -> Sheet {
    let mut sheet = Sheet::default();
    let table = table(document);
    let blocks = document.steps.iter().map(|step| block(document, step)).collect();
    sheet.parts.push(Part::Blocks { title: table.title.clone(), blocks, table });
    let source = format!("the variance is that of {}", named(&document.experiments));
    sheet.notes(vec![format!("{source}, which ran this workload"), LENGTHS.to_owned()]);
    sheet.notes(document.notes.clone());
    let text = document.toml.clone();
    sheet.parts.push(Part::Verbatim { title: "The plan", language: "toml", text });
    sheet
}

/// The meaning of the lengths in the blocks.
const LENGTHS: &str = "best: the most efficient length if each step had its own (Kalibera and \
                       Jones); ±: the expected half width of the 95% interval of a ratio";

/// A step in three lines: whether it is decided, what is to run for that, and how it varies.
fn block(document: &AdviseDocument, step: &AdvisedStep) -> (String, Vec<String>) {
    let margin = percent(document.margin);
    let verdict = match (step.decided, step.detectable, step.between) {
        (Some(true), Some(effect), _) => {
            format!("decided: a slowdown of {} is confirmed with 80% probability", percent(effect))
        }
        (Some(_), Some(effect), _) => {
            format!("open at {margin}: it takes a slowdown of {} to be confirmed", percent(effect))
        }
        (Some(_), None, _) => format!("open at {margin}: too few blocks for a verdict"),
        (None, _, Some(_)) => "part of the load, which is not judged".to_owned(),
        (None, _, None) => "not known: no variant has two stored trials of it".to_owned(),
    };
    let best = step.optimal.map(|best| format!(", best {} s", seconds(best)));
    let width = step.half_width.map(|width| format!(": ±{}", percent(width)));
    let in_slices = step.in_slices.map(|width| format!("; in slices ±{}", percent(width)));
    let run = step.seconds.map(|advised| {
        format!(
            "{} blocks of {} s (now {} s{}){}{}",
            document.blocks,
            seconds(advised),
            or_unknown(step.seconds_now, seconds),
            best.unwrap_or_default(),
            width.unwrap_or_default(),
            in_slices.unwrap_or_default()
        )
    });
    let second = step.second.map(|second| {
        let lag = or_unknown(step.autocorrelation, hundredths);
        format!(", {} between seconds (lag-1 {lag})", percent(second))
    });
    let varies = step.between.map(|between| {
        let (between, trials) = (percent(between), counted(step.trials, "trial"));
        format!("CV {between} between trials{}, from {trials}", second.unwrap_or_default())
    });
    let heading = format!("{}: {verdict}", titled(&step.key()));
    (heading, run.into_iter().chain(varies).collect())
}

fn table(document: &AdviseDocument) -> Table {
    let margin = percent(document.margin);
    let decided = document.steps.iter().filter(|step| step.decided == Some(true)).count();
    let known = document.steps.iter().filter(|step| step.decided.is_some()).count();
    let title = format!(
        "Advice for {}: {} blocks (now {}), {} of {} known steps decided at {margin}, {} of {}",
        document.plan,
        document.blocks,
        document.blocks_now,
        decided,
        known,
        duration(document.time),
        duration(document.budget),
    );
    let undecided = |step: &&AdvisedStep| (step.decided == Some(false)).then_some(RowKind::Marked);
    Table::new(Section::Other, "advice", title).listing_kinds(
        &document.steps,
        undecided,
        &[
            ("step", &|step| step.key().label(false)),
            ("dop", &|step| step.dop.to_string()),
            ("trials", &|step| step.trials.to_string()),
            ("between", &|step| or_unknown(step.between, percent)),
            ("second", &|step| or_unknown(step.second, percent)),
            ("lag-1", &|step| or_unknown(step.autocorrelation, hundredths)),
            ("now", &|step| or_unknown(step.seconds_now, seconds)),
            ("advised", &|step| or_unknown(step.seconds, seconds)),
            ("best", &|step| or_unknown(step.optimal, seconds)),
            ("blocks", &|_| document.blocks.to_string()),
            ("±", &|step| or_unknown(step.half_width, percent)),
            ("in slices", &|step| or_unknown(step.in_slices, percent)),
            ("detects", &|step| or_unknown(step.detectable, percent)),
            ("decided", &|step| step.decided.map_or(UNKNOWN.to_owned(), yes_or_no)),
        ],
    )
}

fn seconds(value: f64) -> String {
    if value < 9.95 { tenths(value) } else { whole(value) }
}

fn percent(fraction: f64) -> String {
    format!("{:.2}%", fraction * 100.0)
}
