//! Global settings that are changed for a while and put back, whatever happens.

use super::control::Control;
use crate::{Error, Sql};

/// Settings and the values that they had. Dropping this puts them back. They stay changed only if
/// steelyard is killed.
pub(super) struct Changed {
    control: Control,
    before: Vec<(String, String)>,
}

impl Changed {
    /// `control` is a connection of its own, which is opened when first needed.
    pub(super) fn new(control: Control) -> Self {
        Self { control, before: Vec::new() }
    }

    /// Sets a variable of numbers, if this version has it.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let Some(was) = self.control.variable(name)? else { return Ok(()) };
        self.control.execute(&format!("SET GLOBAL {name} = {value}"))?;
        self.before.push((name.to_owned(), was));
        Ok(())
    }

    /// The names of changed settings.
    pub(super) fn names(&self) -> Vec<&str> {
        self.before.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Puts everything back, the last one first.
    ///
    /// # Errors
    /// The first that failed; the others are put back all the same.
    pub(super) fn restore(mut self) -> Result<(), Error> {
        self.put_back()
    }

    fn put_back(&mut self) -> Result<(), Error> {
        let mut result = Ok(());
        while let Some((name, was)) = self.before.pop() {
            let done = self.control.execute(&format!("SET GLOBAL {name} = {}", plain(&was)));
            result = result.and(done.map(drop));
        }
        result
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        // Reported by `restore` in the usual case.
        let _ = self.put_back();
    }
}

/// A number without a fraction of zero, which variables of whole numbers don't take.
fn plain(value: &str) -> &str {
    match value.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_put_back_as_they_are_set() {
        assert_eq!(plain("75.000000"), "75");
        assert_eq!(plain("0.500000"), "0.500000");
        assert_eq!(plain("128"), "128");
    }
}
