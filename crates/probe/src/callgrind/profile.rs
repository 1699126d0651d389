//! Events per function.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::cost::Cost;
use super::{CallgrindError, Event, fold, format};

/// True if Callgrind sees where functions return. On x86, a return moves the stack pointer.
/// Elsewhere, "it currently does not work so well" (Callgrind's manual, Functionality): on aarch64
/// and a parser of PostgreSQL, functions seemed to cost 800 times as much as the whole program.
/// What functions do themselves, and the total, are right everywhere.
pub const SEES_RETURNS: bool = cfg!(any(target_arch = "x86_64", target_arch = "x86"));

/// The events of one sort in a stretch, by function.
///
/// Functions are identified by name. Those without a symbol are named by their address in the
/// containing file, such as `0x12ab in postgres`, which is the same in every run of a binary.
/// Different functions of the same name (`static` in C, or in several libraries) are merged. If one
/// of these calls another through a third, their inclusive cost counts that twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// All of them.
    pub total: u64,
    /// By function.
    pub functions: BTreeMap<String, Cost>,
}

impl Profile {
    /// Reads the events of one sort from a dump. Where Callgrind does not [see
    /// returns](SEES_RETURNS), its calls and inclusive costs are wrong: see
    /// [`Profile::without_calls`].
    ///
    /// # Errors
    /// If the file cannot be read, is not in Callgrind's format, has no such events, or is
    /// truncated.
    pub fn read(path: &Path, event: Event) -> Result<Self, CallgrindError> {
        let file = File::open(path).map_err(|source| CallgrindError::File {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        Self::parse(BufReader::new(file), path, event)
    }

    /// The same without calls and what they cost: only what each function did itself.
    pub fn without_calls(mut self) -> Self {
        for cost in self.functions.values_mut() {
            (cost.inclusive, cost.calls) = (0, 0);
        }
        self
    }

    /// Reads Callgrind's format (version 1), line by line; `origin` is named in errors. Several
    /// parts in one file (`--combine-dumps`) are added up.
    ///
    /// # Errors
    /// As for [`Profile::read`].
    pub fn parse(
        reader: impl BufRead,
        origin: &Path,
        event: Event,
    ) -> Result<Self, CallgrindError> {
        let raw = format::parse(reader, origin, event)?;
        Ok(Self { total: raw.total, functions: fold::fold(&raw) })
    }

    /// Subtracts `mark`, function by function. A count smaller than the mark's becomes 0; this
    /// happens if the mark was the first to fill a cache. Functions with nothing left are removed.
    #[must_use]
    pub fn minus(&self, mark: &Self) -> Self {
        let mut functions = BTreeMap::new();
        for (name, cost) in &self.functions {
            let rest = match mark.functions.get(name) {
                None => cost.clone(),
                Some(other) => Cost {
                    object: cost.object.clone(),
                    own: cost.own.saturating_sub(other.own),
                    inclusive: cost.inclusive.saturating_sub(other.inclusive),
                    calls: cost.calls.saturating_sub(other.calls),
                },
            };
            if rest.own != 0 || rest.inclusive != 0 || rest.calls != 0 {
                functions.insert(name.clone(), rest);
            }
        }
        Self { total: self.total.saturating_sub(mark.total), functions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(own: u64, inclusive: u64, calls: u64) -> Cost {
        Cost { object: "/bin/server".to_owned(), own, inclusive, calls }
    }

    fn profile(functions: &[(&str, Cost)]) -> Profile {
        Profile {
            total: functions.iter().map(|(_, cost)| cost.own).sum(),
            functions: functions.iter().map(|(n, c)| ((*n).to_owned(), c.clone())).collect(),
        }
    }

    #[test]
    fn the_mark_is_subtracted_and_its_own_functions_disappear() {
        let stretch = profile(&[
            ("loop", cost(50, 190, 0)),
            ("run", cost(100, 100, 2)),
            ("mark", cost(40, 40, 1)),
        ]);
        let mark = profile(&[("loop", cost(20, 60, 0)), ("mark", cost(40, 40, 1))]);
        let rest = profile(&[("loop", cost(30, 130, 0)), ("run", cost(100, 100, 2))]);
        assert_eq!(stretch.minus(&mark), rest);
    }

    #[test]
    fn a_function_that_costs_less_than_in_the_mark_is_zero() {
        let stretch = profile(&[("a", cost(100, 100, 1)), ("b", cost(10, 10, 1))]);
        let mark = profile(&[("a", cost(20, 20, 1)), ("b", cost(13, 13, 2)), ("c", cost(4, 4, 1))]);
        let rest = stretch.minus(&mark);
        assert_eq!(rest.total, 73);
        assert_eq!(rest.functions.len(), 1);
        assert_eq!(rest.functions["a"], cost(80, 80, 0));
        assert_eq!(mark.minus(&stretch).total, 0);
    }
}
