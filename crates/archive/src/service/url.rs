//! Where a service is.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ureq::http::Uri;

use crate::Error;

/// The address of a service, such as `https://bench.example.com`, without any token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceUrl {
    /// Without a slash at its end.
    text: String,
    /// The service is on this machine.
    near: bool,
}

impl ServiceUrl {
    /// True if a text is meant as the address of a service.
    pub fn is_meant(text: &str) -> bool {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        scheme.is_some_and(|scheme| matches!(&*scheme, "http" | "https"))
    }

    /// True if it is on this machine, where no TLS is needed.
    pub(super) fn is_near(&self) -> bool {
        self.near
    }

    /// The address of something that the service has.
    pub(super) fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.text)
    }
}

impl FromStr for ServiceUrl {
    type Err = Error;

    /// Reads `https://HOST[:PORT][/PREFIX]`, or `http://` for a service of this machine.
    fn from_str(text: &str) -> Result<Self, Error> {
        // A text that may contain a password is not repeated.
        let scheme = text.split_once("://").map_or("…", |(scheme, _)| scheme);
        let refuse = |problem: &str| {
            Err(Error::Address { address: format!("{scheme}://…"), problem: problem.to_owned() })
        };
        const EXPECTED: &str = "expected https://HOST[:PORT][/PREFIX]";
        if text.contains('@') {
            return refuse("it has a user or password; the token comes from STEELYARD_TOKEN");
        }
        if text.contains(['?', '#']) {
            return refuse("it has `?` or `#`; expected https://HOST[:PORT][/PREFIX]");
        }
        let Ok(uri) = text.trim_end_matches('/').parse::<Uri>() else { return refuse(EXPECTED) };
        let (Some(host), Some(scheme)) = (uri.host(), uri.scheme_str()) else {
            return refuse(EXPECTED);
        };
        let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let near = ip.map_or(host.eq_ignore_ascii_case("localhost"), |ip| ip.is_loopback());
        match scheme {
            "https" => {}
            "http" if near => {}
            "http" => {
                return refuse(
                    "http:// would send the token and the results for all to read; use https://, or http:// on this \
                     machine alone",
                );
            }
            _ => return refuse(EXPECTED),
        }
        let text = uri.to_string().trim_end_matches('/').to_owned();
        Ok(Self { text, near })
    }
}

impl fmt::Display for ServiceUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, shown, near) in [
            ("https://bench.example.com", "https://bench.example.com", false),
            ("HTTPS://bench.example.com:7700/a/b/", "https://bench.example.com:7700/a/b", false),
            ("http://localhost:7700/", "http://localhost:7700", true),
            ("http://127.0.0.1:7700", "http://127.0.0.1:7700", true),
            ("http://[::1]:7700", "http://[::1]:7700", true),
        ] {
            let url: ServiceUrl = text.parse().unwrap();
            assert_eq!((url.to_string().as_str(), url.near), (shown, near));
            assert!(ServiceUrl::is_meant(text));
            assert_eq!(url.join("api/v1/x"), format!("{shown}/api/v1/x"));
        }
        assert!(!ServiceUrl::is_meant("s3://bucket") && !ServiceUrl::is_meant("http"));
    }

    #[test]
    fn errors_say_what_is_wrong_and_no_secret() {
        for (text, said) in [
            ("https://me:s3cret@host/x", "STEELYARD_TOKEN"),
            ("https://host/x?token=s3cret", "`?`"),
            ("http://bench.example.com/s3cret", "use https://"),
            ("http://localhost.evil.example/s3cret", "use https://"),
            ("https:///s3cret", "expected https://"),
            ("https://ho st/s3cret", "expected https://"),
        ] {
            let error = text.parse::<ServiceUrl>().unwrap_err();
            let told = error.to_string();
            assert!(told.contains(said) && !told.contains("s3cret"), "{told}");
            assert!(error.is_request());
        }
    }
}
