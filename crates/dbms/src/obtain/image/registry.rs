//! Registries of the OCI distribution protocol, such as Docker Hub or ghcr.io.

use std::cell::RefCell;
use std::io::Read;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use docker_credential::DockerCredential;
use serde::Deserialize;
use ureq::http::Response;
use ureq::{Agent, Body};

use super::manifest::{self, Descriptor};
use super::parts::{LARGEST_DOCUMENT, Parts, matches};
use crate::obtain::fetch::http;

/// How long one request may take: layers have a few hundred megabytes.
const LIMIT: Duration = Duration::from_secs(1800);

/// Manifests that can be read: an index or an image, of OCI or Docker.
const ACCEPTED: &str = "application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json";

/// An image in a registry.
pub(super) struct Registry {
    agent: Agent,
    /// As in the configuration of docker.
    host: String,
    base: String,
    name: String,
    /// A tag or a digest.
    wanted: String,
    /// The header `Authorization`, once the registry has asked for it.
    authorization: RefCell<Option<String>>,
}

/// The answer of a token server.
#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl Registry {
    pub(super) fn new(host: Option<&str>, name: &str, wanted: &str) -> Self {
        let hub = host.is_none_or(|host| ["docker.io", "index.docker.io"].contains(&host));
        // Docker does the same: a registry on this machine needs no certificate.
        let local = host.is_some_and(is_local);
        let (host, base, name) = match host.filter(|_| !hub) {
            None => {
                let name =
                    if name.contains('/') { name.to_owned() } else { format!("library/{name}") };
                ("https://index.docker.io/v1/", "https://registry-1.docker.io".to_owned(), name)
            }
            Some(host) => {
                let scheme = if local { "http" } else { "https" };
                (host, format!("{scheme}://{host}"), name.to_owned())
            }
        };
        Self {
            agent: http::agent(LIMIT, !local),
            host: host.to_owned(),
            base,
            name,
            wanted: wanted.to_owned(),
            authorization: RefCell::default(),
        }
    }

    /// Gets what is at this path below the image's name.
    fn get(&self, path: &str) -> Result<Response<Body>, String> {
        let url = format!("{}/v2/{}/{path}", self.base, self.name);
        http::retried(&url, || {
            let response = self.ask(&url)?;
            if response.status().as_u16() != 401 {
                return self.accepted(response);
            }
            let challenge = response.headers().get("www-authenticate");
            let challenge = challenge.and_then(|it| it.to_str().ok()).unwrap_or_default();
            let authorization = self.authorize(challenge).map_err(|problem| (problem, false))?;
            self.authorization.replace(Some(authorization));
            self.accepted(self.ask(&url)?)
        })
    }

    fn ask(&self, url: &str) -> Result<Response<Body>, (String, bool)> {
        let mut request = self.agent.get(url).header("Accept", ACCEPTED);
        if let Some(authorization) = &*self.authorization.borrow() {
            request = request.header("Authorization", authorization);
        }
        request.call().map_err(|error| (error.to_string(), true))
    }

    fn accepted(&self, response: Response<Body>) -> Result<Response<Body>, (String, bool)> {
        let problem = match response.status().as_u16() {
            200 => return Ok(response),
            401 | 403 => format!(
                "the registry does not let it be read; if it exists, run `{}`",
                self.login()
            ),
            404 => "the registry does not have it".to_owned(),
            429 => format!(
                "the registry allows no more requests for now; run `{}` for a higher limit, or wait",
                self.login()
            ),
            other => return Err((format!("HTTP status {other}"), matches!(other, 408 | 500..))),
        };
        Err((problem, false))
    }

    /// The header for a registry that asks for it like this (RFC 9110, "WWW-Authenticate";
    /// distribution's "Token Authentication Specification").
    fn authorize(&self, challenge: &str) -> Result<String, String> {
        let basic = self.credentials()?;
        let (scheme, rest) = challenge.split_once(' ').unwrap_or((challenge, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return basic.ok_or_else(|| format!("it needs a password: run `{}`", self.login()));
        }
        let realm = parameter(rest, "realm").filter(|_| scheme.eq_ignore_ascii_case("bearer"));
        let realm = realm.ok_or_else(|| format!("the registry asks for {challenge:?}"))?;
        let mut request = self.agent.get(realm);
        for name in ["service", "scope"] {
            if let Some(value) = parameter(rest, name) {
                request = request.query(name, value);
            }
        }
        if let Some(basic) = basic {
            request = request.header("Authorization", basic);
        }
        let failed = |error: ureq::Error| format!("no token from {realm}: {error}");
        let mut response = request.call().map_err(failed)?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("no token from {realm}: HTTP status {status}"));
        }
        let bytes = response.body_mut().with_config().limit(LARGEST_DOCUMENT);
        let bytes = bytes.read_to_vec().map_err(failed)?;
        let token: Token = serde_json::from_slice(&bytes)
            .map_err(|error| format!("no token from {realm}: {error}"))?;
        let token = token.token.or(token.access_token).ok_or("the token server sent no token")?;
        Ok(format!("Bearer {token}"))
    }

    /// The header with the user's password for this registry, from the configuration of docker.
    fn credentials(&self) -> Result<Option<String>, String> {
        use docker_credential::CredentialRetrievalError as Problem;
        match docker_credential::get_credential(&self.host) {
            Ok(DockerCredential::UsernamePassword(user, password)) => {
                Ok(Some(format!("Basic {}", BASE64.encode(format!("{user}:{password}")))))
            }
            Ok(DockerCredential::IdentityToken(_)) => Err(format!(
                "expected a user and a password, found an identity token; run `{}` with these",
                self.login()
            )),
            Err(
                Problem::NoCredentialConfigured
                | Problem::ConfigNotFound
                | Problem::ConfigReadError,
            ) => Ok(None),
            Err(other) => Err(format!("the password for {}: {other}", self.host)),
        }
    }

    /// The command that makes docker remember a password for it.
    fn login(&self) -> String {
        format!("docker login {}", self.host).replace(" https://index.docker.io/v1/", "")
    }
}

