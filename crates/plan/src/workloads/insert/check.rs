//! Rules that hold between the keys of `[workload.insert]`.

use super::plan::{ALIASES, InsertPlan, Tables, is_read_write, needs_index};
use crate::problem::Problems;

pub(super) fn check(insert: &InsertPlan, problems: &mut Problems) {
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
    // l.i2 gets a fifth of the rows.
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
    let used: Vec<_> =
        ALIASES.into_iter().filter(|(alias, _)| problems.names_step(alias)).collect();
    for (alias, step) in used.into_iter().filter(|_| insert.dop != [1]) {
        let message =
            format!("step `{alias}` means `{step}` at dop 1, but `dop` is not 1; write `{step}`");
        problems.of(&format!("steps.{alias}"), message);
    }
    if !problems.is_unread("workload") {
        check_order(insert, problems);
    }
}

fn check_order(insert: &InsertPlan, problems: &mut Problems) {
    let mut problem = |message: String| problems.of("workload.insert.steps", message);
    let place = |name: &str| insert.steps.iter().position(|s| s == name);
    let Some(first) = insert.steps.first() else {
        return; // said where the list was read
    };
    if place("l.i0") != Some(0) {
        problem(format!(
            "`steps`: `l.i0` comes after `{first}`, which needs its rows; put `l.i0` first"
        ));
    }
    let index = place("l.x");
    if index.is_some() && insert.secondary_indexes == 0 {
        problem(
            "`steps`: `l.x` has nothing to create with `secondary_indexes = 0`; remove one of both"
                .to_owned(),
        );
    }
    if let Some(index) = index {
        let late = |s: &&String| needs_index(s) || is_read_write(s);
        if let Some(early) = insert.steps[..index].iter().find(late) {
            problem(format!("`steps`: `l.x` comes after `{early}`; put it directly after `l.i0`"));
        }
    }
    if let (Some(first), Some(second)) = (place("l.i2"), place("l.i1"))
        && first < second
    {
        problem("`steps`: `l.i2` comes before `l.i1`; swap them".to_owned());
    }
    let load = insert.steps.iter().rposition(|s| s.starts_with("l."));
    let read = insert.steps.iter().position(|s| is_read_write(s));
    if let (Some(load), Some(read)) = (load, read)
        && read < load
        && insert.steps[load] != "l.x"
        && load > 0
    {
        problem(format!(
            "`steps`: the load step `{}` comes after the read+write step `{}`; put loads first",
            insert.steps[load], insert.steps[read]
        ));
    }
}
