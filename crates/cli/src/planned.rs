//! The plan that a command is given: a file, or the short form.

use std::path::{Path, PathBuf};

use clap::Args;
use plan::{Plan, WorkloadPlan};

use crate::changes::Changes;
use crate::exit::refuse;
use crate::short::ShortForm;

/// A plan from a file or from options.
#[derive(Debug, Args)]
pub struct Planned {
    /// A plan file, a .steelyard file whose plan runs again, or - for standard input; for the
    /// short form, the name of a workload (insert) or a pgbench script
    #[arg(value_name = "PLAN.toml|WORKLOAD|SCRIPT.sql")]
    what: Option<PathBuf>,
    /// The directory of queries or the log, for the workload that has one (run queries DIR)
    #[arg(value_name = "DIR")]
    of: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    short: ShortForm,
}

impl Planned {
    /// The file, the workload or the script.
    pub fn what(&self) -> Option<&Path> {
        self.what.as_deref()
    }

    /// True if an option overrides something of a plan.
    pub fn changes(&self) -> bool {
        !self.changes.layer().is_empty()
    }

    /// True if profiles were requested.
    pub fn profile(&self) -> bool {
        self.changes.profile()
    }

    /// The plan, if one is named.
    pub fn plan(&self) -> anyhow::Result<Option<Plan>> {
        let Some(what) = &self.what else {
            if self.short.given() {
                return refuse("name the workload to run, as in: steelyard run insert -v …");
            }
            return Ok(None);
        };
        let mut layer = self.changes.layer();
        let workload = what.to_str().and_then(WorkloadPlan::named);
        if let Some(of) = &self.of {
            match workload.as_ref().and_then(WorkloadPlan::short_operand) {
                Some(option) => layer.option(option, &of.display().to_string()),
                None => {
                    return refuse(format!(
                        "`{}`: `{}` takes nothing after it; give variants with -v",
                        of.display(),
                        what.display()
                    ));
                }
            }
        }
        Ok(Some(if let Some(workload) = workload {
            self.short.plan(&workload, layer)?
        } else if let Some((workload, option)) = WorkloadPlan::of_file(what) {
            layer.option(option, &what.display().to_string());
            self.short.plan(&workload, layer)?
        } else {
            self.short.change(what, layer)?
        }))
    }
}
