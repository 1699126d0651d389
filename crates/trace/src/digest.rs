//! A digest, and the row of a table that has it.

/// How NULL is written, besides as nothing: by `mysql` and other clients, and by `INTO OUTFILE`.
pub(crate) const NULLS: [&str; 3] = ["", "NULL", "\\N"];

/// The statements of one digest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Digest {
    /// The text, with marks in place of values: `$1` or `?`.
    pub text: String,
    /// One of the statements, with its values, if the server keeps one.
    pub sample: Option<String>,
    /// How many there were.
    pub calls: u64,
    /// How long they took together, in microseconds.
    pub took_us: u64,
    /// How many of them failed, as far as the server says.
    pub failed: u64,
    /// Counted again in the statement that called them.
    pub nested: bool,
    /// The reason why they can't be sent again, if the table does not have what they were.
    pub lacks: Option<&'static str>,
}

/// A row with the names of its columns, in small letters.
pub(crate) struct Row<'t> {
    pub(crate) names: &'t [String],
    pub(crate) values: &'t [String],
}

impl Row<'_> {
    /// The value of a column; `None` if it is NULL or there is none.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let at = self.names.iter().position(|known| known == name)?;
        self.values.get(at).map(String::as_str).filter(|value| !NULLS.contains(value))
    }

    /// A number of statements.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// A time.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
    }
}
