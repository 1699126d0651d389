//! Tokens of machines and people, by name. Only their hashes are stored: a token is 256 random
//! bits, so no salt or slow hash would make finding it harder.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Error;

/// Name of the file in a results directory.
const FILE: &str = "tokens.json";
/// Version of its format.
const FORMAT: u32 = 1;
/// How tokens begin, so that programs that look for secrets in texts find them.
const PREFIX: &str = "steelyard_";
/// Random bytes of a token.
const BYTES: usize = 32;
/// How long a name may be.
const LONGEST: usize = 64;

/// The tokens of a service, in its results directory.
#[derive(Debug, Clone)]
pub struct Tokens {
    file: PathBuf,
}

/// A token as it is stored, without itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Who has it.
    pub name: String,
    /// What it is good for.
    pub may: Right,
    /// When it was made, milliseconds since 1970 (UTC).
    pub added_ms: i64,
    /// SHA-256 of the token, 64 hexadecimal digits.
    sha256: String,
}

/// What the owner of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Read pages and documents.
    Read,
    /// Read, push experiments, report runs, and add notes.
    Push,
    /// All of that, and start and stop runs on the machine of the service.
    Run,
}

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    format: u32,
    tokens: Vec<Token>,
}

impl Right {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Push => "push",
            Self::Run => "run",
        }
    }
}

impl Tokens {
    /// The tokens of the service of a results directory, which must exist to add one.
    pub fn of(results: &Path) -> Self {
        Self { file: results.join(FILE) }
    }

    /// All tokens, in the order in which they were added.
    ///
    /// # Errors
    /// If the file is there but cannot be read: then nobody has a right.
    pub fn list(&self) -> Result<Vec<Token>, Error> {
        let text = match fs::read(&self.file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(self.failed("read"))?,
        };
        let content: Content = serde_json::from_slice(&text).map_err(|error| {
            self.failed("read")(std::io::Error::new(ErrorKind::InvalidData, error))
        })?;
        match content.format {
            FORMAT => Ok(content.tokens),
            found => {
                let told = format!("expected format {FORMAT}, found {found}: update steelyard");
                Err(self.failed("read")(std::io::Error::other(told)))
            }
        }
    }

    /// Makes a token and returns its text, which is stored nowhere.
    ///
    /// # Errors
    /// If the name is taken or has other characters than letters, digits, `.`, `_` and `-`; or if
    /// the file cannot be written.
    pub fn add(&self, name: &str, may: Right) -> Result<String, Error> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.len() > LONGEST || !name.bytes().all(fits) {
            return Err(Error::TokenName(name.to_owned()));
        }
        let mut bytes = [0; BYTES];
        File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut bytes))
            .map_err(self.failed("make a token for"))?;
        let text = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
        let new =
            Token { name: name.to_owned(), may, added_ms: store::now_ms(), sha256: hash(&text) };
        self.change(|tokens| {
            if tokens.iter().any(|token| token.name == name) {
                return Err(Error::TokenTaken(name.to_owned()));
            }
            tokens.push(new);
            Ok(())
        })?;
        Ok(text)
    }

    /// Removes the token of this name. A service notices at its next request.
    ///
    /// # Errors
    /// If there is none, or the file cannot be written.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        self.change(|tokens| {
            let before = tokens.len();
            tokens.retain(|token| token.name != name);
            if tokens.len() < before { Ok(()) } else { Err(Error::NoSuchToken(name.to_owned())) }
        })
    }

    /// The token with this text.
    ///
    /// # Errors
    /// As [`Tokens::list`].
    pub(crate) fn find(&self, text: &str) -> Result<Option<Token>, Error> {
        let wanted = hash(text);
        Ok(self.list()?.into_iter().find(|token| token.sha256 == wanted))
    }

    /// Replaces the file, which only its owner can read, unless another process does.
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Token>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let directory = self.file.parent().unwrap_or(Path::new("."));
        let lock = File::open(directory).map_err(self.failed("write"))?;
        lock.lock().map_err(self.failed("write"))?;
        let mut tokens = self.list()?;
        change(&mut tokens)?;
        let text = serde_json::to_vec_pretty(&Content { format: FORMAT, tokens });
        let write = || {
            let mut new = tempfile::NamedTempFile::new_in(directory)?;
            new.write_all(&text?)?;
            new.as_file().sync_all()?;
            new.persist(&self.file).map_err(|error| error.error)?;
            lock.sync_all()
        };
        write().map_err(self.failed("write"))
    }

    fn failed(&self, action: &'static str) -> impl Fn(std::io::Error) -> Error {
        move |source| Error::Tokens { action, path: self.file.clone(), source }
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_hashes_are_stored() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(folder.path());
        assert_eq!(tokens.list().unwrap(), []);
        let [one, other] = ["ci-1", "eve"].map(|name| tokens.add(name, Right::Push).unwrap());
        assert_ne!(one, other);
        let file = folder.path().join(FILE);
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(&one[PREFIX.len()..]) && text.contains("\"ci-1\""), "{text}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(tokens.find(&one).unwrap().unwrap().name, "ci-1");
        assert_eq!(tokens.find(&one[1..]).unwrap(), None);
        assert_eq!(tokens.find("").unwrap(), None);
        tokens.remove("ci-1").unwrap();
        assert_eq!(tokens.find(&one).unwrap(), None);
        assert_eq!(tokens.list().unwrap().len(), 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn names_are_plain_and_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(folder.path());
        let long = "x".repeat(LONGEST + 1);
        for name in ["", "a b", "a/b", "<b>", "ü", &long] {
            let refused = tokens.add(name, Right::Read).unwrap_err();
            assert!(matches!(refused, Error::TokenName(_)) && refused.is_request(), "{name}");
        }
        tokens.add("a", Right::Read).unwrap();
        assert!(matches!(tokens.add("a", Right::Push), Err(Error::TokenTaken(_))));
        assert!(matches!(tokens.remove("b"), Err(Error::NoSuchToken(_))));
        fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(tokens.find("x").is_err() && tokens.add("c", Right::Read).is_err());
    }
}
