//! Checks between the keys of a plan.

use std::collections::BTreeSet;

use crate::adaptive::check_adaptive;
use crate::count::{CountPlan, check_count};
use crate::family::Sequence;
use crate::near::nearest;
use crate::plan::{Pairing, Plan};
use crate::problem::Problems;
use crate::section::{join, printable};
use crate::twins::check_twins;

/// Names of files on Linux have at most 255 bytes; a variant's name is one part of several.
const MAX_VARIANT_NAME: usize = 64;
/// A trial per variant and block; more than this must be a typo.
const MAX_VARIANTS: usize = 1000;

/// Adds to `problems` whatever is wrong with a plan whose values are valid one by one.
pub(crate) fn check(plan: &Plan, problems: &mut Problems) {
    let Plan { base, variants, workload, .. } = plan;
    for variant in variants {
        let path = format!("variants.{}", variant.name);
        if let Err(message) = check_variant_name(&variant.name) {
            problems.of(&path, message);
        }
    }
    for (i, variant) in variants.iter().enumerate() {
        // Only a plan built by a program can have the same name twice; in TOML that is a syntax
        // error.
        if variants[..i].iter().any(|v| v.name == variant.name) {
            problems.of(
                "variants",
                format!(
                    "two variants are called `{}`; names must differ",
                    printable(&variant.name)
                ),
            );
        }
    }
    if variants.len() > MAX_VARIANTS {
        problems.of("variants", format!("{} variants; at most {MAX_VARIANTS}", variants.len()));
    }
    let names = || variants.iter().map(|v| v.name.as_str());
    if problems.is_unread("variants") {
        // The variants are not all known.
    } else if variants.is_empty() {
        problems
            .of("variants", "no variants; add [variants.\"pg14.3\"] with dbms = \"postgres@14.3\"");
    } else if !names().any(|name| name == base) {
        let hint = match nearest(base, names()) {
            Some(near) => format!("did you mean `{}`?", printable(near)),
            None => format!(
                "the variants are {}",
                names().map(printable).collect::<Vec<_>>().join(", ")
            ),
        };
        problems
            .of("base", format!("`base` is `{}`, which is not a variant; {hint}", printable(base)));
    }
    if plan.slice_ms.is_some() && plan.pairing == Pairing::Blocks {
        problems.of(
            "slice_ms",
            "`slice_ms` without slices; set pairing = \"slices\", \"frozen\" or \"auto\", or remove it",
        );
    }
    check_adaptive(plan, problems);
    check_twins(plan, problems);
    check_count(&plan.count, problems);
    if !workload.family().has_statements() && plan.count.protocols != CountPlan::default().protocols
    {
        problems.of("count.protocols", "`protocols`: this workload has no statements; remove it");
    }
    workload.family().check(problems);
    for variant in plan.variants.iter().filter(|variant| variant.is_running()) {
        if workload.data_directories().is_some() {
            let message = format!(
                "variant `{}` is a running server, which has its data; remove it, or `restore`",
                printable(&variant.name)
            );
            problems.of(&join("variants", &variant.name), message);
        }
    }
    if let Some(step) = &plan.restore_after
        && !problems.is_unread("workload")
    {
        check_restore(step, &workload.sequences(), problems);
    }
}

/// The step after which the data directory is kept.
fn check_restore(step: &str, sequences: &[Sequence], problems: &mut Problems) {
    let steps = || sequences.iter().flat_map(|sequence| &sequence.steps);
    let ends =
        |sequence: &Sequence| sequence.steps.last().is_some_and(|last| last.key.name == step);
    let message = if !steps().any(|known| known.key.name == step) {
        let mut names: Vec<&str> = steps().map(|step| step.key.name.as_str()).collect();
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        format!(
            "`restore_after` is `{}`, which is not a step of this plan; its steps are {}",
            printable(step),
            names.join(", ")
        )
    } else if steps().any(|known| known.key.name == step && known.timed) {
        let load = steps().take_while(|known| !known.timed).last();
        let example = load.map_or(String::new(), |load| format!(", such as {}", load.key.name));
        format!(
            "`restore_after` is `{step}`, a timed step; name the last step of the load{example}"
        )
    } else if sequences.iter().any(ends) {
        format!(
            "`restore_after` is `{step}`, the last step, which leaves nothing for the trials; name an earlier step"
        )
    } else {
        return;
    };
    problems.of("restore_after", message);
}

fn check_variant_name(name: &str) -> Result<(), String> {
    let shown = printable(name);
    let unfit = |c: char| !(c.is_alphanumeric() || c.is_ascii_punctuation()) || "/\\".contains(c);
    if name.is_empty() {
        Err("a variant has an empty name".to_owned())
    } else if let Some(c) = name.chars().find(|c| unfit(*c)) {
        Err(format!(
            "variant `{shown}` has {:?} in its name, which is used in file names; use letters, digits, `.`, `-`, `_`",
            c
        ))
    } else if name.starts_with(['.', '-']) {
        Err(format!(
            "variant `{shown}` starts with `{}`; start it with a letter or digit, because it is used in file names",
            &shown[..1]
        ))
    } else if name.len() > MAX_VARIANT_NAME {
        Err(format!(
            "variant `{shown}` has a name of {} bytes; at most {MAX_VARIANT_NAME} are allowed, because it is used in file names",
            name.len()
        ))
    } else {
        Ok(())
    }
}
