//! Tables, HTML and exports of stored results.
//!
//! How data flows: [`load`] reads an experiment from a store into [`Results`]; [`compare`]
//! judges every step and lays out [`Table`]s and a [`Document`]; [`Comparison::render`] prints them
//! as text, Markdown, CSV or JSON; [`explain`](fn@explain) adds what the profiles of its steps say;
//! [`write_html`] puts the same tables, the series and the recorded environment into one
//! self-contained page.
//!
//! [`count`](fn@count) lays out exact instruction counts, which need no trials: kinds of
//! statements, phases, functions.
//!
//! An absolute figure is the geometric mean over the blocks that are paired with the base. A
//! relative figure is `exp(mean ln(variant / base))` over the same blocks, and therefore the
//! quotient of two absolute ones. Only finished steps of finished trials count. The crate `judge`
//! decides on verdicts; what can't be judged is shown with the reason.

mod advise;
mod by_cpu;
mod chosen;
mod compare;
mod count;
mod csv;
mod document;
mod error;
mod explain;
mod export;
mod figures;
mod gate;
mod history;
mod html;
mod judged;
mod judging;
mod latency;
mod load;
mod machine;
mod model;
mod number;
mod page;
mod page_data;
mod page_number;
mod page_slices;
#[cfg(test)]
mod page_types_tests;
mod panels;
mod plans;
mod profiles;
mod renames;
mod rounds;
mod sentence;
mod sheet;
mod sliced;
mod starts;
mod sweep;
mod table;
mod tables;
mod text;
mod time;
mod trials;
mod unjudged;
mod used;
mod variance;
mod waits;

pub use advise::{Advice, AdviseDocument, AdviseOptions, AdvisedStep, advise};
pub use chosen::{Chosen, Source};
pub use compare::{CompareOptions, Comparison, Rows, compare};
pub use count::{
    CountDocument, CountOptions, CountReport, CountedVariant, FunctionDocument, KindDocument,
    LEAST_DIFFERENCE, PhaseDocument, SentenceDocument, Spread, WorkDocument, count,
};
pub use document::{
    Costs, Document, Figure, LatencyFigures, RateFigures, RelativeFigures, StepDocument,
    VariantDocument, WarningDocument,
};
pub use error::ReportError;
pub use explain::{
    ExplainDocument, ExplainOptions, ExplainedChild, ExplainedShift, ExplainedStep,
    ExplainedVariant, Explanation, explain,
};
pub use export::{benchstat, bmf, long_csv};
pub use gate::Gate;
pub use history::{
    ChangeDocument, History, HistoryDocument, HistoryOptions, HistoryPoint, HistoryRun,
    HistoryStep, LineDocument, Order, history,
};
pub use html::{has_page, html, write_html};
pub use judged::{Gap, Judged, Outcome, Twin};
pub use judging::{judge_metric, judge_results};
pub use latency::{BUCKETS, Latency};
pub use load::{Which, load};
pub use machine::Machine;
pub use model::{
    CounterFigure, FailedTrial, Labels, Noted, Results, Sample, StepKey, StepResults,
    VariantResults, VariantStep, labelled,
};
pub use page_data::Page;
pub use panels::{Panel, Panels};
pub use plans::ExplainedPlan;
pub use profiles::{ExplainedMove, Folded, draw_flamegraphs, folded_file, profiles_directory};
pub use rounds::Slices;
pub use sheet::{Format, Printable};
pub use sliced::{Scatter, Slicing, scatter};
pub use sweep::{
    CliffDocument, DimensionDocument, SweepDocument, SweepFigure, SweepLineDocument,
    SweepPointDocument,
};
pub use table::{Row, RowKind, Section, Table};
pub use unjudged::Unjudged;
pub use used::{covered, looks, time_used};
pub use variance::{
    ChosenSetup, DEFAULT_LIMIT, Deviation, SetupDocument, SetupStep, Variance, VarianceDocument,
    VarianceOptions, WithinDocument, WorkloadVariance, variance,
};
