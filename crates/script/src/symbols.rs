//! The variables of a workload: names become slots once, so running needs no names.

use serde::{Deserialize, Serialize};

use crate::error::EvalError;
use crate::slot::Slot;
use crate::value::Value;

/// The names of all variables of a workload's scripts.
///
/// One set is shared by all scripts of a workload: a client keeps its variables from one script to
/// the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbols {
    symbols: Vec<Symbol>,
    /// The prefixes of `\gset` and `\aset`. Any variable that begins with one of them may get a
    /// value.
    prefixes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Symbol {
    name: String,
    /// Something assigns it.
    set: bool,
}

impl Symbols {
    /// `:scale`, the scale of pgbench's tables.
    pub const SCALE: Slot = Slot(0);
    /// `:client_id`, which client it is: 0 and up.
    pub const CLIENT_ID: Slot = Slot(1);
    /// `:random_seed`, the seed of the run.
    pub const RANDOM_SEED: Slot = Slot(2);
    /// `:default_seed`, the seed of hash functions and `permute` without one of their own.
    pub const DEFAULT_SEED: Slot = Slot(3);

    /// The variables that pgbench itself sets, in the order of their constants here.
    pub const BUILT_IN: [&str; 4] = ["scale", "client_id", "random_seed", "default_seed"];

    /// True if a variable can have this name: letters, digits and `_`, but no digit first.
    pub fn is_name(name: &str) -> bool {
        name.bytes().next().is_some_and(starts_name) && name.bytes().all(continues_name)
    }

    /// With the built-in variables only.
    pub fn new() -> Symbols {
        let mut symbols = Symbols { symbols: Vec::new(), prefixes: Vec::new() };
        for name in Symbols::BUILT_IN {
            symbols.define(name);
        }
        symbols
    }

    /// The slot of a variable that a script mentions.
    pub fn intern(&mut self, name: &str) -> Slot {
        if let Some(slot) = self.slot(name) {
            return slot;
        }
        self.symbols.push(Symbol { name: name.to_owned(), set: false });
        Slot(self.symbols.len() as u32 - 1)
    }

    /// The slot of a variable that gets a value: by `\set`, or because the user gives one (`-D`).
    pub fn define(&mut self, name: &str) -> Slot {
        let slot = self.intern(name);
        self.symbols[slot.index()].set = true;
        slot
    }

    pub(crate) fn define_prefix(&mut self, prefix: &str) {
        if !self.prefixes.iter().any(|known| known == prefix) {
            self.prefixes.push(prefix.to_owned());
        }
    }

    /// The slot of this name, if a script mentions it or it was defined.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.symbols.iter().position(|symbol| symbol.name == name).map(|at| Slot(at as u32))
    }

    /// The name of a slot; empty for a slot of other symbols.
    pub fn name(&self, slot: Slot) -> &str {
        self.symbols.get(slot.index()).map_or("", |symbol| &symbol.name)
    }

    /// True if something may assign the variable: a `\set`, the user, pgbench itself, or a `\gset`
    /// or `\aset` with a prefix that the name begins with.
    pub fn may_be_set(&self, slot: Slot) -> bool {
        let Some(symbol) = self.symbols.get(slot.index()) else { return false };
        symbol.set || self.prefixes.iter().any(|prefix| symbol.name.starts_with(prefix))
    }

    /// The names that something surely assigns.
    pub(crate) fn defined(&self) -> impl Iterator<Item = &str> {
        self.symbols.iter().filter(|symbol| symbol.set).map(|symbol| &*symbol.name)
    }

    /// The variables of a client that has assigned none, to be indexed by [`Slot::index`].
    pub fn values(&self) -> Vec<Value> {
        vec![Value::Unset; self.symbols.len()]
    }
}

impl Default for Symbols {
    fn default() -> Symbols {
        Symbols::new()
    }
}

impl EvalError {
    /// The message with the name of the variable that has no value.
    pub fn explain(&self, symbols: &Symbols) -> String {
        match self {
            EvalError::Undefined(slot) => {
                format!("the variable :{} has no value; assign it before", symbols.name(*slot))
            }
            other => other.to_string(),
        }
    }
}

pub(crate) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

pub(crate) fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_variables_have_fixed_slots() {
        let symbols = Symbols::new();
        for (at, name) in Symbols::BUILT_IN.iter().enumerate() {
            assert_eq!(symbols.slot(name), Some(Slot(at as u32)));
        }
        assert_eq!(symbols.name(Symbols::CLIENT_ID), "client_id");
        assert_eq!(symbols.values().len(), 4);
    }

    #[test]
    fn a_prefix_may_set_what_begins_with_it() {
        let mut symbols = Symbols::new();
        let (one, other) = (symbols.intern("r_a"), symbols.intern("q_a"));
        assert!(!symbols.may_be_set(one));
        symbols.define_prefix("r_");
        assert!(symbols.may_be_set(one) && !symbols.may_be_set(other));
        symbols.define("q_a");
        assert!(symbols.may_be_set(other));
        assert!(!symbols.may_be_set(Slot(99)));
    }
}
