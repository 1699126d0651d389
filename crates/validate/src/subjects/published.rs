//! Published tables: do the figures follow from each other?

use judge::{cv_population, cv_sample};

use crate::printed::{Agreement, Computed, Printed};
use crate::published::{
    IDLE, Idle, ONLY_RELATIVE, OnlyRelative, POSTGRES, Postgres, SYSBENCH, Server, Sysbench,
    VARIANCE, Variance, figure, figures_of, read, row,
};
use crate::{Findings, Size, Table, figures};

/// See the top of this file.
pub fn run(_: Size, findings: &mut Findings) {
    let mut arithmetic = Arithmetic::new();
    sysbench(&read(SYSBENCH), &mut arithmetic, findings);
    postgres(&read(POSTGRES), &mut arithmetic, findings);
    idle(&read(IDLE), &mut arithmetic);
    findings.tables = vec![arithmetic.counts, arithmetic.deviations];
    only_relative(&read(ONLY_RELATIVE), findings);
    variance(&read(VARIANCE), findings);
}

/// A figure compared with those it comes from: its name, as published, and as computed.
type Held = (String, String, Computed);

/// The tables of figures compared with those they come from.
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
                "post | table | figures | to the digit | within rounding | not",
            ),
            deviations: Table::new(
                "Those that are not the same to the digit, and the one statement of a factor that the figures contradict.",
                "figure | published | computed | agreement",
            ),
        }
    }

    /// Adds a line for a table of a post; returns how many figures there are, are the same to the
    /// digit, follow from rounding, and deviate.
    fn add(&mut self, post: &str, name: &str, held: impl IntoIterator<Item = Held>) -> [usize; 4] {
        let mut counts = [0; 4];
        for (name, published, computed) in held {
            let agreement = figure(&published).agrees_with(computed);
            counts[0] += 1;
            counts[1 + agreement as usize] += 1;
            if agreement != Agreement::ToTheDigit {
                let computed = format!("{:.4}", computed.value);
                self.deviations.row(&name, figures![published, computed, agreement]);
            }
        }
        let [all, exact, rounded, not] = counts;
        self.counts.row(post, figures![name, all, exact, rounded, not]);
        counts
    }
}

fn sysbench(data: &Sysbench, arithmetic: &mut Arithmetic, findings: &mut Findings) {
    let mut exactly = |what: &str, name: &str, held: Vec<Held>, expected: usize| {
        let [all, exact, ..] = arithmetic.add(&data.post, name, held);
        let found = format!("{exact} of {all}");
        findings.check(what, found, "all to the printed digit", [all, exact] == [expected; 2]);
    };
    let mut held = Vec::new();
    for pair in &data.pair {
        let base = figures_of(&pair.absolute[0]);
        for relative in &pair.relative {
            let absolute =
                row(&pair.absolute, &relative[0]).map(|row| figures_of(row)).unwrap_or_default();
            for (place, column) in pair.columns.iter().enumerate() {
                let name = format!("{} {column} of {}", pair.name, relative[0]);
                held.push((name, relative[place + 1].clone(), absolute[place].over(base[place])));
            }
        }
    }
    exactly(
        "relative tables from the absolute ones",
        "relative from absolute, 6 tables",
        held,
        108,
    );

    let mut repeated = Vec::new();
    for test in &data.summary.rows {
        let Some(pair) = data.pair.iter().find(|pair| pair.name == test[0]) else { continue };
        for (version, published) in data.summary.versions.iter().zip(&test[1..]) {
            let throughput = |name: &str| figures_of(row(&pair.absolute, name)?).last().copied();
            let Some((own, base)) = throughput(version).zip(throughput(&pair.absolute[0][0]))
            else {
                continue;
            };
            let name = format!("{} of {version}, in the summary", pair.name);
            repeated.push((name, published.clone(), own.over(base)));
        }
    }
    exactly("relative throughput in the summary", "summary of throughput", repeated, 18);

    let changes = &data.changes;
    let Some(pair) = data.pair.iter().find(|pair| pair.name == changes.pair) else { return };
    let side =
        |name: &str| row(&pair.absolute, name).map(|row| figures_of(row)).unwrap_or_default();
    let (from, to) = (side(&changes.from), side(&changes.to));
    let told = changes.percent.iter().filter_map(|change| {
        let place = pair.columns.iter().position(|column| *column == change[0])?;
        let name =
            format!("{} {} from {} to {}, %", pair.name, change[0], changes.from, changes.to);
        Some((name, change[1].clone(), from[place].change_to(to[place])))
    });
    arithmetic.add(&data.post, "changes told in prose", told);
}

