//! Folded stacks: one line for each call stack, outermost function first, with its number of
//! samples.

use std::collections::BTreeMap;
use std::path::Path;

use crate::ReportError;

/// Samples by call stack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded {
    stacks: BTreeMap<String, u64>,
}

impl Folded {
    /// Adds the samples of a text of folded stacks. Errors name `origin`.
    ///
    /// # Errors
    /// [`ReportError::NoProfile`] for a line that is not a stack with a count.
    pub fn add(&mut self, text: &str, origin: &Path) -> Result<(), ReportError> {
        for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let parsed = line.rsplit_once(' ').and_then(|(stack, count)| {
                Some((stack, count.parse::<u64>().ok()?)).filter(|_| !stack.is_empty())
            });
            let Some((stack, count)) = parsed else {
                return Err(ReportError::NoProfile {
                    path: origin.to_owned(),
                    line: place + 1,
                    found: line.chars().take(60).collect(),
                });
            };
            let known = self.stacks.entry(stack.to_owned()).or_default();
            *known = known.saturating_add(count);
        }
        Ok(())
    }

    /// Stacks as lists of functions, outermost first (the name of the program's process), with
    /// their samples.
    pub fn stacks(&self) -> impl Iterator<Item = (Vec<&str>, u64)> {
        self.stacks.iter().map(|(stack, count)| (stack.split(';').map(plain).collect(), *count))
    }

    /// All samples.
    pub fn samples(&self) -> u64 {
        self.stacks.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The share of samples whose innermost function has no name; `None` without samples.
    pub fn nameless(&self) -> Option<f64> {
        let without =
            self.stacks().filter(|(stack, _)| stack.last().is_some_and(|f| f.starts_with('[')));
        let without: u64 = without.map(|(_, samples)| samples).sum();
        (!self.is_empty()).then(|| without as f64 / self.samples() as f64)
    }

    /// True if there are no samples.
    pub fn is_empty(&self) -> bool {
        self.samples() == 0
    }

    /// As it was read, stacks in order of their text.
    pub fn to_text(&self) -> String {
        self.stacks.iter().map(|(stack, count)| format!("{stack} {count}\n")).collect()
    }
}

#[cfg(test)]
impl Folded {
    /// The stacks of a text that a test knows to be right.
    pub fn of(text: &str) -> Folded {
        let mut folded = Folded::default();
        folded.add(text, Path::new("test")).unwrap();
        folded
    }
}

/// A function's name as it is in all builds: without the kernel mark and without the suffixes that
/// compilers append to parts and clones of functions.
fn plain(frame: &str) -> &str {
    let name = frame.strip_suffix("_[k]").unwrap_or(frame);
    let cut = [".constprop.", ".isra.", ".part.", ".cold", ".lto_priv."]
        .iter()
        .filter_map(|suffix| name.find(suffix))
        .min()
        .filter(|at| *at > 0);
    cut.map_or(name, |at| &name[..at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_the_same_in_all_builds() {
        assert_eq!(plain("heap_insert"), "heap_insert");
        assert_eq!(plain("sync_file_range_[k]"), "sync_file_range");
        assert_eq!(plain("AllocSetAlloc.isra.0.part.3"), "AllocSetAlloc");
        assert_eq!(plain("errstart.cold"), "errstart");
        assert_eq!(plain("[postgres]"), "[postgres]");
        assert_eq!(plain(".cold"), ".cold");
    }

    #[test]
    fn what_is_no_stack_is_refused_with_its_place() {
        let mut folded = Folded::default();
        let error = folded.add("a;b 3\n\nc;d\n", Path::new("x.folded")).unwrap_err();
        assert!(error.to_string().contains("line 3 of x.folded"), "{error}");
    }

    #[test]
    fn functions_without_a_name_are_counted() {
        let folded = Folded::of(
            "postgres;main;[postgres] 3\npostgres;[postgres];palloc 6\npostgres;read_[k] 1\n",
        );
        assert!(folded.nameless().is_some_and(|share| (share - 0.3).abs() < 1e-9));
        assert_eq!(Folded::default().nameless(), None);
    }

    proptest! {
        #[test]
        fn written_and_read_it_is_the_same(
            stacks in proptest::collection::btree_map("[a-z\\[\\]_. ;]{0,8}[a-z]", 0_u64..1 << 40, 0..20)
        ) {
            let folded = Folded { stacks };
            let mut again = Folded::default();
            again.add(&folded.to_text(), Path::new("x")).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(&folded, &again);
            let mut twice = again.clone();
            twice.add(&folded.to_text(), Path::new("x")).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(twice.samples(), 2 * folded.samples());
        }

        #[test]
        fn anything_is_read_or_its_line_is_named(text in "([a-z;]{0,9} ?[0-9]{0,3}\n){0,4}|\\PC*") {
            let mut folded = Folded::default();
            match folded.add(&text, Path::new("x")) {
                Ok(()) => prop_assert_eq!(Folded::of(&folded.to_text()), folded),
                Err(ReportError::NoProfile { line, found, .. }) => {
                    prop_assert!(text.lines().nth(line - 1).unwrap().starts_with(&found));
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }
}
