//! One long table, for notebooks.

use crate::load::model::Results;
use crate::output::csv::quoted;

use super::{labels, rows};

/// The columns. In `steelyard export --help` they are explained.
const COLUMNS: &str = "experiment,name,workload,variant,dbms,version,block,trial,started_ms,\
                       step,dop,labels,kind,metric,unit,better,value";

/// CSV with a line for each metric of each step of each finished trial (RFC 4180, lines end with a
/// line feed). Numbers have all digits that they are stored with.
pub fn long_csv(results: &Results) -> String {
    let mut out = format!("{COLUMNS}\n");
    let experiment = &results.experiment;
    for row in rows(results) {
        let Some(variant) = results.variants.get(row.variant).map(|it| &it.variant) else {
            continue;
        };
        let fields = [
            experiment.id.to_string(),
            experiment.name.clone(),
            experiment.workload.clone(),
            variant.name.clone(),
            variant.dbms.clone(),
            variant.version.clone(),
            row.block.to_string(),
            row.trial.to_string(),
            row.started_ms.to_string(),
            row.step.name.clone(),
            row.step.dop.to_string(),
            labels(row.step),
            row.kind.to_owned(),
            row.metric.name.to_owned(),
            row.unit,
            row.better.as_str().to_owned(),
            row.value.to_string(),
        ];
        out.push_str(&fields.each_ref().map(|field| quoted(field)).join(","));
        out.push('\n');
    }
    out
}
