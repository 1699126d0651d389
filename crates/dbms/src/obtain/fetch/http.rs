//! Gets a file by URL, into memory, by `https` only. Uses the environment's proxies (`HTTPS_PROXY`,
//! `NO_PROXY`) and the machine's certificates (`SSL_CERT_FILE`).

use std::thread::sleep;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

/// How long connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// How long to wait before the second and third attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// How large a file may be.
const LARGEST: u64 = 1 << 30;

/// Refuses plain HTTP, also where a redirect leads to it. Tests have servers without certificates.
const HTTPS_ONLY: bool = !cfg!(test);

/// The file at `url`, or `None` if there is none; one attempt takes at most `limit`. Temporary
/// failures are retried.
pub(super) fn get(url: &str, limit: Duration) -> Result<Option<Vec<u8>>, String> {
    let agent = agent(limit, HTTPS_ONLY);
    retried(url, || attempt(&agent, url))
}

/// The result of `attempt`, which asks for `url`. An error says whether a retry may help.
pub(crate) fn retried<T>(
    url: &str,
    attempt: impl Fn() -> Result<T, (String, bool)>,
) -> Result<T, String> {
    let mut pauses = PAUSES.iter();
    loop {
        let (problem, may_pass) = match attempt() {
            Ok(found) => return Ok(found),
            Err(problem) => problem,
        };
        match pauses.next() {
            Some(pause) if may_pass => sleep(*pause),
            _ => return Err(format!("{url}: {problem}")),
        }
    }
}

/// An agent whose requests take at most `limit` each. Unless `https_only`, it also speaks plain HTTP.
pub(crate) fn agent(limit: Duration, https_only: bool) -> Agent {
    let certificates = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    Agent::config_builder()
        .tls_config(certificates)
        .https_only(https_only)
        .timeout_connect(Some(CONNECT_LIMIT))
        .timeout_global(Some(limit))
        .user_agent(concat!("steelyard/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
        .build()
        .into()
}

fn attempt(agent: &Agent, url: &str) -> Result<Option<Vec<u8>>, (String, bool)> {
    let failed = |error: ureq::Error| match error {
        ureq::Error::RequireHttpsOnly(url) => {
            (format!("expected an address with https, found {url}; nothing was fetched"), false)
        }
        error => (error.to_string(), true),
    };
    let mut response = agent.get(url).call().map_err(failed)?;
    let status = response.status();
    match status.as_u16() {
        200 => {
            let body = response.body_mut().with_config().limit(LARGEST);
            body.read_to_vec().map(Some).map_err(failed)
        }
        404 => Ok(None),
        other => Err((format!("HTTP status {status}"), matches!(other, 408 | 429 | 500..))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_refused() {
        // Nothing listens there, so a request would fail otherwise.
        let (problem, may_pass) =
            attempt(&agent(CONNECT_LIMIT, true), "http://127.0.0.1:9/x").unwrap_err();
        assert!(problem.contains("expected an address with https, found http://"), "{problem}");
        assert!(!may_pass);
        assert!(attempt(&agent(CONNECT_LIMIT, true), "https://127.0.0.1:9/x").unwrap_err().1);
    }
}
