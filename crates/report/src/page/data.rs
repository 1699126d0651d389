//! The shape of the data in the HTML page; `web/generated/page.ts` is written from it.

use std::collections::BTreeMap;

use plan::Labels;
use serde::Serialize;
use store::HostFact;

use super::counts::PageCounts;
use super::number::Number;
use super::profiles::PageProfile;
use super::slices::PageSlices;
use super::sweeps::PageSweep;
use super::why::PageWhy;
use crate::compare::document::{RelativeFigures, WarningDocument};
use crate::history::HistoryDocument;
use crate::load::latency::Latency;
use crate::output::table::Table;

/// Everything the page shows.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Page {
    pub(crate) format: u32,
    /// When it was written, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generated: Option<String>,
    /// The version of steelyard that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) writer: Option<String>,
    /// The version that measured.
    pub(crate) steelyard: String,
    pub(crate) experiment: PageExperiment,
    pub(crate) variants: Vec<PageVariant>,
    #[cfg_attr(test, ts(as = "Vec<crate::page::types_tests::PageFact>"))]
    pub(crate) host: Vec<HostFact>,
    pub(crate) steps: Vec<PageStep>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<PageSweep>>", optional))]
    pub(crate) sweeps: Vec<PageSweep>,
    pub(crate) tables: Vec<Table>,
    pub(crate) warnings: Vec<WarningDocument>,
    pub(crate) catalog: BTreeMap<String, PageSeries>,
    pub(crate) metrics: Vec<PageMetric>,
    /// Why a slice has no rate.
    pub(crate) slice_reasons: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<HistoryDocument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<PageProfile>>", optional))]
    pub(crate) profiles: Vec<PageProfile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) counts: Option<PageCounts>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageExperiment {
    pub(crate) name: String,
    pub(crate) workload: String,
    pub(crate) base: String,
    /// Text, because JavaScript's numbers do not hold 64 bits.
    pub(crate) seed: String,
    pub(crate) blocks: u32,
    pub(crate) margin: f64,
    pub(crate) started: String,
    pub(crate) finished: bool,
    pub(crate) plan: String,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageVariant {
    pub(crate) name: String,
    pub(crate) dbms: String,
    pub(crate) source: String,
    pub(crate) version: String,
    pub(crate) build: Vec<(String, String)>,
    pub(crate) config: Vec<(String, String)>,
    pub(crate) settings: Vec<PageSetting>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageSetting {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) default: String,
    pub(crate) source: String,
}

#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct PageStep {
    pub(crate) name: String,
    pub(crate) dop: u32,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Labels>", optional))]
    pub(crate) labels: Labels,
    /// Which direction of its throughput is better: `more` or `less`.
    #[cfg_attr(test, ts(type = "\"more\" | \"less\""))]
    pub(crate) better: &'static str,
    /// The group it is shown with, if its workload has groups.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(test, ts(as = "Option<String>", optional))]
    pub(crate) group: String,
    /// The class of statements that counts as an operation, and the unit of its throughput.
    pub(crate) class: String,
    pub(crate) unit: String,
    /// Target rates of paced classes, in statements per second.
    pub(crate) rates: BTreeMap<String, Number>,
    /// How its trials shared the machine, and the steps before it: figures of two experiments that
    /// differ in either are not related.
    pub(crate) ways: Vec<&'static str>,
    pub(crate) after: Vec<String>,
    pub(crate) throughput: Vec<Number>,
    pub(crate) relative: Vec<PageRelative>,
    pub(crate) latency: Vec<PageLatency>,
    pub(crate) percentiles: Vec<PagePercentiles>,
    /// Trials whose server had the load to itself.
    pub(crate) trials: Vec<PageTrial>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) slices: Option<PageSlices>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<PageWhy>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct PageRelative {
    pub(crate) variant: usize,
    #[serde(flatten)]
    pub(crate) relative: RelativeFigures<()>,
    /// The confidence as text.
    pub(crate) level: String,
    /// The ratio of each block, if they are too few for an interval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<Number>>", optional))]
    pub(crate) each: Vec<Number>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(as = "crate::page::types_tests::Times"))]
pub(crate) struct PageLatency {
    pub(crate) variant: usize,
    pub(crate) class: String,
    #[serde(flatten)]
    pub(crate) times: Latency<Number>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PagePercentiles {
    pub(crate) variant: usize,
    pub(crate) class: String,
    pub(crate) points: Vec<(f64, Number)>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct PageTrial {
    pub(crate) variant: usize,
    pub(crate) block: u32,
    pub(crate) started: String,
    pub(crate) stalls: Vec<(usize, usize)>,
    /// Things that the DBMS did by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<PageEvent>>", optional))]
    pub(crate) events: Vec<PageEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idle: Option<PageIdle>,
    pub(crate) series: BTreeMap<String, Vec<Number>>,
}

/// Idle-priority processes that ran during a part of a step, and throughput around it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageIdle {
    /// Seconds since the step began.
    pub(crate) from: Number,
    pub(crate) to: Number,
    /// Operations per second.
    pub(crate) before: Number,
    pub(crate) during: Number,
    pub(crate) after: Number,
    /// during / before, after / before.
    pub(crate) during_before: Number,
    pub(crate) after_before: Number,
}

/// Something that the DBMS did by itself.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageEvent {
    /// Seconds since the step began.
    pub(crate) at: Number,
    pub(crate) kind: String,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageSeries {
    pub(crate) label: String,
    pub(crate) unit: String,
    pub(crate) group: String,
}

/// A metric's entry in the page's glossary.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageMetric {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) meaning: &'static str,
    /// Its name in published reports; may be empty.
    pub(crate) published: &'static str,
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn numbers_are_short() {
        let numbers = [1234.567, 100.0, 0.000_123_456, f64::NAN, -98_765.4, 0.1 + 0.2].map(Number);
        let json = serde_json::to_string(&numbers).unwrap();
        assert_eq!(json, "[1235,100,0.0001235,null,-98770,0.3]");
    }
}
