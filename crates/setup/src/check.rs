//! Checks values. They end up in scripts that root runs, so each may only have the characters of
//! its kind of name. [`quote`] quotes it nevertheless.

use crate::request::{Cloud, IMAGE_USER, Request};

/// Why a description can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A value that is not valid for its kind.
    #[error("{option}: expected {expected}; found {found:?}")]
    Value {
        /// The option.
        option: &'static str,
        /// The accepted values.
        expected: &'static str,
        /// The given value.
        found: String,
    },
    /// An option without which nothing can be written.
    #[error("{option} is missing: {why}")]
    Missing {
        /// The option.
        option: &'static str,
        /// The reason it is needed, with an example.
        why: &'static str,
    },
    /// An option that has no meaning there.
    #[error("{option} {why}")]
    Pointless {
        /// The option.
        option: &'static str,
        /// Why not.
        why: &'static str,
    },
}

/// Sizes of disks in GB that both clouds have.
const SIZES: std::ops::RangeInclusive<u32> = 10..=65_536;
/// Doctor expects at least the first. The last is systemd's default maximum; more could lock
/// everybody out.
const NOFILE: std::ops::RangeInclusive<u32> = 65_536..=524_288;

type Rule = fn(&str) -> bool;

fn lower(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

/// Names of instances are also those of hosts (RFC 1035). Room is left for `-db` of the disk, and
/// for `steelyard-` of the role, which has 64 characters at most.
fn name(text: &str) -> bool {
    text.len() <= 50
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !text.ends_with('-')
        && text.chars().all(|c| lower(c) || c == '-')
}

/// Machine types, zones, types of disks: `c7i.8xlarge`, `us-west1-b`, `pd-ssd`.
fn word(text: &str) -> bool {
    text.len() <= 63
        && text.starts_with(lower)
        && text.chars().all(|c| lower(c) || c == '-' || c == '.')
}

/// Names that users of AWS choose: key pairs and instance profiles.
fn label(text: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+=@".contains(c))
}

fn bucket(text: &str) -> bool {
    (3..=63).contains(&text.len())
        && text.starts_with(lower)
        && text.ends_with(lower)
        && text.chars().all(|c| lower(c) || "-_.".contains(c))
}

/// As `useradd` of Debian allows them, and names of OS Login.
fn user(text: &str) -> bool {
    text.len() <= 32
        && text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && text.chars().all(|c| lower(c) || "-_.".contains(c))
}

fn package(text: &str) -> bool {
    text.len() >= 2
        && text.starts_with(lower)
        && text.chars().all(|c| lower(c) || "+-.".contains(c))
}

/// True for a separate directory that isn't part of the system.
fn data_dir(text: &str) -> bool {
    const SYSTEM: [&str; 14] = [
        "bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "tmp",
        "usr", "var",
    ];
    let Some(rest) = text.strip_prefix('/') else { return false };
    let parts: Vec<&str> = rest.split('/').collect();
    let plain = |part: &&str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    parts.iter().all(plain)
        && match *parts.as_slice() {
            // Where people do keep data, but never as a whole.
            ["var" | "usr" | "root" | "home" | "opt" | "srv" | "mnt" | "media", _, ..] => true,
            ["home" | "opt"] => false,
            [first, ..] => !SYSTEM.contains(&first),
            [] => false,
        }
}

fn device(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("/dev/") else { return matches!(text, "none" | "auto") };
    !rest.is_empty()
        && !rest.split('/').any(|part| part.is_empty() || part.starts_with('.'))
        && rest.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+:/*?".contains(c))
}

fn value(
    option: &'static str,
    text: &str,
    rule: Rule,
    expected: &'static str,
) -> Result<(), Error> {
    if rule(text) {
        return Ok(());
    }
    Err(Error::Value { option, expected, found: text.to_owned() })
}

fn within(
    option: &'static str,
    number: u32,
    range: &std::ops::RangeInclusive<u32>,
    expected: &'static str,
) -> Result<(), Error> {
    if range.contains(&number) {
        return Ok(());
    }
    Err(Error::Value { option, expected, found: number.to_string() })
}

/// Checks everything and fills in the values that depend on the cloud.
pub(crate) fn check(mut request: Request) -> Result<Request, Error> {
    words(&request)?;
    within("--nofile", request.nofile, &NOFILE, "a number from 65536 to 524288")?;
    match request.cloud {
        Cloud::None => without_cloud(&request)?,
        Cloud::Gcp | Cloud::Aws => in_cloud(&mut request)?,
    }
    let device = request.device.get_or_insert_with(|| "none".to_owned());
    if device == "none" && request.disk.as_deref().is_some_and(|disk| disk != "none") {
        let why = "none leaves the new data disk unused; say --disk none, too";
        return Err(Error::Pointless { option: "--device", why });
    }
    Ok(request)
}

fn words(request: &Request) -> Result<(), Error> {
    const NAME: &str = "up to 50 of a-z, 0-9 and -, beginning with a letter";
    const WORD: &str = "a name of a-z, 0-9, - and .";
    const LABEL: &str = "a name of letters, digits and -_.+=@";
    value("--name", &request.name, name, NAME)?;
    value("--dir", &request.data_dir, data_dir, "a directory such as /data, none of the system's")?;
    let options: [(&'static str, &Option<String>, Rule, &'static str); 7] = [
        ("--machine", &request.machine, word, WORD),
        ("--zone", &request.zone, word, WORD),
        ("--disk", &request.disk, word, WORD),
        ("--key", &request.key, label, LABEL),
        ("--instance-profile", &request.instance_profile, label, LABEL),
        ("--user", &request.user, user, "the name of a user: a-z, 0-9 and -_."),
        (
            "--device",
            &request.device,
            device,
            "none, auto, or a path or pattern such as /dev/disk/by-id/google-*-db",
        ),
    ];
    for (option, text, rule, expected) in options {
        if let Some(text) = text {
            value(option, text, rule, expected)?;
        }
    }
    for text in &request.packages {
        value("--package", text, package, "the name of a Debian or Ubuntu package")?;
    }
    if let (Some(text), Some(found)) = (&request.bucket, request.bucket_name()) {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let fits = match request.cloud {
            Cloud::None => true,
            Cloud::Gcp => matches!(scheme, None | Some("gs")),
            Cloud::Aws => matches!(scheme, None | Some("s3")),
        };
        if !(fits && bucket(found)) {
            let expected = "a bucket of that cloud: its name, gs://NAME or s3://NAME";
            return Err(Error::Value { option: "--bucket", expected, found: text.clone() });
        }
    }
    Ok(())
}

/// A server that exists: nothing is created.
fn without_cloud(request: &Request) -> Result<(), Error> {
    let given = [
        ("--machine", request.machine.is_some()),
        ("--zone", request.zone.is_some()),
        ("--disk", request.disk.is_some()),
        ("--disk-size", request.disk_size.is_some()),
        ("--disk-iops", request.disk_iops.is_some()),
        ("--disk-throughput", request.disk_throughput.is_some()),
        ("--key", request.key.is_some()),
        ("--bucket", request.bucket.is_some()),
        ("--instance-profile", request.instance_profile.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Error::Pointless { option, why: "is about a new instance: add --cloud gcp or aws" })
        }
        None => Ok(()),
    }
}

/// A new instance.
fn in_cloud(request: &mut Request) -> Result<(), Error> {
    let gcp = request.cloud == Cloud::Gcp;
    let missing = |option, why| Err(Error::Missing { option, why });
    if request.machine.is_none() {
        return missing(
            "--machine",
            "the type of the instance, which you pay for, such as c2-standard-8 (gcp) or \
             c7i.4xlarge (aws)",
        );
    }
    if request.zone.is_none() {
        return missing(
            "--zone",
            "where the instance is, such as us-west1-b (gcp), us-west-2b (aws)",
        );
    }
    request.user.get_or_insert_with(|| IMAGE_USER.to_owned());
    if gcp && request.key.is_some() {
        let why = "is for aws; gcloud makes keys itself";
        return Err(Error::Pointless { option: "--key", why });
    }
    if gcp && request.instance_profile.is_some() {
        return Err(Error::Pointless { option: "--instance-profile", why: "is for aws" });
    }
    if request.is_metal() {
        request.no_smt = true; // The cloud can't.
    } else if request.no_smt {
        let why = "is for servers that exist; a new instance gets one vCPU per core anyway";
        return Err(Error::Pointless { option: "--no-smt", why });
    }
    let kind = request.disk.get_or_insert_with(|| if gcp { "pd-ssd" } else { "gp3" }.to_owned());
    if kind == "none" {
        let sizes = [request.disk_size, request.disk_iops, request.disk_throughput];
        if sizes.iter().any(Option::is_some) {
            let why = "none has no size and no speed; leave those options out";
            return Err(Error::Pointless { option: "--disk", why });
        }
        return Ok(());
    }
    let size = *request.disk_size.get_or_insert(1_000);
    within("--disk-size", size, &SIZES, "10GB to 65536GB")?;
    if request.device.is_none() {
        request.device = Some(if gcp {
            format!("/dev/disk/by-id/google-{}-db", request.name)
        } else {
            "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol*".to_owned()
        });
    }
    Ok(())
}

/// A word for a shell, quoted if it needs to be.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+=@/:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { quote(text) }
}

/// A word for a shell in quotes, whatever is in it (POSIX shell, 2.2.2).
pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn directories_of_the_system_are_refused() {
        for good in
            ["/data", "/data/m/rx", "/mnt/db", "/home/mark/data", "/var/lib/bench", "/srv/x"]
        {
            assert!(data_dir(good), "{good}");
        }
        for bad in [
            "/",
            "",
            "data",
            "/etc",
            "/etc/x",
            "/usr",
            "/home",
            "/var",
            "/dev/shm",
            "/data/",
            "/a//b",
            "/data/../etc",
            "/da ta",
            "/data\n",
            "/data;ls",
            "/tmp/x",
            "/$HOME",
        ] {
            assert!(!data_dir(bad), "{bad}");
        }
    }

    #[test]
    fn devices_are_named_below_dev() {
        for good in ["none", "auto", "/dev/sdb", "/dev/disk/by-id/google-*-db"] {
            assert!(device(good), "{good}");
        }
        for bad in ["sdb", "/dev/", "/dev/../etc/passwd", "/dev/disk//x", "/dev/$(ls)", "/dev/a b"]
        {
            assert!(!device(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_taken_needs_no_quotes(text in "\\PC{0,20}|[-a-z0-9 $`'\"\\\\\n;&|<>(){}*/._]{0,12}") {
            let rules: [Rule; 7] = [name, word, label, bucket, user, package, data_dir];
            for rule in rules {
                if rule(&text) {
                    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+=@/".contains(c);
                    prop_assert!(text.chars().all(plain), "{text:?}");
                    prop_assert!(!text.starts_with('-') && !text.is_empty());
                }
            }
        }
    }
}
