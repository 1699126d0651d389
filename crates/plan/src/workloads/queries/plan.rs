//! The contents of `[workload.queries]`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::parameters::Parameters;
use trace::{READS, Syntax};

use super::statements::{Found, Piece, statements};
use crate::data_directories::DataDirectories;
use crate::step::StepKey;
use crate::workloads::program::INIT;

/// The longest name of a query, as part of names of files.
const LONGEST_NAME: usize = 64;

/// A directory of queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueriesPlan {
    /// The directory, as written in the plan.
    pub directory: Option<String>,
    /// Its files by name, `.sql` and `.csv`.
    pub texts: BTreeMap<String, String>,
    /// The command that loads the data, before [`QueriesPlan::SETUP`].
    pub init: Option<String>,
    /// The data directories that the data comes from instead.
    pub data: DataDirectories,
    /// Names of the queries to run; empty: all. A step of [`QueriesPlan::loads`] is judged too.
    pub steps: Vec<String>,
    /// Clients that send a query at the same time, 1 to 10000.
    pub clients: u32,
    /// Seconds of each query.
    pub seconds: u32,
    /// How long one execution may take.
    pub timeout: Option<Duration>,
    /// What has to be the same in the results of all variants.
    pub compared: Compared,
    /// True if each query runs once, on a server that has just started and whose files are not in
    /// memory.
    pub cold: bool,
}

/// What has to be the same in the results of all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compared {
    /// The rows, in any order.
    Rows,
    /// How many rows there are.
    Count,
    /// Nothing.
    Nothing,
}

impl Compared {
    /// The words for them.
    pub(super) const NAMED: [(&'static str, Compared); 3] =
        [("rows", Compared::Rows), ("count", Compared::Count), ("nothing", Compared::Nothing)];

    /// Its word.
    pub fn name(self) -> &'static str {
        Compared::NAMED.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }
}

/// A query, for one system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Its name, which is that of its step.
    pub name: String,
    /// Its text with each row of values in turn; one if it has no parameters.
    pub texts: Vec<String>,
}

impl Default for QueriesPlan {
    /// All queries of no directory, one client, 5 s.
    fn default() -> Self {
        QueriesPlan {
            directory: None,
            texts: BTreeMap::new(),
            init: None,
            data: DataDirectories::default(),
            steps: Vec::new(),
            clients: 1,
            seconds: 5,
            timeout: None,
            compared: Compared::Rows,
            cold: false,
        }
    }
}

/// A file of SQL.
#[derive(Debug, Clone, Copy)]
struct Sql<'p> {
    /// Its name.
    file: &'p str,
    /// Without the system and `.sql`.
    stem: &'p str,
    /// The only system it is for.
    system: Option<&'p str>,
    text: &'p str,
}

impl QueriesPlan {
    /// The step that makes the data, and the name of its file.
    pub const SETUP: &str = "setup";

