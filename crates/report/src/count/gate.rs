//! The answer to a change of a system's source, by counts: a comment for the change, and XML for
//! continuous integration.

use quick_xml::escape::escape;

use super::document::KindDocument;
use super::words::{NAMED, by_function, more};
use super::{CountDocument, CountReport, FunctionDocument};
use crate::ReportError;
use crate::output::number::digits;
use crate::output::sheet::Format;
use crate::output::text::unmarked;

/// Bytes of a comment with all tables, at most. GitHub takes 65,536 characters.
const LONGEST: usize = 60_000;

/// A change of a system's source, and what is known about it.
#[derive(Debug)]
pub struct CountedChange {
    /// The name of what was asked, which tells comments of several gates apart.
    pub name: String,
    /// A short name of the commit that the change is compared with.
    pub base: String,
    /// A short name of the changed commit.
    pub head: String,
    /// δ: larger increases are regressions.
    pub margin: f64,
    /// What is known.
    pub found: ChangeFound,
}

/// What is known about a change.
#[derive(Debug)]
pub enum ChangeFound {
    /// Both have the same code, so nothing was counted.
    SameCode,
    /// The changed one could not be built or counted, for this reason.
    Unfit(String),
    /// Both were counted, the base first.
    Counted(Box<CountReport>),
}

/// What a count says of a kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// It certainly takes more, by more than the margin.
    Regression,
    /// It certainly takes fewer, by more than the margin.
    Improvement,
    /// It differs by less than the margin.
    Fine,
    /// The counts are not known well enough to say.
    Inconclusive,
    /// One of the two has no count.
    Missing,
}

impl Said {
    const ALL: [(Said, &'static str); 5] = [
        (Said::Regression, "regression"),
        (Said::Improvement, "improvement"),
        (Said::Inconclusive, "inconclusive"),
        (Said::Missing, "not counted"),
        (Said::Fine, "fine"),
    ];

    fn of(kind: &KindDocument) -> Said {
        let [_, head] = &kind.variants[..] else { return Said::Missing };
        match head.verdict.as_deref() {
            Some("regression") => Said::Regression,
            Some("improvement") => Said::Improvement,
            Some("inconclusive") => Said::Inconclusive,
            Some(_) => Said::Fine,
            None => Said::Missing,
        }
    }
}

impl CountedChange {
    /// The reasons why it must not pass. With `strict`, kinds that are inconclusive are reasons,
    /// too.
    pub fn reasons(&self, strict: bool) -> Vec<String> {
        match &self.found {
            ChangeFound::SameCode => Vec::new(),
            ChangeFound::Unfit(reason) => vec![format!("{} can't be judged: {reason}", self.head)],
            ChangeFound::Counted(report) => report.gate(strict),
        }
    }

    /// A comment in Markdown: a line that tells it from other comments, three lines, and tables
    /// that are folded. Names of functions are the only words in it that whoever made the change
    /// may have chosen, and nobody is notified by an `@` in them.
    ///
    /// # Errors
    /// If the tables can't be rendered.
    pub fn comment(&self) -> Result<String, ReportError> {
        let margin = format!("{}%", digits(self.margin * 100.0, 2));
        let (headline, detail, tables) = match &self.found {
            ChangeFound::SameCode => {
                let detail = "Nothing was counted: builds of both have the same code.".to_owned();
                ("no change".to_owned(), detail, None)
            }
            ChangeFound::Unfit(_) => {
                let detail = "It could not be built or counted; the job's log says why.".to_owned();
                ("not judged".to_owned(), detail, None)
            }
            ChangeFound::Counted(report) => {
                let said = report.document.sentences.first();
                let said = said.map_or("", |it| &it.sentence);
                let (list, tables) = (list(&report.document), report.render(Format::Markdown)?);
                let tables = match list.len() + tables.len() > LONGEST {
                    true => list,
                    false => format!("{list}\n{tables}"),
                };
                (headline(&report.document), unmarked(said), Some(tables))
            }
        };
        let mut text = format!(
            "<!-- steelyard gate {} -->\n**steelyard {}: {headline}**\n\n{detail}\n\n\
             `{}` compared with `{}` by exact instructions per statement, margin {margin}. A \
             difference in instructions need not be one in time.\n",
            mark(&self.name),
            unmarked(&self.name),
            self.head,
            self.base,
        );
        if let Some(tables) = tables {
            text.push_str(&format!(
                "\n<details><summary>All counts</summary>\n\n{tables}\n</details>\n"
            ));
        }
        Ok(text.replace('@', "@\u{200b}"))
    }

