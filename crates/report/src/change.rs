//! The answer to a change of a system's source, by counts and by a run: a comment for the change,
//! XML for continuous integration, and annotations on lines of the source.

use dbms::FunctionLine;
use quick_xml::escape::escape;

use crate::ReportError;
use crate::compare::Comparison;
use crate::compare::document::MetricComparison;
use crate::count::words::{NAMED, by_function, more};
use crate::count::{CountDocument, CountReport, FunctionDocument, KindDocument};
use crate::judging::gate::Gate;
use crate::output::number::digits;
use crate::output::sheet::Format;
use crate::output::text::unmarked;

/// Bytes of a comment with all tables, at most. GitHub takes 65,536 characters.
const LONGEST: usize = 60_000;

/// A change of a system's source, and what is known about it.
#[derive(Debug)]
pub struct JudgedChange {
    /// The name of what was asked, which tells comments of several gates apart.
    pub name: String,
    /// A short name of the commit that the change is compared with.
    pub base: String,
    /// A short name of the changed commit.
    pub head: String,
    /// δ of counts: larger increases are regressions.
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
    Counted(Box<CountReport>, ChangeRun),
}

/// Whether both also ran at the same time.
#[derive(Debug)]
pub enum ChangeRun {
    /// That was not asked for.
    None,
    /// One of the two could not run, for this reason.
    Failed(String),
    /// They ran.
    Compared(Box<Comparison>),
}

/// What a count says of a kind of statement, or a run of a step.
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
    /// One of the two was not counted.
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
        Said::named(head.verdict.as_deref())
    }

    /// `None` for a step that can't be judged.
    fn in_time(step: &MetricComparison) -> Option<Said> {
        match Said::named(step.relative.verdict.as_deref()) {
            Said::Missing => None,
            Said::Regression => Some(Said::Regression),
            said => step.relative.reason.is_none().then_some(said),
        }
    }

    fn named(verdict: Option<&str>) -> Said {
        match verdict {
            Some("regression") => Said::Regression,
            Some("improvement") => Said::Improvement,
            Some("inconclusive") => Said::Inconclusive,
            Some("equivalent" | "same") => Said::Fine,
            _ => Said::Missing,
        }
    }
}

impl JudgedChange {
    /// The reasons why it must not pass. With `strict`, kinds that are inconclusive are reasons,
    /// too.
    pub fn reasons(&self, strict: bool) -> Vec<String> {
        match &self.found {
            ChangeFound::SameCode => Vec::new(),
            ChangeFound::Unfit(reason) => vec![format!("{} can't be judged: {reason}", self.head)],
            ChangeFound::Counted(report, run) => {
                let mut reasons = report.gate(strict);
                reasons.extend(match run {
                    ChangeRun::None => Vec::new(),
                    ChangeRun::Failed(reason) => vec![format!("they can't be run: {reason}")],
                    ChangeRun::Compared(run) if strict => run.gate(Gate::Undecided),
                    ChangeRun::Compared(run) => run.gate(Gate::Regressions),
                });
                reasons
            }
        }
    }

    /// A comment in Markdown: a line that tells it from other comments, three lines, and tables
    /// that are folded. Names of functions are the only words in it that whoever made the change
    /// may have chosen, and nobody is notified by an `@` in them.
    ///
    /// # Errors
    /// If the tables can't be rendered.
    pub fn comment(&self) -> Result<String, ReportError> {
        let margin = percent(self.margin);
        let (headline, detail, tables) = match &self.found {
            ChangeFound::SameCode => {
                let detail = "Nothing was counted: builds of both have the same code.".to_owned();
                ("no change".to_owned(), detail, None)
            }
            ChangeFound::Unfit(_) => {
                let detail = "It could not be built or counted; the job's log says why.".to_owned();
                ("not judged".to_owned(), detail, None)
            }
            ChangeFound::Counted(report, run) => {
                let said = report.document.sentences.first();
                let mut said = said.map_or(String::new(), |it| it.sentence.clone());
                let mut list = list(&report.document);
                let mut tables = report.render(Format::Markdown)?;
                let mut headline = headline(&report.document);
                match run {
                    ChangeRun::None => {}
                    ChangeRun::Failed(_) => headline.push_str("; throughput: not judged"),
                    ChangeRun::Compared(run) => {
                        headline.push_str(&format!("; throughput: {}", throughput(run)));
                        let moved = judged(run).filter(|it| it.said != Said::Fine);
                        list.extend(moved.map(|it| format!("- {}\n", unmarked(&it.sentence()))));
                        if let Some(first) = run.regressions().first() {
                            said.push_str(&format!(". In throughput, {first}"));
                        }
                        if unjudged(run).is_empty() {
                            tables = format!("{}\n{tables}", run.render(Format::Markdown)?);
                        } else {
                            // The tables may have a server's words, which the author may choose.
                            list.push_str("- The job's log says why something is not judged.\n");
                        }
                    }
                }
                let tables = match list.len() + tables.len() > LONGEST {
                    true => list,
                    false => format!("{list}\n{tables}"),
                };
                (headline, unmarked(&said), Some(tables))
            }
        };
        let mut text = format!(
            "<!-- steelyard gate {} -->\n**steelyard {}: {headline}**\n\n{detail}\n\n\
             `{}` compared with `{}` by exact instructions per statement, margin {margin}{}\n",
            mark(&self.name),
            unmarked(&self.name),
            self.head,
            self.base,
            match &self.found {
                ChangeFound::Counted(_, ChangeRun::Compared(run)) => {
                    format!(", and run at the same time, margin {}.", percent(run.document.margin))
                }
                _ => ". A difference in instructions need not be one in time.".to_owned(),
            }
        );
        if let Some(tables) = tables {
            text.push_str(&format!(
                "\n<details><summary>All figures</summary>\n\n{tables}\n</details>\n"
            ));
        }
        Ok(text.replace('@', "@\u{200b}"))
    }