    /// The files of SQL, in the order of their names.
    fn files(&self) -> impl Iterator<Item = Sql<'_>> {
        self.texts.iter().filter_map(|(file, text)| {
            let stem = file.strip_suffix(".sql")?;
            let of_system = stem.rsplit_once('.');
            // `postgres` is also how the URLs of its servers begin; `postgresql` is not its name.
            let is_system = |name: &str| {
                reference::url_form(name).is_some_and(|form| form.starts_with(&format!("{name}:")))
            };
            let of_system = of_system.filter(|(_, name)| is_system(name));
            let (stem, system) = of_system.map_or((stem, None), |(stem, it)| (stem, Some(it)));
            Some(Sql { file, stem, system, text })
        })
    }

    /// True if there is a file that makes the data.
    fn has_setup(&self) -> bool {
        self.files().any(|file| file.stem == Self::SETUP)
    }

    /// The steps that make the data, in their order. After [`INIT`], there is always a
    /// [`QueriesPlan::SETUP`], which makes statistics.
    pub fn loads(&self) -> Vec<&'static str> {
        let init = self.init.as_ref().map(|_| INIT);
        let setup = (init.is_some() || self.has_setup()).then_some(Self::SETUP);
        init.into_iter().chain(setup).collect()
    }

    /// The names of the queries to run, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.all_names();
        names.retain(|name| self.runs(name));
        names.into_iter().collect()
    }

    /// True if a query runs.
    fn runs(&self, name: &str) -> bool {
        let loads = self.loads();
        self.steps.iter().all(|step| loads.contains(&step.as_str()))
            || self.steps.iter().any(|it| it == name)
    }

    /// The key of the step of a query.
    pub fn key(&self, query: &str) -> StepKey {
        let mut key = StepKey::new(query, self.clients);
        if self.cold {
            key.labels.insert("cache".to_owned(), "cold".to_owned());
        }
        key
    }

    /// The names of all queries. A file that can't be read counts as one.
    pub(super) fn all_names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for file in self.files().filter(|file| file.stem != Self::SETUP) {
            match file.read_somehow() {
                Ok(found) => names.extend(found.iter().map(|it| it.name(file.stem).to_owned())),
                Err(_) => drop(names.insert(file.stem.to_owned())),
            }
        }
        names
    }

    /// The mistakes that show without a system, each with its file.
    pub(super) fn mistakes(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut names: BTreeMap<(String, Option<&str>), &str> = BTreeMap::new();
        for file in self.files() {
            let read = match file.stem {
                Self::SETUP => file.read_somehow().map(|_| Vec::new()),
                stem => file
                    .read_somehow()
                    .and_then(|all| file.queries(&all, &self.parameters(stem)?, Syntax::Dollars)),
            };
            match read {
                Err(mistake) => found.push(mistake),
                Ok(queries) => {
                    for query in queries {
                        let key = (query.name.clone(), file.system);
                        let before = names.insert(key, file.stem);
                        if let Some(before) = before.filter(|before| *before != file.stem) {
                            found.push(format!(
                                "{}: {before}.sql has a query `{}` too; names must differ",
                                file.file, query.name
                            ));
                        }
                    }
                }
            }
        }
        found
    }

    /// The values of the queries in files with this stem.
    fn parameters(&self, stem: &str) -> Result<Option<Parameters>, String> {
        let file = format!("{stem}.csv");
        let Some(text) = self.texts.get(&file) else { return Ok(None) };
        Parameters::read(text).map(Some).map_err(|error| format!("{file}: {error}"))
    }

    /// The file with this stem for a system: its own, or that of all.
    fn file_of(&self, stem: &str, system: &str) -> Option<Sql<'_>> {
        let of = |wanted: Option<&str>| {
            self.files().find(|file| file.stem == stem && file.system == wanted)
        };
        of(Some(system)).or_else(|| of(None))
    }

    /// The statements that make the data on a system of this name.
    ///
    /// # Errors
    /// A sentence with the file.
    pub fn setup(&self, system: &str, syntax: Syntax) -> Result<Vec<String>, String> {
        let Some(file) = self.file_of(Self::SETUP, system) else {
            return match self.has_setup() {
                true => Err(format!("there is no setup.{system}.sql, and no setup.sql for all")),
                false => Ok(Vec::new()),
            };
        };
        let found = file.read(syntax)?;
        for statement in &found {
            let copies = statement.words.first().is_some_and(|word| word == "copy");
            if copies && statement.words.iter().any(|word| word == "stdin") {
                return Err(file.at(
                    statement.line,
                    "COPY FROM STDIN has no rows here; insert them, or COPY from a file",
                ));
            }
        }
        found.iter().map(|statement| file.filled(statement, None)).collect()
    }

    /// The queries to run on a system of this name, sorted by name.
    ///
    /// # Errors
    /// A sentence with the file: a mistake, or a query without a text for this system.
    pub fn queries(&self, system: &str, syntax: Syntax) -> Result<Vec<Query>, String> {
        let stems: BTreeSet<&str> = self.files().map(|file| file.stem).collect();
        let mut queries = Vec::new();
        for stem in stems.into_iter().filter(|stem| *stem != Self::SETUP) {
            let Some(file) = self.file_of(stem, system) else { continue };
            queries.extend(file.queries(&file.read(syntax)?, &self.parameters(stem)?, syntax)?);
        }
        queries.retain(|query| self.runs(&query.name));
        queries.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some([one, _]) = queries.array_windows().find(|[one, next]| one.name == next.name) {
            return Err(format!(
                "for {system} there are two queries `{}`; names must differ",
                one.name
            ));
        }
        let names = self.names();
        let named = |name: &String| queries.iter().any(|query| query.name == *name);
        if let Some(missing) = names.iter().find(|name| !named(name)) {
            return Err(format!(
                "the query `{missing}` has no text for {system}; add {missing}.{system}.sql, or \
                 {missing}.sql for all"
            ));
        }
        match queries.iter().find(|query| !names.contains(&query.name)) {
            Some(other) => Err(format!(
                "for {system} there is a query `{}`, but not for the others; name it alike in all \
                 files",
                other.name
            )),
            None => Ok(queries),
        }
    }
}

