//! The queries of a log as a directory for `steelyard run queries`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use trace::{Examples, Form, Ranking, Statement, Syntax};

use crate::exit::{WrongRequest, refuse};

/// The directory, if it is new or empty.
pub fn new_directory(directory: &Path) -> anyhow::Result<PathBuf> {
    let shown = directory.display();
    match fs::read_dir(directory).map(|mut entries| entries.next().is_some()) {
        Ok(true) => refuse(format!("{shown} is not empty; name a new directory")),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(WrongRequest(format!("cannot write to {shown}: {error}")).into())
        }
        _ => Ok(directory.to_owned()),
    }
}

/// How often a form occurs, and how long it took.
pub fn about(form: &Form) -> String {
    let times = match form.statements {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    format!("{times}, {:.1} ms together", form.took_us as f64 / 1e3)
}

/// The queries of a log, and the new or empty directory that they go to.
#[derive(Debug)]
pub struct Queries {
    directory: PathBuf,
    examples: Examples,
}

impl Queries {
    /// None yet, of a log in this syntax. Checks that there is room for the directory.
    pub fn at(directory: &Path, syntax: Syntax) -> anyhow::Result<Queries> {
        let directory = new_directory(directory)?;
        Ok(Queries { directory, examples: Examples::new(syntax) })
    }

    /// Takes a statement of the form at `place`.
    pub fn add(&mut self, place: usize, statement: &Statement) {
        self.examples.add(place, statement);
    }

    /// Writes the examples of the first `most` forms of the ranking; returns what to say of it.
    pub fn write(&self, ranking: &Ranking, most: usize) -> anyhow::Result<String> {
        let failed = || format!("could not write queries to {}", self.directory.display());
        fs::create_dir_all(&self.directory).with_context(failed)?;
        let (mut written, mut left) = (0, Vec::new());
        for (number, place) in (1..).zip(ranking.order()).take(most) {
            let Some(example) = self.examples.of(place) else {
                left.push(format!("q{number}"));
                continue;
            };
            let about = about(&ranking.forms()[place]);
            for (name, content) in example.files(&format!("q{number}"), &about) {
                fs::write(self.directory.join(name), content).with_context(failed)?;
            }
            written += 1;
        }
        let mut said = format!("wrote {written} queries to {}", self.directory.display());
        if !left.is_empty() {
            said.push_str(&format!(
                "; left out, as they write, failed, or lack values: {}",
                left.join(", ")
            ));
        }
        Ok(said)
    }
}
