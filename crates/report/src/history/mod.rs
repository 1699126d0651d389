//! Results of many runs in order of version, commit or date, and where they changed.

mod document;
mod levels;
mod lines;
mod order;
mod search;
mod tables;

use crate::ReportError;
use crate::load::chosen::{Chosen, Source};
use crate::load::notes::told;
use crate::load::trials::Trials;
use crate::output::sheet::Printable;

pub use document::{
    ChangeDocument, HistoryDocument, HistoryPoint, HistoryRun, HistoryStep, LineDocument,
};
pub use order::Order;
pub(crate) use order::Version;

/// Options of `history`.
#[derive(Debug, Clone)]
pub struct HistoryOptions {
    /// Which experiments.
    pub chosen: Chosen,
    /// Only what ran on the machine of this name in addresses; `None`: all.
    pub machine: Option<String>,
    /// The metric, such as `o/s`.
    pub metric: String,
    /// The order; `None`: by version if any system was measured in several, otherwise by date.
    pub order: Option<Order>,
    /// Only these steps, by name; empty: all.
    pub steps: Vec<String>,
    /// Commits in order, oldest first; others are left out. Empty: see [`Order::Commit`].
    pub commits: Vec<String>,
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self {
            chosen: Chosen::default(),
            machine: None,
            metric: metrics::OPS.name.to_owned(),
            order: None,
            steps: Vec::new(),
            commits: Vec::new(),
        }
    }
}

/// A history, ready to be printed.
pub type History = Printable<HistoryDocument>;

/// Orders the runs of the chosen experiments and searches every step for change points.
///
/// A line is followed over the runs. By version or commit, it is all systems of one DBMS with the
/// same settings on one machine. By date, it is the variant of one name on one machine, no matter
/// which version or settings the name stood for.
///
/// # Errors
/// When there are no trials (of the requested steps), a store cannot be read, or no commit is
/// recorded.
pub fn history(sources: &[Source<'_>], options: &HistoryOptions) -> Result<History, ReportError> {
    let mut trials = Trials::read(sources, &options.chosen, &options.metric)?;
    trials.only(&options.steps)?;
    if let Some(machine) = &options.machine {
        trials.only_on(machine);
    }
    let left_out = levels::as_judged(&mut trials, sources)?;
    if trials.values.is_empty() {
        return Err(ReportError::AllLeftOut(left_out));
    }
    let order = options.order.unwrap_or_else(|| lines::usual_order(&trials));
    let lines = lines::lines(&trials, order, &options.commits)?;
    let mut document = document::document(&trials, order, &lines);
    document.notes.extend(left_out);
    document.notes.extend(noted(&trials, sources)?);
    let sheet = tables::sheet(&document);
    Ok(History { document, sheet })
}

/// What people noted about the experiments, with what each note is about.
fn noted(trials: &Trials, sources: &[Source<'_>]) -> Result<Vec<String>, ReportError> {
    let mut found = Vec::new();
    for conducted in &trials.experiments {
        let notes = sources[conducted.source].store.notes(conducted.experiment.id)?;
        found.extend(notes.iter().map(|note| {
            let dop = note.dop.map(|dop| format!("dop {dop}"));
            let about = [note.step.clone(), dop, note.variant.clone()];
            let about: Vec<String> = about.into_iter().flatten().collect();
            let about = format!("experiment {} {}", conducted.name(), about.join(" "));
            format!("noted: {}: {}", about.trim_end(), told(note))
        }));
    }
    Ok(found)
}
