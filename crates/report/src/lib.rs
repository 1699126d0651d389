//! Tables, HTML and exports of stored results.
//!
//! The way of the data: [`load`] reads an experiment from a store into [`Results`]; [`compare`] judges every step and
//! lays out [`Table`]s and a [`Document`]; [`Comparison::render`] prints them as text, Markdown, CSV or JSON;
//! [`write_html`] puts the same tables, the series and the recorded environment into one self-contained page.
//!
//! An absolute figure is the median over the blocks, a relative one `exp(mean ln(variant / base))` over the paired
//! blocks, so the second does not have to be the quotient of two of the first. Only finished steps of finished trials
//! count. How a verdict comes about is the business of the crate `judge`.

mod compare;
mod csv;
mod document;
mod error;
mod figures;
mod html;
mod judged;
mod latency;
mod load;
mod metrics;
mod model;
mod number;
mod page;
mod page_data;
mod sentence;
mod table;
mod tables;
mod text;
mod time;

pub use compare::{CompareOptions, Comparison, Format, Rows, compare};
pub use document::{
    Costs, Document, Figure, InsertRate, LatencyFigures, RelativeFigures, SizeFigures,
    StepDocument, VariantDocument, WarningDocument,
};
pub use error::ReportError;
pub use html::{has_page, html, write_html};
pub use judged::{Judged, judge_results};
pub use latency::{BUCKETS, Latency};
pub use load::{Which, load};
pub use metrics::METRICS;
pub use model::{
    CounterFigure, FailedTrial, Noted, Results, Sample, StepResults, VariantResults, VariantStep,
};
pub use page_data::Page;
pub use sentence::sentence;
pub use table::{Row, RowKind, Section, Table};
