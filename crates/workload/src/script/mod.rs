//! pgbench scripts, with pgbench's tables or others.

use std::sync::Arc;

use plan::{CountPlan, Protocol, ScriptPlan};

use crate::class::{Class, Effect};
use crate::kinds::{Catalogue, Kind, Load, State};
use crate::pgbench;
use crate::phase::{Benchmark, Phase};
use crate::request::Request;
use crate::scripts::Scripts;
use crate::sent::Sent;
use crate::step::{Pace, Step, Stream};
use crate::{Dialect, Error, Sql};

/// Transactions, as pgbench counts them: runs of a script.
const TRANSACTION: Class =
    Class::new("transaction", "transactions", "transactions", Effect::Changes);

/// The benchmark of `plan` for this many clients.
///
/// # Errors
/// [`Error::Unfit`] if the system does not speak SQL, [`Error::Script`] for a mistake in a script.
pub fn benchmark(plan: &ScriptPlan, clients: u32, dialect: Dialect) -> Result<Benchmark, Error> {
    let scripts = scripts(plan, dialect)?;
    let own = plan.init.contains('t');
    let mut phases: Vec<_> = init(plan).map(Phase::Step).collect();
    let tables = if own { pgbench::tables() } else { Vec::new() };
    if own || plan.setup_text.is_some() {
        let rows = own.then(|| plan.scale * pgbench::ACCOUNTS);
        phases.push(Phase::Settle { rows });
    }
    let run = |name: &str, protocol: Protocol, seconds: u32| {
        let sent = match protocol {
            Protocol::Simple => Sent::Text,
            Protocol::Extended => Sent::Extended,
            Protocol::Prepared | Protocol::Call => Sent::Described,
        };
        let scripts = Arc::new(Scripts { sent, ..scripts.clone() });
        let stream = |client| Stream {
            scripts: Some(Arc::clone(&scripts)),
            pace: plan.rate.map_or(Pace::Free, |rate| Pace::Poisson(rate / f64::from(clients))),
            ..Stream::new(client, TRANSACTION)
        };
        let streams = (0..clients).map(stream).collect();
        let mut step = Step::new(name, clients, TRANSACTION, streams);
        step.seconds = Some(f64::from(seconds));
        step
    };
    if let (1.., Some(protocol)) = (plan.warm_seconds, plan.protocol.first()) {
        phases.push(Phase::Step(run(ScriptPlan::WARM, *protocol, plan.warm_seconds)));
    }
    let several = plan.protocol != ScriptPlan::default().protocol;
    for protocol in &plan.protocol {
        let mut step = run(ScriptPlan::SCRIPT, *protocol, plan.seconds);
        if several {
            step.key.labels.insert("protocol".to_owned(), protocol.as_str().to_owned());
        }
        phases.push(Phase::Step(step));
    }
    Ok(Benchmark {
        setup: setup(plan, dialect.sql("script")?)?,
        teardown: Vec::new(),
        tables,
        phases,
        config: pgbench::room_for(clients).into_iter().collect(),
    })
}

/// The scripts of a plan, parsed.
fn scripts(plan: &ScriptPlan, dialect: Dialect) -> Result<Scripts, Error> {
    if !plan.init.is_empty() && !dialect.sql("script")?.has_pgbench() {
        let needs = "pgbench's tables (`setup_file` names others, or `init = \"\"` none)";
        return Err(Error::Unfit { workload: "script", needs });
    }
    let (scripts, symbols) = plan.parsed().map_err(|error| Error::Script(error.to_string()))?;
    Ok(Scripts {
        scripts,
        symbols,
        given: plan.define.clone().into_iter().collect(),
        scale: plan.scale as i64,
        literals: false,
        sent: Sent::Described,
        max_tries: plan.max_tries,
        latency_limit: plan.latency_limit.map(|milliseconds| milliseconds / 1e3),
        thinks: false,
    })
}