    /// The same for continuous integration, in JUnit's XML: a test case for each kind.
    pub fn junit(&self) -> String {
        let case = |name: &str, inner: &str| {
            let name = escape(name);
            format!("  <testcase classname=\"steelyard.gate\" name=\"{name}\">{inner}</testcase>\n")
        };
        let element =
            |tag: &str, message: &str| format!("<{tag} message=\"{}\"/>", escape(message));
        let cases: Vec<String> = match &self.found {
            ChangeFound::SameCode => vec![case("same code", "")],
            ChangeFound::Unfit(reason) => vec![case("counted", &element("error", reason))],
            ChangeFound::Counted(report) => {
                let document = &report.document;
                let of_kind = |kind: &KindDocument| {
                    let inner = match Said::of(kind) {
                        Said::Regression => element("failure", &moved(kind)),
                        Said::Missing => element("error", "not counted in both"),
                        Said::Inconclusive => {
                            element("skipped", "inconclusive: the counts are not known well enough")
                        }
                        Said::Improvement | Said::Fine => String::new(),
                    };
                    case(&kind.measure(), &inner)
                };
                let unfinished = document.missing();
                let unfinished = unfinished.iter().map(|it| case("counted", &element("error", it)));
                document.counts.iter().map(of_kind).chain(unfinished).collect()
            }
        };
        let count = |tag: &str| cases.iter().filter(|it| it.contains(&format!("<{tag} "))).count();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" \
             failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}</testsuite>\n",
            escape(&self.name),
            cases.len(),
            count("failure"),
            count("error"),
            count("skipped"),
            cases.concat()
        )
    }
}

/// A name as it stands in the line that tells a comment from others.
fn mark(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_', "-")
}

/// The kinds of which this is said.
fn those(document: &CountDocument, said: Said) -> impl Iterator<Item = &KindDocument> {
    document.counts.iter().filter(move |kind| Said::of(kind) == said)
}

/// `1 regression, 2 inconclusive, 3 fine`.
fn headline(document: &CountDocument) -> String {
    let of = |(said, word): &(Said, &str)| {
        let count = those(document, *said).count();
        let plural = matches!(said, Said::Regression | Said::Improvement) && count > 1;
        (count > 0).then(|| format!("{count} {word}{}", if plural { "s" } else { "" }))
    };
    let parts: Vec<String> = Said::ALL.iter().filter_map(of).collect();
    if parts.is_empty() { "nothing was counted".to_owned() } else { parts.join(", ") }
}

/// The kinds that moved, or about which nothing can be said, with their functions.
fn list(document: &CountDocument) -> String {
    let moving = Said::ALL.iter().filter(|(said, _)| *said != Said::Fine);
    let lines = moving.flat_map(|(said, word)| {
        those(document, *said).map(move |kind| {
            let (measure, moved) = (unmarked(&kind.measure()), unmarked(&moved(kind)));
            format!("- **{word}** {measure}: {moved}\n")
        })
    });
    lines.collect()
}

