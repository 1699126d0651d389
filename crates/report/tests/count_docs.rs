//! The documentation of the JSON of counts is what the program prints.
#![allow(clippy::unwrap_used, reason = "a test that can't be prepared fails")]

mod common;

use std::collections::BTreeSet;

use common::counts::{BASE, Counting, build};
use common::golden;
use report::{CountOptions, Format};

/// Two versions, one kind of statement, two functions.
fn example() -> String {
    let counting = Counting::new(&["pg13.7", "pg14.3"]);
    let slower = build(|cost| match cost.0 {
        "ExecInterpExpr" => cost.4 += 82,
        "heap_insert" => cost.0 = "heap_multi_insert",
        _ => {}
    });
    counting.all(&[("insert-100", 100)], &[Some(BASE.to_vec()), Some(slower)]);
    counting.warn("builds-differ", "pg14.3 was compiled by gcc 13.2, pg13.7 by gcc 12.2");
    let options = CountOptions { functions: 2, ..CountOptions::default() };
    counting.report_with(&options).render(Format::Json).unwrap()
}

fn documentation() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/count-json.md");
    std::fs::read_to_string(path).expect("the documentation")
}

#[test]
fn the_example_is_what_the_program_prints() {
    let found = example();
    golden("documented-count.json", &found);
    assert!(
        documentation().contains(&found),
        "put tests/golden/documented-count.json into docs/count-json.md"
    );
    let back: report::CountDocument = serde_json::from_str(&found).unwrap();
    assert_eq!(serde_json::to_string_pretty(&back).unwrap() + "\n", found);
}

#[test]
fn every_key_is_explained() {
    let documentation = documentation();
    let (explained, _) = documentation.split_once("```json").unwrap();
    let mut keys = BTreeSet::new();
    collect(&serde_json::from_str(&example()).unwrap(), &mut keys);
    let missing: Vec<_> =
        keys.iter().filter(|key| !explained.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "docs/count-json.md does not explain {missing:?}");
}

fn collect(value: &serde_json::Value, keys: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                keys.insert(key.clone());
                collect(value, keys);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| collect(value, keys)),
        _ => {}
    }
}