/// The statements that create the tables.
fn setup(plan: &ScriptPlan, sql: Sql) -> Result<Vec<String>, Error> {
    let mut all = if plan.init.contains('t') { pgbench::create_all(sql) } else { Vec::new() };
    if let Some(text) = plan.setup_text.clone() {
        all.extend(sql.messages(text).map_err(Error::Script)?);
    }
    Ok(all)
}

/// The steps of `pgbench -i` that the plan includes.
fn init(plan: &ScriptPlan) -> impl Iterator<Item = Step> {
    plan.init.chars().filter_map(|letter| {
        let name = ScriptPlan::init_step(letter)?;
        Some(match name {
            ScriptPlan::LOAD => pgbench::load_all(name, plan.scale, letter == 'G'),
            ScriptPlan::VACUUM => pgbench::vacuum(name, plan.scale),
            ScriptPlan::PRIMARY_KEYS => pgbench::primary_keys(name, plan.scale),
            _ => pgbench::foreign_keys(name, plan.scale),
        })
    })
}

/// The requests that `steelyard count` counts: a run of each script, on tables about as large as
/// `count` says.
///
/// # Errors
/// As [`benchmark`].
pub fn catalogue(
    plan: &ScriptPlan,
    count: &CountPlan,
    dialect: Dialect,
) -> Result<Catalogue, Error> {
    let scale = count.rows.div_ceil(pgbench::ACCOUNTS).clamp(1, plan.scale);
    let mut plan = plan.clone();
    (plan.scale, plan.protocol) = (scale, count.protocols.clone());
    let all = scripts(&plan, dialect)?;
    let (mut load, mut index) = (Vec::new(), Vec::new());
    let mut cells = 0;
    for step in init(&plan) {
        cells = cells.max(step.cells);
        match &*step.key.name {
            ScriptPlan::LOAD => load.extend(Load::of(&step)),
            // The tables are frozen, which does more.
            ScriptPlan::VACUUM => {}
            _ => index.extend(Load::of(&step).map(|load| load.request.to_string())),
        }
    }
    let mut kinds: Vec<Kind> = Vec::new();
    for (script, _) in &all.scripts {
        // The same file twice, with other weights, is one kind.
        if kinds.iter().any(|kind| kind.name == script.name) {
            continue;
        }
        let alone = Scripts { scripts: vec![(script.clone(), 1)], ..all.clone() };
        kinds.push(Kind {
            name: script.name.clone(),
            class: TRANSACTION,
            request: Request::Script(Arc::new(alone)),
            rows: 0,
            state: if index.is_empty() { State::Loaded } else { State::Indexed },
            reads_only: false,
            adds: None,
        });
    }
    Ok(Catalogue {
        setup: setup(&plan, dialect.sql("script")?)?,
        load,
        index,
        cells,
        refresh: None,
        config: Default::default(),
        kinds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_plan() {
        let text = "[variants.a]\ndbms = \"postgres@16\"\n[workload.script]\n\
                    builtin = [\"tpcb-like\", \"select-only@9\"]\nclients = [2, 4]\n\
                    protocol = [\"simple\", \"prepared\"]\nrate = 100\ninit = \"dtgvpf\"";
        let plan = plan::Plan::parse(text, None, "test").unwrap();
        for sequence in plan.workload.sequences() {
            let dialect = Dialect::postgres(16);
            let benchmark = crate::benchmark(&plan.workload, sequence.key, dialect).unwrap();
            let steps: Vec<_> = benchmark.phases.iter().filter_map(Phase::step).collect();
            assert_eq!(
                steps.iter().map(|step| &step.key).collect::<Vec<_>>(),
                sequence.steps.iter().map(|step| &step.key).collect::<Vec<_>>(),
            );
            let last = steps.last().unwrap();
            assert_eq!(last.target(&TRANSACTION), Some(100.0));
            assert_eq!(last.streams.len() as u32, sequence.key.number());
            let scripts = last.streams[0].scripts.as_ref().unwrap();
            let weights: Vec<_> = scripts.scripts.iter().map(|(_, weight)| *weight).collect();
            assert_eq!((weights, scripts.sent), (vec![1, 9], Sent::Described));
            assert_eq!(benchmark.setup.len(), 4);
        }
    }
}
