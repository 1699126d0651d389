//! Published tables: do the figures follow from each other?

use judge::{cv_population, cv_sample};

use crate::printed::{Agreement, Printed};
use crate::published::{
    Idle, OnlyRelative, Postgres, Row, Server, Sysbench, Variance, figure, figures, row,
};
use crate::{Findings, Size, Table};

/// See the top of this file.
pub fn run(_: Size) -> Findings {
    let mut findings = Findings::default();
    let mut arithmetic = Arithmetic::new();
    sysbench(&Sysbench::read(), &mut arithmetic, &mut findings);
    postgres(&Postgres::read(), &mut arithmetic, &mut findings);
    idle(&Idle::read(), &mut arithmetic);
    findings.tables.extend(arithmetic.tables());
    findings.tables.push(only_relative(&OnlyRelative::read()));
    variance(&Variance::read(), &mut findings);
    findings
}

/// Figures held against those they come from.
struct Arithmetic {
    counts: Table,
    deviations: Table,
}

impl Arithmetic {
    fn new() -> Self {
        Self {
            counts: Table::new(
                "**Published figures that follow from others**: how many are the same to the last digit when computed from \
                 the others as printed; how many only from figures that round to those; how many from none.",
                &["post", "table", "figures", "to the digit", "within rounding", "not"],
            ),
            deviations: Table::new(
                "Those that are not the same to the digit, and the one statement of a factor that the figures contradict.",
                &["figure", "published", "computed", "agreement"],
            ),
        }
    }

    /// Adds a line for a table of a post, from `(name, figure as published, computed, agreement)`.
    fn add(&mut self, post: &str, name: &str, held: &[(String, String, f64, Agreement)]) -> usize {
        let count = |which| held.iter().filter(|(.., agreement)| *agreement == which).count();
        let exact = count(Agreement::ToTheDigit);
        self.counts.row([
            post.to_owned(),
            name.to_owned(),
            held.len().to_string(),
            exact.to_string(),
            count(Agreement::WithinRounding).to_string(),
            count(Agreement::Deviates).to_string(),
        ]);
        for (figure, published, computed, agreement) in held {
            if *agreement != Agreement::ToTheDigit {
                self.deviate(figure, published, &format!("{computed:.4}"), &agreement.to_string());
            }
        }
        exact
    }

    fn deviate(&mut self, figure: &str, published: &str, computed: &str, agreement: &str) {
        self.deviations.row([figure, published, computed, agreement].map(str::to_owned));
    }

    fn tables(self) -> [Table; 2] {
        [self.counts, self.deviations]
    }
}

fn sysbench(data: &Sysbench, arithmetic: &mut Arithmetic, findings: &mut Findings) {
    let mut held = Vec::new();
    for pair in &data.pair {
        let base = figures(&pair.absolute[0]);
        for relative in &pair.relative {
            let absolute = row(&pair.absolute, &relative[0]).map(figures).unwrap_or_default();
            for (place, column) in pair.columns.iter().enumerate() {
                let published = &relative[place + 1];
                held.push((
                    format!("{} {column} of {}", pair.name, relative[0]),
                    published.clone(),
                    absolute[place].value / base[place].value,
                    figure(published).is_quotient(absolute[place], base[place], 1.0),
                ));
            }
        }
    }
    let exact = arithmetic.add(&data.post, "relative from absolute, 6 tables", &held);
    findings.check(
        "relative tables from the absolute ones",
        format!("{exact} of {}", held.len()),
        "all to the printed digit",
        exact == held.len() && exact == 108,
    );

    let mut repeated = Vec::new();
    for test in &data.summary.rows {
        let Some(pair) = data.pair.iter().find(|pair| pair.name == test[0]) else { continue };
        for (version, published) in data.summary.versions.iter().zip(&test[1..]) {
            let throughput =
                |name: &str| row(&pair.absolute, name).and_then(|row| figures(row).last().copied());
            let (Some(own), Some(base)) = (throughput(version), throughput(&pair.absolute[0][0]))
            else {
                continue;
            };
            let agreement = figure(published).is_quotient(own, base, 1.0);
            let name = format!("{} of {version}, in the summary", pair.name);
            repeated.push((name, published.clone(), own.value / base.value, agreement));
        }
    }
    let exact = arithmetic.add(&data.post, "summary of throughput", &repeated);
    findings.check(
        "relative throughput in the summary",
        format!("{exact} of {}", repeated.len()),
        "all to the printed digit",
        exact == repeated.len() && exact == 18,
    );

    let changes = &data.changes;
    let pair = data.pair.iter().find(|pair| pair.name == changes.pair);
    let side = |name: &str| pair.and_then(|pair| row(&pair.absolute, name)).map(figures);
    let (from, to) =
        (side(&changes.from).unwrap_or_default(), side(&changes.to).unwrap_or_default());
    let columns = pair.map(|pair| pair.columns.as_slice()).unwrap_or_default();
    let told: Vec<_> = changes
        .percent
        .iter()
        .filter_map(|change| {
            let place = columns.iter().position(|column| *column == change[0])?;
            let computed = 100.0 * (to[place].value / from[place].value - 1.0);
            let name = format!(
                "{} {} from {} to {}, %",
                changes.pair, change[0], changes.from, changes.to
            );
            let agreement = figure(&change[1]).is_change(from[place], to[place]);
            Some((name, change[1].clone(), computed, agreement))
        })
        .collect();
    arithmetic.add(&data.post, "changes told in prose", &told);
}

