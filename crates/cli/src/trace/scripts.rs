//! The statements of a log, or of digests, as a mix: scripts for `steelyard run script`, weighted
//! by how often each form occurs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use script::{Action, Protocol, Symbols};
use trace::{FILL_IN, Ranking, Script, Scripts, Syntax};

use super::queries::{about, new_directory};
use crate::exit::refuse;

/// Largest weight of a script.
const HEAVIEST: u64 = i32::MAX as u64;

/// The scripts of a mix, and the new or empty directory that they go to.
#[derive(Debug)]
pub struct Mix {
    directory: PathBuf,
    /// The statements that they send.
    pub scripts: Scripts,
}

/// Statements and the microseconds that they took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Amount {
    /// Their number.
    pub statements: u64,
    /// Their time.
    pub took_us: u64,
}

impl Amount {
    fn add(&mut self, other: Amount) {
        self.statements = self.statements.saturating_add(other.statements);
        self.took_us = self.took_us.saturating_add(other.took_us);
    }

    /// Its shares of all statements and of all time, which no general log has.
    fn shares(self, all: Amount) -> [String; 2] {
        let share = |part: u64, whole: u64| match whole {
            0 => "–".to_owned(),
            whole => format!("{:.1}%", 100.0 * part as f64 / whole as f64),
        };
        [share(self.statements, all.statements), share(self.took_us, all.took_us)]
    }
}

impl Mix {
    /// None yet, of statements in this syntax. Checks that there is room for the directory.
    pub fn at(directory: &Path, syntax: Syntax) -> anyhow::Result<Mix> {
        if directory.display().to_string().contains(',') {
            return refuse(format!(
                "{}: `steelyard run script --file` takes a comma for the end of a name; name a \
                 directory without one",
                directory.display()
            ));
        }
        Ok(Mix { directory: new_directory(directory)?, scripts: Scripts::new(syntax) })
    }

    /// Writes the scripts of the first `most` forms of the ranking; returns what to say of them,
    /// and of the other statements of all.
    pub fn write(&self, ranking: &Ranking, most: usize, all: Amount) -> anyhow::Result<String> {
        let failed = || format!("could not write scripts to {}", self.directory.display());
        fs::create_dir_all(&self.directory).with_context(failed)?;
        let (mut sent, mut others, mut beyond) = (Amount::default(), all, Amount::default());
        let (mut weights, mut left, mut to_fill) = (Vec::new(), Vec::new(), Vec::new());
        for (number, place) in (1..).zip(ranking.order()) {
            let form = &ranking.forms()[place];
            let amount = Amount { statements: form.statements, took_us: form.took_us };
            others.statements = others.statements.saturating_sub(amount.statements);
            others.took_us = others.took_us.saturating_sub(amount.took_us);
            if number > most {
                beyond.add(amount);
                continue;
            }
            let name = format!("q{number}");
            match self.scripts.of(place, &about(form)).and_then(checked) {
                Ok(script) => {
                    let file = self.directory.join(format!("{name}.sql"));
                    fs::write(&file, &script.text).with_context(failed)?;
                    sent.add(amount);
                    weights.push((file.display().to_string(), form.statements));
                    to_fill.extend((script.blanks > 0).then_some(name));
                }
                Err(why) => left.push(row(name, amount, all, why)),
            }
        }
        let rest = ranking.forms().len().saturating_sub(most);
        if rest > 0 {
            let name = format!("{rest} more forms");
            left.push(row(name, beyond, all, "--forms takes more".to_owned()));
        }
        if others.statements > 0 {
            let why = "they move data, which the log does not have".to_owned();
            left.push(row("in bulk".to_owned(), others, all, why));
        }
        let [statements, time] = sent.shares(all);
        let mut said = format!(
            "wrote {} scripts to {}: {statements} of all statements, {time} of their time\n",
            weights.len(),
            self.directory.display()
        );
        if !left.is_empty() {
            said.push_str(&report::columns(&["left out", "statements", "time", "why"], left));
        }
        if !to_fill.is_empty() {
            said.push_str(&format!(
                "values are missing; fill in {FILL_IN} before you run them: {}\n",
                to_fill.join(", ")
            ));
        }
        if !weights.is_empty() {
            said.push_str(&command(&weights));
        }
        Ok(said)
    }
}

/// A row of what is left out.
fn row(name: String, amount: Amount, all: Amount, why: String) -> Vec<String> {
    let [statements, time] = amount.shares(all);
    vec![name, statements, time, why]
}

/// The script, if it has what it should have once its values are there. Its language has variables
/// (`:name`) and quotes that SQL may use otherwise.
fn checked(script: Script) -> Result<Script, String> {
    let refused = |problem: String| format!("pgbench's language can't say it: {problem}");
    let mut symbols = Symbols::new();
    let filled = script.text.replace(FILL_IN, "1");
    let parsed = script::parse("", &filled, &mut symbols);
    let parsed = parsed.map_err(|error| refused(error.problem.to_string()))?;
    let is_sql = |action: &Action| matches!(action, Action::Sql(_));
    let found = parsed.commands.iter().filter(|command| is_sql(&command.action)).count();
    if found != script.statements {
        return Err(refused("it sees other ends of statements".to_owned()));
    }
    script::check(&[parsed], &symbols, Protocol::Extended)
        .map_err(|error| refused(error.problem.to_string()))?;
    Ok(script)
}

/// The command that runs these scripts.
fn command(weights: &[(String, u64)]) -> String {
    let most = weights.iter().map(|(_, weight)| *weight).max().unwrap_or_default();
    let scale = most.div_ceil(HEAVIEST).max(1);
    let weighted = |(file, weight): &(String, u64)| format!("{file}@{}", weight.div_ceil(scale));
    let files: Vec<String> = weights.iter().map(weighted).collect();
    let files = files.join(",");
    let files = shlex::try_quote(&files).map_or_else(|_| files.clone(), String::from);
    format!(
        "to run them on data that setup.sql makes (on those of a running server: --init \"\"):\n  \
         steelyard run script --file {files} --setup-file setup.sql -v … -v …\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_language_reads_otherwise_is_left_out() {
        let script =
            |text: &str, statements| Script { text: text.to_owned(), statements, blanks: 0 };
        for text in ["SELECT `it's`;", "SELECT 'at :scale';", "SELECT 1 /* /* */;", "SELECT :n;"] {
            assert!(checked(script(text, 1)).is_err(), "{text}");
        }
        assert!(checked(script("SELECT `a;b`;", 1)).is_err());
        assert!(checked(script("\\set v1 FILL_IN\nSELECT 'at :x', :v1;", 1)).is_ok());
    }

    #[test]
    fn weights_have_31_bits() {
        let said = command(&[("a b/q1.sql".to_owned(), u64::from(u32::MAX)), ("q2.sql".into(), 1)]);
        assert!(said.contains(" --file 'a b/q1.sql@1431655765,q2.sql@1' "), "{said}");
    }
}
