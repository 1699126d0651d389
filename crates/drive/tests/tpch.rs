//! What is derived from TPC-H, on real servers.

use drive::Outcome;
use workload::{Benchmark, Dialect, Phase, Step, StorageEngine};

use crate::common::mysql::MysqlServer;
use crate::common::{TestServer, run_on};
use crate::workloads::{hold, planned};

#[test]
fn the_answers_are_those_of_the_specification() {
    let mut server = TestServer::of("postgres@18.1");
    let benchmark = planned("tpch", "scale = 1", Dialect::postgres(18)).unwrap();
    benchmark.setup.iter().for_each(|statement| server.sql(statement));
    let mut checked = 0;
    for phase in &benchmark.phases[..4] {
        match phase {
            Phase::Step(load) => assert_eq!(run_on(load.clone(), server.target()).fatal, None),
            Phase::Check(list) => {
                checked += list.len();
                hold(list, |query| server.number(query));
                // Without one line, the first query has another answer.
                server.sql("DELETE FROM lineitem WHERE l_orderkey = 1 AND l_linenumber = 1");
                assert!(server.number(&list[0].exceptions) > 0);
            }
            _ => {}
        }
    }
    assert_eq!(checked, 23);
}

fn refreshing(dialect: Dialect) -> Benchmark {
    let more = "scale = 0.01\nsteps = [\"rf1\", \"rf2\"]\nrefreshes = 100";
    planned("tpch", more, dialect).unwrap()
}

/// Orders come under keys that the load leaves out, as many old ones go, and all keep their lines.
fn refreshes(
    benchmark: &Benchmark,
    mut number: impl FnMut(&str) -> i64,
    mut run: impl FnMut(Step),
) {
    let steps: Vec<_> = benchmark.phases.iter().filter_map(Phase::step).cloned().collect();
    let [load, index, come, go] = steps.try_into().unwrap();
    run(load);
    run(index);
    let mut found = |what: &str| number(&format!("SELECT COUNT(*) FROM {what}"));
    let lines = found("lineitem");
    assert_eq!(found("orders"), 15_000);
    run(come);
    let new = "lineitem WHERE l_orderkey % 32 >= 8";
    let more = found(new);
    assert_eq!((found("orders"), found("lineitem")), (16_500, lines + more));
    run(go);
    assert_eq!((found("orders"), found("lineitem"), found(new)), (15_000, lines, more));
    assert_eq!(found("orders WHERE o_orderkey % 32 >= 8"), 1_500);
    let alone = "orders LEFT JOIN lineitem ON l_orderkey = o_orderkey WHERE l_orderkey IS NULL";
    assert_eq!(found(alone), 0);
}

#[test]
fn orders_come_and_go_in_postgres() {
    let mut server = TestServer::of("postgres@14.3");
    let benchmark = refreshing(Dialect::postgres(14));
    benchmark.setup.iter().for_each(|statement| server.sql(statement));
    let target = server.target();
    let run = |step: Step| assert_eq!(run_on(step, target.clone()).fatal, None);
    refreshes(&benchmark, |sql| server.number(sql), run);
}

#[test]
fn orders_come_and_go_in_mysql() {
    let server = MysqlServer::of("mysql@8.0.31");
    let benchmark = refreshing(Dialect::mysql(StorageEngine::InnoDb));
    benchmark.setup.iter().for_each(|statement| server.sql(statement));
    let run = |step: Step| assert_eq!(run_on(step, server.target()).fatal, None);
    refreshes(&benchmark, |sql| server.number(sql), run);
}

/// Each query and each function runs as often as the specification says, with orders of its own.
fn tests_run(dialect: Dialect, mut number: impl FnMut(&str) -> i64, run: impl Fn(Step) -> Outcome) {
    let more = "scale = 0.01\nsteps = [\"power\", \"throughput\"]\nstreams = 2";
    let benchmark = planned("tpch", more, dialect).unwrap();
    let steps: Vec<_> = benchmark.phases.iter().filter_map(Phase::step).cloned().collect();
    let outcomes: Vec<Outcome> = steps.into_iter().map(run).collect();
    let done = |outcome: &Outcome| {
        assert_eq!(outcome.fatal, None, "{:?}", outcome.failures);
        let of = |name: &str| outcome.classes.iter().find(|it| it.class.name == name).unwrap();
        let all = (1..=22).map(|query| of(&format!("q{query}")).statements);
        let all: Vec<u64> = all.chain(["rf1", "rf2"].map(|name| of(name).statements)).collect();
        (outcome.operations, all)
    };
    assert_eq!(done(&outcomes[2]), (24, vec![1; 24]));
    assert_eq!(done(&outcomes[3]), (44, vec![2; 24]));
    assert_eq!(number("SELECT COUNT(*) FROM orders"), 15_000);
    assert_eq!(number("SELECT COUNT(*) FROM orders WHERE o_orderkey % 32 >= 8"), 45);
}

#[test]
fn tests_run_in_postgres() {
    let mut server = TestServer::of("postgres@14.3");
    let dialect = Dialect::postgres(14);
    tests_setup(dialect).iter().for_each(|statement| server.sql(statement));
    let target = server.target();
    tests_run(dialect, |sql| server.number(sql), |step| run_on(step, target.clone()));
}

#[test]
fn tests_run_in_mysql() {
    let server = MysqlServer::of("mysql@8.0.31");
    let dialect = Dialect::mysql(StorageEngine::InnoDb);
    tests_setup(dialect).iter().for_each(|statement| server.sql(statement));
    tests_run(dialect, |sql| server.number(sql), |step| run_on(step, server.target()));
}

fn tests_setup(dialect: Dialect) -> Vec<String> {
    planned("tpch", "scale = 0.01", dialect).unwrap().setup
}
