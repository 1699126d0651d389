//! Who may ask, and for what.
//!
//! A request may have a token, as `Authorization: Bearer TOKEN` or, from a browser that asked for a
//! password, `Basic` with the token as the password. On loopback, reading needs none: then the
//! service must be asked under its own name, so that no page on the internet can read the results
//! through a reader's browser. Writing needs `Bearer`, which no browser sends by itself.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::respond::{told, told_with};
use crate::tokens::{Right, Token, Tokens};
use crate::wrong::Wrong;

/// The header by which proxies say who asked them.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Headers that a request has only from a proxy.
const OF_PROXIES: [HeaderName; 3] = [FORWARDED_FOR, header::FORWARDED, header::VIA];

/// Who may read, and who may push.
#[derive(Debug)]
pub struct Access {
    /// None for results that nobody can push to.
    tokens: Option<Tokens>,
    /// Readers may do without a token if they ask from this machine.
    open: bool,
    wrong: Mutex<Wrong>,
    /// How often a token was wrong.
    pub(crate) wrong_ever: AtomicU64,
}

/// How a token was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent<'a> {
    Bearer(&'a str),
    /// A user and, as the password, the token.
    Basic(&'a str),
}

impl Sent<'_> {
    /// True if a browser may have sent it by itself, on behalf of another page.
    fn is_by_browser(self) -> bool {
        matches!(self, Self::Basic(_))
    }
}

impl Access {
    /// Readers of this machine need no token if it is `open`; all others need one of these.
    pub fn new(tokens: Option<Tokens>, open: bool) -> Self {
        Self { tokens, open, wrong: Mutex::default(), wrong_ever: AtomicU64::new(0) }
    }

    /// Refuses who may not read.
    pub(crate) fn check_reader(
        &self,
        peer: SocketAddr,
        headers: &HeaderMap,
    ) -> Result<(), Box<Response>> {
        if self.token(peer, headers)?.is_some() {
            return Ok(());
        }
        let proxied = OF_PROXIES.iter().any(|name| headers.contains_key(name));
        let near = self.open && peer.ip().to_canonical().is_loopback() && !proxied;
        if near && is_own_host(headers) {
            return Ok(());
        }
        if near && self.tokens.is_none() {
            let text = "open this service as http://localhost or http://127.0.0.1";
            return Err(Box::new(told(StatusCode::MISDIRECTED_REQUEST, text)));
        }
        Err(Box::new(unauthorized(
            "this service needs a token: as a password (of any user), or as `Authorization: Bearer TOKEN`",
        )))
    }

    /// Refuses who may not do what takes this right, which is more than reading. Returns the name
    /// of who may.
    pub(crate) fn check_writer(
        &self,
        peer: SocketAddr,
        headers: &HeaderMap,
        right: Right,
    ) -> Result<String, Box<Response>> {
        let forbidden = |text| Err(Box::new(told(StatusCode::FORBIDDEN, text)));
        let Some(tokens) = &self.tokens else {
            return forbidden("this service shows results that it can't add to");
        };
        let found = self.token(peer, headers)?;
        if headers.get(header::AUTHORIZATION).and_then(sent).is_some_and(Sent::is_by_browser) {
            return forbidden("send the token as `Authorization: Bearer TOKEN`");
        }
        match found {
            Some(token) if token.may >= right => Ok(token.name),
            Some(_) if right == Right::Run => forbidden(
                "this token may not start or stop runs; `steelyard serve token add NAME --runs` makes one that may",
            ),
            Some(_) => forbidden(
                "this token is only for reading; `steelyard serve token add` makes another",
            ),
            None if tokens.list().is_ok_and(|all| all.is_empty()) => forbidden(
                "this service has no tokens; `steelyard serve token add NAME` on its machine makes one",
            ),
            None => {
                Err(Box::new(unauthorized("a token is missing: `Authorization: Bearer TOKEN`")))
            }
        }
    }

    /// The token of a request; `None` if it has none.
    fn token(&self, peer: SocketAddr, headers: &HeaderMap) -> Result<Option<Token>, Box<Response>> {
        let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
        let address = address(peer, headers);
        let wrong = || self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wait) = wrong().wait(address, Instant::now()) {
            let seconds = HeaderValue::from(wait.as_secs() + 1);
            let text = "too many wrong tokens from this address";
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Err(Box::new(told_with(status, text, header::RETRY_AFTER, seconds)));
        }
        let decoded;
        let text = match sent(value) {
            Some(Sent::Bearer(text)) => Some(text),
            Some(Sent::Basic(encoded)) => {
                decoded = STANDARD.decode(encoded).ok().and_then(|it| String::from_utf8(it).ok());
                decoded.as_deref().and_then(|it| it.split_once(':')).map(|(_, text)| text)
            }
            None => None,
        };
        let found = match (&self.tokens, text) {
            (Some(tokens), Some(text)) => tokens.find(text).map_err(|error| {
                eprintln!("{error}");
                let text = "the tokens cannot be read; the output of `steelyard serve` says why";
                Box::new(told(StatusCode::SERVICE_UNAVAILABLE, text))
            })?,
            _ => None,
        };
        if found.is_none() {
            wrong().count(address, Instant::now());
            self.wrong_ever.fetch_add(1, Ordering::Relaxed);
            return Err(Box::new(unauthorized("this service does not know this token")));
        }
        Ok(found)
    }
}

fn sent(value: &HeaderValue) -> Option<Sent<'_>> {
    let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
    match scheme {
        it if it.eq_ignore_ascii_case("bearer") => Some(Sent::Bearer(rest.trim())),
        it if it.eq_ignore_ascii_case("basic") => Some(Sent::Basic(rest.trim())),
        _ => None,
    }
}

