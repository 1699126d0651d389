//! The short form: every subject with few experiments, all bounds kept; and the document has a place for each.

use validate::{SUBJECTS, Size, document};

#[test]
fn all_bounds_hold() {
    let mut missed = Vec::new();
    for subject in SUBJECTS {
        let begin = std::time::Instant::now();
        let findings = (subject.run)(Size::Short);
        assert!(!findings.tables.is_empty() && !findings.checks.is_empty(), "{}", subject.name);
        println!("{}: {:.1} s", subject.name, begin.elapsed().as_secs_f64());
        missed.extend(findings.missed().map(|check| {
            format!("{}: {}: {}, bound {}", subject.name, check.what, check.found, check.bound)
        }));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn the_document_shows_every_subject() {
    let text = include_str!("../../../VALIDATION.md");
    for subject in SUBJECTS {
        let begin = text.find(&document::begin_marker(subject.name));
        let end = text.find(&document::end_marker(subject.name));
        let (Some(begin), Some(end)) = (begin, end) else {
            panic!("VALIDATION.md has no place for {}", subject.name);
        };
        let between = &text[begin..end];
        assert!(between.contains("bound"), "{}: run `make validate`", subject.name);
        assert!(!between.contains("MISSED"), "{}", subject.name);
    }
    for line in text.lines().filter(|line| line.starts_with("<!-- end of ")) {
        let known = SUBJECTS.iter().any(|subject| line == document::end_marker(subject.name));
        assert!(known, "no subject has {line}");
    }
}
