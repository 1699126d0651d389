//! What a shell completes by asking the command itself: versions, workloads, steps, metrics and
//! experiments.
//!
//! A shell asks at every key, so nothing here connects, or reads more than the list of experiments.
//! What can't be read has no candidates.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{Result, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Command;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{Bash, CompleteEnv, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use plan::{Layer, WorkloadPlan};
use store::{Experiment, Store};

use crate::dash::plan_of;
use crate::results::called;
use crate::short::{typed, workload_of};

/// The variable by which a shell asks.
const VARIABLE: &str = "STEELYARD_COMPLETE";
const SHELLS: Shells<'static> = Shells(&[&WholeWords, &Elvish, &Fish, &Powershell, &Zsh]);

/// Answers if a shell asks, and then ends the process.
pub fn answer(command: fn() -> Command) {
    // The shell's words follow `--`.
    let words = || typed().skip_while(|word| word != "--").skip(1).collect::<Vec<_>>();
    CompleteEnv::with_factory(|| prepared(command(), Asked::of(command(), &words())))
        .var(VARIABLE)
        .shells(SHELLS)
        .complete();
}

/// Writes the script that has this shell ask.
///
/// # Errors
/// Those of `out`.
pub fn write_script(shell: &str, out: &mut dyn Write) -> Result<()> {
    let name = "steelyard";
    let shell = SHELLS.completer(shell).expect("each of clap's shells is in the list");
    shell.write_registration(VARIABLE, name, name, name, out)?;
    if shell.is("zsh") {
        // In a file of $fpath, the first key that asks runs all of it as the function.
        writeln!(
            out,
            "if [[ $funcstack[1] == _{name} ]]; then _clap_dynamic_completer_{name} \"$@\"; fi"
        )?;
    }
    Ok(())
}

/// Bash, which also splits words at `@`, `:` and `=`, and replaces only the last piece.
struct WholeWords;

