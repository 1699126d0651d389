//! Wrong tokens, counted by address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Wrong tokens from one address in [`WINDOW`] after which no more are looked at.
pub(crate) const MOST: u32 = 10;
/// How long they count, from the first.
pub(crate) const WINDOW: Duration = Duration::from_secs(60);
/// Addresses that are remembered. If there are more, all count as one.
const ADDRESSES: usize = 10_000;

/// Where wrong tokens came from lately.
#[derive(Debug, Default)]
pub(crate) struct Wrong {
    counts: HashMap<IpAddr, (Instant, u32)>,
}

impl Wrong {
    /// How long an address has to wait before a token from it is looked at again.
    pub(crate) fn wait(&mut self, address: IpAddr, now: Instant) -> Option<Duration> {
        self.counts.retain(|_, (begin, _)| now.duration_since(*begin) < WINDOW);
        let known = self.counts.get(&self.key(address))?;
        (known.1 >= MOST).then(|| WINDOW.saturating_sub(now.duration_since(known.0)))
    }

    /// Counts a wrong token.
    pub(crate) fn count(&mut self, address: IpAddr, now: Instant) {
        let key = self.key(address);
        self.counts.entry(key).or_insert((now, 0)).1 += 1;
    }

    /// An IPv6 address counts as its network (/64): who has one address there has all of them.
    fn key(&self, address: IpAddr) -> IpAddr {
        let key = match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = u128::from(address) & !u128::from(u64::MAX);
                IpAddr::V6(network.into())
            }
            address => address,
        };
        let full = self.counts.len() >= ADDRESSES && !self.counts.contains_key(&key);
        if full { IpAddr::V6(0.into()) } else { key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_heard_again_after_a_while() {
        let (mut wrong, begin) = (Wrong::default(), Instant::now());
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());
        for _ in 0..MOST {
            assert_eq!(wrong.wait(one, begin), None);
            wrong.count(one, begin);
        }
        let half = begin + WINDOW / 2;
        assert_eq!(wrong.wait(one, half), Some(WINDOW / 2));
        assert_eq!(wrong.wait("::ffff:192.0.2.1".parse().unwrap(), half), Some(WINDOW / 2));
        assert_eq!(wrong.wait(other, half), None);
        assert_eq!(wrong.wait(one, begin + WINDOW), None);
        assert!(wrong.counts.is_empty());
    }

    #[test]
    fn many_addresses_take_no_more_memory() {
        let (mut wrong, now) = (Wrong::default(), Instant::now());
        for number in 0..2 * ADDRESSES as u128 {
            wrong.count(IpAddr::V6((number << 64).into()), now);
        }
        assert!(wrong.counts.len() <= ADDRESSES + 1);
        let new = IpAddr::V6((u128::MAX - 1).into());
        assert!(wrong.wait(new, now).is_some(), "they count as one");
        let same_network = [1_u128, 2].map(|number| IpAddr::V6((7 << 64 | number).into()));
        assert_eq!(wrong.key(same_network[0]), wrong.key(same_network[1]));
    }
}
