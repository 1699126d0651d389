//! The queries of a log as a directory for `steelyard run queries`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use trace::{Examples, Ranking};

use crate::exit::{WrongRequest, refuse};

/// A new or empty directory for query files.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// Checks that there is room for one at `path`.
    pub fn at(path: &Path) -> anyhow::Result<Directory> {
        match fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
            Ok(true) => refuse(format!(
                "{} is not empty; name a new directory for the queries",
                path.display()
            )),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(WrongRequest(format!("cannot write queries to {}: {error}", path.display()))
                    .into())
            }
            _ => Ok(Directory(path.to_owned())),
        }
    }

    /// Writes the examples of the first `most` forms of the ranking; returns what to say of it.
    pub fn write(
        &self,
        ranking: &Ranking,
        examples: &Examples,
        most: usize,
    ) -> anyhow::Result<String> {
        let failed = || format!("could not write queries to {}", self.0.display());
        fs::create_dir_all(&self.0).with_context(failed)?;
        let (mut written, mut left) = (0, Vec::new());
        for (number, place) in (1..).zip(ranking.order()).take(most) {
            let Some(example) = examples.of(place) else {
                left.push(format!("q{number}"));
                continue;
            };
            let form = &ranking.forms()[place];
            let about = format!(
                "{} in the log, {:.1} ms together",
                match form.statements {
                    1 => "once".to_owned(),
                    times => format!("{times} times"),
                },
                form.took_us as f64 / 1e3
            );
            for (name, content) in example.files(&format!("q{number}"), &about) {
                fs::write(self.0.join(name), content).with_context(failed)?;
            }
            written += 1;
        }
        let mut said = format!("wrote {written} queries to {}", self.0.display());
        if !left.is_empty() {
            said.push_str(&format!(
                "; left out, as they write, failed, or lack values: {}",
                left.join(", ")
            ));
        }
        Ok(said)
    }
}