impl<'p> Sql<'p> {
    fn at(&self, line: usize, message: &str) -> String {
        format!("{}:{line}: {message}", self.file)
    }

    fn read(&self, syntax: Syntax) -> Result<Vec<Found<'p>>, String> {
        statements(self.text, syntax).map_err(|(line, message)| self.at(line, &message))
    }

    /// Its statements by the first syntax that fits.
    fn read_somehow(&self) -> Result<Vec<Found<'p>>, String> {
        let first = self.read(Syntax::Dollars);
        let fits = |found: &Vec<Found<'_>>| {
            let plain = |it: &Found<'_>| self.first_word(it).is_ok() || self.stem == "setup";
            found.iter().all(plain)
                && (found.len() == 1 || found.iter().all(|it| it.name.is_some()))
        };
        match first {
            Ok(found) if fits(&found) => Ok(found),
            other => self.read(Syntax::Backslashes).ok().filter(fits).map_or(other, Ok),
        }
    }

    fn first_word(&self, statement: &Found<'_>) -> Result<(), String> {
        let word = statement.words.first().map_or("", String::as_str);
        if READS.contains(&word) {
            return Ok(());
        }
        let message = format!(
            "expected a query that begins with SELECT, WITH, VALUES or TABLE, found `{word}`; other \
             statements can't be measured here yet"
        );
        Err(self.at(statement.line, &message))
    }

    /// The queries of its statements, with all values.
    fn queries(
        &self,
        found: &[Found<'_>],
        parameters: &Option<Parameters>,
        syntax: Syntax,
    ) -> Result<Vec<Query>, String> {
        let Some(first) = found.first() else {
            return Err(format!("{}: expected a query, found none", self.file));
        };
        if let Some(unnamed) = found.iter().find(|it| it.name.is_none()).filter(|_| found.len() > 1)
        {
            let message = format!(
                "{} statements, and this one has no name; write `-- name: X` on a line before each",
                found.len()
            );
            return Err(self.at(unnamed.line, &message));
        }
        let mut names = BTreeSet::new();
        let mut queries = Vec::new();
        for statement in found {
            let name = statement.name(self.stem);
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            let fits = name.len() <= LONGEST_NAME && name.chars().all(plain);
            let taken = [INIT, QueriesPlan::SETUP].contains(&name);
            if !fits || name.starts_with(['.', '-']) || taken {
                let message = format!(
                    "expected a name of letters, digits, `.`, `_` and `-` other than `init` and \
                     `setup`, found `{name}`"
                );
                return Err(self.at(statement.line, &message));
            }
            if !names.insert(name) {
                let message = format!("two queries are called `{name}`; names must differ");
                return Err(self.at(statement.line, &message));
            }
            self.first_word(statement)?;
            let uses = statement.pieces.iter().any(|it| matches!(it, Piece::Parameter(_)));
            let texts = match parameters {
                Some(values) if uses => {
                    let rows = values.literals(syntax);
                    rows.map(|row| self.filled(statement, Some(&row))).collect::<Result<_, _>>()?
                }
                _ => vec![self.filled(statement, None)?],
            };
            queries.push(Query { name: name.to_owned(), texts });
        }
        if let Some(values) = parameters {
            let used = |name: &String| {
                let mut pieces = found.iter().flat_map(|statement| &statement.pieces);
                pieces.any(|piece| *piece == Piece::Parameter(name))
            };
            if let Some(unused) = values.names().iter().find(|name| !used(name)) {
                let message = format!(
                    "{}.csv has values for `{{{unused}}}`, which no query of this file uses",
                    self.stem
                );
                return Err(self.at(first.line, &message));
            }
        }
        Ok(queries)
    }

    /// The text of a statement with these values.
    fn filled(
        &self,
        statement: &Found<'_>,
        values: Option<&BTreeMap<&str, String>>,
    ) -> Result<String, String> {
        let mut text = String::new();
        for piece in &statement.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Parameter(name) => match values.and_then(|values| values.get(name)) {
                    Some(value) => text.push_str(value),
                    None => {
                        let message = format!(
                            "`{{{name}}}` has no values; write them into {}.csv, in a column of \
                             this name",
                            self.stem
                        );
                        return Err(self.at(statement.line, &message));
                    }
                },
            }
        }
        Ok(text)
    }
}

impl Found<'_> {
    /// Its own name, or that of its file.
    fn name<'n>(&'n self, stem: &'n str) -> &'n str {
        self.name.unwrap_or(stem)
    }
}
