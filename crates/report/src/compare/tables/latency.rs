//! Response times: the buckets of published reports and percentiles, per step and class of
//! statement.

use metrics::{LATENCIES, MEGABYTES, Metric, OPS};

use super::view::{Point, VARIANT, View};
use crate::load::latency::{BUCKETS, Pooled};
use crate::load::model::StepResults;
use crate::output::number::{UNKNOWN, or_unknown, rate};
use crate::output::table::{Section, Table, distinct, texts};

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
            let mut buckets = table("buckets", "Response time buckets").explained([
                &format!(
                    "percentage of responses in each bucket; 256us: up to 256us, 1ms: over 256us up to 1ms, gt: over 16s{}",
                    paced(class, step)
                ),
                "nonzero: some, but less than 0.0005%; max in seconds; all blocks together",
            ]);
            let named = [VARIANT].into_iter().chain(BUCKETS.iter().map(|(name, _)| *name));
            buckets.columns = texts(named.chain(["gt", "max"]));
            let mut percentiles = table("latency", "Response time")
                .explained([&format!("microseconds, all blocks together{}", paced(class, step))]);
            let named = [VARIANT].into_iter().chain(LATENCIES.iter().map(|metric| metric.short()));
            percentiles.columns = texts(named.chain(["count"]));
            for (place, _, figures) in view.variants(number) {
                let pooled = figures.latency.iter().find(|pooled| pooled.class == class);
                for (table, cells) in [
                    (&mut buckets, pooled.map(bucket_cells)),
                    (&mut percentiles, pooled.map(percentile_cells)),
                ] {
                    let unknown = || vec![UNKNOWN.to_owned(); table.columns.len() - 1];
                    table.rows.push(view.row(place, cells.unwrap_or_else(unknown)));
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
    let time = |at: &Point<'_>, metric: &Metric| at.figures.median(&metric.of(&at.step.class));
    let known = |at: &Point<'_>, metric: &Metric| time(at, metric).is_some_and(f64::is_finite);
    let times = |at: &Point<'_>| {
        at.figures.latency.is_empty() && LATENCIES.into_iter().any(|metric| known(at, metric))
    };
    let mut table = Table::new(Section::Latency, "reported", "What the programs report");
    let named = LATENCIES.iter().map(|metric| metric.short());
    table.columns = texts([VARIANT, "o/s", "MB/s"].into_iter().chain(named).chain(["step"]));
    for at in view.points(view.steps()).filter(times) {
        let first = [&OPS, &MEGABYTES].map(|metric| at.figures.median(metric.name));
        let times = LATENCIES.into_iter().map(|metric| time(&at, metric));
        let cells = first.into_iter().chain(times).map(|value| or_unknown(value, rate));
        table.rows.push(view.row(at.place, cells.chain([at.label.clone()])));
    }
    let table = table.explained([
        &view.over_blocks("medians"),
        "o/s: operations per second, or the cost that is judged; mean … max: microseconds",
    ]);
    table.filled()
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
