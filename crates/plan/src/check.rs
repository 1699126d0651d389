//! What must hold between the keys of a plan.

use crate::adaptive::check_adaptive;
use crate::count::check_count;
use crate::insert::{InsertPlan, Tables, is_read_write};
use crate::near::nearest;
use crate::problem::Problems;
use crate::section::printable;
use crate::twins::check_twins;
use crate::types::{Pairing, Plan, WorkloadPlan};

/// Names of files on Linux have at most 255 bytes; a variant's name is one part of several.
const MAX_VARIANT_NAME: usize = 64;
/// Path of the steps of the insert benchmark.
pub(crate) const STEPS: &str = "workload.insert.steps";
/// A trial per variant and block; beyond this the plan is a slip of the finger.
const MAX_VARIANTS: usize = 1000;

/// Adds to `problems` whatever is wrong with a plan of which every single value is fine.
pub(crate) fn check(plan: &Plan, problems: &mut Problems) {
    let Plan { base, margin, settle_seconds_scale, steal_limit, variants, workload, .. } = plan;
    for variant in variants {
        let path = format!("variants.{}", variant.name);
        if let Err(message) = check_variant_name(&variant.name) {
            problems.of(&path, message);
        }
    }
    for (i, variant) in variants.iter().enumerate() {
        // Only a plan made by a program can hold the same name twice; in TOML that is an error of syntax.
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
            .of("base", format!("`base` is `{}`, which is no variant; {hint}", printable(base)));
    }
    if !(*margin > 0.0 && *margin < 1.0) {
        problems.of(
            "margin",
            format!(
                "`margin`: expected a share between 0 and 1, such as 0.02 for 2%, found {margin}"
            ),
        );
    }
    if !(0.0..=1.0).contains(settle_seconds_scale) {
        problems.of(
            "settle_seconds_scale",
            format!("`settle_seconds_scale`: expected a factor from 0 to 1, found {settle_seconds_scale}"),
        );
    }
    if !(0.0..=1.0).contains(steal_limit) {
        problems.of(
            "steal_limit",
            format!("`steal_limit`: expected a share from 0 to 1 (1: no trial is polluted), found {steal_limit}"),
        );
    }
    if plan.slice_ms.is_some() && plan.pairing == Pairing::Blocks {
        problems.of(
            "slice_ms",
            "`slice_ms` without slices; add pairing = \"slices\" or \"auto\", or remove it",
        );
    }
    check_adaptive(plan, problems);
    check_twins(plan, problems);
    check_count(&plan.count, problems);
    match workload {
        WorkloadPlan::Insert(insert) => check_insert(insert, problems),
    }
    if let Some(step) = &plan.restore_after
        && !problems.is_unread(STEPS)
    {
        check_restore(step, workload.steps(), problems);
    }
}

/// The step after which the data directory is kept.
fn check_restore(step: &str, steps: &[String], problems: &mut Problems) {
    let message = match steps.iter().position(|known| known == step) {
        None => format!(
            "`restore_after` is `{}`, which is no step of this plan; its steps are {}",
            printable(step),
            steps.join(", ")
        ),
        Some(_) if is_read_write(step) => format!(
            "`restore_after` is `{step}`, a read+write step; name the last step of the load, such as l.x"
        ),
        Some(place) if place + 1 == steps.len() => format!(
            "`restore_after` is `{step}`, the last step, so that nothing would be left for the trials; name an earlier one"
        ),
        Some(_) => return,
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
            "variant `{shown}` has {:?} in its name, which names files; use letters, digits, `.`, `-`, `_`",
            c
        ))
    } else if name.starts_with(['.', '-']) {
        Err(format!(
            "variant `{shown}` starts with `{}`; begin with a letter or digit, since it names files",
            &shown[..1]
        ))
    } else if name.len() > MAX_VARIANT_NAME {
        Err(format!(
            "variant `{shown}` has a name of {} bytes; at most {MAX_VARIANT_NAME}, since it names files",
            name.len()
        ))
    } else {
        Ok(())
    }
}

