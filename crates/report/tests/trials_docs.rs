//! The documentation of the JSON of `variance`, `history` and `advise` names every key.

use std::collections::BTreeSet;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
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

#[test]
fn every_key_is_explained() {
    let documentation = read("../../docs/trials-json.md");
    let sections: Vec<&str> = documentation.split("\n## ").collect();
    for name in ["variance", "history", "advise"] {
        let section = sections.iter().find(|section| section.starts_with(name));
        let section = section.unwrap_or_else(|| panic!("no section about {name}"));
        let golden = read(&format!("tests/golden/{name}.json"));
        let mut keys = BTreeSet::new();
        collect(&serde_json::from_str(&golden).expect("JSON"), &mut keys);
        let missing: Vec<_> =
            keys.iter().filter(|key| !section.contains(&format!("`{key}`"))).collect();
        assert!(missing.is_empty(), "docs/trials-json.md, {name}, does not explain {missing:?}");
    }
}
