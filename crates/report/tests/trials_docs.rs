//! The documentation of the JSON of `variance`, `history` and `advise` names every key.
use crate::common::documented::{assert_keys_explained, documentation};

#[test]
fn every_key_is_explained() {
    let documentation = documentation("trials-json.md");
    let sections: Vec<&str> = documentation.split("\n## ").collect();
    for name in ["variance", "history", "advise"] {
        let section = sections.iter().find(|section| section.starts_with(name));
        let section = section.unwrap_or_else(|| panic!("no section about {name}"));
        let golden = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let printed = std::fs::read_to_string(golden).unwrap();
        assert_keys_explained(&printed, section, &format!("docs/trials-json.md, {name},"));
    }
}