/// `2.3% more instructions per statement; ExecInsert and heap_insert grew most`.
fn moved(kind: &KindDocument) -> String {
    let [_, head] = &kind.variants[..] else { return "not counted in both".to_owned() };
    let ratio = head.relative.unwrap_or(1.0);
    let rise = ratio - 1.0;
    let same_way = |it: &&FunctionDocument| it.difference.is_some_and(|it| it.own * rise > 0.0);
    let functions = head.functions.iter().filter(same_way).take(NAMED);
    let functions: Vec<String> = functions.map(|it| it.name.clone()).collect();
    format!("{} instructions per statement{}", more(ratio), by_function(&functions, rise))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::{CountVerdict, CountedVariant, WorkDocument};
    use crate::output::sheet::Sheet;

    fn variant(name: &str, level: f64, repeatability: Option<f64>) -> CountedVariant {
        CountedVariant {
            name: name.to_owned(),
            per_statement: level,
            repeatability,
            ..CountedVariant::default()
        }
    }

    /// A kind that takes `ratio` times as many instructions after the change.
    fn kind(name: &str, ratio: f64, repeatability: Option<f64>) -> KindDocument {
        let work = WorkDocument { own: (ratio - 1.0) * 1000.0, ..WorkDocument::default() };
        let function = FunctionDocument {
            name: "operator|@team".to_owned(),
            object: "server".to_owned(),
            base: None,
            variant: None,
            difference: Some(work),
        };
        let threshold = repeatability.map_or(f64::INFINITY, |it| 2.0 * it);
        let verdict = CountVerdict::of(ratio, threshold, 0.005).as_str();
        let head = CountedVariant {
            relative: Some(ratio),
            verdict: Some(verdict.to_owned()),
            functions: vec![function],
            ..variant("head", 1000.0 * ratio, repeatability)
        };
        KindDocument {
            kind: name.to_owned(),
            protocol: "simple".to_owned(),
            place: "backend".to_owned(),
            event: "instructions".to_owned(),
            variants: vec![variant("base", 1000.0, repeatability), head],
        }
    }

    fn change(counts: Vec<KindDocument>) -> CountedChange {
        let variants = ["base", "head"].map(str::to_owned).to_vec();
        let base = "base".to_owned();
        let document = CountDocument {
            counts,
            variants,
            base,
            margin: 0.005,
            finished: true,
            ..Default::default()
        };
        let report = CountReport { document, sheet: Sheet::default() };
        changed(ChangeFound::Counted(Box::new(report)))
    }

    fn changed(found: ChangeFound) -> CountedChange {
        let [name, base, head] = ["load", "0123", "4567"].map(str::to_owned);
        CountedChange { name, base, head, margin: 0.005, found }
    }

    #[test]
    fn a_kind_without_a_verdict_does_not_pass() {
        let mut open = kind("open", 1.0, Some(1e-4));
        open.variants[1].verdict = None;
        assert_eq!(change(vec![open]).reasons(false), ["open (simple): head has no verdict"]);
    }

    #[test]
    fn what_is_certain_is_kept_apart_from_what_is_not() {
        let exact = Some(1e-4);
        let change = change(vec![
            kind("slower", 1.023, exact),
            kind("faster", 0.9, exact),
            kind("alike", 1.0004, exact),
            kind("rough", 1.001, Some(0.02)),
            kind("once", 1.0, None),
            KindDocument { variants: vec![variant("head", 1.0, exact)], ..kind("new", 1.0, exact) },
        ]);
        let comment = change.comment().unwrap();
        let line = "**steelyard load: 1 regression, 1 improvement, 2 inconclusive, 1 not counted, \
                    1 fine**";
        assert!(comment.starts_with("<!-- steelyard gate load -->\n"), "{comment}");
        assert!(comment.contains(line), "{comment}");
        let slower = "- **regression** slower (simple): 2.3% more instructions per statement; \
                      operator\\|@\u{200b}team grew most\n";
        assert!(comment.contains(slower), "{comment}");
        assert_eq!(change.reasons(false).len(), 2, "{:?}", change.reasons(false));
        assert_eq!(change.reasons(true).len(), 4, "{:?}", change.reasons(true));
        let junit = change.junit();
        assert!(junit.contains("tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\""), "{junit}");
    }

    #[test]
    fn what_can_not_be_judged_does_not_pass() {
        let unfit = changed(ChangeFound::Unfit("it does not build: `x < y` & more".to_owned()));
        assert_eq!(unfit.reasons(false).len(), 1);
        let comment = unfit.comment().unwrap();
        assert!(comment.contains("load: not judged") && !comment.contains("x < y"), "{comment}");
        assert!(unfit.junit().contains("x &lt; y` &amp; more"), "{}", unfit.junit());
        let unfinished = change(Vec::new());
        assert!(!unfinished.reasons(false).is_empty());
        assert!(unfinished.comment().unwrap().contains("nothing was counted"));
        let same = changed(ChangeFound::SameCode);
        assert!(same.reasons(true).is_empty() && same.comment().unwrap().contains("no change"));
        assert!(same.junit().contains("failures=\"0\" errors=\"0\""));
    }
}
