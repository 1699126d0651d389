#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::collections::BTreeSet;

use plan::{SYSBENCH_STEPS, SysbenchPlan};

use super::*;
use crate::StorageEngine;
use crate::request::Expect;
use crate::step::Finds;

fn plan(steps: &[&str]) -> SysbenchPlan {
    let steps = steps.iter().map(|step| (*step).to_owned()).collect();
    SysbenchPlan { tables: 3, rows: 1200, load_dop: 2, steps, ..SysbenchPlan::default() }
}

fn steps(plan: &SysbenchPlan) -> Vec<Step> {
    let benchmark = benchmark(plan, Dialect::postgres(15)).unwrap();
    benchmark.phases.iter().filter_map(Phase::step).cloned().collect()
}

#[test]
fn every_step_is_made_as_planned() {
    let plan = SysbenchPlan { dop: vec![1, 3], ..plan(&SYSBENCH_STEPS) };
    let benchmark = benchmark(&plan, Dialect::postgres(15)).unwrap();
    assert_eq!(benchmark.tables, ["sbtest1", "sbtest2", "sbtest3"]);
    assert_eq!(benchmark.setup.len(), 3);
    let made = benchmark.phases.iter().filter_map(Phase::step);
    let sequences = plan::WorkloadPlan::Sysbench(plan.clone()).sequences();
    let planned = sequences.iter().flat_map(|sequence| &sequence.steps);
    assert_eq!(made.clone().count(), planned.clone().count());
    for (step, planned) in made.zip(planned) {
        assert_eq!(step.key, planned.key);
        assert_eq!(step.is_timed(), planned.timed, "{}", step.key.name);
        let clients: BTreeSet<u32> = step.streams.iter().map(|stream| stream.client).collect();
        assert_eq!(clients.len() as u32, step.key.dop, "{}", step.key.name);
        for stream in &step.streams {
            for action in &stream.actions {
                let fits = match action {
                    Action::Run(index) => *index < stream.requests.len(),
                    Action::Choose(among) | Action::InTurn(among) => {
                        among.iter().all(|at| *at < stream.requests.len())
                    }
                    Action::Kept { number, among } => {
                        *number < stream.keeps.len()
                            && among.iter().all(|at| *at < stream.requests.len())
                    }
                    Action::Rest(_) => false,
                };
                assert!(fits, "{}: {action:?}", step.key.name);
            }
        }
    }
    assert_eq!(benchmark.phases.len(), sequences[0].steps.len() + 1, "and settling");
}

#[test]
fn the_load_fills_all_tables_to_the_row() {
    let load = steps(&plan(&["load"])).remove(0);
    let rows: u64 = load
        .streams
        .iter()
        .map(|stream| {
            let End::Rounds(rounds) = stream.end else { panic!("{stream:?}") };
            rounds * stream.operations_per_round
        })
        .sum();
    assert_eq!(rows, 3 * 1200);
    let index = steps(&plan(&["load", "index"])).remove(1);
    assert_eq!((index.operations, index.streams.len()), (Some(3600), 2));
}

fn texts(step: &Step) -> Vec<String> {
    step.streams[0].requests.iter().map(ToString::to_string).collect()
}

#[test]
fn a_transaction_counts_all_its_statements() {
    let of = |test: &str, transactions: bool| {
        let plan = SysbenchPlan { tables: 1, transactions, ..plan(&[test]) };
        let step = steps(&plan).remove(0);
        let actions = step.streams[0].actions.len() as u64;
        assert_eq!(step.streams[0].operations_per_round, actions, "{test}");
        actions
    };
    assert_eq!(of("read-only_range=100", true), 16);
    assert_eq!(of("read-only_range=100", false), 14);
    assert_eq!(of("read-only-sum", true), 13);
    assert_eq!(of("write-only_range=10000", true), 6);
    assert_eq!(of("read-write_range=10", true), 20);
    assert_eq!(of("read-only-count", true), 1);
    let plan = SysbenchPlan { tables: 1, ..plan(&["write-only"]) };
    assert_eq!(
        texts(&steps(&plan)[0]),
        [
            "UPDATE sbtest1 SET k=k+1 WHERE id=$1",
            "UPDATE sbtest1 SET c=$1 WHERE id=$2",
            "DELETE FROM sbtest1 WHERE id=$1",
            "INSERT INTO sbtest1 (id, k, c, pad) VALUES ($1, $2, $3, $4)",
            "BEGIN",
            "COMMIT",
        ]
    );
    let actions = &steps(&plan)[0].streams[0].actions;
    assert_eq!(actions.first(), Some(&Action::Run(4)));
    assert_eq!(actions.last(), Some(&Action::Run(5)));
}

