//! Identifies the machine without revealing its names, because those that the kernel and the cloud
//! have for it are private.

use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::facts::Facts;
use crate::files::read_trimmed;

/// The id that stands for steelyard when systemd derives ids for applications. It never changes.
const APPLICATION: u128 = 0xee10_4908_c6b5_4a23_86d3_4036_3784_5a95;

/// Where the machine's id is (machine-id(5)); the second place is older.
const FILES: [&str; 2] = ["etc/machine-id", "var/lib/dbus/machine-id"];

pub(super) fn add(facts: &mut Facts, root: &Path) {
    let texts = FILES.iter().filter_map(|file| read_trimmed(root.join(file)));
    let id = texts.into_iter().find_map(|text| of_machine(&text));
    facts.add_or("system", "machine id", id, "/etc/machine-id has none, as in many containers");
}

/// A text that differs between machines and doesn't reveal their id: the output of `systemd-id128
/// machine-id --app-specific=ee104908c6b54a2386d3403637845a95`
/// (`sd_id128_get_machine_app_specific(3)`). `None` if a machine has no id yet.
fn of_machine(id: &str) -> Option<String> {
    let well = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = u128::from_str_radix(id, 16).ok().filter(|id| well && *id != 0)?;
    let mut code = Hmac::<Sha256>::new_from_slice(&id.to_be_bytes()).ok()?;
    code.update(&APPLICATION.to_be_bytes());
    let code = code.finalize().into_bytes();
    let first = code.iter().take(16).fold(0, |all: u128, byte| all << 8 | u128::from(*byte));
    // The bits that mark a random UUID (RFC 9562, 5.4).
    let marked = first & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    Some(format!("{marked:032x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_the_one_that_systemd_derives() {
        let id = "0123456789abcdef0123456789abcdef";
        // Computed with Python's hmac; systemd 252 agrees for the machines at hand.
        assert_eq!(of_machine(id).as_deref(), Some("f5c73de04fe3484ea534685fd19971d2"));
        assert_ne!(of_machine("0123456789abcdef0123456789abcdee"), of_machine(id));
        for none in ["", "uninitialized", "0123", "+123456789abcdef0123456789abcdef"] {
            assert_eq!(of_machine(none), None, "{none}");
        }
        assert_eq!(of_machine(&"0".repeat(32)), None);
    }

    #[test]
    fn the_id_itself_is_in_no_fact() {
        let root = tempfile::tempdir().unwrap();
        let fact = || {
            let mut facts = Facts::default();
            add(&mut facts, root.path());
            facts.list.remove(0).value
        };
        assert!(fact().starts_with("unknown: "));
        std::fs::create_dir(root.path().join("etc")).unwrap();
        let id = "0123456789abcdef0123456789abcdef";
        std::fs::write(root.path().join("etc/machine-id"), format!("{id}\n")).unwrap();
        assert_eq!(fact(), "f5c73de04fe3484ea534685fd19971d2");
        if let Some(own) = read_trimmed("/etc/machine-id").filter(|own| own.len() == 32) {
            for fact in super::super::host_facts(Path::new("/tmp")) {
                assert!(!fact.value.contains(&own), "{fact:?}");
            }
        }
    }
}
