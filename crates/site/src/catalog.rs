//! Which documents there are, and how each is made.

use std::collections::BTreeMap;

use report::catalog::{self, Brief, HistoryEntry, LiveDocument, Machines};
use report::{Chosen, HistoryOptions, Order, ReportError, Source};
use serde::Serialize;
use store::{ExperimentId, Store};

use crate::Error;
use crate::app;
use crate::kept::Kept;
use crate::mark::{mark, sum};

/// Version of the shapes of documents that only this crate makes.
const FORMAT: u32 = 1;

/// The documents of a store at one moment, and the app's files, by their paths.
#[derive(Debug)]
pub struct Catalog {
    kept: Kept,
    /// Newest first.
    briefs: Vec<Brief>,
    machines: Machines,
    entries: BTreeMap<String, Entry>,
}

/// A document that can be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Changes whenever the content may change.
    pub mark: String,
    kind: Kind,
}

impl Entry {
    /// True for documents that take long to make.
    pub fn takes_long(&self) -> bool {
        matches!(self.kind, Kind::Experiment(_) | Kind::History { .. })
    }

    /// The content of a file of the app, which is the same for all results.
    pub fn file(&self) -> Option<&'static [u8]> {
        if let Kind::App(content) = self.kind { Some(content) } else { None }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    App(&'static [u8]),
    Overview,
    Experiments,
    Live,
    Machines,
    Histories,
    Experiment(ExperimentId),
    /// An experiment in a few words, for a pull request.
    Summary(i64, InFew),
    History {
        experiments: Vec<i64>,
        machine: String,
        order: Order,
        metric: String,
    },
}

/// A form of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InFew {
    Json,
    Text,
    Badge,
}

impl InFew {
    /// All, with their names in paths.
    const NAMED: [(&str, InFew); 3] =
        [("summary.json", Self::Json), ("summary.md", Self::Text), ("badge.svg", Self::Badge)];
}

/// A document about something that cannot be shown.
#[derive(Debug, Serialize)]
struct ProblemDocument {
    format: u32,
    problem: String,
}

