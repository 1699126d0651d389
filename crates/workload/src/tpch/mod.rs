//! Decision-support queries derived from TPC-H: eight tables, and 22 queries that only read.
//!
//! Data is that of dbgen, texts and their values are those of the specification. There are no
//! refresh functions, and no power or throughput metric. So results are not comparable with
//! published results of TPC-H.

mod queries;
mod tables;
mod values;

use plan::{Compared, QueriesPlan, Query, TpchPlan};

pub(crate) use tables::rows;
use tables::{FIXED, TABLES};

use crate::class::Class;
use crate::copy::{Content, Copy, Generated, Generator};
use crate::kinds::{Catalogue, Kind, Load, State};
use crate::phase::{Benchmark, Phase};
use crate::queries::{kind, step};
use crate::request::Request;
use crate::step::{Step, Stream};
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
            None if name == "load" => phases.push(Phase::Step(load(plan))),
            None => {
                let mut index = Step::define(name, plan.clients, vec![tables::index(sql)], 1);
                (index.operations, index.unit) = (None, Class::DEFINE.unit);
                phases.extend([Phase::Step(index), Phase::Settle { rows: None }]);
            }
        }
    }
    Ok(Benchmark {
        setup: tables::create(sql),
        tables: TABLES.map(|(name, _)| name.to_owned()).into(),
        phases,
        config: pgbench::room_for(plan.clients).into_iter().collect(),
    })
}

/// The query of a step, if it is one.
fn query(plan: &TpchPlan, name: &str) -> Option<Query> {
    let number = name.strip_prefix('q')?.parse().ok()?;
    let texts = queries::texts(number, plan.scale, plan.substitutions);
    Some(Query { name: name.to_owned(), texts })
}

/// Each client loads a part of each table.
fn load(plan: &TpchPlan) -> Step {
    let parts = |client| copies(plan, client).map(Request::Copy).collect();
    let streams = (0..plan.clients).map(|client| Stream::once(client, parts(client)));
    Step::new("load", plan.clients, Class::DEFINE, streams.collect())
}

/// A client's parts of the tables; the small ones are the first client's.
fn copies(plan: &TpchPlan, client: u32) -> impl Iterator<Item = Copy> {
    let (scale, parts) = (plan.scale.0, plan.clients);
    TABLES.iter().enumerate().filter_map(move |(place, (table, _))| {
        let (part, parts) = match (place < FIXED, client) {
            (true, 0) => (1, 1),
            (true, _) => return None,
            (false, _) => (client + 1, parts),
        };
        let table = (*table).to_owned();
        let made = Generated { by: Generator::Tpch, table: table.clone(), scale, part, parts };
        Some(Copy { table, content: Content::Generated(made) })
    })
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