fn check_insert(insert: &InsertPlan, problems: &mut Problems) {
    let of = |key: &str| format!("workload.insert.{key}");
    if insert.delete_per_insert && insert.tables == Tables::Shared {
        problems.of(
            &of("delete_per_insert"),
            "`delete_per_insert = true` and `tables = \"shared\"` exclude each other: clients would delete each other's rows; \
             use `tables = \"per-client\"`",
        );
    }
    let dop = insert.dop.iter().copied().max().unwrap_or(1);
    if insert.rows < u64::from(dop) {
        problems.of(
            &of("rows"),
            format!(
                "`rows` = {} is fewer than `dop` = {dop}; every client needs a row",
                insert.rows
            ),
        );
    }
    let loads_indexed = |step: &String| step == "l.i1" || step == "l.i2";
    // l.i2 gets a fifth of the rows (workloads.md §1).
    if insert.steps.iter().any(loads_indexed) && insert.indexed_rows < 5 * u64::from(dop) {
        problems.of(
            &of("indexed_rows"),
            format!(
                "`indexed_rows` = {} is too few for l.i1 and l.i2 with `dop` = {dop}; at least {}, or leave these steps out",
                insert.indexed_rows,
                5 * u64::from(dop)
            ),
        );
    }
    if !problems.is_unread(STEPS) {
        check_order(insert, problems);
    }
}

fn check_order(insert: &InsertPlan, problems: &mut Problems) {
    let mut problem = |message: String| problems.of(STEPS, message);
    let place = |name: &str| insert.steps.iter().position(|s| s == name);
    let Some(first) = insert.steps.first() else {
        return; // said where the list was read
    };
    match place("l.i0") {
        Some(0) => {}
        Some(_) => problem(format!(
            "`steps`: `l.i0` stands after `{first}`, which needs its rows; put `l.i0` first"
        )),
        None => problem(format!(
            "`steps`: `l.i0` is missing; every trial starts on an empty server and `{first}` needs rows; put `l.i0` first"
        )),
    }
    let index = place("l.x");
    if index.is_some() && insert.secondary_indexes == 0 {
        problem(
            "`steps`: `l.x` has nothing to create with `secondary_indexes = 0`; remove one of both"
                .to_owned(),
        );
    }
    // Without the index every range query would sort the whole table; l.i1 and l.i2 are defined with indexes.
    let needs_index = |s: &str| s == "l.i1" || s == "l.i2" || s.starts_with("qr");
    let needy = insert.steps.iter().position(|s| needs_index(s));
    match (index, needy) {
        (None, Some(step)) if insert.secondary_indexes > 0 => problem(format!(
            "`steps`: `{}` needs the indexes that `l.x` creates; add `l.x` after `l.i0`, or set `secondary_indexes = 0`",
            insert.steps[step]
        )),
        (Some(index), _) => {
            let late = |s: &&String| needs_index(s) || is_read_write(s);
            if let Some(early) = insert.steps[..index].iter().find(late) {
                problem(format!(
                    "`steps`: `l.x` stands after `{early}`; put it directly after `l.i0`"
                ));
            }
        }
        _ => {}
    }
    if let (Some(first), Some(second)) = (place("l.i2"), place("l.i1"))
        && first < second
    {
        problem("`steps`: `l.i2` stands before `l.i1`; exchange them".to_owned());
    }
    let load = insert.steps.iter().rposition(|s| s.starts_with("l."));
    let read = insert.steps.iter().position(|s| is_read_write(s));
    if let (Some(load), Some(read)) = (load, read)
        && read < load
        && insert.steps[load] != "l.x"
        && load > 0
    {
        problem(format!(
            "`steps`: the load step `{}` stands after the read+write step `{}`; put loads first",
            insert.steps[load], insert.steps[read]
        ));
    }
}
