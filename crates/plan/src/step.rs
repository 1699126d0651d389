//! The key under which the results of a step are kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Labels of a step: names, such as `pinning`, and values.
pub type Labels = BTreeMap<String, String>;

/// Distinguishes a step from the others of its workload. Its results are stored, found and compared
/// under this key.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepKey {
    /// Name, such as `l.i0`.
    pub name: String,
    /// Number of clients; 0 for actions between the steps.
    pub dop: u32,
    /// Labels that distinguish it from steps of the same name, such as `pinning`; usually empty.
    pub labels: Labels,
}

impl StepKey {
    /// The key of a step without labels.
    pub fn new(name: impl Into<String>, dop: u32) -> StepKey {
        StepKey { name: name.into(), dop, labels: Labels::new() }
    }

    /// Its name in tables, with the number of clients only if `with_dop`: `qr100`, `qr100.4`,
    /// `probe{dop=4, pinning=colocated}`.
    pub fn label(&self, with_dop: bool) -> String {
        let StepKey { name, dop, labels } = self;
        if labels.is_empty() {
            return if with_dop { format!("{name}.{dop}") } else { name.clone() };
        }
        let dop = with_dop.then(|| format!("dop={dop}"));
        let labels = labels.iter().map(|(label, value)| format!("{label}={value}"));
        let all: Vec<String> = dop.into_iter().chain(labels).collect();
        format!("{name}{{{}}}", all.join(", "))
    }
}
