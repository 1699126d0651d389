//! pgbench's built-in scripts, and how scripts are given weights.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A script that comes with pgbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BuiltIn {
    /// Its name after `-b`.
    pub name: &'static str,
    /// The name in pgbench's report.
    pub description: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The built-in scripts. Their tables are made by `pgbench -i`: 100,000 accounts, 10 tellers and
/// one branch for each unit of `:scale`.
pub const BUILT_IN: [BuiltIn; 3] = [
    BuiltIn {
        name: "tpcb-like",
        description: "<builtin: TPC-B (sort of)>",
        text: include_str!("builtin/tpcb-like.sql"),
    },
    BuiltIn {
        name: "simple-update",
        description: "<builtin: simple update>",
        text: include_str!("builtin/simple-update.sql"),
    },
    BuiltIn {
        name: "select-only",
        description: "<builtin: select only>",
        text: include_str!("builtin/select-only.sql"),
    },
];

/// The built-in script whose name begins with `prefix`, if only one does: `se` is `select-only`.
///
/// # Errors
/// If none or several do.
pub fn built_in(prefix: &str) -> Result<BuiltIn, ChoiceError> {
    let mut found = BUILT_IN.into_iter().filter(|script| script.name.starts_with(prefix));
    match (found.next(), found.next()) {
        (Some(script), None) => Ok(script),
        (None, _) => Err(ChoiceError::Unknown(prefix.to_owned())),
        (Some(_), Some(_)) => Err(ChoiceError::Ambiguous(prefix.to_owned())),
    }
}

/// A script's name or path with how often it is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weighted {
    /// The part before the last `@`.
    pub name: String,
    /// How often it is chosen in relation to the others; 0 is never. 1 if nothing is said.
    pub weight: u32,
}

impl std::str::FromStr for Weighted {
    type Err = ChoiceError;

    /// Reads `name` or `name@weight`.
    fn from_str(text: &str) -> Result<Weighted, ChoiceError> {
        let Some((name, weight)) = text.rsplit_once('@') else {
            return Ok(Weighted { name: text.to_owned(), weight: 1 });
        };
        match weight.trim_ascii_start().parse::<i32>().map(u32::try_from) {
            Ok(Ok(weight)) => Ok(Weighted { name: name.to_owned(), weight }),
            _ => Err(ChoiceError::Weight(weight.to_owned())),
        }
    }
}

/// A script that cannot be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChoiceError {
    /// No name begins so.
    #[error(
        "no built-in script begins with {0:?}; there are tpcb-like, simple-update, select-only"
    )]
    Unknown(String),
    /// Several names begin so.
    #[error(
        "several built-in scripts begin with {0:?}; write more of tpcb-like, simple-update or \
         select-only"
    )]
    Ambiguous(String),
    /// Not a weight.
    #[error("expected a whole number from 0 to 2147483647 after @, found {0:?}")]
    Weight(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Protocol, Symbols, check, parse};

    #[test]
    fn built_in_scripts_are_found_by_their_beginning() {
        for (prefix, name) in [
            ("tpcb-like", "tpcb-like"),
            ("tpcb", "tpcb-like"),
            ("t", "tpcb-like"),
            ("si", "simple-update"),
            ("se", "select-only"),
        ] {
            assert_eq!(built_in(prefix).unwrap().name, name);
        }
        for prefix in ["s", ""] {
            assert_eq!(built_in(prefix), Err(ChoiceError::Ambiguous(prefix.to_owned())));
        }
        for prefix in ["tpcb-like-", "x"] {
            assert_eq!(built_in(prefix), Err(ChoiceError::Unknown(prefix.to_owned())));
        }
    }

    #[test]
    fn built_in_scripts_can_run() {
        let mut symbols = Symbols::new();
        let scripts: Vec<_> = BUILT_IN
            .iter()
            .map(|script| parse(script.name, script.text, &mut symbols).unwrap())
            .collect();
        for protocol in [Protocol::Simple, Protocol::Extended] {
            check(&scripts, &symbols, protocol).unwrap();
        }
        let lengths: Vec<_> = scripts.iter().map(|script| script.commands.len()).collect();
        assert_eq!(lengths, [11, 9, 2]);
    }

    #[test]
    fn weights_are_behind_the_last_at() {
        let weighted = |text: &str| text.parse::<Weighted>().map(|one| (one.name, one.weight));
        assert_eq!(weighted("select-only@9"), Ok(("select-only".to_owned(), 9)));
        assert_eq!(weighted("a@b@0"), Ok(("a@b".to_owned(), 0)));
        assert_eq!(weighted("a.sql"), Ok(("a.sql".to_owned(), 1)));
        for weight in ["", "x", "-1", "2147483648", "1.5", "1 "] {
            let error = weighted(&format!("a@{weight}"));
            assert_eq!(error, Err(ChoiceError::Weight(weight.to_owned())));
        }
    }
}
