//! The interface through which this machine reaches a server in its own network namespace.

use nix::net::if_::if_nametoindex;
use serde::{Deserialize, Serialize};

use super::ip;
use crate::Error;
use crate::data::hash;

/// A network interface that steelyard created, as the ledger records it. Name and hardware address
/// are derived from the id of the entry. Removing one end of the pair removes the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its name, at most 15 characters: `sy0123456789ab`.
    pub name: String,
    /// Its hardware address. An interface of this name with another address belongs to somebody
    /// else.
    pub address: String,
}

impl Link {
    /// That of the entry `id`, and a number that differs from entry to entry.
    pub(super) fn of(id: &str) -> (Self, u32) {
        let hash = hash::of(id.as_bytes());
        let (name, rest) = hash.split_at(12);
        let digits: Vec<&str> = (0..5).filter_map(|i| rest.get(2 * i..2 * i + 2)).collect();
        // The second bit of the first byte: administered locally (IEEE 802).
        let address = format!("02:{}", digits.join(":"));
        let seed = u32::from_str_radix(&name[..8], 16).unwrap_or_default();
        (Self { name: format!("sy{name}"), address }, seed)
    }

    /// Removes it, if it exists and is still the one that was recorded.
    ///
    /// # Errors
    /// [`Error::Program`] if it cannot be removed; [`Error::Transport`] without `ip`.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        let what = "removing a network interface";
        // The kernel may remove it at any time, if the server's namespace has just ended.
        let unless_gone = |done: Result<String, Error>| match done {
            Err(_) if !self.exists() => Ok(String::new()),
            other => other,
        };
        if !self.exists() {
            return Ok(());
        }
        let shown = unless_gone(ip::run(None, what, &[format!("-o link show dev {}", self.name)]))?;
        if !shown.contains(&format!(" link/ether {} ", self.address)) {
            return Ok(());
        }
        unless_gone(ip::run(None, what, &[format!("link delete dev {}", self.name)])).map(drop)
    }

    fn exists(&self) -> bool {
        if_nametoindex(self.name.as_str()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_differ() {
        let (one, seed) = Link::of("18a-4711-0");
        let (other, _) = Link::of("18a-4711-1");
        assert_eq!((one.name.len(), one.address.len()), (14, 17));
        assert!(one.address.starts_with("02:") && one.name != other.name);
        assert_ne!(one.address, other.address);
        assert_eq!((Link::of("18a-4711-0").0, Link::of("18a-4711-0").1), (one, seed));
    }

    #[test]
    fn an_interface_of_the_same_name_that_is_not_ours_stays() {
        let loopback = Link { name: "lo".to_owned(), address: "02:00:00:00:00:01".to_owned() };
        if ip::program().is_ok() {
            loopback.remove().unwrap();
        }
        assert!(loopback.exists());
        Link::of("there is no such entry").0.remove().unwrap();
    }
}
