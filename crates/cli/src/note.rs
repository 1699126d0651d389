//! `steelyard note`: what people say about verdicts.

use clap::Args;
use report::Which;
use store::{Note, NoteKind, Store, now_ms};

use crate::changes::named;
use crate::exit::refuse;
use crate::results::{ResultsDir, find};

/// Note that a difference is expected, a bug, fixed or noise, or list the notes
///
/// A note is about an experiment, or about a step, a variant, or both. It is kept with the
/// experiment, and exported and pushed with it. `compare` and all pages show it, and `compare
/// --gate-unnoted` fails only on regressions without one. A later note about the same takes its
/// place; `withdrawn` removes it.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard note expected 'durable by default' -e 2 --step l.i0 --variant pg14.3
  steelyard note bug https://bugs.example.com/17 --step l.x
  steelyard note fixed 14.4 --step l.x
  steelyard note")]
pub struct NoteArgs {
    /// What the difference is: expected, bug, fixed, noise; or withdrawn, if a note does not hold
    #[arg(value_parser = named(&NoteKind::NAMED))]
    kind: Option<NoteKind>,
    /// More about it; the address of a bug, or the version that has the fix
    text: Option<String>,
    #[command(flatten)]
    directory: ResultsDir,
    /// The experiment, by number or name [default: the latest]
    #[arg(long, short, value_name = "ID|NAME")]
    experiment: Option<String>,
    /// Only this step
    #[arg(long, value_name = "NAME")]
    step: Option<String>,
    /// Only with this number of clients
    #[arg(long, value_name = "N", requires = "step")]
    dop: Option<u32>,
    /// Only this variant
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Who says so [default: this user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

/// Adds the note, or lists all.
pub fn run(args: &NoteArgs) -> anyhow::Result<()> {
    let Some(kind) = args.kind else { return list(args) };
    let store = Store::open_existing(args.directory.writable()?)?;
    let experiment = find(&store, args.experiment.as_deref())?;
    let results = report::load(&store, Which::RunOrCount(experiment.id))?;
    let note = Note {
        step: args.step.clone(),
        dop: args.dop,
        variant: args.variant.clone(),
        kind,
        text: args.text.clone().unwrap_or_default(),
        by: args.by.clone().or_else(user).unwrap_or_else(|| "unknown".to_owned()),
        at_ms: now_ms(),
    };
    if let Some(why) = report::refused_note(&results, &note) {
        return refuse(why);
    }
    store.note(experiment.id, &note)?;
    println!("experiment {} `{}`: {}", experiment.id, experiment.name, report::told_note(&note));
    Ok(())
}

fn list(args: &NoteArgs) -> anyhow::Result<()> {
    let store = crate::results::open_directory(&args.directory.results)?;
    let experiment = find(&store, args.experiment.as_deref())?;
    for note in store.all_notes(experiment.id)? {
        let dop = note.dop.map(|dop| format!("dop {dop}"));
        let about = [note.step.clone(), dop, note.variant.clone()];
        let about: Vec<String> = about.into_iter().flatten().collect();
        let about = if about.is_empty() { "all".to_owned() } else { about.join(" ") };
        println!("{about}  {}", report::told_note(&note));
    }
    Ok(())
}

/// The user who runs this.
fn user() -> Option<String> {
    let set = |name| std::env::var(name).ok().filter(|it| !it.is_empty());
    set("SUDO_USER").or_else(|| set("USER")).or_else(|| set("LOGNAME"))
}
