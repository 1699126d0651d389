//! Compares the documentation of JSON with the program's output.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::golden;

/// A file under `docs`.
pub fn documentation(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Asserts that `printed` is the golden file, and the example in the documentation.
pub fn assert_is_example(printed: &str, golden_name: &str, document: &str) {
    golden(golden_name, printed);
    assert!(
        documentation(document).contains(printed),
        "put tests/golden/{golden_name} into docs/{document}"
    );
}

/// Asserts that each key of `json` stands in `text`, which is `about` that.
pub fn assert_keys_explained(json: &str, text: &str, about: &str) {
    let mut keys = BTreeSet::new();
    collect(&serde_json::from_str(json).unwrap(), &mut keys);
    let missing: Vec<_> = keys.iter().filter(|key| !text.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "{about} does not explain {missing:?}");
}

/// The text before the first example of a document.
pub fn before_example(document: &str) -> String {
    let text = documentation(document);
    text.split_once("```json").unwrap().0.to_owned()
}

fn collect(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                keys.insert(key.clone());
                collect(value, keys);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, keys)),
        _ => {}
    }
}
