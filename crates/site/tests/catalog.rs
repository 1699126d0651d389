//! The documents of a catalog.

use std::collections::BTreeMap;

use report::catalog::{
    ExperimentsDocument, HistoriesDocument, MachinesDocument, OverviewDocument, SummaryDocument,
};
use serde::de::DeserializeOwned;
use site::{Catalog, Kept};
use store::{NewExperiment, NewVariant, Purpose, Store};

use crate::common::{SMALL, fill};

fn read<T: DeserializeOwned>(store: &Store, catalog: &Catalog, path: &str) -> T {
    let entry = catalog.entry(path).unwrap_or_else(|| panic!("{path} is not there"));
    serde_json::from_slice(&catalog.make(store, entry).unwrap()).unwrap()
}

#[test]
fn what_moved_comes_first_and_all_documents_can_be_made() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), &SMALL, 0);
    let store = Store::open_read_only(folder.path()).unwrap();
    let catalog = Catalog::read(&store, Kept::default()).unwrap();
    let overview: OverviewDocument = read(&store, &catalog, "api/v1/overview.json");
    assert_eq!((overview.experiments, overview.found_in), (6, 1));
    let found = &overview.found[0];
    assert_eq!((found.id, found.verdicts.regression), (4, 1));
    let [moved] = &found.moved[..] else { panic!("{:?}", found.moved) };
    assert_eq!((moved.step.as_str(), moved.place, moved.variant.as_str()), ("l.i0", 1, "pg14.0"));
    assert!((moved.ratio.unwrap() - 0.9).abs() < 0.01, "{moved:?}");
    let newest: Vec<i64> = overview.latest.iter().map(|brief| brief.id).collect();
    assert_eq!(newest, [6, 5, 4, 3, 2, 1]);
    assert_eq!(overview.machines.len(), 2);
    let all: ExperimentsDocument = read(&store, &catalog, "api/v1/experiments.json");
    assert!(all.experiments.iter().all(|brief| brief.moved.is_empty() && brief.trials == 12));
    assert!(all.experiments.iter().all(|brief| brief.noise.unwrap() < 0.01));
    let few: SummaryDocument = read(&store, &catalog, "api/v1/experiments/4/summary.json");
    assert_eq!((few.outcome.as_str(), few.experiment.id), ("1 regression", 4));
    for (name, said) in
        [("summary.md", "- **regression** l.i0: pg14.0 is 10"), ("badge.svg", ">1 regression<")]
    {
        let entry = catalog.entry(&format!("api/v1/experiments/4/{name}")).unwrap();
        let made = String::from_utf8(catalog.make(&store, entry).unwrap()).unwrap();
        assert!(made.contains(said), "{made}");
    }
    let machines: MachinesDocument = read(&store, &catalog, "api/v1/machines.json");
    assert_eq!(machines.machines[0].noise.len(), 3);
    assert!(machines.machines[0].facts.iter().any(|fact| fact.value.contains("Example <CPU>")));
    let histories: HistoriesDocument = read(&store, &catalog, "api/v1/history.json");
    assert_eq!(histories.histories.len(), 6, "three workloads on two machines");
    for (path, entry) in catalog.entries().filter(|(path, _)| path.ends_with(".json")) {
        let made = catalog.make(&store, entry).unwrap();
        assert_eq!(made, catalog.make(&store, entry).unwrap(), "{path} differs from time to time");
        let value: serde_json::Value = serde_json::from_slice(&made).unwrap();
        if path == "api/v1/openapi.json" {
            assert_eq!(value["openapi"], "3.1.0");
        } else {
            assert!(value["format"] == 1 && value.get("problem").is_none(), "{path}: {value}");
        }
    }
}

#[test]
fn what_cannot_be_shown_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let begin = |purpose, name: &str| {
        let new = NewExperiment {
            purpose,
            name: name.to_owned(),
            workload: "insert".to_owned(),
            base: "a".to_owned(),
            seed: 1,
            blocks: 1,
            margin: 0.02,
            plan: "not a plan".to_owned(),
            steelyard: "0.1.0".to_owned(),
            created_ms: 1,
        };
        store.begin_experiment(&new).unwrap()
    };
    begin(Purpose::Count, "a count without counts");
    let run = begin(Purpose::Run, "</script><script>alert(1)</script>");
    let variant = NewVariant {
        name: "a".to_owned(),
        dbms: "postgres@13.7".to_owned(),
        source: "archive".to_owned(),
        version: "13.7".to_owned(),
        build: BTreeMap::new(),
        config: BTreeMap::new(),
    };
    store.add_variant(run, &variant).unwrap();
    let catalog = Catalog::read(&store, Kept::default()).unwrap();
    let all: ExperimentsDocument = read(&store, &catalog, "api/v1/experiments.json");
    let [run, count] = &all.experiments[..] else { panic!("{all:?}") };
    assert!(count.problem.as_ref().unwrap().contains("expected instruction counts"), "{count:?}");
    assert_eq!((run.trials, run.state.as_str()), (0, "unfinished"));
    for id in [1, 2] {
        let path = format!("api/v1/experiments/{id}.json");
        let document: serde_json::Value = read(&store, &catalog, &path);
        assert_eq!(document["format"], 1);
    }
    let shown: serde_json::Value = read(&store, &catalog, "api/v1/experiments/1.json");
    assert!(shown["problem"].as_str().unwrap().contains("steelyard count"), "{shown}");
    assert!(catalog.entries().all(|(path, _)| !path.contains("history/")));
}