fn postgres(data: &Postgres, arithmetic: &mut Arithmetic, findings: &mut Findings) {
    let table = &data.per_query;
    let mut held = Vec::new();
    for (averages, divided) in table.averages.iter().zip(&table.divided) {
        let own = figures_of(averages);
        for place in 1..table.columns.len() {
            let name = format!("{} per query, {}", table.columns[place], averages[0]);
            let computed = own[place].over(own[0]).times(table.factors[place]);
            held.push((name, divided[place + 1].clone(), computed));
        }
    }
    let quotients = arithmetic.add(&table.post, "per query from averages", held);
    let [named, computed] = [table.factor_named, table.factors[2]].map(|it| format!("{it:.0}"));
    arithmetic.deviations.row(
        "factor of us and sy per query, RocksDB mmap",
        figures![named, computed, Agreement::Deviates],
    );

    let sum = |name: &str, parts: &[Printed], total: &str| {
        (format!("total of {name}"), total.to_owned(), Computed::sum(parts))
    };
    let sizes = data.sizes.rows.iter().filter_map(|row| {
        let (total, parts) = row.split_last()?;
        Some(sum(&row[0], &figures_of(parts), total))
    });
    let sizes = arithmetic.add(&data.post, "sizes: index + relation = total", sizes);
    let shares = data.shares.rows.iter().map(|row| sum(&row[0], &figures_of(row), "100"));
    let shares = arithmetic.add(&data.post, "shares of 100%", shares);
    let rows: Vec<Vec<Printed>> =
        data.create_index.rows.iter().map(|row| figures_of(row)).collect();
    let name = "time of l.x from 15b1 to 15b2, %".to_owned();
    let slower = (name, data.create_index.percent.clone(), rows[0][0].change_to(rows[1][0]));
    arithmetic.add(&data.post, "time to create indexes", [slower]);
    let none = [quotients, sizes, shares].iter().all(|counts| counts[3] == 0);
    findings.check("figures of 2022 within rounding", none.to_string(), "all", none);
}

/// With clients that never pause, clients = throughput × latency (J. D. C. Little, *Operations
/// Research* 9, 1961).
fn idle(data: &Idle, arithmetic: &mut Arithmetic) {
    let clients = Printed { value: 1000.0 * f64::from(data.clients), half: 0.0 };
    let held = data.seconds.iter().zip(1..).map(|(row, second)| {
        let name = format!("pgbench, ms in second {second}");
        (name, row[1].clone(), clients.over(figure(&row[0])))
    });
    arithmetic.add(&data.post, "latency from throughput (Little's law)", held);
}

/// The figures that cannot be recomputed.
fn only_relative(data: &OnlyRelative, findings: &mut Findings) {
    findings.table(
        "**Only relative figures** stand in these tables, and nothing can be recomputed.",
        "post | relative to | versions | figures",
    );
    for one in &data.table {
        let versions: Vec<&str> = one.rows.iter().map(|row| row[0].as_str()).collect();
        let figures = one.rows.len() * one.columns.len();
        findings.row(&one.post, figures![one.base, versions.join(", "), figures]);
    }
}

fn variance(data: &Variance, findings: &mut Findings) {
    let Variance { post, runs, limit, .. } = data;
    findings.table(
        format!(
            "**Which set-up to choose** (\"{post}\"), from the two published tables of the largest CV over all steps: numbers of clients \
             with a CV of at most {limit} in both. Published: the post's own list. By the sample deviation: were the published \
             figures, which divide by {runs}, turned into those that divide by {less} (×√({runs}/{less})).",
            less = runs - 1,
        ),
        "server | clients | from the tables | published | by the sample deviation",
    );
    let raised = (f64::from(*runs) / f64::from(runs - 1)).sqrt();
    let mut missing = Vec::new();
    let mut surplus = 0;
    let mut figures = 0;
    for server in &data.server {
        let found = good(server, *limit, 1.0);
        surplus += server.chosen.iter().filter(|dop| !found.contains(dop)).count();
        figures += server.cached.len() + server.io_bound.len();
        let lacking = found.iter().filter(|dop| !server.chosen.contains(dop));
        missing.extend(lacking.map(|dop| format!("{} with {dop}", server.name)));
        let raised = good(server, *limit, raised);
        findings.row(&server.name, [&server.dop[..], &found, &server.chosen, &raised].map(list));
    }
    findings.check(
        "published setups that the tables do not give",
        surplus.to_string(),
        "none",
        surplus == 0 && figures == 68,
    );
    let known = "m5.2xl.ht0 with 4, m5.2xl.ht1 with 4";
    let missing = missing.join(", ");
    let same = missing == known;
    findings.check("setups of the tables that the published list lacks", missing, known, same);
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
        let data = read::<Sysbench>(SYSBENCH);
        for pair in &data.pair {
            for row in pair.absolute.iter().chain(&pair.relative) {
                assert_eq!(row.len(), pair.columns.len() + 1, "{} {}", pair.name, row[0]);
            }
        }
        for server in read::<Variance>(VARIANCE).server {
            assert_eq!(server.dop.len(), server.cached.len(), "{}", server.name);
            assert_eq!(server.dop.len(), server.io_bound.len(), "{}", server.name);
        }
        for table in read::<OnlyRelative>(ONLY_RELATIVE).table {
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len() + 1));
        }
    }

    #[test]
    fn a_wrong_digit_is_found() {
        let mut data = read::<Sysbench>(SYSBENCH);
        data.pair[3].relative[1][2] = "1.01".to_owned();
        let mut findings = Findings::default();
        sysbench(&data, &mut Arithmetic::new(), &mut findings);
        assert_eq!(findings.missed().count(), 1);
        let mut data = read::<Variance>(VARIANCE);
        data.server[2].cached[0] = "0.031".to_owned();
        let mut findings = Findings::default();
        variance(&data, &mut findings);
        assert_eq!(findings.missed().count(), 1);
    }
}
