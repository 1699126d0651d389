//! Transactions derived from TPC-C: a supplier's warehouses, districts, customers and orders.
//!
//! Tables, data, transactions, their mix and the conditions that hold between them are those of
//! the specification. Results are not comparable with published results of TPC-C.

mod conditions;
mod procedures;
mod rows;
mod tables;
mod transactions;

use std::sync::Arc;

use plan::{TpccMode, TpccPlan};

pub(crate) use rows::rows;
use tables::{SMALL, TABLES};
use transactions::MIX;

use crate::class::{Class, Effect};
use crate::copy::Generator;
use crate::kinds::{Catalogue, Kind, Load, State};
use crate::phase::{Benchmark, Phase};
use crate::request::Request;
use crate::scripts::Scripts;
use crate::step::{Alternative, Step, Stream};
use crate::{Dialect, Error, Sql, pgbench};

/// All transactions together.
const TRANSACTION: Class =
    Class::new("transaction", "transactions", "transactions", Effect::Changes);

/// The benchmark of `plan`.
///
/// # Errors
/// [`Error::Unfit`] if the system does not speak SQL.
pub fn benchmark(plan: &TpccPlan, dialect: Dialect) -> Result<Benchmark, Error> {
    let sql = dialect.sql("tpcc")?;
    let scripts = Arc::new(transactions::scripts(plan, sql)?);
    let check = plan.check.then(|| Phase::Check(conditions::conditions()));
    let mut phases = Vec::new();
    for name in &plan.steps {
        match name.as_str() {
            "load" => phases.push(Phase::Step(load(plan))),
            "index" => {
                let index = Step::index(name, 1, tables::index(sql));
                phases.extend([Phase::Step(index), Phase::Settle { rows: None }]);
                phases.extend(check.clone());
            }
            _ => {
                for dop in &plan.dop {
                    phases.push(Phase::Step(mix(plan, name, *dop, &scripts, sql)));
                    phases.extend(check.clone());
                }
            }
        }
    }
    let clients = plan.dop.iter().copied().max().unwrap_or(1).max(plan.load_dop);
    Ok(Benchmark {
        setup: setup(plan, sql),
        teardown: procedures::drop(sql),
        tables: TABLES.map(|(name, _)| name.to_owned()).into(),
        phases,
        config: pgbench::room_for(clients).into_iter().collect(),
    })
}

/// The statements that create the tables, and the procedures if there are any.
fn setup(plan: &TpccPlan, sql: Sql) -> Vec<String> {
    let mut setup = tables::create(sql);
    if plan.mode == TpccMode::Procedures {
        setup.extend(procedures::create(sql));
    }
    setup
}

/// The step of the transactions, with so many clients.
fn mix(plan: &TpccPlan, name: &str, dop: u32, scripts: &Arc<Scripts>, sql: Sql) -> Step {
    let alternative = |it: &transactions::Transaction| Alternative {
        class: it.class.clone(),
        weight: it.weight,
        actions: Vec::new(),
        adds_to: None,
        finds: None,
    };
    let stream = |client| Stream {
        mix: MIX.iter().map(alternative).collect(),
        scripts: Some(Arc::clone(scripts)),
        opening: plan.isolation.map(|level| sql.isolation(level)).into_iter().collect(),
        ..Stream::new(client, TRANSACTION)
    };
    let mut step = Step::new(name, dop, TRANSACTION, (0..dop).map(stream).collect());
    step.seconds = Some(f64::from(plan.seconds));
    step
}

fn load(plan: &TpccPlan) -> Step {
    let tables = TABLES.iter().map(|(table, _)| (*table, SMALL.contains(table)));
    Step::generated("load", plan.load_dop, (Generator::Tpcc, plan.warehouses), tables)
}

/// The requests that `steelyard count` counts: a run of each transaction.
///
/// # Errors
/// As [`benchmark`].
pub fn catalogue(plan: &TpccPlan, dialect: Dialect) -> Result<Catalogue, Error> {
    let sql = dialect.sql("tpcc")?;
    let scripts = transactions::scripts(plan, sql)?;
    let kind = |script: &(::script::Script, u32), class: &Class| {
        let alone = Scripts { scripts: vec![script.clone()], ..scripts.clone() };
        Kind {
            name: class.name.to_string(),
            class: class.clone(),
            request: Request::Script(Arc::new(alone)),
            rows: 0,
            state: State::Indexed,
            reads_only: class.effect == Effect::Reads,
            adds: None,
        }
    };
    let one = TpccPlan { load_dop: 1, ..plan.clone() };
    Ok(Catalogue {
        setup: setup(plan, sql),
        load: Load::of(&load(&one)).collect(),
        index: tables::index(sql),
        cells: 0,
        refresh: None,
        config: Default::default(),
        kinds: scripts.scripts.iter().zip(&MIX).map(|(it, of)| kind(it, &of.class)).collect(),
    })
}

#[cfg(test)]
mod tests;
