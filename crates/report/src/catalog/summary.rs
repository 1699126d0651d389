//! An experiment in a few words, for a pull request: a small document, Markdown, and a badge.

use metrics::counted;
use serde::{Deserialize, Serialize};

use super::brief::{Brief, Moved};
use super::documents::FORMAT;
use crate::output::text::unmarked;

/// `api/v1/experiments/ID/summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SummaryDocument {
    /// Version of the shape.
    pub format: u32,
    /// The outcome in a few words, as on the badge.
    pub outcome: String,
    /// The experiment at a glance.
    pub experiment: Brief,
}

/// How an outcome is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Bad,
    Open,
    Good,
}

impl Tone {
    /// Dark enough for white text (contrast above 4.5).
    fn color(self) -> &'static str {
        match self {
            Self::Bad => "#b3261e",
            Self::Open => "#5f6368",
            Self::Good => "#1e6b34",
        }
    }
}

/// The outcome, the worst first: nothing failed or missing looks good.
fn outcome(brief: &Brief) -> (String, Tone) {
    let verdicts = brief.verdicts;
    let bad = [
        (verdicts.regression > 0).then(|| counted(verdicts.regression, "regression")),
        (brief.wrong > 0).then(|| format!("{} failed or wrong", brief.wrong)),
        (brief.state == store::FAILED).then(|| "failed".to_owned()),
    ];
    let bad: Vec<String> = bad.into_iter().flatten().collect();
    if !bad.is_empty() {
        return (bad.join(", "), Tone::Bad);
    }
    let decided = verdicts.improvement + verdicts.equivalent;
    let improved = counted(verdicts.improvement, "improvement");
    let open = [
        brief.problem.is_some().then(|| "no results".to_owned()),
        (brief.state != "finished").then(|| brief.state.clone()),
        (brief.lost > 0).then(|| format!("{} without a result", counted(brief.lost, "trial"))),
        (verdicts.inconclusive > 0).then(|| format!("{} undecided", verdicts.inconclusive)),
        (decided + verdicts.inconclusive == 0).then(|| "nothing compared".to_owned()),
    ];
    let open: Vec<String> = open.into_iter().flatten().collect();
    match (open.is_empty(), verdicts.improvement) {
        (true, 0) => ("no regression".to_owned(), Tone::Good),
        (true, _) => (improved, Tone::Good),
        (false, _) => (open.join(", "), Tone::Open),
    }
}

/// The document of an experiment.
pub fn summary(brief: &Brief) -> SummaryDocument {
    SummaryDocument { format: FORMAT, outcome: outcome(brief).0, experiment: brief.clone() }
}

/// The same as Markdown: a heading, the counts of verdicts, and what moved.
pub fn summary_text(brief: &Brief) -> String {
    let text = unmarked;
    let others = brief.variants.iter().filter(|variant| variant.name != brief.base);
    let others: Vec<String> = others.map(|variant| text(&variant.name)).collect();
    let mut lines = vec![
        format!("### {}: {}", text(&brief.name), text(&outcome(brief).0)),
        String::new(),
        format!(
            "{} against {}, {} (experiment {})",
            others.join(", "),
            text(&brief.base),
            text(&brief.label),
            brief.id
        ),
    ];
    let mut said: Vec<String> = brief.moved.iter().map(line).collect();
    let verdicts = brief.verdicts;
    let more = (verdicts.regression + verdicts.improvement).saturating_sub(brief.moved.len());
    if more > 0 {
        said.push(format!("- {}", counted(more, "more verdict")));
    }
    let rest = [(verdicts.equivalent, "equivalent"), (verdicts.inconclusive, "undecided")];
    let rest = rest.into_iter().filter(|(number, _)| *number > 0);
    said.extend(rest.map(|(number, word)| format!("- {} {word}", counted(number, "comparison"))));
    said.extend(brief.problem.as_ref().map(|problem| format!("- {}", text(problem))));
    if !said.is_empty() {
        lines.push(String::new());
        lines.extend(said);
    }
    lines.join("\n") + "\n"
}

fn line(moved: &Moved) -> String {
    let text = unmarked;
    let noted = moved.noted.as_ref().map(|note| format!(" – noted: {}", text(note)));
    let (step, sentence) = (text(&moved.step), text(&moved.sentence));
    format!("- **{}** {step}: {sentence}{}", moved.verdict, noted.unwrap_or_default())
}

