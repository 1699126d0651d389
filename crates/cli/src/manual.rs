//! All commands as a page of the documentation, from their definitions.

use clap::{Arg, Command};
use textwrap::{Options, WordSeparator, WordSplitter};

/// A section for each command, with tables of its arguments and options by their headings.
pub fn page(mut command: Command) -> String {
    command.build();
    let name = command.get_name().to_owned();
    let lead = format!(
        "All commands with their arguments and options, from the program itself. \
         `{name} COMMAND --help` shows a line for each, `{name} help COMMAND` all of it, also the \
         options of workloads."
    );
    let mut page = format!("# Commands\n\n{}\n", wrapped(&lead));
    let sections = commands(&command, "");
    page.push_str("\n| command | what it does |\n|---|---|\n");
    for (title, section) in &sections {
        let about = section.get_about().map(ToString::to_string).unwrap_or_default();
        page.push_str(&format!("| [{title}](#{}) | {} |\n", title.replace(' ', "-"), cell(&about)));
    }
    for (title, section) in &sections {
        page.push_str(&written(title, section));
    }
    page
}

/// The commands that are shown, each followed by its own.
pub fn commands(parent: &Command, path: &str) -> Vec<(String, Command)> {
    let shown = |it: &&Command| !it.is_hide_set() && it.get_name() != "help";
    let of = |it: &Command| {
        let title = format!("{path}{}", it.get_name());
        let own = commands(it, &format!("{title} "));
        std::iter::once((title, it.clone())).chain(own).collect::<Vec<_>>()
    };
    parent.get_subcommands().filter(shown).flat_map(of).collect()
}

/// The lines of a command's examples, indented.
pub fn examples(command: &Command) -> Option<String> {
    let before = command.get_before_help()?.to_string();
    before.strip_prefix("Examples:\n").map(str::to_owned)
}

fn written(title: &str, command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    let paragraphs = about.unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).replace("\n       ", "\n");
    let mut text =
        format!("\n## {title}\n\n{}\n\n```text\n{usage}\n```\n", wrapped(&escaped(&paragraphs)));
    if let Some(examples) = examples(command) {
        text.push_str(&format!("\n```text\n{}\n```\n", textwrap::dedent(&examples)));
    }
    let arguments: Vec<&Arg> = command.get_arguments().filter(|it| !is_hidden(it)).collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for heading in arguments.iter().map(|it| it.get_help_heading()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        text.push_str(&format!("\n| {} | meaning |\n|---|---|\n", heading.unwrap_or("option")));
        for argument in arguments.iter().filter(|it| it.get_help_heading() == heading) {
            text.push_str(&format!("| {} | {} |\n", named(argument), meaning(argument)));
        }
    }
    text
}

fn is_hidden(argument: &Arg) -> bool {
    argument.is_hide_set() || ["help", "version"].contains(&argument.get_id().as_str())
}

fn takes_values(argument: &Arg) -> bool {
    argument.get_num_args().is_none_or(|range| range.takes_values())
}

/// `-v`, `--variant VARIANT`.
fn named(argument: &Arg) -> String {
    let value = match argument.get_value_names() {
        Some([name, ..]) if takes_values(argument) => name.to_string(),
        _ if takes_values(argument) => argument.get_id().as_str().to_uppercase(),
        _ => String::new(),
    };
    let value = value.replace('|', "\\|");
    let short = argument.get_short().map(|short| format!("`-{short}`"));
    let long = argument.get_long().map(|long| format!("`{}`", format!("--{long} {value}").trim()));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    if names.is_empty() { format!("`{value}`") } else { names.join(", ") }
}

/// The help of an argument, its values and its default.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string);
    let mut text = cell(&help.unwrap_or_default());
    let values = argument.get_possible_values();
    let values: Vec<String> = values.iter().map(|it| format!("`{}`", it.get_name())).collect();
    let takes = takes_values(argument);
    if takes && !values.is_empty() {
        text.push_str(&format!(" ({})", values.join(", ")));
    }
    let defaults = argument.get_default_values().iter();
    let defaults: Vec<String> = defaults.map(|it| it.to_string_lossy().into_owned()).collect();
    if takes && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        text.push_str(&format!(" [default: {}]", cell(&defaults.join(" "))));
    }
    text
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    escaped(&text.split_whitespace().collect::<Vec<_>>().join(" ")).replace('|', "\\|")
}

/// Paragraphs in lines of at most 100 characters, broken only between words.
fn wrapped(text: &str) -> String {
    let options = Options::new(100)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}

/// Plain text as Markdown; what is between backquotes stays.
fn escaped(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(place, part)| match place % 2 {
        0 => part.replace('*', "\\*").replace('<', "\\<"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}
