//! HTTP, as the rest of steelyard does it too: the same TLS, the same proxies and certificates, and
//! no second stack to compile.

use std::time::Duration;

use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::typestate::AgentScope;

/// How long connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// The settings of all that ask a service; a request may take so long.
pub(crate) fn settings(https_only: bool, limit: Duration) -> ConfigBuilder<AgentScope> {
    let certificates = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    Agent::config_builder()
        .tls_config(certificates)
        .https_only(https_only)
        .timeout_connect(Some(CONNECT_LIMIT))
        .timeout_global(Some(limit))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("steelyard/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
}
