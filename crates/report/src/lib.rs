//! Tables, HTML and exports of stored results.
//!
//! How data flows: [`load`] reads an experiment from a store into [`Results`]; [`compare`]
//! judges every step and lays out [`Table`]s and a [`Document`]; [`Comparison::render`] prints them
//! as text, Markdown, CSV or JSON; [`explain`](fn@explain) adds what the profiles of its steps say;
//! [`html`] puts the same tables, the series and the recorded environment into one
//! self-contained page.
//!
//! Folders use those below them: `output` (tables and how they are written), `load` (what was
//! measured), `judging` (what that says of each variant), then one per topic, such as `compare` and
//! `sweep`, and last `page`, which shows all of it.
//!
//! [`count`](fn@count) lays out exact instruction counts, which need no trials: kinds of
//! statements, phases, functions.
//!
//! An absolute figure is the geometric mean over the blocks that are paired with the base. A
//! relative figure is `exp(mean ln(variant / base))` over the same blocks, and therefore the
//! quotient of two absolute ones. Only finished steps of finished trials count. The crate `judge`
//! decides on verdicts; what can't be judged is shown with the reason.

mod advise;
pub mod catalog;
mod change;
mod compare;
mod count;
mod error;
mod explain;
mod export;
mod history;
mod judging;
mod load;
mod output;
mod page;
mod profiles;
mod sweep;
mod variance;
mod versions;

pub use advise::{Advice, AdviseDocument, AdviseOptions, AdvisedStep, advise};
pub use change::{ChangeFound, ChangeRun, JudgedChange};
pub use compare::document::{
    Costs, Document, Figure, LatencyFigures, RateFigures, RelativeFigures, StepDocument,
    VariantDocument, WarningDocument,
};
pub use compare::{By, CompareOptions, Comparison, Rows, compare};
pub use count::{
    CountDocument, CountOptions, CountReport, CountVerdict, CountedIn, CountedVariant,
    FunctionDocument, KindDocument, LEAST_DIFFERENCE, PhaseDocument, SentenceDocument, Spread,
    WorkDocument, count, count_between, least_difference,
};
pub use error::ReportError;
pub use explain::{
    ExplainDocument, ExplainOptions, ExplainedChild, ExplainedShift, ExplainedStep,
    ExplainedVariant, Explanation, explain,
};
pub use export::{benchstat, bmf, long_csv};
pub use history::{
    ChangeDocument, History, HistoryDocument, HistoryOptions, HistoryPoint, HistoryRun,
    HistoryStep, LineDocument, Order, history,
};
pub use judging::gate::Gate;
pub use judging::judged::{Gap, Judged, Outcome, Twin};
pub use judging::sliced::{Scatter, Slicing, scatter};
pub use judging::steps::{judge_metric, judge_results};
pub use judging::unjudged::Unjudged;
pub use load::across::join;
pub use load::answers::Answers;
pub use load::chosen::{Chosen, Source};
pub use load::experiment::{Which, latest_or_count, load};
pub use load::latency::{BUCKETS, Latency};
pub use load::machine::Machine;
pub use load::model::{
    CounterFigure, Elsewhere, FailedTrial, Noted, Results, Sample, StepResults, VariantResults,
    VariantStep,
};
pub use load::notes::{refused as refused_note, told as told_note};
pub use load::plans::ExplainedPlan;
pub use load::slices::Slices;
pub use load::used::{covered, looks, time_used};
pub use output::fit::{shortened, wrapped};
pub use output::number::half_width;
pub use output::panels::{Panel, Panels};
pub use output::sheet::{Format, Printable};
pub use output::table::{Row, RowKind, Section, Table};
pub use output::text::columns;
pub use output::time::rfc3339;
pub use page::data::Page;
pub use page::document::document;
pub use page::html::{has_page, html};
pub use profiles::{ExplainedMove, Folded, draw_flamegraphs, folded_file, profiles_directory};
pub use sweep::{
    CliffDocument, DimensionDocument, SweepDocument, SweepFigure, SweepLineDocument,
    SweepPointDocument,
};
pub use variance::{
    ChosenSetup, DEFAULT_LIMIT, Deviation, NoisyMachine, SetupDocument, SetupStep, Variance,
    VarianceDocument, VarianceOptions, WithinDocument, WorkloadVariance, variance,
};
pub use versions::{VersionDocument, VersionsDocument, versions};