/// The same as a badge (SVG), readable without colors.
pub fn badge(brief: &Brief) -> String {
    let (said, tone) = outcome(brief);
    // Verdana of 11 pixels has at most 7 per letter on average; `textLength` makes it fit exactly.
    let width = |text: &str| 7 * text.chars().count() + 10;
    let (name, color) = ("steelyard", tone.color());
    let (left, right) = (width(name), width(&said));
    let all = left + right;
    let label = |text: &str, x: usize, length: usize| {
        let text = escaped(text);
        format!("<text x=\"{x}\" y=\"14\" textLength=\"{length}\">{text}</text>")
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" aria-label=\"{title}\">\
         <title>{title}</title><rect width=\"{all}\" height=\"20\" rx=\"3\" fill=\"#3c4043\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" rx=\"3\" fill=\"{color}\"/>\
         <g fill=\"#fff\" font-family=\"Verdana,Geneva,DejaVu Sans,sans-serif\" font-size=\"11\">{}{}</g></svg>\n",
        label(name, 5, left - 10),
        label(&said, left + 5, right - 10),
        title = escaped(&format!("{name}: {said}")),
    )
}

/// A text as it is written in XML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{BriefVariant, VerdictCounts};

    fn brief(change: impl FnOnce(&mut Brief)) -> Brief {
        let variant =
            |name: &str| BriefVariant { name: name.to_owned(), ..BriefVariant::default() };
        let mut brief = Brief {
            id: 7,
            name: "nightly".to_owned(),
            label: "insert, 10M rows".to_owned(),
            state: "finished".to_owned(),
            base: "pg13.7".to_owned(),
            variants: vec![variant("pg13.7"), variant("pg14.3")],
            verdicts: VerdictCounts { equivalent: 3, ..VerdictCounts::default() },
            ..Brief::default()
        };
        change(&mut brief);
        brief
    }

    #[test]
    fn only_what_is_decided_and_complete_looks_good() {
        let of = |change: fn(&mut Brief)| {
            let (said, tone) = outcome(&brief(change));
            (said, tone == Tone::Good)
        };
        let told = |text: &str, good| (text.to_owned(), good);
        assert_eq!(of(|_| ()), told("no regression", true));
        assert_eq!(of(|it| it.verdicts.improvement = 2), told("2 improvements", true));
        assert_eq!(of(|it| it.verdicts.regression = 1), told("1 regression", false));
        assert_eq!(of(|it| it.wrong = 1), told("1 failed or wrong", false));
        assert_eq!(of(|it| it.state = "unfinished".to_owned()), told("unfinished", false));
        assert_eq!(of(|it| it.state = "failed".to_owned()), told("failed", false));
        assert_eq!(of(|it| it.verdicts.inconclusive = 2), told("2 undecided", false));
        assert_eq!(of(|it| it.lost = 1), told("1 trial without a result", false));
        assert_eq!(of(|it| it.verdicts.equivalent = 0), told("nothing compared", false));
        let no_results = of(|it| {
            it.problem = Some("no trials".to_owned());
            it.verdicts.equivalent = 0;
        });
        assert_eq!(no_results, told("no results, nothing compared", false));
    }

    #[test]
    fn names_are_text_everywhere() {
        let spoiled = brief(|it| {
            it.name = "<script>*a*|b [x](http://evil)".to_owned();
            it.state = "<b>\"&".to_owned();
            it.verdicts.improvement = 4;
            it.moved.push(Moved {
                step: "l.i0".to_owned(),
                place: 1,
                variant: "pg14.3".to_owned(),
                verdict: "improvement".to_owned(),
                ratio: Some(1.1),
                sentence: "pg14.3 is 10% faster".to_owned(),
                noted: Some("expected (eve, 2026-01-01)".to_owned()),
            });
        });
        let svg = badge(&spoiled);
        assert!(svg.contains("&lt;b&gt;&quot;&amp;") && !svg.contains("<b>"), "{svg}");
        let text = summary_text(&spoiled);
        assert!(!text.contains("<script>") && !text.contains("[x](http"), "{text}");
        assert!(text.contains("- **improvement** l.i0: pg14.3 is 10% faster"), "{text}");
        assert!(text.contains("3 more verdicts") && text.contains("noted: expected"), "{text}");
        assert!(text.contains("pg14.3 against pg13.7, insert, 10M rows (experiment 7)"), "{text}");
    }
}
