//! The short form: every subject with few experiments. All bounds hold, all counts are the same as
//! before, and the document shows what the code finds.
#![allow(clippy::unwrap_used, reason = "a test that can't be prepared fails")]

use std::path::Path;
use std::sync::LazyLock;

use validate::{Findings, SUBJECTS, Size, Subject, document};

/// The findings of each subject.
static FOUND: LazyLock<Vec<(&'static Subject, Findings)>> = LazyLock::new(|| {
    let found = |subject: &'static Subject| {
        let begin = std::time::Instant::now();
        let findings = subject.findings(Size::Short);
        println!("{}: {:.1} s", subject.name, begin.elapsed().as_secs_f64());
        (subject, findings)
    };
    SUBJECTS.iter().map(found).collect()
});

#[test]
fn all_bounds_hold() {
    let mut missed = Vec::new();
    for (subject, findings) in FOUND.iter() {
        assert!(!findings.tables.is_empty() && !findings.checks.is_empty(), "{}", subject.name);
        missed.extend(findings.missed().map(|check| {
            format!("{}: {}: {}, bound {}", subject.name, check.what, check.found, check.bound)
        }));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// With few experiments, bounds are wide. But seeds are fixed, so every count is known.
/// `GOLDEN=update` writes the counts anew.
#[test]
fn all_counts_are_what_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/short.txt");
    let exactly =
        |(subject, findings): &(&Subject, Findings)| document::exactly(subject.name, findings);
    let found: String = FOUND.iter().map(exactly).collect();
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "update") {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let lost = expected.lines().filter(|line| !found.lines().any(|now| now == *line));
    let new = found.lines().filter(|line| !expected.lines().any(|before| before == *line));
    let changes: Vec<String> =
        lost.map(|line| format!("- {line}")).chain(new.map(|line| format!("+ {line}"))).collect();
    assert!(
        found == expected,
        "{} differs: the answers of judge changed. If they should, run again with GOLDEN=update, then `make validate`.\n{}",
        path.display(),
        changes.join("\n")
    );
}

#[test]
fn the_document_shows_every_subject() {
    let text = include_str!("../../../VALIDATION.md");
    assert!(!text.contains("bounds checked here MISSED"));
    let wrong: Vec<String> = FOUND
        .iter()
        .filter_map(|(subject, findings)| document::check(text, subject, findings).err())
        .map(|error| error.to_string())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let shown = text.lines().filter(|line| line.starts_with("<!-- end of ")).count();
    assert_eq!(shown, SUBJECTS.len(), "tables of no subject");
}