fn postgres(data: &Postgres, arithmetic: &mut Arithmetic, findings: &mut Findings) {
    let table = &data.per_query;
    let mut held = Vec::new();
    for (averages, divided) in table.averages.iter().zip(&table.divided) {
        let own = figures(averages);
        for place in 1..table.columns.len() {
            let scale = table.factors[place];
            held.push((
                format!("{} per query, {}", table.columns[place], averages[0]),
                divided[place + 1].clone(),
                scale * own[place].value / own[0].value,
                figure(&divided[place + 1]).is_quotient(own[place], own[0], scale),
            ));
        }
    }
    arithmetic.add(&table.post, "per query from averages", &held);
    arithmetic.deviate(
        "factor of us and sy per query, RocksDB mmap",
        &format!("{:.0}", table.factor_named),
        &format!("{:.0}", table.factors[2]),
        "deviates",
    );

    let sums = |rows: &[Row], total: Option<&str>| -> Vec<(String, String, f64, Agreement)> {
        rows.iter()
            .map(|row| {
                let mut parts = figures(row);
                let sum = match total {
                    Some(text) => figure(text),
                    None => parts.pop().unwrap_or(Printed { value: 0.0, half: 0.5 }),
                };
                let computed = parts.iter().map(|part| part.value).sum();
                let published = total.map_or_else(|| row[row.len() - 1].clone(), str::to_owned);
                (format!("total of {}", row[0]), published, computed, sum.is_sum(&parts))
            })
            .collect()
    };
    let sizes = sums(&data.sizes.rows, None);
    arithmetic.add(&data.post, "sizes: index + relation = total", &sizes);
    let shares = sums(&data.shares.rows, Some("100"));
    arithmetic.add(&data.post, "shares of 100%", &shares);
    let rows: Vec<Vec<Printed>> = data.create_index.rows.iter().map(figures).collect();
    let slower = &data.create_index.percent;
    let agreement = figure(slower).is_change(rows[0][0], rows[1][0]);
    let computed = 100.0 * (rows[1][0].value / rows[0][0].value - 1.0);
    arithmetic.add(
        &data.post,
        "time to create indexes",
        &[("time of l.x from 15b1 to 15b2, %".to_owned(), slower.clone(), computed, agreement)],
    );
    let none = held.iter().chain(&sizes).chain(&shares).all(|(.., a)| *a != Agreement::Deviates);
    findings.check("figures of 2022 within rounding", none.to_string(), "all", none);
}

/// With clients that never pause, clients = throughput × latency (J. D. C. Little, *Operations
/// Research* 9, 1961).
fn idle(data: &Idle, arithmetic: &mut Arithmetic) {
    let clients = Printed { value: 1000.0 * f64::from(data.clients), half: 0.0 };
    let held: Vec<_> = data
        .seconds
        .iter()
        .enumerate()
        .map(|(second, row)| {
            let throughput = figure(&row[0]);
            let latency = clients.value / throughput.value;
            let agreement = figure(&row[1]).is_quotient(clients, throughput, 1.0);
            (format!("pgbench, ms in second {}", second + 1), row[1].clone(), latency, agreement)
        })
        .collect();
    arithmetic.add(&data.post, "latency from throughput (Little's law)", &held);
}

