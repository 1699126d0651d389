//! The content of a file by function, as Callgrind names them, with separate recursion levels.

use std::collections::HashMap;

/// Number of a name or an object in its [`Names`].
pub(super) type NameId = usize;

/// Strings, each once.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Vec<String>,
    ids: HashMap<String, NameId>,
}

impl Names {
    pub(super) fn id(&mut self, text: &str) -> NameId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.texts.len();
        self.texts.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    pub(super) fn text(&self, id: NameId) -> &str {
        self.texts.get(id).map_or("", String::as_str)
    }
}

/// A function of one object (program or library). Functions with the same name and object but
/// different source files are one: without debug information, Callgrind does not know the file
/// either.
pub(super) type Key = (NameId, NameId);

/// The calls from one function to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Arc {
    /// How many, without those that began in an earlier stretch.
    pub(super) calls: u64,
    /// Events from beginning to end of these calls.
    pub(super) inclusive: u64,
}

/// All costs of a file.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) names: Names,
    pub(super) objects: Names,
    /// Events of each function itself.
    pub(super) own: HashMap<Key, u64>,
    /// Calls from the first to the second.
    pub(super) arcs: HashMap<(Key, Key), Arc>,
    /// Events of all functions together.
    pub(super) total: u64,
}

/// A sum that does not fit 64 bits.
#[derive(Debug)]
pub(super) struct Overflow;

impl Raw {
    pub(super) fn add_own(&mut self, function: Key, events: u64) -> Result<(), Overflow> {
        // This sum bounds all others.
        self.total = self.total.checked_add(events).ok_or(Overflow)?;
        *self.own.entry(function).or_default() += events;
        Ok(())
    }

    pub(super) fn add_call(&mut self, from: Key, to: Key, call: Arc) -> Result<(), Overflow> {
        let arc = self.arcs.entry((from, to)).or_default();
        arc.calls = arc.calls.checked_add(call.calls).ok_or(Overflow)?;
        arc.inclusive = arc.inclusive.checked_add(call.inclusive).ok_or(Overflow)?;
        Ok(())
    }
}
