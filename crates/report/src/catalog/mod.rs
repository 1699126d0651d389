//! Many experiments at a glance: lists of them, what moved lately, the machines, the histories that
//! there are. A [`Brief`] is what is read of an experiment; the documents are functions of briefs.

mod brief;
mod documents;
mod key;
mod live;
mod machines;
mod summary;

pub use brief::{Brief, BriefVariant, Moved, VerdictCounts};
pub use documents::{
    ExperimentsDocument, HistoriesDocument, HistoryEntry, HistoryMetric, MachinesDocument,
    OverviewDocument, experiments, histories, machines, overview,
};
pub use live::{LiveDocument, LiveInterval, LiveRun, LiveStep};
pub use machines::{MachineDocument, MachineGlance, Machines, NoisePoint};
pub use summary::{SummaryDocument, badge, summary, summary_text};
