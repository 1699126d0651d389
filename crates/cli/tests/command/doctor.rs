//! `steelyard doctor` on this machine, and with settings broken on purpose.

use std::process::Command;

use serde_json::Value;

use crate::place::Place;

#[test]
fn every_setting_has_a_state_and_advice_where_it_needs_some() {
    let place = Place::new();
    let ended = place.steelyard(&["doctor", "--quick", "--format", "json"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    let findings: Vec<Value> = serde_json::from_str(&ended.stdout).unwrap();
    assert!(findings.len() > 25, "{findings:#?}");
    for finding in &findings {
        let of = |key: &str| finding[key].as_str().unwrap();
        assert!(!of("found").is_empty(), "{finding}");
        match of("state") {
            "ok" => assert!(of("why").is_empty() && of("mend").is_empty(), "{finding}"),
            "unknown" => assert!(of("mend").is_empty(), "{finding}"),
            "warn" | "fail" => {
                assert!(!of("why").is_empty() && !of("mend").is_empty(), "{finding}")
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn too_few_open_files_fail() {
    let place = Place::new();
    let limited = |files: &str| {
        let program = env!("CARGO_BIN_EXE_steelyard");
        let command = format!("ulimit -Sn {files}; exec {program} doctor --quick");
        Command::new("sh").args(["-c", &command]).current_dir(place.path()).output().unwrap()
    };
    let few = limited("1000");
    let text = String::from_utf8_lossy(&few.stdout);
    assert_eq!(few.status.code(), Some(1), "{text}");
    assert!(text.contains("fail  open files (nofile)"), "{text}");
    let said = String::from_utf8_lossy(&few.stderr);
    assert!(said.contains("not fit to measure on:\n  open files (nofile): 1000"), "{said}");
}
