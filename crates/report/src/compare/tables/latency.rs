//! Response times: the buckets of published reports and percentiles, per step and class of
//! statement.

use metrics::{LATENCIES, MEGABYTES, OPS};

use super::view::{VARIANT, View};
use crate::load::latency::{BUCKETS, Pooled};
use crate::load::model::StepResults;
use crate::output::number::{UNKNOWN, or_unknown, rate};
use crate::output::table::{Row, Section, Table, distinct, texts};

pub(super) fn tables(view: View<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for (number, step, label) in view.steps() {
        let classes = step.variants.iter().flat_map(|figures| &figures.latency);
        for class in distinct(classes.map(|pooled| pooled.class.as_str())) {
            let table = |id: &str, title: &str| {
                let title = format!("{title}: {label}, {class}");
                let table = Table::of_step(Section::Latency, id, title, &label);
                Table { id: format!("{}.{class}", table.id), ..table }
            };
            let mut buckets = table("buckets", "Response time buckets");
            buckets.legend = vec![
                format!(
                    "percentage of responses in each bucket; 256us: up to 256us, 1ms: over 256us up to 1ms, gt: over 16s{}",
                    paced(class, step)
                ),
                "nonzero: some, but less than 0.0005%; max in seconds; all blocks together"
                    .to_owned(),
            ];
            let named = [VARIANT].into_iter().chain(BUCKETS.iter().map(|(name, _)| *name));
            buckets.columns = texts(named.chain(["gt", "max"]));
            let mut percentiles = table("latency", "Response time");
            percentiles.legend =
                vec![format!("microseconds, all blocks together{}", paced(class, step))];
            let named = [VARIANT].into_iter().chain(LATENCIES.iter().map(|metric| metric.short()));
            percentiles.columns = texts(named.chain(["count"]));
            for (place, name, figures) in view.variants(number) {
                let pooled = figures.latency.iter().find(|pooled| pooled.class == class);
                for (table, cells) in [
                    (&mut buckets, pooled.map(bucket_cells)),
                    (&mut percentiles, pooled.map(percentile_cells)),
                ] {
                    let unknown = || vec![UNKNOWN.to_owned(); table.columns.len() - 1];
                    let row = Row::new(name, cells.unwrap_or_else(unknown));
                    table.rows.push(row.of_kind(view.kind(place)));
                }
            }
            tables.extend([buckets, percentiles]);
        }
    }
    tables.extend(reported(view));
    tables
}

/// The figures that other programs report, without a histogram.
fn reported(view: View<'_>) -> Option<Table> {
    let title = "What the programs report".to_owned();
    let mut table = Table::new(Section::Latency, "reported", title);
    let times = LATENCIES.iter().map(|metric| metric.short());
    let columns = [VARIANT, "o/s", "MB/s"].into_iter().chain(times);
    table.columns = texts(columns.chain(["step"]));
    table.legend = vec![
        view.over_blocks("medians"),
        "o/s: operations per second, or the cost that is judged; mean … max: microseconds"
            .to_owned(),
    ];
    for (number, step, label) in view.steps() {
        for (place, name, figures) in view.variants(number) {
            let figure = |name: &str| figures.median(name).filter(|value| value.is_finite());
            let times: Vec<_> = LATENCIES.iter().map(|it| figure(&it.of(&step.class))).collect();
            if !figures.latency.is_empty() || times.iter().all(Option::is_none) {
                continue;
            }
            let first = [figure(OPS.name), figure(MEGABYTES.name)];
            let cells = first.into_iter().chain(times).map(|value| or_unknown(value, rate));
            let row = Row::new(name, cells.chain([label.clone()]).collect());
            table.rows.push(row.of_kind(view.kind(place)));
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

fn paced(class: &str, step: &StepResults) -> &'static str {
    if class != step.class && !step.paced().is_empty() {
        "; measured from the scheduled time"
    } else {
        ""
    }
}

fn bucket_cells(pooled: &Pooled) -> Vec<String> {
    let max = format!("{:.6}", pooled.latency().of(&metrics::MAX) / 1e6);
    pooled.shares().into_iter().map(share).chain([max]).collect()
}

fn share(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.0005 { "nonzero".to_owned() } else { format!("{percent:.3}") }
}

fn percentile_cells(pooled: &Pooled) -> Vec<String> {
    let latency = pooled.latency();
    let times = LATENCIES.iter().map(|metric| rate(latency.of(metric)));
    times.chain([latency.count.to_string()]).collect()
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
