//! A list of facts.

use std::path::Path;

use crate::files::read_trimmed;

/// A fact about this machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fact {
    /// `cpu`, `memory`, `system`, `storage` or `kernel`.
    pub group: String,
    /// Its name, unique within its group.
    pub name: String,
    /// For people; `unknown: reason` if it cannot be read.
    pub value: String,
}

/// Facts in the making.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) list: Vec<Fact>,
}

impl Facts {
    pub(super) fn add(&mut self, group: &str, name: &str, value: impl Into<String>) {
        self.list.push(Fact {
            group: group.to_owned(),
            name: name.to_owned(),
            value: value.into(),
        });
    }

    pub(super) fn add_or(&mut self, group: &str, name: &str, value: Option<String>, why: &str) {
        self.add(group, name, value.unwrap_or_else(|| format!("unknown: {why}")));
    }

    /// The text of a small file.
    pub(super) fn add_file(&mut self, group: &str, name: &str, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let value = match std::fs::read_to_string(path) {
            Ok(text) if text.trim().is_empty() => "none".to_owned(),
            Ok(text) => text.trim().to_owned(),
            Err(error) => format!("unknown: {}: {error}", path.display()),
        };
        self.add(group, name, value);
    }

    /// The same, only if the file exists and is not empty.
    pub(super) fn add_file_if_there(&mut self, group: &str, name: &str, path: impl AsRef<Path>) {
        if let Some(text) = read_trimmed(path).filter(|text| !text.is_empty()) {
            self.add(group, name, text);
        }
    }
}