#[test]
fn what_is_deleted_may_be_missing_afterwards() {
    let expect = |steps_of: &[&str], dop: u32| {
        let plan = SysbenchPlan { dop: vec![dop], ..plan(steps_of) };
        steps(&plan).last().unwrap().streams[0].requests[0].expect()
    };
    assert_eq!(expect(&["point-query"], 1), Expect::Rows { min: 1, max: 1 });
    assert_eq!(expect(&["delete", "point-query"], 1), Expect::Rows { min: 0, max: 1 });
    assert_eq!(expect(&["update-index"], 1), Expect::affected(1));
    assert_eq!(expect(&["update-index"], 2), Expect::affected(1));
    assert_eq!(expect(&["write-only"], 2), Expect::Affected { min: 0, max: 1 });
    assert_eq!(expect(&["update-inlist"], 1), Expect::Affected { min: 1, max: 100 });
    assert_eq!(expect(&["delete", "update-inlist"], 1), Expect::Affected { min: 0, max: 100 });
    assert_eq!(expect(&["hot-points"], 1), Expect::Rows { min: 100, max: 100 });
    assert_eq!(expect(&["range-covered-pk"], 1), Expect::Rows { min: 1, max: 101 });
}

#[test]
fn lists_must_find_what_they_ask_for() {
    let finds = |rows: u64, test: &str| {
        let step = steps(&SysbenchPlan { rows, ..plan(&[test]) }).remove(0);
        step.streams[0].finds
    };
    assert_eq!(finds(100_000, "random-points_range=1000"), Some(Finds::Mean(500.0)));
    assert_eq!(finds(1200, "random-points_range=1000"), None, "most would be drawn twice");
    assert_eq!(finds(100_000, "range-covered-si"), Some(Finds::Mean(50.0)));
}

#[test]
fn a_secondary_index_can_replace_the_primary_key() {
    let setup = |secondary| {
        let plan = SysbenchPlan { secondary, tables: 1, ..plan(&["load"]) };
        benchmark(&plan, Dialect::postgres(15)).unwrap().setup
    };
    assert!(setup(false)[0].ends_with(", PRIMARY KEY (id))"), "{:?}", setup(false));
    assert_eq!(setup(true)[1], "CREATE INDEX xid_1 ON sbtest1 (id)");
    assert!(!setup(true)[0].contains("PRIMARY"));
    let unfit = Error::Unfit { workload: "sysbench", needs: "SQL" };
    assert_eq!(benchmark(&plan(&["load"]), Dialect::KeyValue), Err(unfit));
}

#[test]
fn mysql_counts_ids_up_by_itself() {
    let create = |secondary| {
        let plan = SysbenchPlan { secondary, tables: 1, ..plan(&["load"]) };
        benchmark(&plan, Dialect::mysql(StorageEngine::InnoDb)).unwrap().setup
    };
    assert_eq!(
        create(false),
        [
            "CREATE TABLE sbtest1 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, \
          c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) \
          ENGINE=InnoDB"
        ]
    );
    let [table] = &create(true)[..] else { panic!("its index comes with it") };
    assert!(table.contains(", KEY xid_1 (id)) ENGINE=InnoDB"), "{table}");
}
