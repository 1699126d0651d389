//! Reads variant, clients, block and step from the name of a file.

use regex::Regex;

use super::error::ImportError;

/// A pattern over names of files: `{variant}/{dop}/{block}.txt`, or a regular expression.
///
/// ```
/// let pattern = lab::Pattern::new("{variant}.t{dop}.{block}.*").unwrap();
/// let named = pattern.read("old/pg14.3.t8.2.out").unwrap();
/// assert_eq!(named.variant.as_deref(), Some("pg14.3"));
/// assert_eq!((named.dop, named.block), (Some(8), Some(2)));
/// assert!(pattern.read("old/pg14.3.out").is_err());
///
/// let pattern = lab::Pattern::new("{variant}/sb.*.{step}.range*.dop{dop}").unwrap();
/// let named = pattern.read("x.pg17/sb.o.point-query.pre.range100.pk1.dop40").unwrap();
/// assert_eq!(named.step.as_deref(), Some("point-query.pre"));
///
/// let pattern = lab::Pattern::new(r"regex:/(?P<variant>pg[\d.]+)/run(?P<block>\d+)").unwrap();
/// assert_eq!(pattern.read("a/pg13.7/run4/o.txt").unwrap().block, Some(4));
/// ```
#[derive(Debug, Clone)]
pub struct Pattern {
    given: String,
    expression: Regex,
}

/// The parts of a name; `None` for those its pattern doesn't have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// The variant.
    pub variant: Option<String>,
    /// The number of clients.
    pub dop: Option<u32>,
    /// The block, from 1.
    pub block: Option<u32>,
    /// The name of the step.
    pub step: Option<String>,
}

/// The parts of a pattern, with what each may stand for.
const PARTS: [(&str, &str); 4] =
    [("variant", "[^/]+?"), ("dop", "[0-9]+"), ("block", "[0-9]+"), ("step", "[^/]+?")];

impl Pattern {
    /// Reads a pattern: `regex:` with an expression that has groups named `variant`, `dop`, `block`
    /// or `step`, and matches anywhere in a path; or text with these words in braces and `*` for
    /// any part of a name, which matches the end of a path. From left to right, each takes as
    /// little as it can.
    ///
    /// # Errors
    /// When it has none of these, or is not a regular expression.
    pub fn new(given: &str) -> Result<Self, ImportError> {
        let bad = |why: String| ImportError::BadPattern { given: given.to_owned(), why };
        let text = match given.strip_prefix("regex:") {
            Some(expression) => expression.to_owned(),
            None => {
                let mut text = regex::escape(given).replace(r"\*", "[^/]*?");
                for (part, stands_for) in PARTS {
                    text = text
                        .replace(&format!(r"\{{{part}\}}"), &format!("(?P<{part}>{stands_for})"));
                }
                if text.contains(r"\{") {
                    let known = PARTS.map(|(part, _)| format!("{{{part}}}")).join(", ");
                    return Err(bad(format!("in braces, only {known} are known")));
                }
                format!("(?:^|/){text}$")
            }
        };
        let expression = Regex::new(&text).map_err(|error| bad(error.to_string()))?;
        let known = |name: &str| PARTS.iter().any(|(part, _)| *part == name);
        if !expression.capture_names().flatten().any(known) {
            let why = "it names none of {variant}, {dop}, {block}, {step}; a regular expression \
                       begins with regex: and names them as in (?P<variant>…)";
            return Err(bad(why.to_owned()));
        }
        Ok(Self { given: given.to_owned(), expression })
    }

    /// Reads the path of a file.
    ///
    /// # Errors
    /// When it doesn't match, or a number in it is too large or 0.
    pub fn read(&self, path: &str) -> Result<Named, ImportError> {
        let other = |why: String| ImportError::OtherName {
            file: path.to_owned(),
            pattern: self.given.clone(),
            why,
        };
        let found = self.expression.captures(path).ok_or_else(|| other(String::new()))?;
        let text = |name: &str| found.name(name).map(|part| part.as_str().to_owned());
        let number = |name: &str| {
            let count = |text: String| {
                let count = text.parse().ok().filter(|count: &u32| *count > 0);
                let why = format!(": expected a {name} from 1, found {text:?}");
                count.ok_or_else(|| other(why))
            };
            text(name).map(count).transpose()
        };
        Ok(Named {
            variant: text("variant").filter(|name| !name.is_empty()),
            dop: number("dop")?,
            block: number("block")?,
            step: text("step").filter(|name| !name.is_empty()),
        })
    }
}
