//! How the tests of a step were run, as far as their output says, and where that differs.

use std::collections::{BTreeMap, BTreeSet};

use metrics::counted;
use plan::Labels;

use super::error::ImportError;

/// A test, and the results it belongs to.
pub(super) struct Told<'a> {
    /// Name of the file.
    pub(super) file: &'a str,
    pub(super) variant: String,
    /// Name of the step.
    pub(super) step: &'a str,
    /// Its number of clients.
    pub(super) dop: u32,
    /// The program that printed it.
    pub(super) program: &'a str,
    /// The settings in the output.
    pub(super) settings: &'a BTreeMap<String, String>,
}

/// The program counts as a setting.
const PROGRAM: &str = "program";

impl Told<'_> {
    fn value(&self, setting: &str) -> Option<&str> {
        // A parameter of a benchmark may have this name, too.
        let told = self.settings.get(setting).map(String::as_str);
        told.or((setting == PROGRAM).then_some(self.program))
    }
}

/// The labels of each test, which tell apart tests of the same name, and the settings that differ
/// between variants, one sentence each.
///
/// A setting that a variant has with several values makes several steps. One that is the same
/// within each variant, but not between them, would be compared; that has to be `allowed`.
///
/// # Errors
/// When settings differ between variants that may not.
pub(super) fn tell_apart(
    tests: &[Told<'_>],
    allowed: bool,
) -> Result<(Vec<Labels>, Vec<String>), ImportError> {
    let mut labels = vec![Labels::new(); tests.len()];
    let mut differences = Vec::new();
    let mut steps: BTreeMap<(&str, u32), Vec<usize>> = BTreeMap::new();
    for (place, test) in tests.iter().enumerate() {
        steps.entry((test.step, test.dop)).or_default().push(place);
    }
    for ((step, dop), places) in steps {
        let of_step = || places.iter().map(|place| &tests[*place]);
        let settings = of_step().flat_map(|test| test.settings.keys()).map(String::as_str);
        let names: BTreeSet<&str> = settings.chain([PROGRAM]).collect();
        for name in names {
            let mut variants: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
            // The first file with each value.
            let mut values: Vec<(Option<&str>, &str)> = Vec::new();
            for test in of_step() {
                let value = test.value(name);
                variants.entry(&test.variant).or_default().insert(value);
                if values.iter().all(|(known, _)| *known != value) {
                    values.push((value, test.file));
                }
            }
            if variants.values().any(|values| values.len() > 1) {
                for place in &places {
                    let value = tests[*place].value(name);
                    labels[*place].extend(value.map(|value| (label(name), value.to_owned())));
                }
            } else if values.len() > 1 {
                let said = values
                    .iter()
                    .map(|(value, file)| format!("{} in {file}", value.unwrap_or("not given")));
                let said: Vec<String> = said.collect();
                let of = format!("{step} with {}", counted(dop as usize, "client"));
                differences.push(format!("{name} of {of}: {}", said.join(", ")));
            }
        }
    }
    if differences.is_empty() || allowed {
        Ok((labels, differences))
    } else {
        Err(ImportError::OtherSettings(differences))
    }
}

/// A setting's name as a label: `query-mode`.
fn label(name: &str) -> String {
    name.to_lowercase().replace([' ', '/'], "-")
}

/// All settings of a step in a line of a plan that is only a comment.
pub(super) fn comment(test: &Told<'_>) -> Option<String> {
    let said = test.settings.iter().map(|(name, value)| format!("{name} {value:?}"));
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format!("# {:?}: {}\n", test.step, said.join(", ")))
}
