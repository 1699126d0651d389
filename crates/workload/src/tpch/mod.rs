//! Decision support derived from TPC-H: eight tables, 22 queries that only read, two refresh
//! functions, and the power and the throughput test.
//!
//! Data is that of dbgen, texts and their values are those of the specification. Results are not
//! comparable with published results of TPC-H, which must be audited.

mod answers;
mod queries;
mod refresh;
mod streams;
mod tables;
mod values;

use plan::{Compared, POWER, QueriesPlan, Query, THROUGHPUT, TpchPlan};

pub(crate) use tables::rows;
use tables::{FIXED, TABLES};

use crate::copy::Generator;
use crate::kinds::{Catalogue, Kind, Load, State};
use crate::phase::{Benchmark, Condition, Phase};
use crate::queries::{kind, step};
use crate::step::Step;
use crate::{Dialect, Error, pgbench};

/// The benchmark of `plan`.
///
/// # Errors
/// [`Error::Unfit`] if the system does not speak SQL.
pub fn benchmark(plan: &TpchPlan, dialect: Dialect) -> Result<Benchmark, Error> {
    let sql = dialect.sql("tpch")?;
    let asked = QueriesPlan {
        clients: plan.clients,
        seconds: plan.seconds,
        timeout: plan.timeout,
        compared: Compared::Rows,
        ..QueriesPlan::default()
    };
    let mut phases = Vec::new();
    for name in &plan.steps {
        match query(plan, name) {
            Some(query) => phases.push(Phase::Step(step(&asked, &query, sql))),
            None => match name.as_str() {
                "load" => phases.push(Phase::Step(load(plan))),
                "index" => {
                    let index = Step::index(name, plan.clients, tables::index(sql));
                    phases.extend([Phase::Step(index), Phase::Settle { rows: None }]);
                    let conditions = conditions(plan);
                    phases.extend((!conditions.is_empty()).then_some(Phase::Check(conditions)));
                }
                "rf1" | "rf2" => phases.push(Phase::Step(refresh::step(plan, name))),
                POWER => phases.push(Phase::Step(streams::power(plan, sql))),
                _ => phases.push(Phase::Step(streams::throughput(plan, sql))),
            },
        }
    }
    let clients = match plan.has(THROUGHPUT) {
        true => plan.clients.max(plan.streams() + 1),
        false => plan.clients,
    };
    Ok(Benchmark {
        setup: tables::create(sql),
        teardown: Vec::new(),
        tables: TABLES.map(|(name, _)| name.to_owned()).into(),
        phases,
        config: pgbench::room_for(clients).into_iter().collect(),
    })
}

/// What the answers of the queries in a plan must meet.
fn conditions(plan: &TpchPlan) -> Vec<Condition> {
    // A condition has no time limit.
    if !plan.check || plan.timeout.is_some() || plan.scale != answers::SCALE {
        return Vec::new();
    }
    let all = [POWER, THROUGHPUT].iter().any(|name| plan.has(name));
    let asked = |number: &usize| all || plan.has(&format!("q{number}"));
    (1..=22).filter(asked).flat_map(answers::conditions).collect()
}

/// The query of a step, if it is one.
fn query(plan: &TpchPlan, name: &str) -> Option<Query> {
    let number = name.strip_prefix('q')?.parse().ok()?;
    let texts = (0..plan.substitutions).map(|set| queries::text(number, plan.scale, set)).collect();
    Some(Query { name: name.to_owned(), texts })
}

/// The load. Tables that don't grow with the scale are small.
fn load(plan: &TpchPlan) -> Step {
    let tables = TABLES.iter().enumerate().map(|(place, (table, _))| (*table, place < FIXED));
    Step::generated("load", plan.clients, (Generator::Tpch, plan.scale.0), tables)
}

/// The requests that `steelyard count` counts: each query, with its first values.
///
/// # Errors
/// As [`benchmark`].
pub fn catalogue(plan: &TpchPlan, dialect: Dialect) -> Result<Catalogue, Error> {
    let sql = dialect.sql("tpch")?;
    let one = TpchPlan { clients: 1, ..plan.clone() };
    let indexed = |kind| Kind { state: State::Indexed, ..kind };
    let named = plan.steps.iter().filter_map(|name| query(plan, name));
    Ok(Catalogue {
        setup: tables::create(sql),
        load: Load::of(&load(&one)).collect(),
        index: tables::index(sql),
        cells: 0,
        refresh: None,
        config: Default::default(),
        kinds: named.filter_map(kind).map(indexed).collect(),
    })
}

#[cfg(test)]
mod tests;
