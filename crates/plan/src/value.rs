//! Values and keys as TOML.

use serde::Serialize;
use toml::Value as Toml;

/// A value as TOML; `None` where it is none.
pub(crate) fn toml(value: &impl Serialize) -> Option<Toml> {
    #[derive(Serialize)]
    struct Held<'v, T> {
        value: &'v T,
    }
    match toml::Table::try_from(Held { value }) {
        Ok(mut held) => held.remove("value"),
        // A value that does not fit in TOML is written as text that the reader rejects.
        Err(error) => Some(Toml::String(error.to_string())),
    }
}

/// A key as TOML: `work_mem` bare, `auto_explain.log_min_duration` in quotes, since a dot would
/// nest.
pub(crate) fn key_text(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { quoted(key) }
}

/// A text as TOML.
pub(crate) fn quoted(text: &str) -> String {
    Toml::String(text.to_owned()).to_string()
}
