//! Harmless commits of a history before the gate.

use std::time::Instant;

use anyhow::{Result, bail, ensure};

use super::history::tag;
use super::search::{KIND, Search};
use crate::steelyard::Steelyard;

/// The plan of the gate, without the kind.
const PLAN: &str = "margin = \"0.5%\"\n[variants.any]\ndbms = \"postgres@15.1\"\n\
                    build = { compiler = \"ccache cc\" }\n[workload.insert]\n\
                    [count]\nprotocols = [\"simple\"]\n";

/// Judges the change from one commit to another; how the gate ended, its comment, and the seconds.
pub fn judge(
    steelyard: &Steelyard,
    search: &Search<'_>,
    [base, head]: [&str; 2],
    more: &[&str],
) -> Result<(Option<i32>, String, u64)> {
    let plan = search.results.with_extension("toml");
    std::fs::write(&plan, format!("{PLAN}kinds = [\"{KIND}\"]\n"))?;
    let [plan, results] = [&plan, &search.results].map(|it| it.display().to_string());
    let repository = format!("git:{}", search.tree.display());
    let words = ["gate", &plan, "--repository", &repository, "--results", &results];
    let ends = ["--base", base, "--head", head];
    let begin = Instant::now();
    let (code, comment) = steelyard.ends(&[&words, &ends[..], more, &search.more].concat())?;
    Ok((code, comment, begin.elapsed().as_secs()))
}

/// Judges so many commits after the one that slows something down first; says how that went.
pub fn gates(steelyard: &Steelyard, search: &Search<'_>, gates: usize) -> Result<String> {
    let first = search.order.first;
    ensure!(first + gates < search.order.broken, "at most {}", search.order.broken - first - 1);
    let (mut same, mut seconds) = (0, Vec::new());
    for place in (first + 1..).take(gates) {
        let (base, head) = (tag(place - 1), tag(place));
        let (code, comment, took) = judge(steelyard, search, [&base, &head], &[])?;
        ensure!(code == Some(0), "{head} is harmless, found an alarm: {comment}");
        seconds.push(took);
        match comment {
            _ if comment.contains(": no change**") => same += 1,
            _ if comment.contains(": 1 fine**") => {}
            _ => bail!("{head} is harmless, found {comment}"),
        }
    }
    seconds.sort_unstable();
    let [least, most] = [seconds.first(), seconds.last()].map(|it| it.copied().unwrap_or(0));
    Ok(format!(
        "The {gates} commits after c{first} passed `steelyard gate`: {same} have the code of the one \
         before, {} were counted; {least} to {most} s for each, with a build or two.",
        gates - same
    ))
}
