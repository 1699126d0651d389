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

/// Writes the plan, and returns its place.
pub fn plan(search: &Search<'_>) -> Result<String> {
    let plan = search.results.with_extension("toml");
    std::fs::write(&plan, format!("{PLAN}kinds = [\"{KIND}\"]\n"))?;
    Ok(plan.display().to_string())
}

/// Judges so many commits after the one that slows something down first; says how that went.
pub fn gates(steelyard: &Steelyard, search: &Search<'_>, gates: usize) -> Result<String> {
    let first = search.order.first;
    ensure!(first + gates < search.order.broken, "at most {}", search.order.broken - first - 1);
    let plan = plan(search)?;
    let (mut same, mut seconds) = (0, Vec::new());
    for place in (first + 1..).take(gates) {
        let (base, head) = (tag(place - 1), tag(place));
        let begin = Instant::now();
        let words = [
            "gate",
            &plan,
            "--repository",
            &format!("git:{}", search.tree.display()),
            "--base",
            &base,
            "--head",
            &head,
            "--results",
            &search.results.display().to_string(),
        ];
        let words: Vec<&str> = words.into_iter().chain(search.more.iter().copied()).collect();
        // An alarm is an error.
        let comment = steelyard.prints(&words)?;
        seconds.push(begin.elapsed().as_secs());
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
