//! Reads one table of the TOML text, key by key, with a position for every problem.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::near::nearest;
use crate::problem::Problems;

/// A value with its place.
pub(crate) type Value<'i> = Spanned<DeValue<'i>>;

/// One table from which keys are taken; those left over at the end are unknown.
pub(crate) struct Section<'a, 'i> {
    table: &'a DeTable<'i>,
    /// Path of the table, empty at the top; `workload.insert`.
    pub(crate) path: String,
    taken: Vec<&'static str>,
}

impl<'a, 'i> Section<'a, 'i> {
    pub(crate) fn new(table: &'a DeTable<'i>, path: impl Into<String>) -> Self {
        Section { table, path: path.into(), taken: Vec::new() }
    }

    /// Path of a key in this table.
    pub(crate) fn path_of(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// Takes the value of a key, which marks it as known.
    pub(crate) fn take(
        &mut self,
        problems: &mut Problems,
        key: &'static str,
    ) -> Option<&'a Value<'i>> {
        self.taken.push(key);
        let (name, value) = self.table.iter().find(|(k, _)| k.get_ref() == key)?;
        problems.place(join(&self.path, key), name.span());
        Some(value)
    }

    /// Takes a table.
    pub(crate) fn table(
        &mut self,
        problems: &mut Problems,
        key: &'static str,
    ) -> Option<&'a DeTable<'i>> {
        let value = self.take(problems, key)?;
        as_table(problems, &self.path_of(key), value)
    }

    /// Reports every key that was not taken.
    pub(crate) fn finish(self, problems: &mut Problems) {
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            if self.taken.contains(&name) {
                continue;
            }
            let hint = match nearest(name, self.taken.iter().copied()) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => format!("; known keys: {}", self.taken.join(", ")),
            };
            let message = format!("unknown key `{}`{}{hint}", printable(name), within(&self.path));
            problems.at(key.span(), message);
        }
    }
}

/// The table of a key, for messages.
pub(crate) fn within(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" in [{}]", printable(path)) }
}

/// The value as a table; otherwise reports a problem.
pub(crate) fn as_table<'a, 'i>(
    problems: &mut Problems,
    path: &str,
    value: &'a Value<'i>,
) -> Option<&'a DeTable<'i>> {
    match value.get_ref() {
        DeValue::Table(table) => Some(table),
        other => {
            problems.mark_unread(path);
            let message = format!("`{path}`: expected a table, found {}", describe(other));
            problems.at(value.span(), message);
            None
        }
    }
}

/// A text for use in a message, with control characters escaped.
pub(crate) fn printable(text: &str) -> String {
    text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'")
}

/// The path of a key in the table of a path.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Names the kind of a value, for "expected …, found …".
pub(crate) fn describe(value: &DeValue) -> String {
    match value {
        DeValue::String(s) => {
            let short: String = s.chars().take(40).collect();
            format!("the string \"{}\"", printable(&short))
        }
        DeValue::Integer(i) => format!("the integer {i}"),
        DeValue::Float(f) => format!("the number {f}"),
        DeValue::Boolean(b) => format!("{b}"),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// A string that is not empty.
pub(crate) fn string(value: &DeValue) -> Result<String, String> {
    let text = text(value)?;
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(text) }
}

/// A string that may be empty.
pub(crate) fn text(value: &DeValue) -> Result<String, String> {
    match value {
        DeValue::String(s) => Ok(s.to_string()),
        other => Err(format!("expected a string, found {}", describe(other))),
    }
}

/// `true` or `false`.
pub(crate) fn boolean(value: &DeValue) -> Result<bool, String> {
    match value {
        DeValue::Boolean(b) => Ok(*b),
        other => Err(format!("expected true or false, found {}", describe(other))),
    }
}

/// A whole number within bounds.
pub(crate) fn integer<T: TryFrom<u64>>(value: &DeValue, bounds: Range<u64>) -> Result<T, String> {
    let parsed = match value {
        DeValue::Integer(i) => u64::from_str_radix(i.as_str(), i.radix()).ok(),
        _ => None,
    };
    parsed.filter(|n| bounds.contains(n)).and_then(|n| T::try_from(n).ok()).ok_or_else(|| {
        // The upper end is exclusive in the range and inclusive in the message.
        let (low, high) = (bounds.start, bounds.end - 1);
        format!("expected a whole number from {low} to {high}, found {}", describe(value))
    })
}

/// A number within bounds, written with or without a point.
pub(crate) fn number(
    value: &DeValue,
    bounds: RangeInclusive<f64>,
    expected: &str,
) -> Result<f64, String> {
    let parsed: Option<f64> = match value {
        DeValue::Integer(i) if i.radix() == 10 => i.as_str().parse().ok(),
        DeValue::Float(f) => f.as_str().parse().ok(),
        _ => None,
    };
    let found = || format!("expected {expected}, found {}", describe(value));
    parsed.filter(|x| bounds.contains(x)).ok_or_else(found)
}

/// A list of strings.
pub(crate) fn strings(value: &DeValue) -> Result<Vec<String>, String> {
    let DeValue::Array(array) = value else {
        return Err(format!("expected a list of strings, found {}", describe(value)));
    };
    array.iter().map(|item| string(item.get_ref())).collect()
}

/// One value, or a list of such.
pub(crate) fn one_or_more<T>(
    value: &DeValue,
    one: impl Fn(&DeValue) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    match value {
        DeValue::Array(array) => array.iter().map(|item| one(item.get_ref())).collect(),
        single => Ok(vec![one(single)?]),
    }
}

/// One of several words, each with a meaning.
pub(crate) fn choice<T: Copy>(value: &DeValue, all: &[(&str, T)]) -> Result<T, String> {
    let meant = value.as_str().and_then(|word| all.iter().find(|(known, _)| *known == word));
    meant.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<String> = all.iter().map(|(known, _)| format!("\"{known}\"")).collect();
        let (last, others) = words.split_last().map_or(("", &[][..]), |(l, o)| (l.as_str(), o));
        format!("expected {} or {last}, found {}", others.join(", "), describe(value))
    })
}

/// A setting of a server: string, whole number, number or boolean, as text.
pub(crate) fn setting(value: &DeValue) -> Result<String, String> {
    match value {
        DeValue::String(s) if s.chars().any(|c| c == '\0' || c == '\n' || c == '\r') => {
            Err("a setting must be on one line".to_owned())
        }
        DeValue::String(s) => Ok(s.to_string()),
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix())
            .map(|n| n.to_string())
            .map_err(|_| format!("the integer {i} does not fit in 64 bits; write it as a string")),
        DeValue::Float(f) => {
            number(value, f64::MIN..=f64::MAX, "a finite number").map(|_| f.to_string())
        }
        DeValue::Boolean(b) => Ok(b.to_string()),
        DeValue::Table(_) => {
            Err("expected a value, found a table; quote a name that contains a dot".to_owned())
        }
        other => {
            Err(format!("expected a string, a number or a boolean, found {}", describe(other)))
        }
    }
}
