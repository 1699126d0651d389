//! Help: a screen that begins with examples, all details, and man pages.

use std::path::Path;

use clap::builder::{Resettable, StyledStr};
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use plan::WorkloadPlan;

use crate::manual::{commands, examples};
use crate::short::{HELP_WIDTH, options_of, takes_workload, workload_of};

/// What a command does, then examples.
const TEMPLATE: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The command as it explains itself when these words ask it to: all of it for `steelyard help`,
/// otherwise a screen.
pub fn asked(command: Command, words: &[String]) -> Command {
    if words.get(1).is_some_and(|word| word == "help") {
        return command.mut_subcommands(detailed);
    }
    let (name, workload) = (command.get_name().to_owned(), workload_of(words));
    command.mut_subcommands(|it| brief(it, &name, workload.as_ref()))
}

/// With all that is known of it.
fn detailed(command: Command) -> Command {
    let mut command = command.help_template(TEMPLATE);
    if takes_workload(&command) {
        let groups = WorkloadPlan::all();
        let groups: Vec<String> = groups.iter().map(|it| rendered(it, options_of(it))).collect();
        command = command.after_help(groups.join("\n\n"));
    }
    command.mut_subcommands(detailed)
}

/// With a line for each option.
fn brief(command: Command, path: &str, workload: Option<&WorkloadPlan>) -> Command {
    let path = format!("{path} {}", command.get_name());
    let whole = path.replacen(' ', " help ", 1);
    let mut after = format!("More: {whole}, or man {} if installed", path.replace(' ', "-"));
    if takes_workload(&command) {
        let group = match workload {
            Some(named) => rendered(named, lines(options_of(named))),
            None => {
                let all = WorkloadPlan::all();
                let names: Vec<&str> = all.iter().map(WorkloadPlan::name).collect();
                let names = textwrap::fill(&names.join(", "), HELP_WIDTH);
                format!("Workloads, whose options `{path} WORKLOAD --help` shows:\n{names}")
            }
        };
        after = format!("{group}\n\n{after}");
    }
    lines(command)
        .help_template(TEMPLATE)
        .long_about(Resettable::<StyledStr>::Reset)
        .after_help(after)
        .after_long_help(Resettable::<StyledStr>::Reset)
        .mut_subcommands(|it| brief(it, &path, workload))
}

/// Each argument explained in a line.
fn lines(command: Command) -> Command {
    // Only what is built knows how its arguments look.
    let mut built = command.clone();
    built.build();
    let shown = |heading: Option<&str>| {
        let alike = |arg: &&Arg| !arg.is_hide_set() && arg.get_help_heading() == heading;
        let width = |arg: &Arg| "  -x, ".len() + arg.to_string().chars().count() + "  ".len();
        built.get_arguments().filter(alike).map(width).max().unwrap_or(0)
    };
    command.mut_args(|arg| {
        let room = HELP_WIDTH.saturating_sub(shown(arg.get_help_heading()));
        let mut text =
            first_words(&arg.get_help().map(ToString::to_string).unwrap_or_default(), room);
        let values = arg.get_possible_values();
        let values: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        let values = format!(": {}", values.join(", "));
        let takes = arg.get_action().takes_values();
        let named = text.contains(": ") || values.len() == 2;
        if takes && !named && text.chars().count() + values.chars().count() <= room {
            text.push_str(&values);
        }
        let arg = arg.help(text).long_help(Resettable::<StyledStr>::Reset);
        match takes {
            true => arg.hide_possible_values(true).hide_default_value(true).hide_env(true),
            false => arg,
        }
    })
}

/// The first part of a text that can stand alone, or as much of it as fits into a line.
fn first_words(text: &str, room: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = |ends: &'static [&str]| {
        let whole = |text: &&str| {
            let count = |letter: char| text.matches(letter).count();
            count('(') == count(')') && count('[') == count(']') && count('`') % 2 == 0
        };
        let ends = ends.iter().flat_map(|end| text.match_indices(end));
        ends.map(|(place, _)| &text[..place]).filter(whole).collect::<Vec<_>>()
    };
    let fits = |text: &&str| text.chars().count() <= room;
    let first = parts(&["; ", ". ", " (", " ["]).into_iter().min_by_key(|part| part.len());
    let some = || parts(&[", "]).into_iter().filter(fits).max_by_key(|part| part.len());
    if let Some(part) = Some(text.as_str()).filter(fits).or(first.filter(fits)).or_else(some) {
        return part.to_owned();
    }
    let mut words = text.match_indices(' ').map(|(place, _)| &text[..place]);
    let cut = words.rfind(|part| part.chars().count() < room).unwrap_or_default();
    format!("{cut}…")
}