/// The figures that cannot be recomputed.
fn only_relative(data: &OnlyRelative) -> Table {
    let mut table = Table::new(
        "**Only relative figures** stand in these tables, and nothing can be recomputed.",
        &["post", "relative to", "versions", "figures"],
    );
    for one in &data.table {
        let versions: Vec<&str> = one.rows.iter().map(|row| row[0].as_str()).collect();
        table.row([
            one.post.clone(),
            one.base.clone(),
            versions.join(", "),
            (one.rows.len() * one.columns.len()).to_string(),
        ]);
    }
    table
}

fn variance(data: &Variance, findings: &mut Findings) {
    let mut table = Table::new(
        format!(
            "**Which set-up to choose** (\"{}\"), from the two published tables of the largest CV over all steps: numbers of clients \
             with a CV of at most {} in both. Published: the post's own list. By the sample deviation: were the published \
             figures, which divide by {}, turned into those that divide by {} (×√({}/{})).",
            data.post,
            data.limit,
            data.runs,
            data.runs - 1,
            data.runs,
            data.runs - 1,
        ),
        &["server", "clients", "from the tables", "published", "by the sample deviation"],
    );
    let raised = (f64::from(data.runs) / f64::from(data.runs - 1)).sqrt();
    let mut missing = Vec::new();
    let mut surplus = 0;
    let mut figures = 0;
    for server in &data.server {
        let found = good(server, data.limit, 1.0);
        surplus += server.chosen.iter().filter(|dop| !found.contains(dop)).count();
        figures += server.cached.len() + server.io_bound.len();
        missing.extend(
            found
                .iter()
                .filter(|dop| !server.chosen.contains(dop))
                .map(|dop| format!("{} with {dop}", server.name)),
        );
        table.row([
            server.name.clone(),
            list(&server.dop),
            list(&found),
            list(&server.chosen),
            list(&good(server, data.limit, raised)),
        ]);
    }
    findings.tables.push(table);
    findings.check(
        "published setups that the tables do not give",
        surplus.to_string(),
        "none",
        surplus == 0 && figures == 68,
    );
    findings.check(
        "setups of the tables that the published list lacks",
        missing.join(", "),
        "m5.2xl.ht0 with 4, m5.2xl.ht1 with 4",
        missing == ["m5.2xl.ht0 with 4", "m5.2xl.ht1 with 4"],
    );
    // Runs at 1 - a, 1 and 1 + a have the population deviation a·√(2/3) and the sample deviation a.
    let three = [0.97, 1.0, 1.03];
    let (population, sample) = (cv_population(&three), cv_sample(&three));
    let right = population.zip(sample).is_some_and(|(population, sample)| {
        (sample - 0.03).abs() < 1e-12 && (sample / population - raised).abs() < 1e-12
    });
    findings.check(
        "deviation over three runs",
        right.to_string(),
        "population = sample × √(2/3)",
        right,
    );
}

/// Numbers of clients whose coefficients, times `factor`, are both within the limit.
fn good(server: &Server, limit: f64, factor: f64) -> Vec<u32> {
    let within = |text: &String| factor * figure(text).value <= limit * (1.0 + 1e-9);
    server
        .dop
        .iter()
        .zip(server.cached.iter().zip(&server.io_bound))
        .filter(|(_, (cached, io_bound))| within(cached) && within(io_bound))
        .map(|(dop, _)| *dop)
        .collect()
}

fn list(dop: &[u32]) -> String {
    if dop.is_empty() {
        return "-".to_owned();
    }
    dop.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_figure_for_each_column() {
        let data = Sysbench::read();
        for pair in &data.pair {
            for row in pair.absolute.iter().chain(&pair.relative) {
                assert_eq!(row.len(), pair.columns.len() + 1, "{} {}", pair.name, row[0]);
            }
        }
        for server in Variance::read().server {
            assert_eq!(server.dop.len(), server.cached.len(), "{}", server.name);
            assert_eq!(server.dop.len(), server.io_bound.len(), "{}", server.name);
        }
        for table in OnlyRelative::read().table {
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len() + 1));
        }
    }

    #[test]
    fn a_wrong_digit_is_found() {
        let mut data = Sysbench::read();
        data.pair[3].relative[1][2] = "1.01".to_owned();
        let mut findings = Findings::default();
        sysbench(&data, &mut Arithmetic::new(), &mut findings);
        assert_eq!(findings.missed().count(), 1);
        let mut data = Variance::read();
        data.server[2].cached[0] = "0.031".to_owned();
        let mut findings = Findings::default();
        variance(&data, &mut findings);
        assert_eq!(findings.missed().count(), 1);
    }
}
