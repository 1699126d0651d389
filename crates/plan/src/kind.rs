//! The kinds of values that a key of a plan may hold: how they are read, and their schemas.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use serde_json::{Value as Json, json};
use toml::de::DeValue;

use crate::duration::parse_duration;
use crate::section::{self, describe, integer};
use crate::size::parse_size;

type Read<T> = Box<dyn Fn(&DeValue) -> Result<T, String>>;

/// The values of a key.
pub(crate) struct Kind<T> {
    /// Parses a value, or rejects it with a message.
    pub(crate) read: Read<T>,
    /// The schema of what it accepts.
    pub(crate) schema: Json,
}

impl<T: 'static> Kind<T> {
    /// Values that `read` parses, as the schema says.
    pub(crate) fn new(
        schema: Json,
        read: impl Fn(&DeValue) -> Result<T, String> + 'static,
    ) -> Self {
        Kind { read: Box::new(read), schema }
    }

    /// The same with another meaning, or a check of its own.
    pub(crate) fn and_then<U: 'static>(
        self,
        next: impl Fn(T) -> Result<U, String> + 'static,
    ) -> Kind<U> {
        Kind::new(self.schema, move |value| (self.read)(value).and_then(&next))
    }

    /// The same for a key that may be left out.
    pub(crate) fn optional(self) -> Kind<Option<T>> {
        self.and_then(|value| Ok(Some(value)))
    }

    /// The same with another schema.
    pub(crate) fn described(self, schema: Json) -> Self {
        Kind { schema, ..self }
    }
}

/// A string that is not empty.
pub(crate) fn string() -> Kind<String> {
    Kind::new(json!({ "type": "string", "minLength": 1 }), section::string)
}

/// A string that may be empty.
pub(crate) fn text() -> Kind<String> {
    Kind::new(json!({ "type": "string" }), section::text)
}

/// `true` or `false`.
pub(crate) fn boolean() -> Kind<bool> {
    Kind::new(json!({ "type": "boolean" }), section::boolean)
}

/// A whole number within bounds.
pub(crate) fn whole<T: TryFrom<u64> + 'static>(bounds: Range<u64>) -> Kind<T> {
    let schema = json!({ "type": "integer", "minimum": bounds.start, "maximum": bounds.end - 1 });
    Kind::new(schema, move |value| integer(value, bounds.clone()))
}

/// A number within bounds.
pub(crate) fn number(bounds: RangeInclusive<f64>, expected: &'static str) -> Kind<f64> {
    let schema = json!({ "type": "number", "minimum": bounds.start(), "maximum": bounds.end() });
    Kind::new(schema, move |value| section::number(value, bounds.clone(), expected))
}

/// A list of strings.
pub(crate) fn strings() -> Kind<Vec<String>> {
    Kind::new(json!({ "type": "array", "items": string().schema }), section::strings)
}

/// One of several words, each with a meaning.
pub(crate) fn choice<T: Copy>(all: &'static [(&'static str, T)]) -> Kind<T> {
    Kind::new(words(all), move |value| section::choice(value, all))
}

/// One value, or a list of such.
pub(crate) fn one_or_more<T: 'static>(one: Kind<T>) -> Kind<Vec<T>> {
    let Kind { read, schema } = one;
    Kind::new(listed(&schema), move |value| section::one_or_more(value, &read))
}

/// A size in bytes, above 0.
pub(crate) fn size() -> Kind<u64> {
    let schema = json!({ "type": ["string", "integer"], "minimum": 1, "examples": ["512MB"] });
    Kind::new(schema, |value| {
        let bytes = match value {
            DeValue::String(text) => parse_size(text).map_err(|e| e.to_string())?,
            other => integer(other, 1..(1 << 63)).map_err(|_| {
                format!("expected a size such as \"512MB\", found {}", describe(other))
            })?,
        };
        match i64::try_from(bytes) {
            Ok(1..) => Ok(bytes),
            _ => Err("a size must be above 0 and fit in 63 bits".to_owned()),
        }
    })
}

/// A time.
pub(crate) fn time() -> Kind<std::time::Duration> {
    let schema = json!({ "type": "string", "examples": ["2h", "1h30m"] });
    Kind::new(schema, |value| match value {
        DeValue::String(text) => parse_duration(text).map_err(|e| e.to_string()),
        other => Err(format!("expected a time such as \"1h30m\", found {}", describe(other))),
    })
}

/// Numbers of clients: one, or a list without repetition.
pub(crate) fn dops() -> Kind<Vec<u32>> {
    one_or_more(whole(1..10_001)).and_then(clients)
}

/// Numbers of clients, if there are any and none is there twice.
pub(crate) fn clients(list: Vec<u32>) -> Result<Vec<u32>, String> {
    once(list, "one number of clients", "to repeat trials, increase `blocks`")
}

/// A list with at least `one`, if nothing is there twice; otherwise there is a `remedy`.
pub(crate) fn once<T: PartialEq + ToString>(
    list: Vec<T>,
    one: &str,
    remedy: &str,
) -> Result<Vec<T>, String> {
    if list.is_empty() {
        return Err(format!("the list is empty; name at least {one}"));
    }
    match list.iter().enumerate().find(|(place, item)| list[..*place].contains(item)) {
        Some((_, twice)) => Err(format!("{} appears twice; {remedy}", twice.to_string())),
        None => Ok(list),
    }
}

/// A table with any keys, such as the example.
pub(crate) fn table<T: 'static>(one: Kind<T>, example: &'static str) -> Kind<BTreeMap<String, T>> {
    let Kind { read, schema } = one;
    Kind::new(map(&schema), move |value| {
        let DeValue::Table(table) = value else {
            return Err(format!("expected a table such as {example}, found {}", describe(value)));
        };
        let entries = table.iter();
        entries
            .map(|(key, value)| Ok((key.get_ref().to_string(), read(value.get_ref())?)))
            .collect()
    })
}

/// A setting of a server, or a variable.
pub(crate) fn setting() -> Kind<String> {
    Kind::new(json!({ "type": ["string", "number", "boolean"] }), section::setting)
}

/// The schema of words.
pub(crate) fn words<T>(all: &[(&str, T)]) -> Json {
    json!({ "enum": all.iter().map(|(word, _)| word).collect::<Vec<_>>() })
}

/// The schema of one value or a list of such.
pub(crate) fn listed(one: &Json) -> Json {
    json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
}

/// The schema of a table with any keys.
pub(crate) fn map(values: &Json) -> Json {
    json!({ "type": "object", "additionalProperties": values })
}