fn unauthorized(text: &str) -> Response {
    let ask = HeaderValue::from_static("Basic realm=\"steelyard\", charset=\"UTF-8\"");
    told_with(StatusCode::UNAUTHORIZED, text, header::WWW_AUTHENTICATE, ask)
}

/// Where a request came from: what a proxy on this machine says last, otherwise the peer.
fn address(peer: SocketAddr, headers: &HeaderMap) -> IpAddr {
    let said = || {
        let line = headers.get_all(FORWARDED_FOR).iter().next_back()?.to_str().ok()?;
        line.rsplit(',').next()?.trim().parse().ok()
    };
    let peer = peer.ip().to_canonical();
    if peer.is_loopback() { said().unwrap_or(peer) } else { peer }
}

/// False if the browser was told that this machine is called otherwise: then a page from elsewhere
/// is asking.
fn is_own_host(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    let port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, after)) if port(after) => name,
        _ => host,
    };
    let loopback = name.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback());
    loopback || name.eq_ignore_ascii_case("localhost") || name == "[::1]"
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: &str = "127.0.0.1:5000";
    const FAR: &str = "192.0.2.7:5000";

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        HeaderMap::from_iter(pairs)
    }

    fn status<T>(checked: Result<T, Box<Response>>) -> u16 {
        checked.err().map_or(200, |refused| refused.status().as_u16())
    }

    #[test]
    fn only_own_names_are_answered() {
        for host in ["localhost", "LOCALHOST:7700", "127.0.0.1:7700", "127.1.2.3", "[::1]:7700"] {
            assert!(is_own_host(&headers(&[(header::HOST, host)])), "{host}");
        }
        for host in ["evil.example", "evil.example:7700", "localhost.evil.example", "10.0.0.1", ""]
        {
            assert!(!is_own_host(&headers(&[(header::HOST, host)])), "{host}");
        }
    }

    #[test]
    fn who_may_do_what() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(folder.path());
        let push = format!("Bearer {}", tokens.add("ci", Right::Push).unwrap());
        let read = tokens.add("eve", Right::Read).unwrap();
        let password = format!("Basic {}", STANDARD.encode(format!("eve:{read}")));
        let read = format!("bearer {read}");
        let local = (header::HOST, "localhost:7700");
        let proxied = (FORWARDED_FOR, "192.0.2.1");
        let evil = (header::HOST, "evil.example");
        fn by(text: &str) -> (HeaderName, &str) {
            (header::AUTHORIZATION, text)
        }
        let wrong = "Bearer steelyard_x";
        for (peer, open, sent, reads, pushes) in [
            (NEAR, true, vec![local.clone()], 200, 401),
            (NEAR, false, vec![local.clone()], 401, 401),
            (NEAR, true, vec![local.clone(), proxied.clone()], 401, 401),
            (NEAR, true, vec![evil.clone()], 401, 401),
            (NEAR, true, vec![evil, by(&push)], 200, 200),
            (NEAR, true, vec![local.clone(), by(&read)], 200, 403),
            (NEAR, true, vec![local.clone(), by(wrong)], 401, 401),
            (FAR, true, vec![local.clone()], 401, 401),
            (FAR, false, vec![by(&password)], 200, 403),
            (FAR, false, vec![by(&push)], 200, 200),
            (FAR, false, vec![by("Bearer")], 401, 401),
            (FAR, false, vec![by("Basic !!!")], 401, 401),
        ] {
            let access = Access::new(Some(tokens.clone()), open);
            let (peer, headers) = (peer.parse().unwrap(), headers(&sent));
            assert_eq!(status(access.check_reader(peer, &headers)), reads, "{peer} {sent:?}");
            assert_eq!(
                status(access.check_writer(peer, &headers, Right::Push)),
                pushes,
                "{peer} {sent:?}"
            );
        }
        let run = format!("Bearer {}", tokens.add("owner", Right::Run).unwrap());
        let access = Access::new(Some(tokens.clone()), true);
        for (sent, runs) in [(&read, 403), (&push, 403), (&run, 200)] {
            let headers = headers(&[by(sent)]);
            let checked = access.check_writer(FAR.parse().unwrap(), &headers, Right::Run);
            assert_eq!(status(checked), runs);
        }
        let closed = Access::new(None, true);
        let near = NEAR.parse().unwrap();
        assert_eq!(
            status(closed.check_writer(near, &headers(&[local, by(&push)]), Right::Push)),
            403
        );
    }

    #[test]
    fn wrong_tokens_are_few_per_address() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(folder.path());
        let right = format!("Bearer {}", tokens.add("ci", Right::Push).unwrap());
        let access = Access::new(Some(tokens), false);
        let ask = |peer: &str, token: &str, forwarded: &str| {
            let sent = [(header::AUTHORIZATION, token), (FORWARDED_FOR, forwarded)];
            status(access.check_writer(peer.parse().unwrap(), &headers(&sent), Right::Push))
        };
        for _ in 0..crate::wrong::MOST {
            assert_eq!(ask(NEAR, "Bearer steelyard_x", "192.0.2.9, 192.0.2.1"), 401);
        }
        assert_eq!(ask(NEAR, "Bearer steelyard_x", "192.0.2.8, 192.0.2.1"), 429);
        assert_eq!(ask(NEAR, &right, "192.0.2.1"), 429, "it is not even looked at");
        assert_eq!(ask(NEAR, &right, "192.0.2.2"), 200);
        // Others can't say that they are someone else.
        assert_eq!(ask("192.0.2.1:9", &right, "192.0.2.2"), 429);
    }
}
