//! The parts of a running server's URL.

use percent_encoding::percent_decode_str;

/// The parts of a URL, as they are written.
pub(crate) struct Url<'a> {
    scheme: &'a str,
    pub(crate) user: Option<&'a str>,
    pub(crate) password: Option<&'a str>,
    /// Host and port.
    pub(crate) place: &'a str,
    pub(crate) database: &'a str,
    pub(crate) options: Vec<&'a str>,
    /// All that follows the user's part.
    rest: &'a str,
}

impl<'a> Url<'a> {
    /// Takes apart what follows the scheme. A careless password may have any character in it but
    /// these: of several `@`, parsers disagree about which one ends it, and some (libpq, the `url`
    /// crate) also end the user's part at a `/` or `?`.
    pub(crate) fn split(scheme: &'a str, text: &'a str) -> Result<Self, &'static str> {
        let (user, password, rest) = match (text.find(':'), text.find('@')) {
            (_, None) => (None, None, text),
            (Some(colon), Some(at)) if colon < at => {
                (Some(&text[..colon]), Some(&text[colon + 1..at]), &text[at + 1..])
            }
            (_, Some(at)) => (Some(&text[..at]), None, &text[at + 1..]),
        };
        let (target, options) = rest.split_once('?').unwrap_or((rest, ""));
        let before = &text[..text.len() - rest.len()];
        let careless = if password.is_some() { rest } else { target };
        if before.contains(['/', '?']) || careless.contains('@') {
            return Err("where its user and password end is unclear; in these, in the database \
                 and in options, write `@` as %40, `/` as %2F and `?` as %3F");
        }
        let (place, database) = target.split_once('/').unwrap_or((target, ""));
        let options = options.split('&').filter(|option| !option.is_empty()).collect();
        Ok(Self { scheme, user, password, place, database, options, rest })
    }

    /// Name and port of the host. An address of IPv6 is in brackets.
    pub(crate) fn host(&self) -> Result<(String, Option<u16>), &'static str> {
        let (name, port) = match self.place.strip_prefix('[') {
            Some(rest) => {
                let (name, port) = rest.split_once(']').ok_or("a bracket of its host is open")?;
                match port.strip_prefix(':') {
                    Some(port) => (name, Some(port)),
                    None if port.is_empty() => (name, None),
                    None => return Err("something follows the brackets of its host"),
                }
            }
            None => match self.place.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (self.place, None),
            },
        };
        let name = decoded(name)?;
        if name.contains(|c: char| c.is_whitespace() || c.is_control() || "'\"#@\\".contains(c)) {
            return Err("its host is not a name or an address");
        }
        if name.is_empty() && port.is_some() {
            return Err("it names a port and no host");
        }
        Ok((name, port.map(|port| number(&decoded(port)?)).transpose()?))
    }

    /// The URL without the password of the user's part, and with these options.
    pub(crate) fn hidden(&self, options: &[String]) -> String {
        let Self { scheme, rest, .. } = self;
        let user = self.user.map(|user| format!("{user}@")).unwrap_or_default();
        let target = rest.split('?').next().unwrap_or_default();
        let options =
            if options.is_empty() { String::new() } else { format!("?{}", options.join("&")) };
        format!("{scheme}://{user}{target}{options}")
    }
}

/// A port.
pub(crate) fn number(text: &str) -> Result<u16, &'static str> {
    text.parse().map_err(|_| "its port is not a number up to 65535")
}

/// A text whose special characters are percent-encoded.
pub(crate) fn decoded(text: &str) -> Result<String, &'static str> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(std::borrow::Cow::into_owned).map_err(|_| "it is not UTF-8")
}
