//! A key of a plan's table, declared once: how to read, write and give it on the command line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use serde::Serialize;
use serde_json::{Value as Json, json};
use toml::Value as Toml;
use toml::de::{DeTable, DeValue};

use crate::kind::{self, Kind, map, size, whole};
use crate::near::nearest;
use crate::problem::Problems;
use crate::section::{
    Section, Value, as_table, describe, join, printable, setting, string, within,
};
use crate::size::format_size;
use crate::value::{quoted, toml};

/// Something whose keys a plan can hold.
pub(crate) trait Keyed {
    /// Its keys, in the order in which they are written.
    fn keys(&mut self) -> Vec<Key<'_>>;
}

/// Reads a value into its field; the text is the path of the table.
type Read<'a> = Box<dyn FnMut(&mut Problems, &Value<'_>, &str) + 'a>;

/// A key with the field that it stands for.
pub(crate) struct Key<'a> {
    name: &'static str,
    /// Its comment in a written plan; may be empty.
    note: &'static str,
    /// Its meaning, if that is not its note.
    meaning: &'static str,
    /// The effect of leaving it out, if that is not the value of a default.
    usual: &'static str,
    unit: &'static str,
    /// The values that it may hold.
    schema: Json,
    /// The present value.
    present: Option<Toml>,
    /// True if the present value is written.
    written: bool,
    read: Read<'a>,
}

impl<'a> Key<'a> {
    fn declared(name: &'static str, schema: Json, present: Option<Toml>, read: Read<'a>) -> Self {
        let (note, meaning, usual, unit) = ("", "", "", "");
        Key { name, note, meaning, usual, unit, schema, present, written: true, read }
    }

    /// The value to write, if any.
    fn value(&self) -> Option<&Toml> {
        self.present.as_ref().filter(|_| self.written)
    }

