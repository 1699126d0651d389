//! Settings by the clock, for servers that are frozen while others have the load.
//!
//! The clock goes on while a server is frozen. A period of the same length in its own time is as
//! many times as long by the clock as servers share the load, and a rate as many times lower.

use std::collections::BTreeMap;

use plan::{Pairing, Plan};

use crate::subject::Subject;

/// The settings to add to `config` for a variant's server, one of so many that are up together:
/// those that nobody has set. Empty unless servers are frozen.
pub fn settings(
    plan: &Plan,
    servers: usize,
    subject: &Subject,
    config: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    if plan.pairing != Pairing::Frozen || servers < 2 {
        return BTreeMap::new();
    }
    let text = subject.variant.config_text.as_deref().unwrap_or_default();
    let same = |name: &str, timer: &str| dbms::same_setting(&subject.installation, name, timer);
    let is_set = |timer: &str| {
        config.keys().any(|name| same(name, timer))
            || text.lines().any(|line| same(reference::setting_of(line), timer))
    };
    let parts = u32::try_from(servers).unwrap_or(u32::MAX);
    let engine = subject.variant.engine.as_deref();
    let timers = dbms::timers(&subject.installation, engine).unwrap_or_default();
    let own = timers
        .iter()
        .filter(|timer| !is_set(timer.name) && !timer.unless.iter().any(|other| is_set(other)));
    own.map(|timer| (timer.name.to_owned(), timer.for_parts(parts))).collect()
}

/// What was set, for people; `None` if nothing was.
pub fn note(settings: &BTreeMap<String, String>) -> Option<String> {
    let all: Vec<String> =
        settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    (!all.is_empty()).then(|| {
        format!(
            "the clock goes on while a server is frozen, so these periods are multiplied and these \
             rates divided by the number of servers that share the load: {}",
            all.join(", ")
        )
    })
}
