//! Budgets: one that is far too small is refused, and a run says how much fits into its budget.

use crate::place::Place;
use crate::plans::{BOTH, plan};

/// This installation does not exist, so looking for it would fail with another message.
const NOT_THERE: &str = "path:/nowhere/at/all";

#[test]
fn nonsense_is_refused_before_anything_is_fetched() {
    let place = Place::new();
    let variant = |n: usize| format!("[variants.v{n}]\ndbms = \"{NOT_THERE}\"\n");
    let variants: String = (0..1000).map(variant).collect();
    let many = format!("budget = \"1m\"\n{variants}[workload.insert]\nsteps = [\"qr100\"]\n");
    let refused = place.run(&[&place.plan(&many)]);
    assert!(!refused.stderr.contains("blocks as needed"), "the refusal comes first");
    refused.expect(
        2,
        &[
            "the budget of 1m is too small: a verdict needs 6 blocks, and those of 1000 variants \
             with 1 step take more than 50m",
            "Set a larger budget (at least --budget 51m), or fewer variants or steps",
        ],
    );
    // Six blocks of two minutes.
    let variants = [("a", NOT_THERE), ("b", NOT_THERE)];
    let steps = "steps = [\"l.i0\", \"l.x\", \"qr100\"]\nread_write_seconds = 60";
    let file = place.plan(&plan(&variants, "blocks = 6\nbudget = \"10m\"", steps));
    let needed =
        "a verdict needs 6 blocks, and those of 2 variants with 3 steps take more than 12m";
    place.run(&[&file]).expect(2, &["the budget of 10m is too small", needed]);
    assert!(!place.results().exists(), "nothing is begun");
    place.assert_nothing_left();
    // With enough time, the installation is looked for.
    place.run(&[&file, "--budget", "1h"]).expect(2, &["variant `a`", "/nowhere/at/all"]);
}

#[test]
fn a_run_says_once_what_its_budget_has_room_for() {
    let place = Place::new();
    // A restart takes a second for qr100 alone, so that six never fit.
    let variants = BOTH.iter().flat_map(|(_, dbms)| ["-v", *dbms]);
    let mut line = vec!["insert", "--rows", "2000", "--steps", "qr100", "--budget", "3s"];
    line.extend(["-c", "shared_buffers=16MB"].into_iter().chain(variants));
    let ran = place.run(&line);
    let lacking = ", but a verdict needs 6: qr100 will probably stay undecided; 6 take about ";
    ran.expect(0, &["a budget of 3s will probably decide nothing", lacking]);
    let larger = "after them, the run says what would decide the rest: `steelyard run ";
    ran.expect(0, &[larger, " insert --rows 2000 --steps qr100 "]);
    let times = ran.stderr.matches("the budget of 3s has room for ").count();
    assert_eq!(times, 1, "{}", ran.stderr);
    place.assert_nothing_left();
}