impl Parts for Registry {
    fn document(&self) -> Result<(Vec<u8>, String), String> {
        let mut response = self.get(&format!("manifests/{}", self.wanted))?;
        let bytes = response.body_mut().with_config().limit(LARGEST_DOCUMENT).read_to_vec();
        let bytes = bytes.map_err(|error| error.to_string())?;
        let digest = manifest::digest_of(&bytes);
        if self.wanted.starts_with("sha256:") {
            matches(&self.wanted, &digest)?;
        }
        Ok((bytes, digest))
    }

    fn open(&self, part: &Descriptor) -> Result<Box<dyn Read + Send>, String> {
        part.hex()?;
        let kind = if part.is_manifest { "manifests" } else { "blobs" };
        let body = self.get(&format!("{kind}/{}", part.digest))?.into_body();
        Ok(Box::new(body.into_with_config().limit(u64::MAX).reader()))
    }
}

/// True for a registry on this machine.
fn is_local(host: &str) -> bool {
    let (name, _) = host.rsplit_once(':').unwrap_or((host, ""));
    [name, host].iter().any(|it| ["localhost", "127.0.0.1", "[::1]"].contains(it))
}

/// The value of a parameter of a challenge: `realm="https://…",service="…"`.
fn parameter<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let at = text.find(&format!("{name}=\""))? + name.len() + 2;
    text.get(at..)?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_dockers() {
        let base = |host, name| {
            let registry = Registry::new(host, name, "17");
            (registry.base, registry.name, registry.host)
        };
        let of = |base: &str, name: &str, host: &str| {
            (base.to_owned(), name.to_owned(), host.to_owned())
        };
        let hub = "https://registry-1.docker.io";
        let key = "https://index.docker.io/v1/";
        assert_eq!(base(None, "postgres"), of(hub, "library/postgres", key));
        assert_eq!(base(Some("docker.io"), "team/pg"), of(hub, "team/pg", key));
        assert_eq!(base(Some("ghcr.io"), "pg"), of("https://ghcr.io", "pg", "ghcr.io"));
        let local = "localhost:5000";
        assert_eq!(base(Some(local), "pg"), of("http://localhost:5000", "pg", local));
        assert!(is_local("[::1]:5000") && is_local("127.0.0.1") && !is_local("localhost.org"));
    }

    #[test]
    fn challenges_are_read() {
        let text = r#"realm="https://auth.example/token",service="registry",scope="a:b:pull""#;
        assert_eq!(parameter(text, "realm"), Some("https://auth.example/token"));
        assert_eq!(parameter(text, "scope"), Some("a:b:pull"));
        assert_eq!(parameter(text, "error"), None);
    }
}
