//! Puts tables between the markers of VALIDATION.md, and checks that they are still the same.
//!
//! The line after a subject's tables carries two digests. One is of the tables, so a figure edited
//! by hand is noticed. The other is of their origin: the code of the subject, and the exact
//! findings of its short form. It changes whenever an answer of `judge` changes; `make validate` is
//! then due. Renaming, moving and commenting code doesn't change it.

use textwrap::Options;

use crate::{Findings, Subject};

/// Why a document does not show what a subject finds.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DocumentError {
    /// No markers.
    #[error(
        "expected a line `{begin}` and after it one that begins with `{end}`, found none; add both lines"
    )]
    NoPlace {
        /// The line before the tables.
        begin: String,
        /// How the line after them begins.
        end: String,
    },
    /// The tables were changed after they were written.
    #[error(
        "expected the tables of {name} as `make validate` wrote them, found them edited; run `make validate`"
    )]
    Edited {
        /// Name of the subject.
        name: String,
    },
    /// The tables were computed by other code.
    #[error(
        "expected tables of {name} by the code as it is, found older ones; run `make validate`"
    )]
    Stale {
        /// Name of the subject.
        name: String,
    },
}

/// The line before what belongs to the subject `name`.
fn begin_marker(name: &str) -> String {
    format!("<!-- {name}: written by `make validate`, do not edit -->")
}

/// How the line after it begins.
fn end_marker(name: &str) -> String {
    format!("<!-- end of {name}:")
}

/// The text of one subject in a document.
struct Place<'a> {
    before: &'a str,
    tables: &'a str,
    /// The rest of the line after the tables: the digests.
    digests: &'a str,
    after: &'a str,
}

fn place<'a>(text: &'a str, name: &str) -> Result<Place<'a>, DocumentError> {
    let (begin, end) = (begin_marker(name), end_marker(name));
    let found = text.split_once(&begin).and_then(|(before, rest)| {
        let (tables, rest) = rest.split_once(&end)?;
        let (digests, after) = rest.split_once("-->")?;
        Some(Place { before, tables: tables.trim(), digests: digests.trim(), after })
    });
    found.ok_or(DocumentError::NoPlace { begin, end })
}

/// `text` with everything between the markers of the subject replaced by `findings`; `short` are
/// those of the short form.
///
/// # Errors
/// When the text has no markers for it.
pub fn replace(
    text: &str,
    subject: &Subject,
    findings: &Findings,
    short: &Findings,
) -> Result<String, DocumentError> {
    let name = subject.name;
    let Place { before, after, .. } = place(text, name)?;
    let (begin, end) = (begin_marker(name), end_marker(name));
    let tables = wrapped(&findings.to_markdown());
    let tables = tables.trim();
    let digests = digests(tables, subject, short);
    Ok(format!("{before}{begin}\n\n{tables}\n\n{end} {digests} -->{after}"))
}

/// Prose in lines of at most 100 characters, tables as they are.
fn wrapped(markdown: &str) -> String {
    let line = |line: &str| match line.strip_prefix("- ") {
        _ if line.starts_with('|') => line.to_owned(),
        Some(_) => textwrap::fill(line, Options::new(100).subsequent_indent("  ")),
        None => textwrap::fill(line, 100),
    };
    markdown.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Checks that a document shows the tables of a subject as they were written, by code that gives
/// the same results as today's.
///
/// # Errors
/// When it does not.
pub fn check(text: &str, subject: &Subject, short: &Findings) -> Result<(), DocumentError> {
    let name = subject.name.to_owned();
    let found = place(text, subject.name)?;
    let expected = digests(found.tables, subject, short);
    let tables = |digests: &str| digests.split(',').next().map(str::to_owned);
    if tables(found.digests) != tables(&expected) {
        return Err(DocumentError::Edited { name });
    }
    if found.digests != expected { Err(DocumentError::Stale { name }) } else { Ok(()) }
}

fn digests(tables: &str, subject: &Subject, short: &Findings) -> String {
    let source = subject.source.iter().map(|source| code(source));
    let hits = exactly(subject.name, short);
    let made_by: String = source.chain([short.to_markdown(), hits]).collect();
    format!("tables {:016x}, made by {:016x}", digest(tables), digest(&made_by))
}

/// Every check of a subject as exactly as it is known, one per line.
pub fn exactly(name: &str, findings: &Findings) -> String {
    let line = |check: &crate::Check| format!("{name}: {}: {}\n", check.what, check.exactly());
    findings.checks.iter().map(line).collect()
}

/// Code without its tests, comments and layout.
fn code(source: &str) -> String {
    let body = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    // rustfmt adds commas where it breaks lines.
    lines.flat_map(str::chars).filter(|c| !c.is_whitespace() && *c != ',').collect()
}

/// FNV-1a (G. Fowler, L. C. Noll and K.-P. Vo), which is enough because nobody forges tables here.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rate, Size, Table};

    fn findings(hits: usize) -> Findings {
        let mut findings = Findings { tables: vec![Table::new("new", "n")], checks: vec![] };
        findings.rate("coverage", Rate { hits, tries: 100 }, 0.93..);
        findings
    }

    fn subject(source: &'static [&'static str]) -> Subject {
        Subject { name: "x", run: |_, findings| *findings = self::findings(95), source }
    }

    fn short(subject: &Subject) -> Findings {
        subject.findings(Size::Short)
    }

    fn written(subject: &Subject) -> String {
        let text = format!("a\n{}\nold\n{} -->\nb\n", begin_marker("x"), end_marker("x"));
        replace(&text, subject, &findings(950), &short(subject)).unwrap()
    }

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let subject = subject(&["fn f() {}"]);
        let once = written(&subject);
        assert!(once.starts_with("a\n<!-- x:") && once.ends_with("-->\nb\n"), "{once}");
        assert!(once.contains("new") && !once.contains("\nold\n"));
        let twice = replace(&once, &subject, &findings(950), &short(&subject)).unwrap();
        assert_eq!(twice, once);
        let other = Subject { name: "y", ..subject };
        assert!(matches!(check(&once, &other, &short(&other)), Err(DocumentError::NoPlace { .. })));
    }

    #[test]
    fn an_edited_figure_is_noticed_and_prose_is_free() {
        let subject = subject(&["fn f() {}"]);
        let text = written(&subject);
        let checked = |text: &str| check(text, &subject, &short(&subject));
        assert_eq!(checked(&text), Ok(()));
        assert_eq!(checked(&text.replace("a\n<!--", "Other prose.\n<!--")), Ok(()));
        let edited = text.replace("| n ", "| m ");
        assert_ne!(edited, text);
        assert_eq!(checked(&edited), Err(DocumentError::Edited { name: "x".to_owned() }));
    }

    #[test]
    fn other_answers_make_tables_stale_and_other_layout_does_not() {
        let text =
            written(&subject(&["fn f(\n    a: u8,\n) {} // why\n#[cfg(test)]\nmod tests {}"]));
        let checked = |subject: &Subject, hits| check(&text, subject, &findings(hits));
        let same = subject(&["//! What.\nfn f(a: u8) {} // why\n"]);
        assert_eq!(checked(&same, 95), Ok(()));
        let stale = Err(DocumentError::Stale { name: "x".to_owned() });
        assert_eq!(checked(&same, 94), stale);
        assert_eq!(checked(&subject(&["fn f(a: u16) {} // why"]), 95), stale);
    }
}