impl EnvCompleter for WholeWords {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> Result<()> {
        write!(
            out,
            r#"_{name}() {{
    local rest=${{COMP_LINE:0:COMP_POINT}} words=() piece
    for piece in "${{COMP_WORDS[@]}}"; do
        if [[ ${{#words[@]}} == 0 || $rest == [[:blank:]]* ]]; then words+=(""); fi
        rest=${{rest#"${{rest%%[![:blank:]]*}}"}}
        if [[ $rest != "$piece"* ]]; then piece=$rest; fi
        words[${{#words[@]}} - 1]+=$piece
        rest=${{rest#"$piece"}}
        if [[ -z $rest ]]; then break; fi
    done
    if [[ $rest == [[:blank:]]* ]]; then words+=(""); fi
    local current=${{words[${{#words[@]}} - 1]}}
    mapfile -t COMPREPLY < <(_CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((${{#words[@]}} - 1)) \
        {var}=bash {completer} -- "${{words[@]}}")
    # $2 is what bash replaces.
    COMPREPLY=("${{COMPREPLY[@]#"${{current%"$2"}}"}}")
    if [[ ${{COMPREPLY-}} == *[@:=,/] ]]; then compopt -o nospace; fi
}}
complete -o bashdefault -o nosort -F _{name} {bin}
"#
        )
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        directory: Option<&Path>,
        out: &mut dyn Write,
    ) -> Result<()> {
        Bash.write_complete(command, words, directory, out)
    }
}

/// The command with what completes its values, where this was typed.
fn prepared(command: Command, asked: Asked) -> Command {
    let asked = Arc::new(asked);
    command.mut_subcommands(|command| {
        command.mut_args(|arg| {
            let options = asked.workload.iter().flat_map(WorkloadPlan::options);
            let own = options.into_iter().any(|option| arg.get_id() == option.name);
            let arg = if own { arg.hide(false) } else { arg };
            let Some(candidates) = candidates(arg.get_id().as_str()) else { return arg };
            let asked = Arc::clone(&asked);
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| candidates(&asked, typed)))
        })
    })
}

type Candidates = fn(&Asked, &OsStr) -> Vec<CompletionCandidate>;

/// What completes the values of the argument of this id, in any subcommand.
fn candidates(id: &str) -> Option<Candidates> {
    Some(match id {
        "variants" | "references" => |_, typed| versions(&typed.to_string_lossy()),
        "what" => |_, typed| plans(typed),
        "plan" => |_, typed| plan_files(typed),
        "experiment" | "experiments" | "plan_of" | "with" => {
            |asked, typed| listed(typed, asked.experiments())
        }
        "metric" => |_, typed| listed(typed, metrics::judgeable(&[])),
        "steps" => |asked, typed| listed(typed, asked.steps()),
        "step" => |asked, typed| listed(typed, asked.measured()),
        _ => return None,
    })
}

/// The words before the one to complete, as far as they matter.
struct Asked {
    workload: Option<WorkloadPlan>,
    results: PathBuf,
    experiment: Option<String>,
}

impl Asked {
    /// Of words that begin with the program's name, as `command` reads them.
    fn of(command: Command, words: &[String]) -> Self {
        let read = command.ignore_errors(true).try_get_matches_from(words).unwrap_or_default();
        let read = read.subcommand().map(|(_, read)| read);
        // A command has one results directory, or several.
        let results = read.and_then(|read| read.try_get_many::<PathBuf>("results").ok()?);
        let experiment = read.and_then(|read| read.try_get_one::<String>("experiment").ok()?);
        Asked {
            workload: workload_of(words),
            results: results.and_then(|mut all| all.next().cloned()).unwrap_or_default(),
            experiment: experiment.cloned(),
        }
    }

    fn store(&self) -> Option<Store> {
        Store::open_as_it_is(&self.results).ok()
    }

    /// The experiments in the results directory, newest first.
    fn experiments(&self) -> Vec<String> {
        let all = self.store().and_then(|store| store.all_experiments().ok()).unwrap_or_default();
        let name = |experiment: Experiment| [experiment.id.to_string(), experiment.name];
        all.into_iter().flat_map(name).collect()
    }

    /// The steps of the workload that is named, otherwise those that were measured.
    fn steps(&self) -> Vec<String> {
        let Some(workload) = &self.workload else { return self.measured() };
        let schema = plan::schema();
        let place = format!(
            "/properties/workload/properties/{}/properties/steps/items/enum",
            workload.name()
        );
        let names = schema.pointer(&place).and_then(|names| names.as_array());
        let names = names.into_iter().flatten().filter_map(|name| name.as_str());
        names.map(str::to_owned).collect()
    }

    /// The steps of the chosen experiment.
    fn measured(&self) -> Vec<String> {
        let chosen = |store: Store| match &self.experiment {
            Some(named) => called(&store, named).ok()?,
            None => report::latest_or_count(&store).ok()?,
        };
        let experiment = self.store().and_then(chosen);
        let plan = experiment.and_then(|it| plan_of(&it, "", &Layer::default()).ok());
        let sequences = plan.iter().flat_map(|plan| plan.workload.sequences());
        sequences.flat_map(|sequence| sequence.steps).map(|step| step.key.name).collect()
    }
}

/// Those that continue the last item of a list with commas, each once.
fn listed(typed: &OsStr, all: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let (before, last) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));
    let mut known = BTreeSet::new();
    all.into_iter()
        .filter(|one| one.starts_with(last) && known.insert(one.clone()))
        .map(|one| CompletionCandidate::new(format!("{before}{one}")))
        .collect()
}

/// Systems, and the versions of one that was named. `NAME=` in front stays.
fn versions(typed: &str) -> Vec<CompletionCandidate> {
    let (before, dbms) = typed.split_at(typed.find('=').map_or(0, |place| place + 1));
    let releases = dbms::known_versions().into_iter();
    let mut names: Vec<String> = if dbms.contains('@') {
        releases.map(|(system, version)| format!("{system}@{version}")).collect()
    } else {
        let sources = ["git:", "src:", "path:", "deb:", "image:"].map(str::to_owned);
        releases.map(|(system, _)| format!("{system}@")).chain(sources).collect()
    };
    names.dedup();
    let fits = names.into_iter().filter(|name| name.starts_with(dbms));
    fits.map(|name| CompletionCandidate::new(format!("{before}{name}"))).collect()
}

/// Workloads and files.
fn plans(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = WorkloadPlan::all().into_iter().map(|workload| workload.name().to_owned());
    let mut all = listed(typed, names);
    all.extend(PathCompleter::file().complete(typed));
    all
}

fn plan_files(typed: &OsStr) -> Vec<CompletionCandidate> {
    let is_plan = |path: &Path| {
        path.extension().is_some_and(|extension| extension == "toml" || extension == "steelyard")
    };
    PathCompleter::any().filter(is_plan).complete(typed)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn what_has_candidates_is_an_argument() {
        let ids = [
            "variants",
            "references",
            "what",
            "plan",
            "experiment",
            "experiments",
            "plan_of",
            "with",
            "metric",
            "steps",
            "step",
        ];
        for id in ids {
            assert!(candidates(id).is_some(), "{id}");
            let command = crate::Cli::command();
            let has = |it: &Command| it.get_arguments().any(|argument| argument.get_id() == id);
            assert!(command.get_subcommands().any(has), "no command takes `{id}`");
        }
    }

    #[test]
    fn options_before_the_word_are_understood() {
        let asked = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let asked = Asked::of(crate::Cli::command(), &words);
            (asked.results.display().to_string(), asked.experiment)
        };
        for line in [
            "steelyard compare --results a -e 3",
            "steelyard compare --results=a -e3 --metric",
            "steelyard compare --results=a --experiment=3 --by x",
        ] {
            assert_eq!(asked(line), ("a".to_owned(), Some("3".to_owned())), "{line}");
        }
    }
}
