use plan::WorkloadPlan;

use super::builder::INSERTED;
use super::*;
use crate::draw::Draw;
use crate::step::Action;
use crate::step::End;
use crate::{Pace, StorageEngine};

fn plan() -> YcsbPlan {
    YcsbPlan { records: 1_250, dop: vec![1, 4], load_dop: 3, ..YcsbPlan::default() }
}

fn all() -> [Dialect; 3] {
    [Dialect::postgres(16), Dialect::mysql(StorageEngine::InnoDb), Dialect::KeyValue]
}

fn steps(plan: &YcsbPlan, dialect: Dialect) -> Vec<Step> {
    let phases = benchmark(plan, dialect).unwrap().phases;
    phases.iter().filter_map(Phase::step).cloned().collect()
}

#[test]
fn steps_are_those_of_the_plan() {
    for dialect in all() {
        let steps = steps(&plan(), dialect);
        let sequence = WorkloadPlan::Ycsb(plan()).sequences().remove(0);
        assert!(steps.iter().map(|it| &it.key).eq(sequence.steps.iter().map(|it| &it.key)));
        assert!(steps.iter().all(|it| it.streams.iter().all(|of| of.client < it.key.dop)));
    }
}

#[test]
fn every_record_is_loaded_once() {
    for dialect in all() {
        let load = steps(&plan(), dialect).remove(0);
        let rounds = |stream: &Stream| match stream.end {
            End::Rounds(rounds) => rounds * stream.operations_per_round,
            _ => 0,
        };
        assert_eq!(load.streams.iter().map(rounds).sum::<u64>(), 1_250);
        assert_eq!(load.streams.len(), 4);
    }
    let few = YcsbPlan { records: 7, ..plan() };
    assert_eq!(steps(&few, Dialect::KeyValue)[0].streams.len(), 1);
}

#[test]
fn mixes_are_those_of_ycsb() {
    // readproportion, updateproportion, insertproportion, scanproportion,
    // readmodifywriteproportion, in percent.
    let published = [
        ("a", [50, 50, 0, 0, 0]),
        ("b", [95, 5, 0, 0, 0]),
        ("c", [100, 0, 0, 0, 0]),
        ("d", [95, 0, 5, 0, 0]),
        ("e", [0, 0, 5, 95, 0]),
        ("f", [50, 0, 0, 0, 50]),
    ];
    let names = ["read", "update", "insert", "scan", "read-modify-write"];
    for (name, shares) in published {
        let step = steps(&plan(), Dialect::postgres(16))
            .into_iter()
            .find(|step| step.key.name == name)
            .unwrap();
        let stream = &step.streams[0];
        let share = |class: &str| match &stream.mix[..] {
            [] => 100 * u32::from(stream.class.name == class),
            mix => mix.iter().filter(|it| it.class.name == class).map(|it| it.weight).sum::<u32>(),
        };
        assert_eq!(names.map(share), shares, "{name}");
    }
}

#[test]
fn statements_are_those_of_the_jdbc_binding() {
    let stream = |name: &str| {
        let steps = steps(&plan(), Dialect::postgres(16));
        steps.into_iter().find(|step| step.key.name == name).unwrap().streams.remove(0)
    };
    let modify = stream("f");
    let texts: Vec<String> = modify.requests.iter().map(ToString::to_string).collect();
    assert_eq!(texts[0], "SELECT * FROM usertable WHERE ycsb_key = $1");
    assert_eq!(texts[2], "UPDATE usertable SET field0 = $1 WHERE ycsb_key = $2");
    assert_eq!(modify.mix[1].actions, [Action::Run(1), Action::Choose((2..12).collect())]);
    let scan = stream("e");
    let ordered = "SELECT * FROM usertable WHERE ycsb_key >= $1 ORDER BY ycsb_key LIMIT $2";
    assert_eq!(scan.requests[0].to_string(), ordered);
    assert!(modify.refresh.is_none() && scan.refresh.is_some());
    assert!(scan.mix[1].adds_to == Some(INSERTED));
}

#[test]
fn without_fields_of_its_own_a_record_is_read_before_it_is_updated() {
    let steps = steps(&plan(), Dialect::KeyValue);
    let update = &steps[1].streams[0].mix[1];
    assert_eq!(update.actions, [Action::Run(1), Action::Run(2)]);
    let scan = steps.iter().find(|step| step.key.name == "e").unwrap();
    assert_eq!(scan.streams[0].mix[0].actions, [Action::Choose((0..100).collect())]);
}

#[test]
fn a_rate_is_that_of_all_clients() {
    let plan = YcsbPlan { rate: Some(100), distribution: Some(Requests::Uniform), ..plan() };
    let step = steps(&plan, Dialect::postgres(16)).remove(2);
    assert_eq!((step.key.dop, step.streams[3].pace.clone()), (4, Pace::Rate(25.0)));
    assert_eq!(step.target(&step.counted), Some(100.0));
    assert!(matches!(step.streams[0].keeps[..], [Draw::Uniform { high: 1_250, .. }]));
}

#[test]
fn kinds_find_their_records() {
    for dialect in all() {
        let catalogue = catalogue(&plan(), 500, dialect).unwrap();
        let names: Vec<&str> = catalogue.kinds.iter().map(|kind| kind.name.as_str()).collect();
        assert_eq!(names, ["read", "update", "insert", "scan-50"]);
        assert_eq!(catalogue.kinds.iter().map(|kind| kind.rows).collect::<Vec<_>>(), [0, 1, 1, 0]);
    }
    assert!(catalogue(&plan(), 1, Dialect::Files).is_err());
}
