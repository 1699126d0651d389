use plan::{POWER, Scale, THROUGHPUT, WorkloadPlan};

use super::*;
use crate::copy::{Content, Copy};
use crate::request::Request;
use crate::step::Action;

fn small() -> TpchPlan {
    TpchPlan { scale: Scale(1), clients: 3, substitutions: 2, ..TpchPlan::default() }
}

#[test]
fn steps_are_those_of_the_plan() {
    let mut plan = small();
    let queries = plan.steps.len();
    plan.steps.extend([POWER, THROUGHPUT].map(str::to_owned));
    let planned = WorkloadPlan::Tpch(plan.clone()).sequences().remove(0).steps;
    for dbms in ["postgres", "mysql", "mariadb"] {
        let benchmark = benchmark(&plan, Dialect::of(dbms, 10, None)).unwrap();
        let steps: Vec<&Step> = benchmark.phases.iter().filter_map(Phase::step).collect();
        let keys: Vec<_> = steps.iter().map(|step| &step.key).collect();
        assert_eq!(keys, planned.iter().map(|step| &step.key).collect::<Vec<_>>());
        assert!(steps.iter().zip(&planned).all(|(step, it)| step.is_timed() == it.timed));
        assert!(!benchmark.phases.iter().any(|it| matches!(it, Phase::Check(_))));
        for query in &steps[2..queries] {
            let asks = query.asks.as_ref().unwrap();
            assert_eq!((asks.queries.len(), asks.compared), (2, Compared::Rows));
            assert_eq!(query.streams[1].actions, [Action::InTurn(vec![0, 1])]);
            assert_eq!(query.streams[2].actions, [Action::InTurn(vec![1, 0])]);
        }
        assert_eq!((benchmark.setup.len(), benchmark.tables.len()), (8, 8));
    }
    let checks = |plan: &TpchPlan| {
        let phases = benchmark(plan, Dialect::postgres(18)).unwrap().phases;
        let checks = phases.into_iter().filter_map(|phase| match phase {
            Phase::Check(list) => Some(list.len()),
            _ => None,
        });
        checks.collect::<Vec<_>>()
    };
    let whole = TpchPlan { scale: Scale(100), ..plan.clone() };
    let one =
        TpchPlan { steps: ["load", "index", "q6"].map(str::to_owned).into(), ..whole.clone() };
    assert_eq!((checks(&whole), checks(&one)), (vec![23], vec![1]));
    assert!(checks(&TpchPlan { check: false, ..whole }).is_empty());
    let error = benchmark(&plan, Dialect::KeyValue).unwrap_err();
    assert_eq!(error, Error::Unfit { workload: "tpch", needs: "SQL" });
}

/// Every part of every table is sent once.
#[test]
fn clients_share_the_tables() {
    let step = load(&small());
    let mut parts: Vec<(String, u32, u32)> = Vec::new();
    for request in step.streams.iter().flat_map(|stream| &stream.requests) {
        let Request::Copy(Copy { content: Content::Generated(it), .. }) = request else {
            panic!("{request:?}")
        };
        parts.push((it.table.clone(), it.part, it.parts));
    }
    let mut wanted: Vec<(String, u32, u32)> = Vec::new();
    for (place, (table, _)) in TABLES.iter().enumerate() {
        let count = if place < FIXED { 1 } else { 3 };
        wanted.extend((1..=count).map(|part| ((*table).to_owned(), part, count)));
    }
    parts.sort();
    wanted.sort();
    assert_eq!(parts, wanted);
}

/// New orders have the keys next to those of the load; old ones are removed by the keys they have.
#[test]
fn refresh_functions_know_the_keys() {
    let plan = TpchPlan { refreshes: 30, ..small() };
    let [new, old] = ["rf1", "rf2"].map(|name| refresh::step(&plan, name));
    for step in [&new, &old] {
        let stream = &step.streams[0];
        assert_eq!((stream.requests.len(), stream.operations_per_round), (62, 15));
        assert_eq!(stream.end, crate::step::End::Rounds(30));
    }
    let keys = |table: &str, part: u32| -> Vec<u64> {
        let table = table.to_owned();
        let of = crate::copy::Generated { by: Generator::Tpch, table, scale: 1, part, parts: 1000 };
        rows(&of).map(|row| row.split('\t').next().unwrap().parse().unwrap()).collect()
    };
    for set in [1, 2, 30] {
        let loaded = keys("orders", set);
        let renewed: Vec<u64> = loaded.iter().map(|key| key + 8).collect();
        assert_eq!((loaded.len(), keys("new orders", set)), (15, renewed.clone()));
        let mut lines = keys("new lineitem", set);
        lines.dedup();
        assert_eq!(lines, renewed);
        assert!(loaded.iter().all(|key| key % 32 < 8));
        let (low, high) = (loaded[0], loaded[14]);
        let removes = |at: u32| old.streams[0].requests[at as usize].to_string();
        let between = format!("BETWEEN {low} AND {high} AND");
        assert!(removes(set - 1).contains(&between), "{}, {between}", removes(set - 1));
        assert!(removes(set + 29).starts_with("DELETE FROM orders"), "{}", removes(set + 29));
    }
}

/// The tests have sets of orders of their own.
#[test]
fn no_set_of_orders_comes_twice() {
    let of = |steps: &[&str]| {
        let steps = steps.iter().map(|name| (*name).to_owned()).collect();
        let plan = TpchPlan { refreshes: 5, steps, ..small() };
        let step = refresh::step(&plan, "rf1");
        let Request::Copy(Copy { content: Content::Generated(it), .. }) =
            &step.streams[0].requests[0]
        else {
            panic!("{step:?}")
        };
        it.part
    };
    assert_eq!(of(&["rf1"]), 1);
    assert_eq!(of(&["power", "rf1"]), 2);
    assert_eq!(of(&["rf1", "power", "throughput"]), 4);
}

#[test]
fn each_query_is_a_kind_on_indexed_tables() {
    let catalogue = catalogue(&small(), Dialect::postgres(16)).unwrap();
    assert_eq!((catalogue.load.len(), catalogue.kinds.len()), (8, 22));
    assert!(catalogue.kinds.iter().all(|kind| kind.reads_only && kind.state == State::Indexed));
}
