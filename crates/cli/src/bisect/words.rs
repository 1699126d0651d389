//! The words of a command: of one that goes on, and of one to paste.

use std::ffi::OsString;

use clap::Command;
use clap::parser::ValueSource;

use super::candidates::Candidate;
use crate::exit::refuse;
use crate::pasted::pasted;

/// The words of a bisection that goes on, with the options that may differ from the last time.
/// `given` are those that resume it, of this `command`; the options in `not_of_search` say nothing
/// of the search.
pub fn resumed<S: Into<OsString> + Clone>(
    mut words: Vec<String>,
    command: &Command,
    given: impl IntoIterator<Item = S>,
    not_of_search: &[&str],
) -> anyhow::Result<Vec<String>> {
    /// These don't make it another bisection.
    const MAY_DIFFER: [&str; 3] = ["budget", "format", "page"];
    let given = command.clone().try_get_matches_from(given)?;
    let is_given = |id: &&str| given.value_source(id) == Some(ValueSource::CommandLine);
    for id in command.get_arguments().map(|it| it.get_id().as_str()).filter(is_given) {
        if MAY_DIFFER.contains(&id) {
            let option = format!("--{id}");
            let values = given.get_raw(id).into_iter().flatten();
            let values: Vec<String> =
                values.map(|value| value.to_string_lossy().into_owned()).collect();
            words = without(words, &[&option], &[]);
            words.extend([option].into_iter().chain(values));
        } else if !not_of_search.contains(&id) {
            return refuse(format!(
                "--resume is the last bisection again: it takes --budget, --format, --page, and what \
                 says where it runs; for --{id}, give the whole command"
            ));
        }
    }
    Ok(words)
}

/// Words of a command without these options and their values, and without these that have none.
fn without(words: Vec<String>, valued: &[&str], flags: &[&str]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let joined = valued.iter().any(|option| {
            word.strip_prefix(option).is_some_and(|rest| rest.starts_with('=') || *option == "-v")
        });
        if valued.contains(&word.as_str()) {
            words.next();
        } else if !joined && !flags.contains(&word.as_str()) {
            kept.push(word);
        }
    }
    kept
}

/// The command with these two ends, to be pasted.
pub fn again(words: &[String], good: &Candidate, bad: &Candidate) -> String {
    let kept =
        without(words.to_vec(), &["--good", "--bad", "--variant", "-v", "--page"], &["--resume"]);
    let mut kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    let [from, to] = match good.commit {
        Some(_) => ["--good", "--bad"],
        None => ["-v", "-v"],
    };
    kept.extend([from, good.revision(), to, bad.revision()]);
    pasted(&kept, &[])
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::candidates::Commit;
    use super::*;

    #[test]
    fn what_is_resumed_may_have_more_time_and_nothing_else() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let last = words("bisect insert -v postgres@13.7 --budget=20m");
        let resumed = |line: &str| {
            let command = super::super::Again::command();
            let elsewhere = ["resume", "results", "data_dir"];
            resumed(last.clone(), &command, line.split(' '), &elsewhere)
        };
        let given = "bisect --resume --budget 40m --results there --format=json --data-dir x";
        assert_eq!(
            resumed(given).unwrap(),
            words("bisect insert -v postgres@13.7 --format json --budget 40m")
        );
        assert_eq!(resumed("bisect --resume").unwrap(), last);
        let told = resumed("bisect --resume --margin 1%").unwrap_err().to_string();
        assert!(told.contains("--margin"), "{told}");
    }

    #[test]
    fn the_command_for_two_neighbors_can_be_pasted() {
        let candidate = |name: &str| Candidate {
            name: name.to_owned(),
            dbms: format!("postgres@{name}"),
            commit: None,
        };
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let line = words("bisect -v postgres@13.1 --variant=postgres@13.2 -vx --kind insert-1");
        assert_eq!(
            again(&line, &candidate("13.7"), &candidate("14.3")),
            "steelyard bisect --kind insert-1 -v postgres@13.7 -v postgres@14.3"
        );
        let commit = |id: &str| Candidate {
            commit: Some(Commit {
                id: id.to_owned(),
                author: String::new(),
                date: String::new(),
                subject: String::new(),
                same_files: false,
            }),
            ..candidate(id)
        };
        let line = words("bisect git:/x --good v1 --bad=v2 --kind insert-1 --page x.html --resume");
        assert_eq!(
            again(&line, &commit("01"), &commit("23")),
            "steelyard bisect git:/x --kind insert-1 --good 01 --bad 23"
        );
    }
}
