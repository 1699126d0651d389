//! Short names of workloads and machines for addresses.

use std::fmt::Debug;

use crate::load::chosen::Shape;
use crate::load::machine::Machine;

/// A name for an address that no other thing with another content has: the words of `name`, and a
/// hash of the content.
fn key(name: &str, content: &impl Debug) -> String {
    let letters = name.to_ascii_lowercase();
    let words = letters.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<&str> = words.take(4).collect();
    let hash = format!("{:016x}", fnv(format!("{content:?}").as_bytes()));
    words.push(&hash);
    words.join("-")
}

/// FNV-1a, 64 bits (RFC 9923): the same in every build, unlike the hashes of the standard library.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

impl Shape {
    /// Its name in addresses, given the name of the workload.
    pub(crate) fn key(&self, name: &str) -> String {
        key(name, self)
    }
}

impl Machine {
    /// Its name in addresses.
    pub(crate) fn key(&self) -> String {
        key(self.model(), self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_safe_in_addresses_and_differ_with_the_content() {
        let one = key("Intel(R) Xeon(R) ../CPU <b>", &1);
        assert!(one.starts_with("intel-r-xeon-r-"), "{one}");
        assert!(one.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{one}");
        assert_ne!(one, key("Intel(R) Xeon(R) ../CPU <b>", &2));
        assert_eq!(key("", &1).len(), 16);
        // The values of the RFC.
        assert_eq!((fnv(b""), fnv(b"a")), (0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c));
    }
}