    /// A key with values of a kind.
    pub(crate) fn new<T: Serialize>(name: &'static str, field: &'a mut T, kind: Kind<T>) -> Self {
        let value = toml(field);
        let read: Read<'a> = Box::new(move |p, value, path| match (kind.read)(value.get_ref()) {
            Ok(read) => *field = read,
            Err(message) => p.at(value.span(), format!("`{name}`{}: {message}", within(path))),
        });
        Key::declared(name, kind.schema, value, read)
    }

    /// The same for one that may be left out.
    pub(crate) fn optional<T: Serialize + 'static>(
        name: &'static str,
        field: &'a mut Option<T>,
        kind: Kind<T>,
    ) -> Self {
        Key::new(name, field, kind.optional())
    }

    /// A whole number within bounds.
    pub(crate) fn whole<T: Serialize + TryFrom<u64> + 'static>(
        name: &'static str,
        field: &'a mut T,
        bounds: Range<u64>,
    ) -> Self {
        Key::new(name, field, whole(bounds))
    }

    /// A size in bytes, above 0, that may be left out.
    pub(crate) fn size(name: &'static str, field: &'a mut Option<u64>) -> Self {
        let shown = field.map(format_size);
        Key::optional(name, field, size()).shown(shown)
    }

    /// Settings of a server, added to those that there are. They are written elsewhere.
    pub(crate) fn settings(name: &'static str, field: &'a mut BTreeMap<String, String>) -> Self {
        let read: Read<'a> = Box::new(move |p, value, path| {
            let path = join(path, name);
            if let Some(table) = as_table(p, &path, value) {
                field.extend(settings(p, table, &path));
            }
        });
        Key::declared(name, map(&kind::setting().schema), None, read)
    }

    /// A table that may be left out.
    pub(crate) fn table<T: Keyed + Default>(name: &'static str, field: &'a mut Option<T>) -> Self {
        let keys = field.as_mut().map(|field| field.keys());
        let value = keys.map(written);
        let read: Read<'a> = Box::new(move |p, value, path| {
            let path = join(path, name);
            if let Some(table) = as_table(p, &path, value) {
                let mut section = Section::new(table, path);
                section.keys(p, field.insert(T::default()).keys());
                section.finish(p);
            }
        });
        Key::declared(name, object(T::default().keys()), value, read)
    }

    /// A list of tables that may be left out.
    pub(crate) fn tables<T: Keyed + Default>(name: &'static str, field: &'a mut Vec<T>) -> Self {
        let table = |one: &mut T| written(one.keys());
        let value = (!field.is_empty()).then(|| field.iter_mut().map(table).collect());
        let read: Read<'a> = Box::new(move |p, value, path| {
            let path = join(path, name);
            let DeValue::Array(array) = value.get_ref() else {
                p.mark_unread("workload");
                let found = describe(value.get_ref());
                p.at(value.span(), format!("`{path}`: expected a list of tables, found {found}"));
                return;
            };
            for item in array {
                if let Some(table) = as_table(p, &path, item) {
                    let mut one = T::default();
                    let mut section = Section::new(table, path.clone());
                    section.keys(p, one.keys());
                    section.finish(p);
                    field.push(one);
                }
            }
        });
        let schema = json!({ "type": "array", "items": object(T::default().keys()) });
        Key::declared(name, schema, value.map(Toml::Array), read)
    }

    /// The steps of a workload, by known names.
    pub(crate) fn steps(field: &'a mut Vec<String>, known: StepNames) -> Self {
        let value = toml(field);
        let note = if field.len() == known.known.len() { "all of them" } else { "" };
        let read: Read<'a> = Box::new(move |p, value, _| *field = steps(p, value, known));
        Key::declared("steps", known.schema(), value, read).note(note)
    }

    /// Sets its comment in a written plan.
    pub(crate) fn note(self, note: &'static str) -> Self {
        Key { note, ..self }
    }

    /// Sets its meaning for the documentation, if that is not its note.
    pub(crate) fn means(self, meaning: &'static str) -> Self {
        Key { meaning, ..self }
    }

    /// Sets the effect of leaving it out, in words.
    pub(crate) fn usual(self, usual: &'static str) -> Self {
        Key { usual, ..self }
    }

    /// Sets the unit of its number.
    pub(crate) fn unit(self, unit: &'static str) -> Self {
        Key { unit, ..self }
    }

    /// Its name, with what the schema says of it.
    fn described(self) -> (String, Json) {
        let mut schema = self.schema;
        let mut text = if self.meaning.is_empty() { self.note } else { self.meaning }.to_owned();
        if !self.usual.is_empty() {
            let _ = write!(text, "\n\nDefault: {}", self.usual);
        } else if let Some(value) = self.present {
            schema["default"] = json!(value);
        }
        if !self.unit.is_empty() {
            schema["x-unit"] = json!(self.unit);
        }
        schema["description"] = json!(text);
        (self.name.to_owned(), schema)
    }

    /// Its name where it has another value than the same key elsewhere.
    pub(crate) fn differs(&self, other: &Key<'_>) -> Option<&'static str> {
        (self.value() != other.value()).then_some(self.name)
    }

    /// Written as this text.
    pub(crate) fn shown(self, text: Option<String>) -> Self {
        Key { present: text.map(Toml::String), ..self }
    }

    /// Leaves it out unless it is `written`.
    pub(crate) fn written(self, written: bool) -> Self {
        Key { written: self.written && written, ..self }
    }

    /// Not written where it has this value.
    pub(crate) fn unless(mut self, default: &impl Serialize) -> Self {
        self.written &= self.present != toml(default);
        self
    }
}

/// The table of what is written of these keys.
fn written(keys: Vec<Key<'_>>) -> Toml {
    let entry = |key: Key<'_>| Some((key.name.to_owned(), key.value()?.clone()));
    Toml::Table(keys.into_iter().filter_map(entry).collect())
}

/// The suffix of a step that only warms up.
pub(crate) const WARM_UP: &str = "warm";

/// True if a step only warms up.
pub(crate) fn warms_up(step: &str) -> bool {
    step.split_once('.').is_some_and(|(_, suffix)| suffix == WARM_UP)
}

/// The names that steps may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepNames {
    /// Those that there are.
    pub(crate) known: &'static [&'static str],
    /// Other names, each with its meaning.
    pub(crate) aliases: &'static [(&'static str, &'static str)],
    /// True if a step may run again under its name and a suffix: `scan.2`.
    pub(crate) suffixes: bool,
}

