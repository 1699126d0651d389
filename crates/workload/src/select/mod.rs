//! A read-only sweep: point selects on the largest of pgbench's tables, with several numbers of
//! clients, each under several conditions.

use plan::{IdleThreads, Pinning, Point, Protocol, SelectPlan};

use crate::class::Class;
use crate::kinds::{Catalogue, Kind, Load, State};
use crate::pgbench::{
    ACCOUNTS, ACCOUNTS_TABLE, account, create_accounts, index_accounts, load_accounts, room_for,
};
use crate::phase::{Benchmark, Phase};
use crate::request::{Expect, Piece, Request, Statement};
use crate::sent::Sent;
use crate::step::{Step, Stream};
use crate::terms::{Counters, Idle, Terms};
use crate::{Dialect, Error};

/// The benchmark of `plan`.
///
/// # Errors
/// [`Error::Unfit`] if the system does not speak SQL.
pub fn benchmark(plan: &SelectPlan, dialect: Dialect) -> Result<Benchmark, Error> {
    let sql = dialect.sql("select")?;
    if !sql.has_pipelines() {
        check(plan)?;
    }
    let mut phases = vec![
        Phase::Step(load_accounts(SelectPlan::LOAD, plan.scale, plan.load_dop)),
        Phase::Step(index_accounts(SelectPlan::INDEX, plan.scale)),
        Phase::Settle { rows: Some(plan.rows()) },
    ];
    if plan.warm_seconds > 0 {
        let warm = Sending { sent: Sent::Prepared, depth: 1 };
        let mut step = step(SelectPlan::WARM, plan.scale, plan.load_dop, warm);
        step.seconds = Some(f64::from(plan.warm_seconds));
        phases.push(Phase::Step(step));
    }
    phases.extend(plan.points().into_iter().map(|at| Phase::Step(point(plan, at))));
    Ok(Benchmark {
        setup: vec![create_accounts(sql)],
        teardown: Vec::new(),
        tables: vec![ACCOUNTS_TABLE.to_owned()],
        phases,
        config: room_for(plan.clients.iter().copied().max().unwrap_or(0)).into_iter().collect(),
    })
}

/// Checks that a system with two protocols and a thread for each connection can run all points.
fn check(plan: &SelectPlan) -> Result<(), Error> {
    let unfit = |workload, needs| Err(Error::Unfit { workload, needs });
    for point in plan.points() {
        if point.protocol == Protocol::Extended {
            return unfit("select (protocol extended)", "statements that are parsed each time");
        }
        if point.pipeline > 1 {
            return unfit("select (pipeline above 1)", "pipelines");
        }
        if point.pinning != Pinning::None {
            return unfit("select (pinning)", "connections with a process each");
        }
    }
    Ok(())
}

/// How queries are sent.
#[derive(Debug, Clone, Copy)]
struct Sending {
    sent: Sent,
    /// Queries before an answer is awaited.
    depth: u32,
}

/// The step of a point.
fn point(plan: &SelectPlan, at: Point) -> Step {
    let sent = match at.protocol {
        Protocol::Simple => Sent::Text,
        Protocol::Extended => Sent::Extended,
        Protocol::Prepared | Protocol::Call => Sent::Prepared,
    };
    let sending = Sending { sent, depth: at.pipeline };
    let mut step = step(SelectPlan::SELECT, plan.scale, at.clients, sending);
    step.seconds = Some(f64::from(plan.seconds));
    step.any_order = true;
    step.terms = Terms {
        pinning: Some(at.pinning),
        transport: at.labels.contains_key("transport").then_some(at.transport),
        idle: (at.idle != IdleThreads::Number(0)).then(|| Idle {
            threads: at.idle,
            from: plan.idle_from.map(f64::from),
            to: plan.idle_to.map(f64::from),
        }),
        counters: Some(Counters {
            seconds: plan.counter_seconds.unwrap_or(1),
            required: plan.counter_seconds.is_some(),
        })
        .filter(|counters| counters.seconds > 0),
        ..Terms::default()
    };
    step.key.labels = at.labels;
    step
}

/// This many clients that read one row after another.
fn step(name: &str, scale: u64, clients: u32, sending: Sending) -> Step {
    let statement = select(scale, sending.sent);
    let request = match sending.depth {
        1 => Request::Sql(statement),
        depth => Request::Pipeline { statement, depth },
    };
    let stream = |client| Stream {
        operations_per_round: u64::from(sending.depth),
        ..Stream::repeating(client, Class::QUERY, request.clone())
    };
    Step::new(name, clients, Class::QUERY, (0..clients).map(stream).collect())
}

