//! The documentation of the JSON of `variance`, `history`, `advise` and `fetch --list` names every
//! key.

use dbms::ListedVersion;
use report::Format;

use crate::common::documented::{assert_keys_explained, documentation};

#[test]
fn every_key_is_explained() {
    for name in ["variance", "history", "advise"] {
        let golden = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let printed = std::fs::read_to_string(golden).unwrap();
        assert_explained(name, &printed);
    }
    let versions = report::versions(vec![ListedVersion::default()]);
    assert_explained("fetch --list", &versions.render(Format::Json).unwrap());
}

fn assert_explained(name: &str, printed: &str) {
    let documentation = documentation("trials-json.md");
    let section = documentation.split("\n## ").find(|section| section.starts_with(name));
    let section = section.unwrap_or_else(|| panic!("no section about {name}"));
    assert_keys_explained(printed, section, &format!("docs/trials-json.md, {name},"));
}
