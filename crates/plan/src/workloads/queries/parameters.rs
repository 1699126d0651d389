//! The values of `{parameters}`, from CSV files.

use std::collections::BTreeMap;

use trace::Syntax;

/// More values than this for one query must be a mistake.
const MOST_ROWS: usize = 10_000;

/// Rows of values by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    names: Vec<String>,
    /// Each with as many values as there are names.
    rows: Vec<Vec<String>>,
    /// For each name, whether all of its values are numbers.
    numbers: Vec<bool>,
}

impl Parameters {
    /// Reads a file whose first line has the names.
    ///
    /// # Errors
    /// A sentence without the file's name.
    pub(super) fn read(text: &str) -> Result<Parameters, String> {
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(text.as_bytes());
        let names: Vec<String> = reader
            .headers()
            .map_err(|error| error.to_string())?
            .iter()
            .map(str::to_owned)
            .collect();
        for (place, name) in names.iter().enumerate() {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if !begins || !name.chars().all(fits) {
                return Err(format!(
                    "expected names of letters, digits and `_` in the first line, found {name:?}"
                ));
            }
            if names[..place].contains(name) {
                return Err(format!("two columns are called `{name}`"));
            }
        }
        let mut rows: Vec<Vec<String>> = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            if record.iter().any(|value| value.contains('\0')) {
                return Err("a value has a byte 0 in it".to_owned());
            }
            rows.push(record.iter().map(str::to_owned).collect());
        }
        if rows.is_empty() {
            return Err("expected rows of values after the line of names, found none".to_owned());
        }
        if rows.len() > MOST_ROWS {
            let found = rows.len();
            return Err(format!("expected at most {MOST_ROWS} rows of values, found {found}"));
        }
        let all_numbers = |column: usize| rows.iter().all(|row| is_number(&row[column]));
        let numbers = (0..names.len()).map(all_numbers).collect();
        Ok(Parameters { names, rows, numbers })
    }

    /// The names.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// For each row the values by name, as they stand in SQL: numbers as they are, text as
    /// literals.
    pub(super) fn literals(&self, syntax: Syntax) -> impl Iterator<Item = BTreeMap<&str, String>> {
        self.rows.iter().map(move |row| {
            let values = self.names.iter().zip(row).zip(&self.numbers);
            let literals = values.map(|((name, value), number)| {
                let text = if *number { number_in(value) } else { literal(value, syntax) };
                (name.as_str(), text)
            });
            literals.collect()
        })
    }
}

/// True for `17`, `-1.5` and `6e23`; not for `007`, which may be a text of digits.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let leading = whole.len() > 1 && whole.starts_with('0');
    digits(whole) && digits(fraction) && digits(exponent) && !leading
}

/// A number in any expression: after a minus sign, another one would begin a comment.
fn number_in(text: &str) -> String {
    if text.starts_with('-') { format!("({text})") } else { text.to_owned() }
}

/// A text as a literal.
fn literal(text: &str, syntax: Syntax) -> String {
    let doubled = text.replace('\'', "''");
    let escaped = doubled.replace('\\', "\\\\");
    match syntax {
        Syntax::Backslashes => format!("'{escaped}'"),
        // Whatever standard_conforming_strings says.
        Syntax::Dollars if escaped != doubled => format!("E'{escaped}'"),
        Syntax::Dollars => format!("'{doubled}'"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::statements::{Piece, statements};
    use super::*;

    #[test]
    fn numbers_stay_and_text_is_quoted() {
        let text = "id, name ,zip\n17,\"it's; a\"\"b\",01234\n-3,back\\slash,99999\n";
        let parameters = Parameters::read(text).unwrap();
        assert_eq!(parameters.names(), ["id", "name", "zip"]);
        let rows: Vec<_> = parameters.literals(Syntax::Dollars).collect();
        assert_eq!(rows[0]["id"], "17");
        assert_eq!(rows[0]["name"], "'it''s; a\"b'");
        assert_eq!(rows[1]["id"], "(-3)");
        assert_eq!(rows[1]["name"], "E'back\\\\slash'");
        assert_eq!(rows[1]["zip"], "'99999'", "one value of its column is no number");
        let rows: Vec<_> = parameters.literals(Syntax::Backslashes).collect();
        assert_eq!(rows[1]["name"], "'back\\\\slash'");
    }

    #[test]
    fn what_is_a_number() {
        for number in ["0", "17", "-1.5", "6.02e+23", "1E5", "0.5"] {
            assert!(is_number(number), "{number}");
        }
        for other in ["", "-", "007", "1.", ".5", "1e", "0x10", "1 ", "NaN", "1;2", "--1"] {
            assert!(!is_number(other), "{other}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (text, message) in [
            ("a,b\n1\n", "found record with 1 field"),
            ("a,a\n1,2\n", "two columns are called `a`"),
            ("a b\n1\n", "expected names of letters"),
            ("a\n", "found none"),
            ("", "found none"),
        ] {
            let error = Parameters::read(text).unwrap_err();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_literal_is_one_token_whatever_it_holds(
            value in any::<String>().prop_filter("no byte 0", |it| !it.contains('\0')),
            dollars: bool,
        ) {
            let syntax = if dollars { Syntax::Dollars } else { Syntax::Backslashes };
            let text = format!("SELECT {} ; SELECT 2", literal(&value, syntax));
            let found = statements(&text, syntax).unwrap();
            prop_assert_eq!(found.len(), 2, "{}", text);
            let parameters = found[0].pieces.iter().any(|it| matches!(it, Piece::Parameter(_)));
            prop_assert!(!parameters && found[0].words == ["select"], "{}", text);
        }

        #[test]
        fn any_file_is_read_or_refused(text: String) {
            if let Ok(parameters) = Parameters::read(&text) {
                let names = parameters.names().len();
                prop_assert!(parameters.literals(Syntax::Dollars).all(|row| row.len() == names));
            }
        }
    }
}