impl StepNames {
    /// The present name, if it is one.
    pub(crate) fn of(&self, name: &str) -> Option<String> {
        let meant = canonical(name, self.aliases);
        let (test, suffix) = match meant.split_once('.').filter(|_| self.suffixes) {
            Some((test, suffix)) => (canonical(test, self.aliases), Some(suffix)),
            None => (meant, None),
        };
        let plain = |suffix: &str| {
            !suffix.is_empty() && suffix.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        };
        let fits = self.known.contains(&test) && suffix.is_none_or(plain);
        fits.then(|| suffix.map_or_else(|| test.to_owned(), |suffix| format!("{test}.{suffix}")))
    }

    /// The test that a step runs: its name without the suffix.
    pub(crate) fn test<'n>(&self, step: &'n str) -> &'n str {
        canonical(step.split_once('.').map_or(step, |(test, _)| test), self.aliases)
    }

    /// The steps that a list may hold.
    pub(crate) fn schema(&self) -> Json {
        let aliases = self.aliases.iter().map(|(alias, _)| alias);
        let names: Vec<&str> = self.known.iter().chain(aliases).copied().collect();
        let again = json!({ "type": "string", "pattern": "\\.[A-Za-z0-9-]+$" });
        let all = json!({ "enum": names });
        let one = if self.suffixes { json!({ "anyOf": [all, again] }) } else { all };
        json!({ "type": "array", "items": one, "minItems": 1 })
    }

    /// The message that a name is not known.
    pub(crate) fn unknown(&self, name: &str) -> String {
        let all = self.known.iter().copied();
        let near = nearest(name, all.chain(self.aliases.iter().map(|(alias, _)| *alias)));
        let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        let (name, known) = (printable(name), self.known.join(", "));
        format!("unknown step `{name}`; {near}known steps: {known}")
    }
}

/// An option of the command line that stands for a key of a workload.
#[derive(Debug, Clone, Copy)]
pub struct CommandOption {
    /// The key that it stands for.
    pub key: &'static str,
    /// Its name, after `--`.
    pub name: &'static str,
    /// The name of its value; empty for a switch.
    pub value: &'static str,
    /// How the value is written in a plan.
    pub form: Form,
    /// Its effect.
    pub help: &'static str,
}

/// How the text of an option becomes a value.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// A count, such as `200k`.
    Count,
    /// Counts, separated by commas.
    Counts,
    /// A number, such as `0.1`.
    Number,
    /// A name.
    Name,
    /// Names, separated by commas.
    Names,
    /// A switch that stands for this value.
    Switch(&'static str),
}

impl CommandOption {
    /// The value, as TOML, that an option with this one stands for.
    pub(crate) fn toml(&self, text: &str) -> Result<String, String> {
        let counts = || text.split(',').map(|item| Ok(count(item)?.to_string()));
        let value = match self.form {
            Form::Count => count(text).map(|count| count.to_string()),
            Form::Counts => counts().collect::<Result<Vec<_>, String>>().map(list),
            Form::Number => number(text).map(|number| format!("{number:?}")),
            Form::Name => Ok(quoted(text)),
            Form::Names => Ok(list(text.split(',').map(quoted).collect())),
            Form::Switch(value) => Ok(value.to_owned()),
        };
        value.map_err(|message| format!("`--{}`: {message}", self.name))
    }
}

fn list(items: Vec<String>) -> String {
    format!("[{}]", items.join(", "))
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("expected a number such as 0.1, found `{text}`"))
}

