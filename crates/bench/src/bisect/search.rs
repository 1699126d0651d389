//! One search of a history, and its answer.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::history::{self, COMMITS, Order, tag};
use crate::steelyard::Steelyard;

/// What is measured: inserts of 100 rows into a table with a primary key.
pub const KIND: &str = "insert-100";

/// The part of the answer that is checked (docs/bisect.md).
#[derive(Debug, Deserialize)]
pub struct Answer {
    answer: String,
    culprits: Vec<Culprit>,
    failed: Vec<Failed>,
    looks: Vec<Look>,
}

#[derive(Debug, Deserialize)]
struct Culprit {
    suspects: Vec<Suspect>,
    moved: Vec<Moved>,
}

#[derive(Debug, Deserialize)]
struct Suspect {
    commit: Commit,
}

#[derive(Debug, Deserialize)]
struct Commit {
    id: String,
}

#[derive(Debug, Deserialize)]
struct Moved {
    ratio: f64,
}

#[derive(Debug, Deserialize)]
struct Look {
    seconds: f64,
}

#[derive(Debug, Deserialize)]
struct Failed {
    candidate: String,
}

/// The part of what a search has kept that is shown.
#[derive(Debug, Deserialize)]
struct Kept {
    built: BTreeMap<usize, Built>,
    looks: Vec<Look>,
}

#[derive(Debug, Deserialize)]
struct Built {
    seconds: f64,
}

impl Answer {
    /// How long the looks took.
    pub fn seconds(&self) -> Vec<f64> {
        self.looks.iter().map(|look| look.seconds).collect()
    }
}

/// How commits are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// Instructions are counted.
    Counts,
    /// Each runs beside the first one, in slices.
    Runs,
}

impl Looks {
    fn words(self) -> &'static [&'static str] {
        match self {
            Looks::Counts => &["--kind", KIND],
            Looks::Runs => &["insert", "--steps", "l.i0", "--margin", "2%", "--budget", "90m"],
        }
    }
}

/// A history and where it is searched.
pub struct Search<'a> {
    pub order: &'a Order,
    pub looks: Looks,
    pub tree: PathBuf,
    pub results: PathBuf,
    /// Further options.
    pub more: Vec<&'static str>,
}

impl Search<'_> {
    /// The words of the command.
    pub fn words(&self) -> Vec<String> {
        let repository = format!("git:{}", self.tree.display());
        let results = self.results.display().to_string();
        let bad = tag(COMMITS);
        let fixed = ["--good", "c0", "--bad", &bad, "--compiler", "ccache cc"];
        let all = ["bisect", &repository].into_iter().chain(fixed);
        let all = all.chain(self.looks.words().iter().copied());
        let all = all.chain(["--format", "json", "--results", &results]);
        all.chain(self.more.iter().copied()).map(str::to_owned).collect()
    }

    /// Searches, or goes on with that, and checks the answer.
    pub fn run(&self, steelyard: &Steelyard) -> Result<Answer> {
        let words = self.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.check(&steelyard.prints(&words)?)
    }

    /// How many looks the search has kept; none if it ended before it kept anything.
    pub fn known(&self) -> usize {
        self.kept().map_or(0, |kept| kept.looks.len())
    }

    /// Reads the answer and checks that it names what was planted, and nothing else.
    fn check(&self, printed: &str) -> Result<Answer> {
        let answer: Answer = serde_json::from_str(printed).context("the answer of bisect")?;
        let wanted: Vec<String> = self
            .order
            .culprits()
            .into_iter()
            .map(|place| history::id(&self.tree, place))
            .collect::<Result<_>>()?;
        let named: Vec<&str> = answer
            .culprits
            .iter()
            .flat_map(|culprit| culprit.suspects.iter().map(|it| it.commit.id.as_str()))
            .collect();
        ensure!(
            answer.answer == "found" && named == wanted,
            "expected {wanted:?} in {}, found {printed}",
            self.tree.display()
        );
        let broken = history::id(&self.tree, self.order.broken)?;
        for Failed { candidate } in &answer.failed {
            let id = candidate.split_whitespace().next().unwrap_or_default();
            ensure!(broken.starts_with(id), "only {broken} does not build, found {candidate}");
        }
        Ok(answer)
    }

    /// Its row of the table.
    pub fn row(&self, number: usize, answer: &Answer) -> Result<Vec<String>> {
        let Order { first, second, fix, broken } = self.order;
        let mut row = [number, *first, *second, *fix, *broken].map(|it| it.to_string()).to_vec();
        let [moved, looks, built, building, looking] = self.figures(answer)?;
        row.extend(["all, alone".to_owned(), moved, looks, built, building, looking]);
        Ok(row)
    }

    /// The changes, the looks, the builds, and the minutes of building and of looking.
    pub fn figures(&self, answer: &Answer) -> Result<[String; 5]> {
        let kept = self.kept()?;
        let building: f64 = kept.built.values().map(|built| built.seconds).sum();
        let looking: f64 = answer.seconds().iter().sum();
        let ratios = answer.culprits.iter().filter_map(|culprit| culprit.moved.first());
        let ratios: Vec<String> =
            ratios.map(|moved| format!("{:+.1}%", 100.0 * (moved.ratio - 1.0))).collect();
        Ok([
            ratios.join(", ").replace('-', "−"),
            answer.looks.len().to_string(),
            kept.built.len().to_string(),
            format!("{:.1}", building / 60.0),
            format!("{:.1}", looking / 60.0),
        ])
    }

    /// What the search keeps in its results directory.
    fn kept(&self) -> Result<Kept> {
        let folder = self.results.join("bisect");
        let file = only_file(&folder).with_context(|| format!("{}", folder.display()))?;
        Ok(serde_json::from_slice(&fs::read(file)?)?)
    }
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|it| it == "json")).context("no file")
}