/// The options of a workload under a heading.
fn rendered(workload: &WorkloadPlan, options: Command) -> String {
    let name = workload.name();
    let title = format!("Options of {name}, short form or over a plan file:\n{{options}}");
    options.help_template(title).render_help().ansi().to_string().trim_end().to_owned()
}

/// Writes a man page for each command.
///
/// # Errors
/// Those of the file system.
pub fn write_pages(mut command: Command, directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    command.build();
    let own = (command.get_name().to_owned(), command.clone());
    let below = commands(&command, &format!("{} ", own.0));
    for (title, command) in std::iter::once(own).chain(below) {
        let name = title.replace(' ', "-");
        std::fs::write(directory.join(format!("{name}.1")), page(&command.display_name(name))?)?;
    }
    Ok(())
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if let Some(examples) = examples(command) {
        as_it_stands("EXAMPLES", &examples, &mut page)?;
    }
    man.render_options_section(&mut page)?;
    let workloads = if takes_workload(command) { WorkloadPlan::all() } else { Vec::new() };
    for workload in &workloads {
        let mut section = Vec::new();
        Man::new(options_of(workload)).render_options_section(&mut section)?;
        let title = format!(".SH \"OPTIONS OF {}\"", workload.name().to_uppercase());
        let text = String::from_utf8_lossy(&section).replacen(".SH OPTIONS", &title, 1);
        page.extend(text.as_bytes());
    }
    if command.get_subcommands().any(|it| !it.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(after) = command.get_after_long_help().or(command.get_after_help()) {
        as_it_stands("NOTES", &after.to_string(), &mut page)?;
    }
    Ok(page)
}

/// A section whose lines are not filled.
fn as_it_stands(title: &str, text: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut section = Roff::new();
    section.control("SH", [title]).control("nf", []);
    for line in text.lines() {
        section.text([roman(line)]);
    }
    section.control("fi", []).to_writer(page)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    fn words(line: &str) -> Vec<String> {
        shlex::split(line).unwrap()
    }

    #[test]
    fn examples_are_right() {
        let mut seen = 0;
        for (title, command) in commands(&Cli::command(), "") {
            let nested = command.get_subcommands().next().is_some() || title.contains(' ');
            let examples = command.get_before_help().map(ToString::to_string).unwrap_or_default();
            assert!(nested || examples.starts_with("Examples:\n"), "{title} has no examples");
            for line in examples.lines().filter(|line| line.trim().starts_with("steelyard ")) {
                let line = line.split(" > ").next().unwrap_or_default();
                assert!(line.contains(&title), "{title}: {line}");
                let parsed = Cli::command().try_get_matches_from(words(line));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                seen += 1;
            }
        }
        assert!(seen > 40, "{seen}");
    }

    #[test]
    fn help_is_a_screen_that_begins_with_examples() {
        for (title, _) in commands(&Cli::command(), "") {
            for line in [format!("steelyard {title} --help"), format!("steelyard {title} -h")] {
                let words = words(&line);
                let help = asked(Cli::command(), &words).try_get_matches_from(&words);
                let help = help.unwrap_err().to_string();
                let lines: Vec<&str> = help.lines().collect();
                assert!(lines.len() <= 60, "{} lines: {help}", lines.len());
                assert!(lines.iter().all(|line| line.chars().count() <= HELP_WIDTH), "{help}");
                let more = format!(
                    "More: steelyard help {title}, or man steelyard-{} if installed",
                    title.replace(' ', "-")
                );
                assert_eq!(lines.last(), Some(&more.as_str()), "{help}");
            }
            let words = words(&format!("steelyard help {title}"));
            let whole = asked(Cli::command(), &words).try_get_matches_from(&words);
            assert!(!whole.unwrap_err().to_string().contains("More: "), "{title}");
        }
    }

    #[test]
    fn a_line_stands_alone_or_says_that_it_was_cut() {
        for (text, room, expected) in [
            ("Print it", 20, "Print it"),
            ("Print it; - for standard output", 20, "Print it"),
            ("Print it [default: all of them]", 20, "Print it"),
            ("Print it, or less, in colors, fast", 20, "Print it, or less"),
            ("Print it (all, of it), now and later", 20, "Print it"),
            ("Print everything that there is, and more", 20, "Print everything…"),
        ] {
            assert_eq!(first_words(text, room), expected);
        }
    }
}
