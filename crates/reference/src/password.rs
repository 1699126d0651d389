//! A password, and how far a server may learn it.

use std::fmt;
use std::path::PathBuf;

/// A password. [`fmt::Debug`] hides it, and there is no [`fmt::Display`].
///
/// Some ways to log in only prove that one knows the password: SCRAM, MD5, MySQL's scrambles.
/// Others give it to the server. Whoever is between a client and a server on another machine could
/// ask for it in the server's name, so it is then [`Withheld`], unless the user allows more.
#[derive(Clone, PartialEq, Eq)]
pub struct Password {
    text: String,
    allowed: Disclosure,
}

/// How much of a password a user allows a server on another machine to learn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Disclosure {
    /// That the client knows the password.
    #[default]
    Proof,
    /// The password, in clear text.
    Cleartext,
    /// The password, encrypted with any public key the server sends.
    SentKey,
    /// The password, encrypted with the public key in this file.
    Key(PathBuf),
}

/// Why a password was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// The server asks for it in clear text.
    Cleartext,
    /// The server asks for it encrypted with a key that it would send.
    SentKey,
    /// A program is given the password, and its use of it is unknown.
    Program,
}

impl Password {
    /// Wraps a text. Servers on other machines get proofs only.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), allowed: Disclosure::Proof }
    }

    /// The same password, of which servers on other machines may learn so much.
    #[must_use]
    pub fn allowing(self, allowed: Disclosure) -> Self {
        Self { allowed, ..self }
    }

    /// The text itself, to derive a proof from, or for a program's environment.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// How much servers on other machines may learn.
    pub fn allowed(&self) -> &Disclosure {
        &self.allowed
    }

    /// The text, to be sent in clear to a server that is, or is not, on this machine.
    ///
    /// # Errors
    /// [`Withheld::Cleartext`].
    pub fn cleartext(&self, local: bool) -> Result<&str, Withheld> {
        let allowed = local || self.allowed == Disclosure::Cleartext;
        allowed.then_some(self.text.as_str()).ok_or(Withheld::Cleartext)
    }

    /// The text, for a program of others that connects to a server that is, or is not, on this
    /// machine.
    ///
    /// # Errors
    /// [`Withheld::Program`].
    pub fn for_program(&self, local: bool) -> Result<&str, Withheld> {
        let allowed = local || self.allowed != Disclosure::Proof;
        allowed.then_some(self.text.as_str()).ok_or(Withheld::Program)
    }

    /// The file with the key to encrypt the text with; `None` for a key that the server sends.
    ///
    /// # Errors
    /// [`Withheld::SentKey`].
    pub fn key(&self, local: bool) -> Result<Option<&PathBuf>, Withheld> {
        match &self.allowed {
            Disclosure::Key(file) => Ok(Some(file)),
            Disclosure::SentKey => Ok(None),
            _ if local => Ok(None),
            _ => Err(Withheld::SentKey),
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password(…)")
    }
}

impl fmt::Display for Withheld {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cleartext => {
                "the server asked for the password in clear text, which others on the network \
                 could read or ask for, so it was not sent; use scram-sha-256 in the server's \
                 pg_hba.conf, or a unix socket or a tunnel, or allow it with \
                 `allow_cleartext=true` in the URL"
            }
            Self::SentKey => {
                "the server asked for the password, encrypted with a key that others on the \
                 network could replace, so it was not sent; give the server's public key with \
                 `server-public-key-path=FILE` in the URL, or use a unix socket or a tunnel, or \
                 accept any key with `get-server-public-key=true`"
            }
            Self::Program => {
                "a program could send the password in clear text, or to whoever asks for it in \
                 the server's name, so no program is given it; use a server on this machine, a \
                 unix socket or a tunnel, or allow it in the URL with `allow_cleartext=true` \
                 (PostgreSQL) or `get-server-public-key=true` (MySQL, MariaDB)"
            }
        })
    }
}

impl std::error::Error for Withheld {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_get_only_what_is_allowed() {
        let of = |allowed| Password::new("s3cret").allowing(allowed);
        let key = PathBuf::from("/k.pem");
        for (allowed, cleartext, sent, given) in [
            (Disclosure::Proof, false, false, None),
            (Disclosure::Cleartext, true, false, None),
            (Disclosure::SentKey, false, true, None),
            (Disclosure::Key(key.clone()), false, true, Some(&key)),
        ] {
            let password = of(allowed.clone());
            assert_eq!(password.cleartext(false).is_ok(), cleartext, "{allowed:?}");
            assert_eq!(password.key(false).is_ok(), sent, "{allowed:?}");
            assert_eq!(password.for_program(false).is_ok(), cleartext || sent, "{allowed:?}");
            assert_eq!(password.cleartext(true), Ok("s3cret"), "{allowed:?}");
            assert_eq!(password.for_program(true), Ok("s3cret"), "{allowed:?}");
            assert_eq!(password.key(true), Ok(given), "{allowed:?}");
            assert!(!format!("{password:?}").contains("s3cret"));
        }
        assert_eq!(of(Disclosure::default()), Password::new("s3cret"));
    }
}
