//! The token of this machine, from the environment.

use std::fmt;
use std::path::Path;

use crate::Error;

/// The variable with the token.
const VARIABLE: &str = "STEELYARD_TOKEN";
/// The variable that names a file with it.
const FILE: &str = "STEELYARD_TOKEN_FILE";

/// A token, which is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Takes the token from the environment; `None` if there is none.
    ///
    /// # Errors
    /// If the file that it names can't be read or has something else.
    pub fn from_environment() -> Result<Option<Self>, Error> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(text) = set(VARIABLE) {
            let text = text.into_string().unwrap_or_default();
            let place = Path::new(VARIABLE);
            return Self::new(&text).map(Some).ok_or_else(|| unfit(place, "something else"));
        }
        let Some(path) = set(FILE) else { return Ok(None) };
        let path = Path::new(&path);
        let text =
            std::fs::read_to_string(path).map_err(|error| unfit(path, &error.to_string()))?;
        Self::new(&text).map(Some).ok_or_else(|| unfit(path, "something else"))
    }

    /// A token from its text; `None` if a header can't have it.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// The header that carries it.
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

fn unfit(path: &Path, problem: &str) -> Error {
    Error::TokenFile { path: path.to_owned(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_shown() {
        let token = Token::new(" steelyard_s3cret\n").unwrap();
        assert_eq!(token.header(), "Bearer steelyard_s3cret");
        assert!(!format!("{token:?}").contains("s3cret"));
        assert!(Token::new("two words").is_none() && Token::new("\n").is_none());
    }
}
