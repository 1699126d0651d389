//! The documents that users read, and the commands in them: in README.md, the guides, and the
//! comments that plans begin with.

use std::fs;
use std::path::{Path, PathBuf};

/// A block of lines in a document, or a text between backquotes in a sentence.
pub struct Example {
    /// The document's path in the repository.
    pub document: String,
    /// True if `<!-- tested -->` stands above it: then it runs as a whole and as it stands.
    pub marked: bool,
    /// Its lines.
    pub text: String,
}

impl Example {
    /// The lines that call `steelyard`, each without its comment.
    pub fn commands(&self) -> Vec<String> {
        let text = self.text.replace("\\\n", " ");
        let lines = text.lines().map(|line| line.split(" #").next().unwrap_or(line).trim());
        lines.filter(|line| calls(line, 1)).map(str::to_owned).collect()
    }
}

/// True if a line calls `steelyard` with at least this many words.
fn calls(line: &str, least: usize) -> bool {
    let mut words = line.split_whitespace();
    !line.starts_with('#')
        && words.any(|word| word == "steelyard" || word.ends_with("/steelyard"))
        && words.count() >= least
}

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The paths of all documents in the repository.
pub fn documents() -> Vec<String> {
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned).to_vec();
    [top, files("docs", ".md"), files("docs/findings", ".md")].concat()
}

fn files(folder: &str, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut files: Vec<String> = names
        .filter(|name| name.ends_with(ending))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    files.sort();
    files
}

/// All examples, document by document.
pub fn examples() -> Vec<Example> {
    let read = |path: &String| fs::read_to_string(root().join(path)).unwrap();
    // The reference is the program's own help, with parts of commands; generate.rs compares it.
    let prose = documents().into_iter().filter(|path| path != "docs/commands.md");
    let prose = prose.flat_map(|path| examples_of(&path, &read(&path)));
    let plans = files("plans", ".toml").into_iter();
    prose.chain(plans.flat_map(|path| examples_of(&path, &head(&read(&path))))).collect()
}

/// The comment that a plan begins with, as Markdown.
fn head(plan: &str) -> String {
    let lines = plan.lines().map_while(|line| line.strip_prefix('#'));
    let lines = lines.map(|line| match line.strip_prefix("   ") {
        Some(command) => format!("```sh\n{command}\n```"),
        None => line.trim().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The `sh` blocks of a document, then the commands in its sentences. One that only names a
/// subcommand or leaves something out (`…`) does not count.
fn examples_of(document: &str, text: &str) -> Vec<Example> {
    let example = |marked, text: String| Example { document: document.to_owned(), marked, text };
    let (mut found, mut sentences, mut marked) = (Vec::new(), String::new(), false);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            // Others are output and pictures.
            if line == "```sh" {
                found.push(example(marked, body.join("\n")));
            }
        } else {
            sentences.push_str(line);
            sentences.push('\n');
        }
        if !line.is_empty() {
            marked = line == "<!-- tested -->";
        }
    }
    for paragraph in sentences.split("\n\n") {
        let code = paragraph.split('`').skip(1).step_by(2).map(|code| code.replace('\n', " "));
        let commands = code.filter(|code| calls(code, 2) && !code.contains('…'));
        found.extend(commands.map(|code| example(false, code)));
    }
    found
}

#[test]
fn commands_are_found_wherever_they_stand() {
    let text = "Say `steelyard list`, `steelyard run … x`, or `steelyard rm\n3 small`.\n\n\
                <!-- tested -->\n```sh\nsteelyard list  # all\n# steelyard is not run\n```\n\n\
                ```sh\ncat x | steelyard import \\\n    -\nmake\n```\n\n\
                ```\nsteelyard run: conducts\n```\n";
    let found = examples_of("x.md", text);
    let found: Vec<_> = found.iter().map(|example| (example.marked, example.commands())).collect();
    let expected = [
        (true, vec!["steelyard list".to_owned()]),
        (false, vec!["cat x | steelyard import      -".to_owned()]),
        (false, vec!["steelyard rm 3 small".to_owned()]),
    ];
    assert_eq!(found, expected);
    let plan = "# Counts, as\n# `steelyard list x` does:\n#\n#   steelyard count x\nname = 1\n# `steelyard no x`\n";
    let found: Vec<_> = examples_of("x", &head(plan)).iter().flat_map(Example::commands).collect();
    assert_eq!(found, ["steelyard count x", "steelyard list x"]);
}
