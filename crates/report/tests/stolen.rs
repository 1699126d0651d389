//! CPU-bound steps of which a hypervisor took much: judged by the DBMS's own CPU time.

use crate::common::{Lab, plan, record};
use judge::{Comparison, Verdict};

const VARIANTS: [&str; 2] = ["13.7", "14.3"];
const STEPS: [&str; 1] = ["l.i0"];

/// An experiment of 6 blocks in which the hypervisor took `stolen` times 5, 10, … 30% of the
/// CPU. The variant takes 6% more CPU per operation, and is on CPU for `busy` of the time that is
/// left, the base for 97%.
fn measured(stolen: f64, busy: f64) -> Lab {
    let lab = Lab::new(&VARIANTS, &plan(&VARIANTS, &STEPS, 6, &[1]), 6);
    lab.run(&STEPS, 6, 1, &|name, place, block| {
        let chance = 1.0 + 0.001 * f64::from((block * 7 + place as u32 * 3) % 5);
        // Each trial meets another hypervisor.
        let steal = stolen * 0.05 * (1.0 + f64::from((block + 3 * place as u32) % 6));
        let (busy, cost) = ([0.97, busy][place], [5.0, 5.3][place] * chance);
        let mut step = record(name, 1e6 * (1.0 - steal) * busy / cost);
        let metrics = [("steal", steal), ("cpu.share", (1.0 - steal) * busy), ("dbms.cpu/o", cost)];
        step.metrics.extend(metrics.map(|(name, value)| (name.to_owned(), value)));
        step
    });
    lab
}

fn compared(stolen: f64, busy: f64) -> Comparison {
    measured(stolen, busy).compare().judged.of(0, 1).unwrap().clone()
}

fn by_cpu(comparison: &Comparison) -> bool {
    comparison.warnings.iter().any(|warning| warning.code() == "judged-by-cpu")
}

#[test]
fn what_was_stolen_does_not_hide_a_difference() {
    let found = compared(1.0, 0.97);
    assert!(by_cpu(&found), "{found:?}");
    assert_eq!(found.verdict, Verdict::Regression);
    assert!((found.ratio - 5.0 / 5.3).abs() < 0.003, "{found:?}");
}

/// A history of throughput would show the steal.
#[test]
fn a_history_shows_the_ratio_that_was_judged() {
    let lab = measured(1.0, 0.97);
    let sources =
        [report::Source { store: &lab.store, directory: "results".to_owned(), machine: None }];
    let history = report::history(&sources, &report::HistoryOptions::default()).unwrap();
    let points = &history.document.lines[0].steps[0].points;
    let judged = lab.compare().judged.of(0, 1).unwrap().ratio;
    assert!((points[1].relative.unwrap() / judged - 1.0).abs() < 1e-9, "{judged}: {points:?}");
}

#[test]
fn throughput_counts_where_little_was_stolen() {
    assert!(!by_cpu(&compared(0.1, 0.97)));
}

/// CPU time would show 6% where the variant also waits.
#[test]
fn a_variant_that_waits_is_not_judged_by_its_cpu_time() {
    for busy in [0.72, 0.9, 0.94] {
        let found = compared(1.0, busy);
        assert!(!by_cpu(&found), "{found:?}");
        assert_ne!(found.verdict, Verdict::Equivalent, "{found:?}");
    }
}

#[test]
fn a_step_that_is_not_cpu_bound_is_not_either() {
    assert!(!by_cpu(&compared(1.0, 0.6)));
}
