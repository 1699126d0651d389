//! The command that searches for the commit behind a change.

use plan::WorkloadPlan;

/// The metric, the step and the workload in which something changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed<'a> {
    pub(super) metric: &'a str,
    pub(super) step: &'a str,
    pub(super) workload: &'a str,
}

impl Changed<'_> {
    /// The command with the versions or commits on both sides; `None` if they don't differ, or if
    /// the workload needs files. The repository is left open, and the tags of versions.
    pub(super) fn search(&self, old: &str, new: &str) -> Option<String> {
        let Self { metric, step, workload } = self;
        let known = WorkloadPlan::named(workload).is_some_and(|it| !it.needs_files());
        if old == new || !known {
            return None;
        }
        let metric = match *metric {
            name if name == metrics::OPS.name => String::new(),
            name => format!(" --metric {name}"),
        };
        Some(format!(
            "steelyard bisect git:REPOSITORY --good {old} --bad {new} {workload} --steps \
             {step}{metric} --budget 1h"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_between_versions_or_commits_can_be_searched() {
        let changed = Changed { metric: "dbms.cpu/o", step: "l.i0", workload: "insert" };
        assert_eq!(
            changed.search("14.2", "14.3").unwrap(),
            "steelyard bisect git:REPOSITORY --good 14.2 --bad 14.3 insert --steps l.i0 \
             --metric dbms.cpu/o --budget 1h"
        );
        let rate = Changed { metric: "o/s", ..changed };
        assert_eq!(
            rate.search("0a1b2c3d4e", "0a1b2c3d4f").unwrap(),
            "steelyard bisect git:REPOSITORY --good 0a1b2c3d4e --bad 0a1b2c3d4f insert --steps \
             l.i0 --budget 1h"
        );
        assert_eq!(rate.search("14.3", "14.3"), None);
        for workload in ["script", "none"] {
            let other = Changed { workload, ..rate };
            assert_eq!(other.search("14.2", "14.3"), None, "{workload}");
        }
    }
}
