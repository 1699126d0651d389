//! Addresses that this machine does not use.

use std::net::Ipv4Addr;

/// Networks for measurements between devices, which nothing on the internet has (RFC 2544, C.2.2).
const RANGE: Net = Net { address: Ipv4Addr::new(198, 18, 0, 0), length: 15 };

/// Bits of the network of a pair: two addresses for hosts, one for the net, one for broadcast.
pub(super) const LENGTH: u8 = 30;

/// Routes with a shorter prefix than this lead to the rest of the world, like a VPN's 0.0.0.0/1.
const SHORTEST: u8 = 8;

/// A network, as routes name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Net {
    address: Ipv4Addr,
    length: u8,
}

impl Net {
    /// `192.0.2.0/24`, or one address; `None` for `default` and anything else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/').unwrap_or((text, "32"));
        let length: u8 = length.parse().ok().filter(|length| *length <= 32)?;
        Some(Self { address: address.parse().ok()?, length })
    }

    fn overlaps(self, other: Self) -> bool {
        let common = u32::from(self.length.min(other.length));
        let differing = self.address.to_bits() ^ other.address.to_bits();
        differing.leading_zeros() >= common
    }
}

/// The addresses of this machine and of a server in a network that none of `used` overlaps; `seed`
/// says where to begin. `None` if no network is free.
pub(super) fn free(used: &[Net], seed: u32) -> Option<[Ipv4Addr; 2]> {
    let count = 1_u32 << (LENGTH - RANGE.length);
    let nth = |n: u32| {
        let base = RANGE.address.to_bits() + ((seed.wrapping_add(n) % count) << (32 - LENGTH));
        Net { address: Ipv4Addr::from_bits(base), length: LENGTH }
    };
    let taken = |net: &Net| used.iter().any(|it| it.length >= SHORTEST && it.overlaps(*net));
    let found = (0..count).map(nth).find(|net| !taken(net))?.address.to_bits();
    Some([found + 1, found + 2].map(Ipv4Addr::from_bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nets(texts: &[&str]) -> Vec<Net> {
        texts.iter().filter_map(|text| Net::read(text)).collect()
    }

    #[test]
    fn routes_are_read() {
        let net = Net::read("192.0.2.0/24").unwrap();
        assert_eq!((net.address, net.length), (Ipv4Addr::new(192, 0, 2, 0), 24));
        assert_eq!(Net::read("192.0.2.7").unwrap().length, 32);
        for other in ["default", "", "fe80::/64", "192.0.2.0/33", "192.0.2/24", "/"] {
            assert_eq!(Net::read(other), None, "{other}");
        }
    }

    #[test]
    fn networks_in_use_are_passed_over() {
        let first = |used: &[&str], seed| free(&nets(used), seed).map(|found| found[0].to_string());
        assert_eq!(first(&[], 0).unwrap(), "198.18.0.1");
        assert_eq!(first(&["198.18.0.2"], 0).unwrap(), "198.18.0.5");
        assert_eq!(first(&["198.18.0.0/24", "10.0.0.0/8"], 3).unwrap(), "198.18.1.1");
        // The last one is followed by the first.
        assert_eq!(first(&["198.19.255.252/30"], 32_767).unwrap(), "198.18.0.1");
        assert_eq!(first(&["198.0.0.0/8"], 0), None);
        assert_eq!(first(&["198.18.0.0/16", "198.19.0.0/16"], 9), None);
        // All but this machine's own networks goes through a VPN.
        assert_eq!(first(&["0.0.0.0/1", "128.0.0.0/1", "0.0.0.0/0"], 0).unwrap(), "198.18.0.1");
    }

    proptest! {
        #[test]
        fn what_is_found_is_in_the_range_and_free(
            seed: u32,
            used in proptest::collection::vec((0_u32..1 << 17, 8_u8..=32), 0..40),
        ) {
            let base = RANGE.address.to_bits();
            let nets: Vec<Net> = used
                .iter()
                .map(|(at, length)| Net { address: Ipv4Addr::from_bits(base + at), length: *length })
                .filter(|net| net.length > 15)
                .collect();
            let Some(found) = free(&nets, seed) else { return Ok(()) };
            for address in found {
                let alone = Net { address, length: 32 };
                prop_assert!(RANGE.overlaps(alone));
                prop_assert!(!nets.iter().any(|net| net.overlaps(alone)));
            }
            prop_assert_eq!(found[0].to_bits() + 1, found[1].to_bits());
            prop_assert_eq!(found[0].to_bits() % 4, 1);
        }

        #[test]
        fn a_network_is_read_as_it_is_written(bits: u32, length in 0_u8..40, text in "\\PC*") {
            let address = Ipv4Addr::from_bits(bits);
            let found = Net::read(&format!("{address}/{length}"));
            prop_assert_eq!(found, (length <= 32).then_some(Net { address, length }));
            prop_assert_eq!(Net::read(&format!("{address}/x{text}")), None);
        }
    }
}