    /// Annotations on lines of the source, as GitHub's runners take them from what a step prints:
    /// for each kind that takes more, one at the function that grew most, of those that the comment
    /// names and whose place in the repository is known.
    pub fn annotations(&self, place: impl Fn(&FunctionDocument) -> Option<FunctionLine>) -> String {
        let ChangeFound::Counted(report, _) = &self.found else { return String::new() };
        let annotation = |kind: &KindDocument| {
            let found = grown(kind).take(NAMED).find_map(|it| Some((it, place(it)?)));
            let (function, FunctionLine { file, line }) = found?;
            let own = function.difference.map_or(0.0, |it| it.own);
            Some(format!(
                "::error file={},line={line},title={}::{}\n",
                property(&file),
                property(&format!("steelyard {}: {}", self.name, kind.measure())),
                value(&format!("{}; {own:+.0} in {}", moved(kind), function.name)),
            ))
        };
        those(&report.document, Said::Regression).filter_map(annotation).collect()
    }

    /// The same for continuous integration, in JUnit's XML: a test case for each kind and step.
    /// Those that are inconclusive are skipped, or failures if the gate is `strict`.
    pub fn junit(&self, strict: bool) -> String {
        let open = if strict { "failure" } else { "skipped" };
        let case = |name: &str, inner: &str| {
            let name = escape(name);
            format!("  <testcase classname=\"steelyard.gate\" name=\"{name}\">{inner}</testcase>\n")
        };
        let element =
            |tag: &str, message: &str| format!("<{tag} message=\"{}\"/>", escape(message));
        let cases: Vec<String> = match &self.found {
            ChangeFound::SameCode => vec![case("same code", "")],
            ChangeFound::Unfit(reason) => vec![case("counted", &element("error", reason))],
            ChangeFound::Counted(report, run) => {
                let document = &report.document;
                let of_kind = |kind: &KindDocument| {
                    let inner = match Said::of(kind) {
                        Said::Regression => element("failure", &moved(kind)),
                        Said::Missing => element("error", "not counted in both"),
                        Said::Inconclusive => {
                            element(open, "inconclusive: the counts are not known well enough")
                        }
                        Said::Improvement | Said::Fine => String::new(),
                    };
                    case(&kind.measure(), &inner)
                };
                let unfinished = document.missing();
                let unfinished = unfinished.iter().map(|it| case("counted", &element("error", it)));
                let of_step = |step: Judged| {
                    let inner = match step.said {
                        Said::Regression => element("failure", &step.sentence()),
                        Said::Inconclusive => element(open, &step.sentence()),
                        Said::Improvement | Said::Fine | Said::Missing => String::new(),
                    };
                    case(&format!("{} (throughput)", step.label), &inner)
                };
                let error = |(number, reason): (usize, &String)| {
                    case(&format!("throughput, reason {number}"), &element("error", reason))
                };
                let counted = document.counts.iter().map(of_kind).chain(unfinished);
                match run {
                    ChangeRun::None => counted.collect(),
                    ChangeRun::Failed(reason) => counted.chain([error((1, reason))]).collect(),
                    ChangeRun::Compared(run) => {
                        let unjudged = unjudged(run);
                        let errors = (1..).zip(&unjudged).map(error);
                        counted.chain(judged(run).map(of_step)).chain(errors).collect()
                    }
                }
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

/// `0.5%`.
fn percent(share: f64) -> String {
    format!("{}%", digits(share * 100.0, 2))
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
    let said = summary(document.counts.iter().map(Said::of));
    let unfinished = if document.finished { "" } else { ", not finished" };
    format!("{}{unfinished}", said.unwrap_or("nothing was counted".to_owned()))
}

/// The same of a run.
fn throughput(run: &Comparison) -> String {
    let said = summary(judged(run).map(|it| it.said));
    let open = unjudged(run).len();
    let open = (open > 0).then(|| format!("{open} not judged"));
    said.into_iter().chain(open).collect::<Vec<_>>().join(", ")
}

/// A step of a run that is judged.
struct Judged<'a> {
    said: Said,
    /// Its name, with clients and labels if there are several of this name.
    label: String,
    /// `pg-4567 is 2.1% slower than pg-0123 (95% interval …): regression`.
    compared: &'a str,
}

impl Judged<'_> {
    fn sentence(&self) -> String {
        format!("{}: {}", self.label, self.compared)
    }
}

/// The steps of a run that are judged.
fn judged(run: &Comparison) -> impl Iterator<Item = Judged<'_>> {
    let steps = || run.document.metrics.iter().flat_map(|metric| &metric.comparisons);
    steps().filter_map(move |step| {
        let said = Said::in_time(step)?;
        let compared = step.relative.sentence.as_deref().unwrap_or_default();
        let mut label = step.step.clone();
        if steps().filter(|other| other.step == step.step).count() > 1 {
            let marks = step.labels.iter().map(|(label, value)| format!(" {label}={value}"));
            label.push_str(&format!(" dop {}{}", step.dop, marks.collect::<String>()));
        }
        Some(Judged { said, label, compared })
    })
}

/// Why the gate fails on a run, apart from regressions: what is missing or can't be judged.
fn unjudged(run: &Comparison) -> Vec<String> {
    let mut reasons = run.gate(Gate::Regressions);
    reasons.retain(|reason| !run.regressions().contains(reason));
    reasons
}

fn summary(all: impl Iterator<Item = Said>) -> Option<String> {
    let all: Vec<Said> = all.collect();
    let of = |(said, word): &(Said, &str)| {
        let count = all.iter().filter(|it| *it == said).count();
        let plural = matches!(said, Said::Regression | Said::Improvement) && count > 1;
        (count > 0).then(|| format!("{count} {word}{}", if plural { "s" } else { "" }))
    };
    let parts: Vec<String> = Said::ALL.iter().filter_map(of).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
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
    let functions: Vec<String> = grown(kind).take(NAMED).map(|it| it.name.clone()).collect();
    format!("{} instructions per statement{}", more(ratio), by_function(&functions, ratio - 1.0))
}

/// The functions that moved as the whole did, the one that moved most first.
fn grown(kind: &KindDocument) -> impl Iterator<Item = &FunctionDocument> {
    let head = kind.variants.get(1);
    let rise = head.and_then(|it| it.relative).unwrap_or(1.0) - 1.0;
    let functions = head.into_iter().flat_map(|it| &it.functions);
    functions.filter(move |it| it.difference.is_some_and(|it| it.own * rise > 0.0))
}

/// Escapes text for a workflow command of GitHub.
fn value(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes text for one of its properties.
fn property(text: &str) -> String {
    value(text).replace(':', "%3A").replace(',', "%2C")
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

    fn change(counts: Vec<KindDocument>) -> JudgedChange {
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
        changed(ChangeFound::Counted(Box::new(report), ChangeRun::None))
    }

    fn changed(found: ChangeFound) -> JudgedChange {
        let [name, base, head] = ["load", "0123", "4567"].map(str::to_owned);
        JudgedChange { name, base, head, margin: 0.005, found }
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
        let line = |it: &FunctionDocument| {
            let file = format!("src/{}, old.c", it.object);
            Some(FunctionLine { file, line: 7 })
        };
        assert_eq!(
            change.annotations(line),
            "::error file=src/server%2C old.c,line=7,title=steelyard load%3A slower \
             (simple)::2.3%25 more instructions per statement; operator|@team grew most; +23 in \
             operator|@team\n"
        );
        assert_eq!(change.annotations(|_| None), "");
        let junit = change.junit(false);
        assert!(junit.contains("tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\""), "{junit}");
        let junit = change.junit(true);
        assert!(junit.contains("tests=\"6\" failures=\"3\" errors=\"1\" skipped=\"0\""), "{junit}");
    }

    #[test]
    fn what_can_not_be_judged_does_not_pass() {
        let unfit = changed(ChangeFound::Unfit("it does not build: `x < y` & more".to_owned()));
        assert_eq!(unfit.reasons(false).len(), 1);
        let comment = unfit.comment().unwrap();
        assert!(comment.contains("load: not judged") && !comment.contains("x < y"), "{comment}");
        assert!(unfit.junit(true).contains("x &lt; y` &amp; more"), "{unfit:?}");
        let unfinished = change(Vec::new());
        assert!(!unfinished.reasons(false).is_empty());
        assert!(unfinished.comment().unwrap().contains("nothing was counted"));
        let same = changed(ChangeFound::SameCode);
        assert!(same.reasons(true).is_empty() && same.comment().unwrap().contains("no change"));
        assert!(same.junit(true).contains("failures=\"0\" errors=\"0\""));
    }
}