/// A count, with `_` between digits or a k, m or g at the end.
fn count(text: &str) -> Result<u64, String> {
    let plain = text.trim().replace('_', "").to_ascii_lowercase();
    let (digits, factor) = match plain.as_bytes() {
        [.., b'k'] => (&plain[..plain.len() - 1], 1_000),
        [.., b'm'] => (&plain[..plain.len() - 1], 1_000_000),
        [.., b'g'] => (&plain[..plain.len() - 1], 1_000_000_000),
        _ => (plain.as_str(), 1),
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    number.filter(|number| *number > 0).ok_or_else(|| {
        format!("expected a count above 0 such as 200000, 200k or 20m, found `{text}`")
    })
}

/// The list of steps, with the places of its items; without what is not understood.
fn steps(p: &mut Problems, value: &Value<'_>, known: StepNames) -> Vec<String> {
    let DeValue::Array(array) = value.get_ref() else {
        p.mark_unread("workload");
        let found = describe(value.get_ref());
        p.at(value.span(), format!("`steps`: expected a list of steps, found {found}"));
        return Vec::new();
    };
    let mut steps: Vec<String> = Vec::new();
    for item in array {
        let name = match string(item.get_ref()) {
            Ok(name) => name,
            Err(message) => {
                p.mark_unread("workload");
                p.at(item.span(), format!("`steps`: {message}"));
                continue;
            }
        };
        p.place(format!("steps.{name}"), item.span());
        match known.of(&name) {
            None => {
                p.mark_unread("workload");
                p.at(item.span(), known.unknown(&name));
            }
            Some(name) if steps.contains(&name) => {
                let again = match known.suffixes {
                    true => format!("to run it again, name it `{name}.2`"),
                    false => "every step runs once".to_owned(),
                };
                p.at(item.span(), format!("step `{name}` appears twice in `steps`; {again}"));
            }
            Some(name) => steps.push(name),
        }
    }
    if array.is_empty() {
        p.at(value.span(), "`steps` is empty; leave it out to run all, or name steps");
    }
    steps
}

/// The current name of a step.
pub(crate) fn canonical<'n>(name: &'n str, aliases: &[(&str, &'static str)]) -> &'n str {
    let meant = aliases.iter().find(|(alias, _)| *alias == name);
    meant.map_or(name, |(_, canonical)| *canonical)
}

/// The schema of a table with these keys.
pub(crate) fn object(keys: Vec<Key<'_>>) -> Json {
    let properties: serde_json::Map<_, _> = keys.into_iter().map(Key::described).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

impl Section<'_, '_> {
    /// Takes these keys.
    pub(crate) fn keys(&mut self, p: &mut Problems, keys: Vec<Key<'_>>) {
        for mut key in keys {
            if let Some(value) = self.take(p, key.name) {
                (key.read)(p, value, &self.path);
            }
        }
    }
}

/// Writes the keys that have a value.
pub(crate) fn write_keys(out: &mut String, keyed: &mut dyn Keyed) {
    write_keys_but(out, keyed, &[]);
}

/// Writes the keys that have a value, without those of these names.
pub(crate) fn write_keys_but(out: &mut String, keyed: &mut dyn Keyed, left_out: &[&str]) {
    for key in keyed.keys().into_iter().filter(|key| !left_out.contains(&key.name)) {
        if let Some(value) = key.value() {
            line(out, key.name, &value.to_string(), key.note);
        }
    }
}

/// Writes one key.
pub(crate) fn line(out: &mut String, key: &str, value: &str, note: &str) {
    let assignment = format!("{key} = {value}");
    let _ = if note.is_empty() {
        writeln!(out, "{assignment}")
    } else {
        writeln!(out, "{assignment:<32} # {note}")
    };
}

/// The settings of a table.
fn settings(p: &mut Problems, table: &DeTable, path: &str) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for (key, value) in table {
        let name = key.get_ref();
        let fit = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        if name.is_empty() || !name.chars().all(fit) {
            let message = format!(
                "`{}` in [{path}] is not a valid name of a setting; expected letters, digits, `_`, `-` and `.`",
                printable(name)
            );
            p.at(key.span(), message);
            continue;
        }
        match setting(value.get_ref()) {
            Ok(text) => {
                settings.insert(name.to_string(), text);
            }
            Err(message) => p.at(value.span(), format!("`{name}` in [{path}]: {message}")),
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_have_a_unit() {
        assert_eq!(count("200_000"), Ok(200_000));
        assert_eq!(count("20m"), Ok(20_000_000));
        for bad in ["0", "many", "99999999999g", "", "k"] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }
}
