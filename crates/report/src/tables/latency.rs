//! Response times: the buckets of published reports and percentiles, per step and class of statement.

use super::{VARIANT, View, columns};
use crate::latency::{BUCKETS, Latency, Pooled};
use crate::model::StepResults;
use crate::number::{UNKNOWN, microseconds};
use crate::table::{Row, Section, Table};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, step) in view.results.steps.iter().enumerate() {
        let label = view.results.step_label(step);
        for class in classes(view, number) {
            let mut buckets = Table::new(
                Section::Latency,
                format!("buckets.{label}.{class}"),
                format!("Response time buckets: {label}, {class}"),
            );
            buckets.step = Some(label.clone());
            buckets.legend = vec![
                format!(
                    "percentage of responses in each bucket; 256us: up to that, 1ms: over 256us up to 1ms, gt: over 16s{}",
                    paced(class, step)
                ),
                "nonzero: some, but less than 0.0005%; max in seconds; all blocks together"
                    .to_owned(),
            ];
            buckets.columns =
                columns(VARIANT, BUCKETS.iter().map(|(name, _)| *name).chain(["gt", "max"]));
            let mut percentiles = Table::new(
                Section::Latency,
                format!("latency.{label}.{class}"),
                format!("Response time: {label}, {class}"),
            );
            percentiles.step = Some(label.clone());
            percentiles.legend =
                vec![format!("microseconds, all blocks together{}", paced(class, step))];
            percentiles.columns =
                columns(VARIANT, ["mean", "p50", "p90", "p95", "p99", "p999", "max", "count"]);
            for (place, name, figures) in view.variants(number) {
                let pooled = figures.latency.iter().find(|pooled| pooled.class == class);
                let row = |cells| Row::new(name, cells).of_kind(view.kind(place));
                buckets.rows.push(row(bucket_cells(pooled)));
                percentiles.rows.push(row(percentile_cells(pooled.map(Pooled::latency))));
            }
            tables.extend([buckets, percentiles]);
        }
    }
    tables
}

/// The classes of statement of a step, in the order in which they first occur.
fn classes(view: View<'_>, step: usize) -> Vec<&str> {
    let mut classes: Vec<&str> = Vec::new();
    for (_, _, figures) in view.variants(step) {
        for pooled in &figures.latency {
            if !classes.contains(&pooled.class.as_str()) {
                classes.push(&pooled.class);
            }
        }
    }
    classes
}

fn paced(class: &str, step: &StepResults) -> &'static str {
    if class != step.class && !step.paced().is_empty() {
        "; measured from the scheduled time"
    } else {
        ""
    }
}

fn bucket_cells(pooled: Option<&Pooled>) -> Vec<String> {
    let Some(pooled) = pooled else { return vec![UNKNOWN.to_owned(); BUCKETS.len() + 2] };
    pooled
        .shares()
        .into_iter()
        .map(share)
        .chain([format!("{:.6}", pooled.latency().max / 1e6)])
        .collect()
}

fn share(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.0005 { "nonzero".to_owned() } else { format!("{percent:.3}") }
}

fn percentile_cells(latency: Option<Latency>) -> Vec<String> {
    let Some(l) = latency else { return vec![UNKNOWN.to_owned(); 8] };
    [l.mean, l.p50, l.p90, l.p95, l.p99, l.p999, l.max]
        .into_iter()
        .map(microseconds)
        .chain([l.count.to_string()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_as_published() {
        assert_eq!(share(0.0), "0.000");
        assert_eq!(share(0.829_19), "82.919");
        assert_eq!(share(1.0), "100.000");
        assert_eq!(share(1e-7), "nonzero");
    }
}
