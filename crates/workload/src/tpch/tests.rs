use plan::{Scale, WorkloadPlan};

use super::*;
use crate::copy::{Content, Copy};
use crate::request::Request;
use crate::step::Action;

fn small() -> TpchPlan {
    TpchPlan { scale: Scale(1), clients: 3, substitutions: 2, ..TpchPlan::default() }
}

#[test]
fn steps_are_those_of_the_plan() {
    let plan = small();
    let planned = WorkloadPlan::Tpch(plan.clone()).sequences().remove(0).steps;
    for dbms in ["postgres", "mysql", "mariadb"] {
        let benchmark = benchmark(&plan, Dialect::of(dbms, 10, None)).unwrap();
        let steps: Vec<&Step> = benchmark.phases.iter().filter_map(Phase::step).collect();
        let keys: Vec<_> = steps.iter().map(|step| &step.key).collect();
        assert_eq!(keys, planned.iter().map(|step| &step.key).collect::<Vec<_>>());
        assert!(steps.iter().zip(&planned).all(|(step, it)| step.is_timed() == it.timed));
        for query in &steps[2..] {
            let asks = query.asks.as_ref().unwrap();
            assert_eq!((asks.queries.len(), asks.compared), (2, Compared::Rows));
            assert_eq!(query.streams[1].actions, [Action::InTurn(vec![0, 1])]);
            assert_eq!(query.streams[2].actions, [Action::InTurn(vec![1, 0])]);
        }
        assert_eq!((benchmark.setup.len(), benchmark.tables.len()), (8, 8));
    }
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

#[test]
fn each_query_is_a_kind_on_indexed_tables() {
    let catalogue = catalogue(&small(), Dialect::postgres(16)).unwrap();
    assert_eq!((catalogue.load.len(), catalogue.kinds.len()), (8, 22));
    assert!(catalogue.kinds.iter().all(|kind| kind.reads_only && kind.state == State::Indexed));
}