/// The query of pgbench's script `select-only`.
fn select(scale: u64, sent: Sent) -> Statement {
    let text = format!("SELECT abalance FROM {ACCOUNTS_TABLE} WHERE aid = ");
    let pieces = vec![Piece::Text(text), Piece::Value(account(scale))];
    Statement { pieces, sent, expect: Expect::Rows { min: 1, max: 1 } }
}

/// The requests that `steelyard count` counts: the query, on at most `rows` rows.
///
/// # Errors
/// As [`benchmark`].
pub fn catalogue(plan: &SelectPlan, rows: u64, dialect: Dialect) -> Result<Catalogue, Error> {
    let scale = rows.div_ceil(ACCOUNTS).clamp(1, plan.scale);
    let benchmark = benchmark(&SelectPlan { scale, load_dop: 1, ..plan.clone() }, dialect)?;
    let mut steps = benchmark.phases.iter().filter_map(Phase::step);
    let mut of_next = || steps.next().into_iter().flat_map(Load::of);
    let load = of_next().collect();
    let index = of_next().map(|load| load.request.to_string()).collect();
    Ok(Catalogue {
        setup: benchmark.setup,
        load,
        index,
        cells: 1,
        refresh: None,
        config: benchmark.config,
        kinds: vec![Kind {
            name: SelectPlan::SELECT.to_owned(),
            class: Class::QUERY,
            request: select(scale, Sent::Prepared).into(),
            rows: 0,
            state: State::Indexed,
            reads_only: true,
            adds: None,
        }],
    })
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_point_is_as_the_plan_says() {
        let plan = SelectPlan {
            scale: 1,
            clients: vec![3],
            pipeline: vec![1, 5],
            pinning: vec![Pinning::Random],
            ..SelectPlan::default()
        };
        let benchmark = benchmark(&plan, Dialect::postgres(16)).unwrap();
        let steps: Vec<_> = benchmark.phases.iter().filter_map(Phase::step).collect();
        let names: Vec<_> = steps.iter().map(|step| (&*step.key.name, step.any_order)).collect();
        let point = ("select", true);
        let warm = ("select.warm", false);
        assert_eq!(names, [("load", false), ("index", false), warm, point, point]);
        let last = steps[4];
        assert_eq!((last.key.dop, last.streams.len()), (3, 3));
        assert_eq!(last.streams[0].operations_per_round, 5);
        assert_eq!(last.streams[0].requests[0].expect(), Expect::Rows { min: 5, max: 5 });
        assert_eq!(last.terms.pinning, Some(Pinning::Random));
        assert_eq!(
            last.streams[0].requests[0].to_string(),
            "SELECT abalance FROM pgbench_accounts WHERE aid = $1"
        );
        let planned = plan::WorkloadPlan::Select(plan).sequences().remove(0).steps;
        assert_eq!(
            planned.iter().map(|step| &step.key).collect::<Vec<_>>(),
            steps.iter().map(|step| &step.key).collect::<Vec<_>>(),
        );
    }

    #[test]
    fn mysql_has_no_pipelines_and_no_process_for_each_connection() {
        let of = |plan: SelectPlan| benchmark(&plan, Dialect::mysql(crate::StorageEngine::InnoDb));
        let plain = of(SelectPlan { clients: vec![2], ..SelectPlan::default() }).unwrap();
        assert!(plain.setup[0].ends_with("filler char(84)) ENGINE=InnoDB"), "{:?}", plain.setup);
        for plan in [
            SelectPlan { pipeline: vec![1, 5], ..SelectPlan::default() },
            SelectPlan { pinning: vec![Pinning::Random], ..SelectPlan::default() },
            SelectPlan { protocol: vec![Protocol::Extended], ..SelectPlan::default() },
        ] {
            assert!(matches!(of(plan), Err(Error::Unfit { .. })));
        }
    }

    #[test]
    fn it_needs_sql() {
        let error = benchmark(&SelectPlan::default(), Dialect::KeyValue).unwrap_err();
        assert_eq!(error, Error::Unfit { workload: "select", needs: "SQL" });
    }
}