impl Catalog {
    /// Reads which documents there are. Of experiments that have not changed, it uses the kept
    /// briefs.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read(store: &Store, kept: Kept) -> Result<Self, Error> {
        let kept = kept.renewed(store)?;
        let mut briefs: Vec<Brief> = kept.briefs.values().map(|it| it.brief.clone()).collect();
        briefs.sort_by(|one, other| (&other.started, other.id).cmp(&(&one.started, one.id)));
        let machines = Machines::read(store, &briefs)?;
        let mut catalog = Self { kept, briefs, machines, entries: BTreeMap::new() };
        catalog.enter();
        Ok(catalog)
    }

    /// The briefs, to be kept.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The paths with their entries.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// The entry of a path, if there is one.
    pub fn entry(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    fn enter(&mut self) {
        for (path, content) in app::FILES {
            let entry = Entry { mark: sum(content), kind: Kind::App(content) };
            self.entries.insert(path.to_owned(), entry);
        }
        let all: Vec<&str> = self.kept.briefs.values().map(|kept| kept.mark.as_str()).collect();
        let ids: Vec<String> = self.kept.briefs.keys().map(i64::to_string).collect();
        let both = ids.iter().map(String::as_str).chain(all.iter().copied());
        let all = mark(both.collect::<Vec<_>>());
        let mut entries: Vec<(String, Kind, String)> = [
            ("overview", Kind::Overview),
            ("experiments", Kind::Experiments),
            ("machines", Kind::Machines),
            ("history", Kind::Histories),
        ]
        .into_iter()
        .map(|(name, kind)| (name.to_owned(), kind, all.clone()))
        .collect();
        for (id, kept) in &self.kept.briefs {
            let kind = Kind::Experiment(ExperimentId(*id));
            entries.push((format!("experiments/{id}"), kind, kept.mark.clone()));
        }
        for history in catalog::histories(&self.briefs, &self.machines).histories {
            entries.extend(self.history(&history));
        }
        let mut files: Vec<(String, Kind, String)> = Vec::new();
        for (id, kept) in &self.kept.briefs {
            files.extend(InFew::NAMED.map(|(name, form)| {
                (format!("experiments/{id}/{name}"), Kind::Summary(*id, form), kept.mark.clone())
            }));
        }
        files.extend(entries.into_iter().map(|(path, kind, of)| (path + ".json", kind, of)));
        files.push(("live.json".to_owned(), Kind::Live, String::new()));
        for (path, kind, content) in files {
            let mark = mark([self.kept.made_by(), &path, &content]);
            self.entries.insert(format!("api/v1/{path}"), Entry { mark, kind });
        }
    }

    /// The documents of a history.
    fn history(&self, history: &HistoryEntry) -> Vec<(String, Kind, String)> {
        let mark_of = |id: &i64| self.kept.briefs.get(id).map_or("", |kept| kept.mark.as_str());
        let content = mark(history.experiments.iter().map(mark_of).collect::<Vec<_>>());
        let HistoryEntry { workload, machine, experiments, .. } = history;
        let mut entries = Vec::new();
        for name in &history.orders {
            let order = if name == Order::Date.as_str() { Order::Date } else { Order::Version };
            for metric in &history.metrics {
                let path = format!("history/{workload}/{machine}/{name}/{}", metric.key);
                let (machine, metric) = (machine.clone(), metric.name.clone());
                let kind =
                    Kind::History { experiments: experiments.clone(), machine, order, metric };
                entries.push((path, kind, content.clone()));
            }
        }
        entries
    }

    /// Makes the document of an entry. If something is wrong with the results, the document says
    /// so.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn make(&self, store: &Store, entry: &Entry) -> Result<Vec<u8>, Error> {
        let (briefs, machines) = (&self.briefs[..], &self.machines);
        match &entry.kind {
            Kind::App(content) => Ok(content.to_vec()),
            Kind::Overview => json(&catalog::overview(briefs, machines)),
            Kind::Experiments => json(&catalog::experiments(briefs, machines)),
            Kind::Live => json(&LiveDocument::of_site()),
            Kind::Machines => json(&catalog::machines(briefs, machines)),
            Kind::Histories => json(&catalog::histories(briefs, machines)),
            Kind::Experiment(id) => {
                let made = report::document(store, *id).map(String::into_bytes);
                or_problem(made.map_err(Error::Report))
            }
            Kind::Summary(id, form) => {
                let Some(kept) = self.kept.briefs.get(id) else { return Ok(Vec::new()) };
                match form {
                    InFew::Json => json(&catalog::summary(&kept.brief)),
                    InFew::Text => Ok(catalog::summary_text(&kept.brief).into_bytes()),
                    InFew::Badge => Ok(catalog::badge(&kept.brief).into_bytes()),
                }
            }
            Kind::History { experiments, machine, order, metric } => {
                let ids = experiments.iter().map(|id| ExperimentId(*id)).collect();
                let options = HistoryOptions {
                    chosen: Chosen::Ids(ids),
                    machine: Some(machine.clone()),
                    metric: metric.clone(),
                    order: Some(*order),
                    ..HistoryOptions::default()
                };
                let source = Source { store, directory: String::new(), machine: None };
                let made = report::history(&[source], &options);
                or_problem(made.map_err(Error::Report).and_then(|it| json(&it.document)))
            }
        }
    }
}

fn json(document: &impl Serialize) -> Result<Vec<u8>, Error> {
    Ok(serde_json::to_vec(document)?)
}

/// What is wrong with results, as a document; the store's own errors pass.
fn or_problem(made: Result<Vec<u8>, Error>) -> Result<Vec<u8>, Error> {
    match made {
        Err(Error::Report(error)) if !matches!(error, ReportError::Store(_)) => {
            json(&ProblemDocument { format: FORMAT, problem: error.to_string() })
        }
        made => made,
    }
}
